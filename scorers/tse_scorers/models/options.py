"""Options for loading and querying a model, shared by `load_scorer`, `run` and `tse`; how values are checked."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..io.suggestions import did_you_mean

ModelKind = Literal["masked", "causal", "seq2seq"]
Dtype = Literal["auto", "float32", "bfloat16", "float16", "float64"]
PseudoLikelihood = Literal["within_word_l2r", "original"]
NO_TOKEN = "none"
"""The value of `start_token` for no start token."""
UNUSED: Mapping[str, frozenset[str]] = {
    "masked model": frozenset({"bos", "start_token"}),
    "causal model": frozenset({"pll", "mntp"}),
    "seq2seq model": frozenset({"pll", "mntp", "bos", "start_token"}),
    "model in memory": frozenset({"device", "dtype", "trust_remote_code", "model_arg"}),
}
"""Options without any effect on a kind of model; n-gram models and files of scores take none."""


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Options for loading and querying a model.

    Raises:
        TypeError: an option has a value of another type.
        ValueError: an option has an unknown value.
    """

    kind: ModelKind | None = None
    """masked, causal or seq2seq (an encoder-decoder model) [what the model's configuration says]"""
    device: str = "auto"
    """cpu, cuda, cuda:1, mps [a GPU of CUDA if there is one]"""
    dtype: Dtype = "auto"
    """float32, bfloat16 (half the memory, but it changes decisions), float16, float64 [float32]"""
    pll: PseudoLikelihood | None = None
    """masked models: within_word_l2r (Kauf & Ivanova 2023) or original (Salazar et al. 2020), which gives long rare
    words too high a score [within_word_l2r, or as the authors of a set]"""
    mntp: bool = False
    """masked models: read each token one position before it, as GPT-BERT was trained"""
    bos: bool = False
    """causal models: the start token stands before the left context of a gap [the tokenizer's rule]"""
    start_token: str | None = None
    """causal models: the token before a sentence, or none [that of pretraining]"""
    leading_space: bool = False
    """put a space before the first word of every text (Newman et al. 2021 do for RoBERTa)"""
    trust_remote_code: bool = False
    """run Python code from the model's repository, with your permissions"""
    batch_tokens: int | None = None
    """tokens in one batch; scores do not depend on it [chosen by memory]"""
    model_arg: Mapping[str, Any] | None = None
    """KEY=VALUE: an argument of from_pretrained (device_map=auto, attn_implementation=eager); repeatable"""

    def __post_init__(self) -> None:
        check_options(self)

    @classmethod
    def of(cls, options: "ModelOptions | Mapping[str, Any] | None") -> "ModelOptions":
        """Return options from an instance, a mapping of names, or None."""
        return options if isinstance(options, ModelOptions) else cls(**(options or {}))

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the options that are not at their default."""
        return tuple(option.name for option in fields(self) if getattr(self, option.name) != option.default)

    def for_model(self, model: str, family: str, one_of_several: bool = False) -> None:
        """Raise ValueError if an option has no effect on the only model.

        Args:
            model: its name.
            family: its kind: one of `UNUSED`, `n-gram model` or `file of scores`.
            one_of_several: other models get the same options, and this one leaves out what does not concern it.
        """
        unused = [name for name in self.given if family not in UNUSED or name in UNUSED[family]]
        if unused and not one_of_several:
            raise ValueError(f"{unused[0]} has no effect on {model} ({family}); remove it.")


def check_options(options: Any) -> None:
    """Raise TypeError or ValueError where a field of a frozen dataclass has a value that its annotation does not allow.

    None becomes the default, what numpy has Python's, a tuple a list, so that equal options have one signature.
    """
    hints = get_type_hints(type(options))
    for option in fields(options):
        value = getattr(options, option.name)
        value = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
        value = option.default if value is None else list(value) if isinstance(value, tuple) else value
        object.__setattr__(options, option.name, value)
        check_value(option.name, value, hints[option.name])


EXPECTED = {
    int: "a whole number, at least 1",
    str: "a text",
    bool: "True or False",
    list: "a list with a value",
}


def check_value(name: str, value: Any, hint: Any) -> None:
    """Raise TypeError or ValueError where an option has a value that its annotation does not allow, or an empty one.

    >>> check_value("limit", False, int | None)
    Traceback (most recent call last):
    TypeError: limit is False; expected a whole number, at least 1.
    """
    hints = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if Any in hints or (value is None and NoneType in hints):
        return
    kinds = tuple(get_origin(each) or each for each in hints if each is not NoneType)
    if Literal in kinds:
        choices = get_args(hints[0])
        if value not in choices:
            meant = did_you_mean(str(value), choices)
            raise ValueError(f"{name} is {value!r:.60}; expected {' or '.join(map(str, choices))}.{meant}")
        return
    is_of_kind = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if not is_of_kind or value in ("", []) or (int in kinds and value < 1):
        expected = " or ".join(EXPECTED.get(kind, kind.__name__) for kind in kinds)
        raise (ValueError if is_of_kind else TypeError)(f"{name} is {value!r:.60}; expected {expected}.")
    for one in value if list in kinds else ():
        check_value(name, one, get_args(hints[0])[0])
