"""Checks what a scorer answers, because a scorer can be any class.

Every log-probability that enters a suite comes through this module:

| value | what happens |
|---|---|
| NaN | the text cannot be scored |
| minus infinity | a probability of 0, and counted |
| `LOWEST` to 0 | a log-probability |
| above 0, up to `ROUNDING` | the same; it is left as it is |
| anything else | refused: higher, plus infinity, finite and lower, and what is not a number |
"""

from collections.abc import Callable, Sequence
from typing import TypedDict

import numpy as np
import pandas as pd

from ..engine.progress import Progress
from .base import (
    ContinuationScorer,
    FormScorer,
    Logprobs,
    PairScorer,
    ScoredTokens,
    Scorer,
    TokenScorer,
    WordScorer,
)
from .queries import Slot

ROUNDING = 1e-3
"""How far above 0 a log-probability may be: sums in low precision end there where the probability is 1."""
LOWEST = -1e6
"""The lowest finite log-probability of a text: thousands of tokens at float32's smallest probability."""


def sentence_logprobs(scorer: Scorer, sentences: Sequence[str], progress: Progress | None = None) -> Logprobs:
    """Ask a scorer for log P of each sentence, (sentences,), natural logs; NaN if a sentence cannot be scored.

    Raises:
        TypeError: the answer is not an array of numbers.
        ValueError: it has another number of values than there are sentences, or a value is no log-probability.
    """
    answer = scorer.sentence_logprobs(sentences, **_keyword(progress))
    method = _method_name(scorer, "sentence_logprobs")
    return require_logprobs(answer, (len(sentences),), method, lambda row: list(sentences)[row])


def continuation_logprobs(
    scorer: ContinuationScorer,
    prefixes: Sequence[str],
    continuations: Sequence[str],
    progress: Progress | None = None,
) -> Logprobs:
    """Ask a scorer for log P(continuation | prefix) of each pair, (pairs,); raises as `sentence_logprobs`."""
    answer = scorer.continuation_logprobs(prefixes, continuations, **_keyword(progress))
    method = _method_name(scorer, "continuation_logprobs")
    return require_logprobs(
        answer, (len(prefixes),), method, lambda row: f"{prefixes[row]} … {continuations[row]}"
    )


def pair_logprobs(scorer: PairScorer, table: pd.DataFrame) -> tuple[Logprobs, Logprobs]:
    """Ask a scorer for log P of the good and of the bad side of each pair; raises as `sentence_logprobs`."""
    method = _method_name(scorer, "pair_logprobs")
    good, bad = (
        require_logprobs(answer, (len(table),), method, table[side].iloc.__getitem__)
        for side, answer in zip(("sentence_good", "sentence_bad"), scorer.pair_logprobs(table), strict=True)
    )
    return good, bad


def word_logprobs(
    scorer: WordScorer, sentences: Sequence[str], progress: Progress | None = None
) -> list[list[tuple[str, float]]]:
    """Ask a scorer for the words of each sentence and log P of each; raises as `sentence_logprobs`."""
    method, scored = _method_name(scorer, "word_logprobs"), []
    for sentence, of_sentence in zip(
        sentences, scorer.word_logprobs(sentences, **_keyword(progress)), strict=True
    ):
        answer = [logprob for _, logprob in of_sentence]
        logprobs = require_logprobs(answer, (len(of_sentence),), method, lambda _, text=sentence: text)  # type: ignore[misc]
        scored.append(
            [(word, logprob) for (word, _), logprob in zip(of_sentence, logprobs.tolist(), strict=True)]
        )
    return scored


def token_logprobs(
    scorer: TokenScorer, sentences: Sequence[str], progress: Progress | None = None
) -> list[ScoredTokens]:
    """Ask a scorer for the tokens of each sentence, with log P of each; raises as `sentence_logprobs`."""
    method, scored = _method_name(scorer, "token_logprobs"), []
    for sentence, tokens in zip(
        sentences, scorer.token_logprobs(sentences, **_keyword(progress)), strict=True
    ):
        of_text = (len(tokens.starts),)
        logprobs = require_logprobs(tokens.logprobs, of_text, method, lambda _, text=sentence: text)  # type: ignore[misc]
        scored.append(tokens._replace(logprobs=logprobs))
    return scored


def form_logprobs(
    scorer: FormScorer, slots: Sequence[Slot], forms: Sequence[str], progress: Progress | None
) -> Logprobs:
    """Ask a scorer for log P of each form at each gap, (slots, forms); raises as `sentence_logprobs`."""
    answer = scorer.form_logprobs(slots, forms, progress=progress)
    shape = (len(slots), len(forms))
    return require_logprobs(answer, shape, _method_name(scorer, "form_logprobs"), _at_gap(slots, forms))


class _Progress(TypedDict, total=False):
    progress: Progress


def require_logprobs(
    answer: object, shape: tuple[int, ...], method: str, text_of: Callable[[int], str]
) -> Logprobs:
    """Return an answer as float64 of a shape.

    Args:
        answer: what a scorer returned: an array, a tensor on the CPU or a list of numbers.
        shape: of the answer.
        method: the model and the method that returned it, for messages.
        text_of: returns the text behind a value, by its place in the answer.

    Raises:
        TypeError: it is not numbers.
        ValueError: it has another shape, or a value is no log-probability.
    """
    remedy = "Return one natural log-probability for each text, in their order."
    expected = f"expected a float64 array with {' x '.join(map(str, shape))} values"
    try:
        numbers = np.asarray(answer)
        values = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{method} returned a {type(answer).__name__} that is not an array of numbers; {expected}. {remedy}"
        ) from error
    if answer is None or values.shape != shape:
        problem = "None" if answer is None else f"values of shape {values.shape}"
        raise ValueError(f"{method} returned {problem}; {expected}. {remedy}")
    _refuse_texts(answer, numbers, method, text_of)
    wrong = (values > ROUNDING) | (np.isfinite(values) & (values < LOWEST))
    if wrong.any():
        place = int(wrong.argmax())
        raise ValueError(
            f"{method} returned {values.flat[place]:g} for {text_of(place)!r:.100}; {_EXPECTED}."
        )
    return values


_EXPECTED = (
    f"expected a natural log-probability: a number from {LOWEST:g} to 0, or minus infinity for a probability of 0. "
    "Correct the scorer, or do not use this model"
)


def _refuse_texts(answer: object, array: np.ndarray, method: str, text_of: Callable[[int], str]) -> None:
    """Raise TypeError for texts and truth values, which numpy takes for numbers."""
    if array.dtype.kind in "fiu" and isinstance(answer, np.ndarray):
        return
    values = array if array.dtype.kind in "bSU" else np.asarray(answer, dtype=object)
    for place, value in enumerate(values.flat):
        if isinstance(value, str | bytes | bool | np.bool_):
            raise TypeError(f"{method} returned {value!r:.60} for {text_of(place)!r:.100}; {_EXPECTED}.")


def _at_gap(slots: Sequence[Slot], forms: Sequence[str]) -> Callable[[int], str]:
    def text_of(place: int) -> str:
        slot = slots[place // len(forms) % len(slots)]
        return f"{slot.prefix} [{forms[place % len(forms)]}]{slot.suffix}"

    return text_of


def _method_name(scorer: Scorer | FormScorer, method: str) -> str:
    """Return how messages name the method of a scorer."""
    kind = type(scorer).__name__
    return f"{getattr(scorer, 'name', kind)}: {kind}.{method}"


def _keyword(progress: Progress | None) -> _Progress:
    """Return the keyword argument; none without progress, which a scorer need not take."""
    return {} if progress is None else {"progress": progress}
