"""Options for loading and querying a model, shared by the command line, `load_scorer` and training callbacks.

How options of models and of suites are checked (`checked_value`) and named in messages (`Option`) is here too.
"""

import json
import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from ..io.suggestions import unknown_name

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ModelKind = Literal["masked", "causal", "seq2seq"]
PseudoLikelihood = Literal["within_word_l2r", "original"]
EncoderInput = Literal["empty", "mask"]
NO_TOKEN = "none"
"""The value of `start_token` for no start token."""
UNUSED: Mapping[str, frozenset[str]] = {
    "masked model": frozenset({"bos", "start_token", "encoder_input"}),
    "causal model": frozenset({"pll", "mntp", "encoder_input"}),
    "seq2seq model": frozenset({"pll", "mntp", "bos", "start_token"}),
    "model in memory": frozenset({"device", "dtype", "trust_remote_code", "model_arg"}),
}
"""Options without any effect on a kind of model; n-gram models and files of scores take none."""


class Option(NamedTuple):
    """An option in the message of an error, by its name in Python, alone or with a value."""

    name: str
    value: str | int | None = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"

    def __format__(self, _: str) -> str:
        """Return what an `OptionError` finds again in its message."""
        return f"{_MARK}{json.dumps(self, default=str)}{_MARK}"


_MARK = f"\0{os.urandom(8).hex()}\0"
"""Stands around an option in a message; nobody else's text has it."""


class OptionError(ValueError):
    """An option cannot be used; the message names options as the user writes them.

    Args:
        parts: of the message: texts, and the options in or between them.

    >>> error = OptionError(f"{Option('source')} has no effect with {Option('suite', 'german')}; remove it.")
    >>> str(error), error.message(lambda option: f"--{option.name}")
    ("source has no effect with suite='german'; remove it.", '--source has no effect with --suite; remove it.')
    """

    def __init__(self, *parts: str | Option) -> None:
        self._parts = "".join(map(format, parts)).split(_MARK)
        super().__init__(self.message(str))

    def message(self, spelled: Callable[[Option], str]) -> str:
        """Return the message, with the options as `spelled` writes them."""
        texts = list(self._parts)
        texts[1::2] = [spelled(Option(*json.loads(part))) for part in texts[1::2]]
        return "".join(texts)


EVERYDAY, DATA, MODEL, OUTPUT, SPEED = "Everyday", "Data", "Model", "Output", "Speed"
"""The panels of `--help`."""


@dataclass(frozen=True)
class Described:
    """What people read about an option, on the command line and in the reference.

    Attributes:
        text: what it does, without a full stop.
        without: what holds if it is not given.
        because: why.
        panel: where `--help` shows it.
        least: the smallest number that it takes; None for other options.
        flags: how the command line spells it; empty for `--name`.
        takes_table: in Python, it takes a data frame, data set or list of dicts in the place of a file.
        partial: whether it leaves out a part of the data or of a lemma list, as which results are then marked.
    """

    text: str
    without: str
    because: str
    panel: str = DATA
    least: int | None = None
    flags: tuple[str, ...] = ()
    takes_table: bool = False
    partial: bool = False

    @property
    def whole(self) -> str:
        """The text of the reference: what it does, its default, and why."""
        return f"{self.text}. Default: {self.without}, because {self.because}."


def option(
    text: str,
    without: str,
    because: str,
    default: object = None,
    *,
    panel: str = DATA,
    least: int | None = None,
    flags: tuple[str, ...] = (),
    takes_table: bool = False,
    partial: bool = False,
) -> Any:
    """Declare an option, as a field of a dataclass, with what people read about it.

    `--help` shows text and `without`, the reference also `because`: "Number of folds. Default: 5, because …".

    Args:
        text: what it does, without a full stop.
        without: what holds if it is not given.
        because: why.
        default: its value then.
        panel: where `--help` shows it.
        least: the smallest number that it takes; None for other options.
        flags: how the command line spells it; empty for `--name`.
        takes_table: in Python, it takes a data frame, data set or list of dicts in the place of a file.
        partial: whether it leaves out a part of the data or of a lemma list, as which results are then marked.
    """
    described = Described(text, without, because, panel, least, flags, takes_table, partial)
    return field(default=default, metadata={"described": described})


def described_options(options: type) -> dict[str, Described]:
    """Return what people read about each option of a dataclass, by name."""
    return {
        declared.name: declared.metadata["described"]
        for declared in fields(options)
        if "described" in declared.metadata
    }


def checked_fields(options: "DataclassInstance") -> None:
    """Give each field of a frozen dataclass the type that it is annotated with; None becomes its default.

    Raises:
        TypeError: a value is of another type.
        ValueError: a value is empty, too small, or not one of the possible ones.
    """
    annotated, described = get_type_hints(type(options)), described_options(type(options))
    for declared in fields(options):
        value = checked_value(declared.name, getattr(options, declared.name), annotated[declared.name])
        least = described[declared.name].least if declared.name in described else None
        if least is not None and value is not None and value < least:
            raise OptionError(f"Got {Option(declared.name, value)}; expected a whole number from {least} up.")
        object.__setattr__(options, declared.name, declared.default if value is None else value)


_EXPECTED: Mapping[object, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a finite number",
    str: "a text",
    Path: "a path",
    list[int]: "a list of whole numbers",
    list[str]: "a list of texts",
}
"""The types that are checked, as messages call them."""


def checked_value(option: str, value: object, annotation: object) -> Any:
    """Return an option's value as the type that its parameter is annotated with.

    What numpy has becomes Python's, a tuple a list, and a path or text whichever of the two is expected. None stays
    None, "not given". A parameter with other types than those of `_EXPECTED` is not checked.

    Raises:
        TypeError: the value is of another type.
        OptionError: a text or list is empty, a ValueError.

    >>> import numpy as np
    >>> checked_value("limit", np.int64(3), int | None), checked_value("groups", ("Simple",), Sequence[str])
    (3, ['Simple'])
    >>> checked_value("limit", False, int | None)
    Traceback (most recent call last):
    TypeError: Got limit=False (bool); expected a whole number. Change it, or remove it.
    """
    kinds = _kinds_of(annotation)
    if value is None or kinds is None:
        return value
    plain = _plain(value)
    texts = plain if isinstance(plain, list) else [plain]
    if not texts or any(isinstance(text, str) and not text.strip() for text in texts):
        raise OptionError(f"{Option(option)} is empty; expected a value. Give one, or remove the option.")
    choices = next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())
    if choices and plain not in choices:
        raise OptionError(f"Unknown {Option(option)} {value!r}; expected {' or '.join(choices)}.")
    if choices:
        return plain
    converted = next((typed for kind in kinds if (typed := _converted(plain, kind)) is not None), None)
    if converted is None:
        expected = " or ".join(_EXPECTED[kind] for kind in kinds)
        in_list = isinstance(value, str) and list[str] in kinds
        advice = f"Write [{value!r:.80}]." if in_list else "Change it, or remove it."
        raise TypeError(f"Got {option}={value!r:.80} ({type(value).__name__}); expected {expected}. {advice}")
    return converted


def value_of_text(text: str, annotation: object) -> str | bool | float:
    """Return what a text of the command line is for a parameter; the text itself where it is nothing that fits.

    >>> value_of_text("-4.5", float | None), value_of_text("short", str | None), value_of_text("yes", int)
    (-4.5, 'short', 'yes')
    """
    for kind in _kinds_of(annotation) or []:
        of_kind = kind if get_origin(kind) is not list else get_args(kind)[0]
        if of_kind is bool and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if of_kind in (int, float):
            with suppress(ValueError):
                return float(text) if of_kind is float else int(text)
    return text


def is_list(annotation: object) -> bool:
    """Whether a parameter takes a list, and not one text instead."""
    kinds = _kinds_of(annotation) or []
    return list[str] in kinds or (str not in kinds and any(get_origin(kind) is list for kind in kinds))


def _kinds_of(annotation: object) -> list[Any] | None:
    """Return the types of an annotation but None, sequences as lists; None where one of them is not checked.

    >>> _kinds_of(str | Sequence[int] | None)
    [<class 'str'>, list[int]]
    """
    types = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else [annotation]
    kinds = [
        list[get_args(kind)[0]] if get_origin(kind) in (Sequence, list) else kind  # type: ignore[misc]
        for kind in types
        if kind is not NoneType
    ]
    return kinds if all(kind in _EXPECTED or get_origin(kind) is Literal for kind in kinds) else None


def _plain(value: object) -> object:
    """Return what numpy or pandas has, and tuples, as values and lists of Python."""
    if isinstance(value, list | tuple):
        return [_plain(element) for element in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _converted(value: object, kind: object) -> object:
    """Return a plain value as a type of `_EXPECTED`; None where it is not of that type."""
    if isinstance(value, list):
        elements = (
            [_converted(element, *get_args(kind)) for element in value]
            if get_origin(kind) is list
            else [None]
        )
        return None if None in elements else elements
    if isinstance(value, bool) or kind is bool:
        return value if isinstance(value, bool) and kind is bool else None
    if kind is float:
        return float(value) if isinstance(value, Real) and math.isfinite(value) else None
    if isinstance(value, Integral):
        return int(value) if kind is int else None
    if isinstance(value, str | os.PathLike) and kind in (str, Path):
        return Path(value) if kind is Path else os.fsdecode(value)
    return None


@dataclass(frozen=True)
class ModelOptions:
    """Options for loading and querying a model; each field says what it is for.

    Raises:
        TypeError: an option has a value of another type.
        ValueError: an option has an unknown value.
    """

    kind: ModelKind | None = option(
        "masked, causal or seq2seq (an encoder-decoder model)",
        "what the model's configuration says",
        "only unusual models need another kind",
        panel=MODEL,
    )
    device: str = option(
        "cpu, cuda, cuda:1, mps, or auto (a GPU if there is one)",
        "auto",
        "a GPU is faster",
        "auto",
        panel=EVERYDAY,
    )
    dtype: str = option(
        "float32, bfloat16 (half the memory, faster on a GPU), float16, float64, or auto (float32)",
        "auto",
        "bfloat16 changes decisions",
        "auto",
        panel=EVERYDAY,
    )
    pll: PseudoLikelihood | None = option(
        "Masked models: within_word_l2r or original",
        "as a registered set's authors do, else within_word_l2r",
        "it masks the later tokens of a word as well, without which long rare words get too high a score (Kauf & "
        "Ivanova 2023; the original: Salazar et al. 2020)",
        panel=MODEL,
    )
    mntp: bool = option(
        "Masked models: read each token one position before it, as GPT-BERT was trained",
        "off",
        "most masked models read a token at its own position (masked next-token prediction: Charpentier & Samuel 2024)",
        False,
        panel=MODEL,
    )
    encoder_input: EncoderInput | None = option(
        "Encoder-decoder models: the encoder reads empty (no text) or mask (one mask)",
        "empty",
        "the score is then that of the text alone",
        panel=MODEL,
    )
    bos: bool | None = option(
        "Causal models: put the start token before the left context of a gap",
        "the tokenizer's rule",
        "the code of Newman et al. (2021) follows it (GPT-2's has none)",
        panel=MODEL,
        flags=("--bos",),
    )
    start_token: str | None = option(
        "Causal models: the token before a sentence, or none",
        "that of pretraining",
        "the first word then has a score, and chat models expect a role, such as user, after one that opens a turn",
        panel=MODEL,
    )
    leading_space: bool = option(
        "Put a space before the first word of every text",
        "off",
        "texts are scored as they are (Newman et al. 2021 use it for RoBERTa)",
        False,
        panel=MODEL,
    )
    trust_remote_code: bool = option(
        "Run Python code from the model's repository",
        "refused",
        "such code runs with your permissions",
        False,
        panel=MODEL,
    )
    batch_tokens: int | None = option(
        "Tokens in one batch",
        "chosen by free memory",
        "large batches are fast and scores do not depend on it",
        panel=SPEED,
        least=1,
    )

    model_arg: Mapping[str, Any] | None = option(
        "KEY=VALUE: an argument of from_pretrained (device_map=auto, attn_implementation=eager); repeatable",
        "none",
        "most models need none",
        panel=MODEL,
    )

    def __post_init__(self) -> None:
        checked_fields(self)

    @classmethod
    def of(cls, options: "ModelOptions | Mapping[str, Any] | None") -> "ModelOptions":
        """Return options from an instance, a mapping of names, or None.

        Raises:
            TypeError: there is no option of that name, or a value is of another type.
            ValueError: an option has an unknown value.
        """
        if isinstance(options, ModelOptions):
            return options
        names = [field.name for field in fields(cls)]
        unknown = [name for name in options or {} if name not in names]
        if unknown:
            raise TypeError(unknown_name("model option", unknown[0], names))
        return cls(**(options or {}))

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the options that are not at their default."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) != field.default)

    def for_model(self, model: str, family: str, one_of_several: bool = False) -> "ModelOptions":
        """Return the options with an effect on a model.

        Args:
            model: its name, for messages.
            family: its kind: one of `UNUSED`, `n-gram model` or `file of scores`.
            one_of_several: other models get the same options: what has no effect on this one is a warning.

        Raises:
            ValueError: an option has no effect on it, and it is the only model.
        """
        unused = [name for name in self.given if family not in UNUSED or name in UNUSED[family]]
        if not unused:
            return self
        kind = {"seq2seq model": "an encoder-decoder model", "n-gram model": "an n-gram model"}
        described = kind.get(family, f"a {family}")
        if not one_of_several:
            raise OptionError(f"{Option(unused[0])} has no effect on {model}, {described}; remove it.")
        warnings.warn(f"{' and '.join(unused)} without effect on {model}, {described}.", stacklevel=2)
        defaults: dict[str, Any] = {field.name: field.default for field in fields(self)}
        return replace(self, **{name: defaults[name] for name in unused})
