"""Contexts in, rows of scores out: checks what a caller adds, and stores only the scores of each context.

The predictions for a context of 1,000 lemmas are up to 6,000 numbers; its scores at the paper's cut-offs are 57. A row
holds `n_lemmas`, `n_ties`, `n_nonfinite`, then ew, mw and covered_mass at each cut-off, first top, then bottom.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Array, on_host
from .scores import ContextScores, GivenForms, SideScores, context_scores
from .values import as_numbers

if TYPE_CHECKING:
    import pyarrow as pa

ABOVE = ("correct_above", "incorrect_above")
BELOW = ("correct_below", "incorrect_below")

# In half precision, rounding errors can make log-probabilities larger than 0, and masses larger than 1.
TOLERANCE = 1e-3

CHUNK_CONTEXTS = 256  # scored at once; limits memory

Context = Mapping[str, Array | Sequence[float]]
"""What a caller says of one context: `correct`, `incorrect`, and masses; a number for each lemma."""


def known_cutoffs(
    predictions: Sequence[Context],
    cutoffs_top: tuple[float, ...],
    cutoffs_bottom: tuple[float, ...],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the cut-offs for which the first context has masses; without masses, only the whole distribution."""
    keys = predictions[0] if predictions and isinstance(predictions[0], Mapping) else ()
    return cutoffs_top if ABOVE[0] in keys else (1.0,), cutoffs_bottom if BELOW[0] in keys else ()


def reduce_predictions(
    predictions: Sequence[Context],
    cutoffs_top: tuple[float, ...],
    cutoffs_bottom: tuple[float, ...],
) -> np.ndarray:
    """Check contexts and return their rows of scores, (contexts, columns).

    Args:
        predictions: for each context `correct` and `incorrect`, and the masses needed for the cut-offs, each
            with one number for each lemma.
        cutoffs_top: cut-offs of the top; below 1 they need `correct_above` and `incorrect_above`.
        cutoffs_bottom: cut-offs of the bottom; they need `correct_below` and `incorrect_below`.

    Raises:
        TypeError: a context is not a mapping.
        ValueError: a key is missing or unknown, lists are empty or differ in length, a log-probability is
            not a number or is positive, or a mass is outside 0 to 1 - P(form).
    """
    needed = (ABOVE if min(cutoffs_top) < 1 else ()) + (BELOW if cutoffs_bottom else ())
    keys = ("correct", "incorrect", *needed)
    contexts = [_check(index, prediction, keys) for index, prediction in enumerate(predictions)]
    by_size: dict[int, list[int]] = {}
    for index, context in enumerate(contexts):
        by_size.setdefault(len(context["correct"]), []).append(index)
    rows = np.empty((len(contexts), 3 + 3 * len(cutoffs_top) + 3 * len(cutoffs_bottom)))
    for members in by_size.values():
        for start in range(0, len(members), CHUNK_CONTEXTS):
            chunk = members[start : start + CHUNK_CONTEXTS]
            batch = [contexts[index] for index in chunk]
            correct, incorrect = _forms("correct", batch), _forms("incorrect", batch)
            rows[chunk] = to_rows(context_scores(correct, incorrect, cutoffs_top, cutoffs_bottom))
    return rows


def to_rows(scores: ContextScores) -> np.ndarray:
    """Return the scores as a table, (contexts, columns), on the CPU."""
    columns = [scores.n_lemmas[:, None], scores.n_ties[:, None], scores.n_nonfinite[:, None]]
    columns += [*scores.top, *scores.bottom]
    return np.concatenate([np.asarray(on_host(column), dtype=np.float64) for column in columns], axis=1)


def from_table(
    column: "pa.ChunkedArray", cutoffs_top: tuple[float, ...], cutoffs_bottom: tuple[float, ...]
) -> ContextScores:
    """Return the scores whose rows (`to_rows`) were stored in an Arrow column, a ChunkedArray of lists.

    Raises:
        ValueError: the rows do not have the columns of these cut-offs.
    """
    n_top, n_bottom = len(cutoffs_top), len(cutoffs_bottom)
    width = 3 + 3 * (n_top + n_bottom)
    lists = column.combine_chunks()
    if set(lists.value_lengths().unique().to_pylist()) != {width}:
        raise ValueError(
            "The contexts that were added have different cut-offs: some have masses and some do not, or another "
            "process uses other cut-offs. Use the same for all contexts."
        )
    rows = lists.flatten().to_numpy().reshape(-1, width)
    top, bottom = np.split(rows[:, 3:], [3 * n_top], axis=1)
    n_lemmas, n_ties, n_nonfinite = rows[:, :3].astype(np.int64).T
    return ContextScores(
        SideScores(*np.split(top, 3, axis=1)),
        SideScores(*np.split(bottom, 3, axis=1)),
        n_lemmas,
        n_ties,
        n_nonfinite,
        cutoffs_top,
        cutoffs_bottom,
    )


def _forms(form: str, contexts: list[dict[str, np.ndarray]]) -> GivenForms:
    """Stack the statistics of one form, for contexts with the same number of lemmas."""

    def stacked(mass: str) -> np.ndarray | None:
        return np.stack([context[mass] for context in contexts]) if mass in contexts[0] else None

    logprob = np.stack([context[form] for context in contexts])
    return GivenForms(logprob, stacked(f"{form}_above"), stacked(f"{form}_below"))


def _check(index: int, prediction: Context, keys: Sequence[str]) -> dict[str, np.ndarray]:
    if not isinstance(prediction, Mapping):
        raise TypeError(
            f"Context {index} is a {type(prediction).__name__}; expected a dict with the log-probabilities of the "
            "lemmas' `correct` and `incorrect` forms."
        )
    if set(prediction) != set(keys):
        raise ValueError(
            f"Context {index} has the keys {sorted(prediction)}; expected {sorted(keys)}. Give `correct` and "
            "`incorrect` always, masses in pairs (correct_above and incorrect_above, correct_below and "
            "incorrect_below), and the same keys for all contexts."
        )
    context = {
        key: as_numbers(on_host(prediction[key]), f"Context {index} holds", "natural log-probabilities")
        for key in keys
    }
    shapes = {key: values.shape for key, values in context.items()}
    if len(set(shapes.values())) > 1 or len(shapes["correct"]) != 1 or shapes["correct"] == (0,):
        raise ValueError(
            f"Context {index} has lists of the shapes {shapes}; expected one number for each lemma in every list, and "
            "at least one lemma. Remove contexts without lemmas."
        )
    for form in ("correct", "incorrect"):
        _check_ranges(index, form, context)
    _warn_of_mass(index, context)
    return context


def _warn_of_mass(index: int, context: Mapping[str, np.ndarray]) -> None:
    """Warn of more mass than a distribution has; equal numbers may be one form that is listed twice."""
    logprobs = np.unique(np.concatenate([context["correct"], context["incorrect"]]))
    mass = float(np.nansum(np.exp(logprobs)))
    if mass > 1 + TOLERANCE:
        warnings.warn(
            f"Context {index}: the probabilities of the forms sum to {mass:.4g}; expected at most 1. Their "
            "covered mass means nothing. Give log_softmax of the logits over the vocabulary, computed in float32.",
            stacklevel=2,
        )


def _check_ranges(index: int, form: str, context: dict[str, np.ndarray]) -> None:
    logprob = context[form]
    if np.any(logprob > TOLERANCE):
        raise ValueError(
            f"Context {index}: the largest value of {form!r} is {np.nanmax(logprob):.6g}; log-probabilities are at "
            "most 0. Give natural log-probabilities (log_softmax of the logits over the vocabulary)."
        )
    context[form] = np.minimum(logprob, 0.0)
    other_mass = 1 - np.exp(context[form])
    for key in (f"{form}_above", f"{form}_below"):
        mass = context.get(key)
        if mass is None:
            continue
        if not np.all(np.isnan(logprob) | ((mass >= 0) & (mass <= other_mass + TOLERANCE))):
            raise ValueError(
                f"Context {index}: {key!r} is not between 0 and 1 - P(form) for some form. Give the probability mass "
                "of all tokens ranked strictly on that side of the form, without the form itself."
            )
