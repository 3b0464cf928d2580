"""Linking functions: from a sentence's log-probability to the score that minimal pairs are compared by.

    sum          log P                        Warstadt et al. (2020)
    mean_token   log P / T                    mean log-probability per token, minus log perplexity
    mean_char    log P / C                    per character
    mean_byte    log P / B                    per byte of UTF-8
    mean_continuation  log P_R / R            per token from the first difference on (Kryvosheieva & Levy 2024)
    slln[:a]     log P / T^a                  sublinear length normalization, a = 0.5 (ZhoBLiMP, Liu et al. 2024)
    slor         (log P - log U) / T          syntactic log-odds ratio (Pauls & Klein 2012; Lau et al. 2017)
    morcela[:b,g]  (log P - b log U + g) / T  b = 1, g = 0 (Tjuatja et al. 2025); with these it equals SLOR

T, C and B are the number of scored tokens, characters and bytes; P_R is the probability, given the words before, of the
R tokens from the first word on in which the two sentences of a pair differ. Of a masked model, log P is the
pseudo-log-likelihood. U is the product of the unigram probabilities of the same T tokens, as in the code of Tjuatja et
al. (2025). Unigrams of words are another choice: in Pauls & Klein (2012) and Lau et al. (2017), words are the tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class SentenceStatistics(NamedTuple):
    """What linking functions need to know about sentences; arrays of shape (sentences,).

    Attributes:
        logprob: natural log-probabilities.
        n_tokens: tokens whose log-probabilities are summed in `logprob`.
        n_characters: Unicode characters.
        n_bytes: bytes of UTF-8.
        unigram_logprob: natural log-probabilities of the scored tokens (or of the words) under a unigram model; None
            without one.
        continuation_logprob: natural log-probabilities of what follows the words that a pair's sentences share; None if
            they are unknown.
        n_continuation_tokens: tokens whose log-probabilities are summed in `continuation_logprob`.
    """

    logprob: np.ndarray
    n_tokens: np.ndarray
    n_characters: np.ndarray
    n_bytes: np.ndarray
    unigram_logprob: np.ndarray | None = None
    continuation_logprob: np.ndarray | None = None
    n_continuation_tokens: np.ndarray | None = None


def _slor(sentences: SentenceStatistics, beta: float = 1.0, gamma: float = 0.0) -> np.ndarray:
    assert sentences.unigram_logprob is not None  # `LinkingFunction.__call__` has checked it
    return (sentences.logprob - beta * sentences.unigram_logprob + gamma) / sentences.n_tokens


def _mean_continuation(sentences: SentenceStatistics) -> np.ndarray:
    logprob, n_tokens = sentences.continuation_logprob, sentences.n_continuation_tokens
    assert logprob is not None and n_tokens is not None  # the same
    return np.where(n_tokens > 0, logprob / n_tokens, np.nan)


_FORMULAS: dict[str, Callable[..., np.ndarray]] = {
    "sum": lambda sentences: sentences.logprob,
    "mean_token": lambda sentences: sentences.logprob / sentences.n_tokens,
    "mean_char": lambda sentences: sentences.logprob / sentences.n_characters,
    "mean_byte": lambda sentences: sentences.logprob / sentences.n_bytes,
    "mean_continuation": _mean_continuation,
    "slln": lambda sentences, alpha: sentences.logprob / sentences.n_tokens**alpha,
    "slor": _slor,
    "morcela": _slor,
}
_DEFAULTS: dict[str, tuple[float, ...]] = {"slln": (0.5,), "morcela": (1.0, 0.0)}
_WITH_UNIGRAMS = ("slor", "morcela")
_WITH_CONTINUATIONS = ("mean_continuation",)
LINKING_FUNCTIONS = tuple(_FORMULAS)


@dataclass(frozen=True)
class LinkingFunction:
    """A linking function with its parameters.

    Attributes:
        name: one of `LINKING_FUNCTIONS`.
        parameters: alpha of `slln`; beta and gamma of `morcela`.
    """

    name: str
    parameters: tuple[float, ...] = ()

    @property
    def needs_unigrams(self) -> bool:
        """Whether it needs the unigram log-probability of each sentence."""
        return self.name in _WITH_UNIGRAMS

    @property
    def needs_continuations(self) -> bool:
        """Whether it needs the log-probability of what follows the words that a pair's sentences share."""
        return self.name in _WITH_CONTINUATIONS

    def __str__(self) -> str:
        """Return what `parse_linking` reads: `slln:0.5`."""
        return (
            self.name
            + ":" * bool(self.parameters)
            + ",".join(repr(float(value)).removesuffix(".0") for value in self.parameters)
        )

    def __call__(self, sentences: SentenceStatistics) -> np.ndarray:
        """Return the score of each sentence, (sentences,); NaN for a sentence without scored tokens.

        Raises:
            ValueError: it needs log-probabilities of unigrams or continuations, and there are none.
        """
        if self.needs_unigrams and sentences.unigram_logprob is None:
            raise ValueError(
                f"The linking function {self.name} needs the unigram log-probability of each sentence, and there is "
                "none. Give a unigram model (--unigram)."
            )
        if self.needs_continuations and (
            sentences.continuation_logprob is None or sentences.n_continuation_tokens is None
        ):
            raise ValueError(
                f"The linking function {self.name} needs the log-probability and the number of tokens of each "
                "continuation, and there are none. Give both (continuation_logprob, n_continuation_tokens)."
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = _FORMULAS[self.name](sentences, *self.parameters)
        return np.where(np.asarray(sentences.n_tokens) > 0, scores, np.nan)


def parse_linking(text: str) -> LinkingFunction:
    """Read a linking function: its name, then parameters where it has some, as in `slln:0.3` or `morcela:0.8,4`.

    Raises:
        ValueError: the name is unknown, or the parameters do not fit it.

    >>> str(parse_linking("slln")), parse_linking("morcela:0.8,4").parameters
    ('slln:0.5', (0.8, 4.0))
    """
    name, colon, numbers = text.partition(":")
    if name not in _FORMULAS:
        raise ValueError(f"Unknown linking function {text!r}; expected one of: {', '.join(_FORMULAS)}.")
    defaults = _DEFAULTS.get(name, ())
    try:
        parameters = tuple(float(number) for number in numbers.split(",")) if colon else defaults
    except ValueError:
        parameters = (np.nan,)
    if len(parameters) != len(defaults) or not np.isfinite(parameters).all():
        expected = ",".join(f"{value:g}" for value in defaults)
        raise ValueError(
            f"Got the linking function {text!r}; {name} takes {len(defaults) or 'no'} "
            f"number{'s' * (len(defaults) != 1)}. Write {name}{':' * bool(expected)}{expected}."
        )
    return LinkingFunction(name, parameters)
