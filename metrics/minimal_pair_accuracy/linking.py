"""Linking functions: from a sentence's log-probability to the score that minimal pairs are compared by.

    sum          log P                        Warstadt et al. (2020)
    mean_token   log P / T                    mean log-probability per token, minus log perplexity
    mean_byte    log P / B                    per byte of UTF-8
    mean_continuation  log P_R / R            per token from the first difference on (Kryvosheieva & Levy 2024)
    slln         log P / T^0.5                sublinear length normalization (ZhoBLiMP, Liu et al. 2024)

T and B are the number of scored tokens and bytes; P_R is the probability, given the words before, of the R tokens from
the first word on in which the two sentences of a pair differ. Of a masked model, log P is the pseudo-log-likelihood.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class SentenceStatistics(NamedTuple):
    """What linking functions need to know about sentences; arrays of shape (sentences,).

    Attributes:
        logprob: natural log-probabilities.
        n_tokens: tokens whose log-probabilities are summed in `logprob`.
        n_bytes: bytes of UTF-8.
        continuation_logprob: natural log-probabilities of what follows the words that a pair's sentences share; None if
            they are unknown.
        n_continuation_tokens: tokens whose log-probabilities are summed in `continuation_logprob`.
    """

    logprob: np.ndarray
    n_tokens: np.ndarray
    n_bytes: np.ndarray
    continuation_logprob: np.ndarray | None = None
    n_continuation_tokens: np.ndarray | None = None


def _mean_continuation(sentences: SentenceStatistics) -> np.ndarray:
    logprob, n_tokens = sentences.continuation_logprob, sentences.n_continuation_tokens
    if logprob is None or n_tokens is None:
        raise ValueError(
            "The linking function mean_continuation needs the log-probability and the number of tokens of each "
            "continuation, and there are none. Give both (continuation_logprob, n_continuation_tokens)."
        )
    return np.where(n_tokens > 0, logprob / n_tokens, np.nan)


_FORMULAS: dict[str, Callable[[SentenceStatistics], np.ndarray]] = {
    "sum": lambda sentences: sentences.logprob,
    "mean_token": lambda sentences: sentences.logprob / sentences.n_tokens,
    "mean_byte": lambda sentences: sentences.logprob / sentences.n_bytes,
    "mean_continuation": _mean_continuation,
    "slln": lambda sentences: sentences.logprob / sentences.n_tokens**0.5,
}
LINKING_FUNCTIONS = tuple(_FORMULAS)


def require_linking(name: str) -> None:
    """Raise ValueError where a name is not one of `LINKING_FUNCTIONS`."""
    if name not in _FORMULAS:
        raise ValueError(f"Unknown linking function {name!r}; expected one of: {', '.join(_FORMULAS)}.")


def linked_scores(name: str, sentences: SentenceStatistics) -> np.ndarray:
    """Return the score of each sentence, (sentences,); NaN for a sentence without scored tokens.

    Raises:
        ValueError: the name is unknown, or it needs log-probabilities of continuations, and there are none.
    """
    require_linking(name)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = _FORMULAS[name](sentences)
    return np.where(np.asarray(sentences.n_tokens) > 0, scores, np.nan)
