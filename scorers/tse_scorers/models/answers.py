"""Checks what a scorer answers, because a scorer can be any class: one log-probability for each text that was asked."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.progress import Progress
from .base import Logprobs, Scorer


def sentence_logprobs(scorer: Scorer, sentences: Sequence[str], progress: Progress | None = None) -> Logprobs:
    """Ask a scorer for log P of each sentence, (sentences,), natural logs; NaN if a sentence cannot be scored.

    Raises:
        TypeError: the answer is not an array of numbers.
        ValueError: it has another number of values than there are sentences.
    """
    told: dict[str, Any] = {} if progress is None else {"progress": progress}
    answer = scorer.sentence_logprobs(sentences, **told)
    return require_logprobs(answer, len(sentences), f"{type(scorer).__name__}.sentence_logprobs")


def require_logprobs(answer: Any, count: int, asked: str) -> Logprobs:
    """Return an answer as float64, (count,).

    Args:
        answer: what a scorer returned: an array, a tensor on the CPU or a list of numbers.
        count: number of texts.
        asked: the method that returned it, for messages.

    Raises:
        TypeError: it is not numbers.
        ValueError: it has another shape.
    """
    remedy = "Return one natural log-probability for each text, in their order."
    expected = f"expected a float64 array with {count} values"
    try:
        values = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{asked} returned {type(answer).__name__} ({error}); {expected}. {remedy}"
        ) from error
    if answer is None or values.shape != (count,):
        found = "None" if answer is None else f"values of shape {values.shape}"
        raise ValueError(f"{asked} returned {found}; {expected}. {remedy}")
    return values
