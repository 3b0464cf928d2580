"""Scores of a data set whose rows hold the scores of their contexts, as `tse_scorers.score_dataset` adds them.

EW, MW, covered mass    mean over different contexts; in a group, over those of its rows
TSE                     mean over rows, those with a NaN log-probability excluded and counted
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .averaging import ALL, Summary, summarize
from .scores import ContextScores, SideScores, is_correct
from .storage import TOLERANCE
from .values import as_numbers

if TYPE_CHECKING:
    import datasets
    import pandas as pd

MEASURES = ("ew", "mw", "covered_mass")
COUNTS = ("n_lemmas", "n_ties", "n_nonfinite")
CONTEXT = ("context", *MEASURES, *COUNTS)
VERBS = ("logprob_correct", "logprob_incorrect")

Columns = dict[str, np.ndarray]
Cutoffs = tuple[tuple[str, tuple[float, ...]], tuple[str, tuple[float, ...]]]
"""Top and bottom, each with its cut-offs."""
Scored: TypeAlias = "datasets.Dataset | pd.DataFrame | list[dict[str, object]]"
"""A data set with scores, as a data set, a data frame, or a list of its rows."""


def is_scored(predictions: object) -> bool:
    """Whether predictions are a data set, a data frame, or a list of its rows."""
    if isinstance(predictions, list):
        return bool(predictions) and isinstance(predictions[0], dict) and "context" in predictions[0]
    return hasattr(predictions, "columns") or hasattr(predictions, "column_names")


def scores_of_rows(
    scored: Scored, groups: str | Sequence[str] | None, tops: Sequence[float], bottoms: Sequence[float]
) -> Summary:
    """Average the scores of a scored data set.

    Args:
        scored: a data set, a data frame, or a list of dicts with the columns `CONTEXT`; for TSE also `VERBS`; with
            `ew_top_<p>`, … also the curves.
        groups: the column that names each row's group, or the names.
        tops: cut-offs of the top, 1 among them, which count if the columns are there.
        bottoms: those of the bottom.

    Returns:
        What `averaging.summarize` returns. With `VERBS`, also `tse`, `n_pairs` and `n_pairs_excluded` (rows with a NaN
        log-probability), for all rows and in each group.

    Raises:
        ValueError: a column is missing, or there are no rows.
    """
    present = column_names(scored)
    sides: Cutoffs = (("top", (1.0,)), ("bottom", ()))
    names: list[str] = []
    has_cutoffs = f"ew_top_{min(tops):g}" in present and min(tops) < 1
    if has_cutoffs:
        sides = ("top", tuple(tops)), ("bottom", tuple(bottoms))
        names = [f"{m}_{side}_{p:g}" for side, cutoffs in sides for m in MEASURES for p in cutoffs]
    has_verbs = set(VERBS) <= set(present)
    group_columns = [groups] if isinstance(groups, str) else []
    rows = read(scored, [*CONTEXT, *names, *(VERBS if has_verbs else ()), *group_columns])
    if not len(rows["context"]):
        raise ValueError("The scored data set has no rows; expected at least one.")
    shares, counts, logprobs = (0.0, 1.0), (0.0, float("inf")), (-float("inf"), 0.0)
    ranges = {name: shares for name in (*MEASURES, *names)} | dict.fromkeys(COUNTS, counts)
    ranges |= dict.fromkeys(VERBS, logprobs) if has_verbs else {}
    rows |= {name: _checked(rows[name], name, *ends) for name, ends in ranges.items()}
    rows["context"] = _whole_numbers(rows["context"], "context")
    if not has_cutoffs:
        rows |= {f"{m}_top_1": rows[m] for m in MEASURES}
    result = summarize(_contexts(rows, np.unique(rows["context"], return_index=True)[1], sides))
    if has_verbs:
        result["tse"], result["n_pairs"], result["n_pairs_excluded"] = _tse(rows, slice(None))
    if groups is None:
        return result
    labels = np.asarray(group_names(rows[groups] if isinstance(groups, str) else groups), dtype=object)
    if len(labels) != len(rows["context"]):
        raise ValueError(
            f"There are {len(rows['context'])} rows and {len(labels)} groups. Give the name of a "
            "column, or one name per row."
        )
    codes = np.unique(labels.astype(str), return_inverse=True)[1]
    first = np.sort(np.unique(np.stack([codes, rows["context"]]), axis=1, return_index=True)[1])
    by_group = summarize(_contexts(rows, first, sides), labels[first].tolist())
    for name, scores in by_group["groups"].items():
        if has_verbs:
            scores["tse"], scores["n_pairs"], scores["n_pairs_excluded"] = _tse(rows, labels == name)
    of_groups = [row for row in by_group["rows"] if row["group"] != ALL]
    return result | {"groups": by_group["groups"], "rows": [*result["rows"], *of_groups]}


def column_names(scored: Scored) -> list[str]:
    """Return the names of the columns of a data set, a data frame, or a list of dicts."""
    if isinstance(scored, list):
        return list(scored[0])
    return list(scored.column_names if hasattr(scored, "column_names") else scored.columns)


def read(scored: Scored, names: Sequence[str]) -> Columns:
    """Return columns as arrays, without a Python number for each value where they are in a data set."""
    present = column_names(scored)
    missing = [name for name in names if name not in present]
    if missing:
        raise ValueError(
            f"The data set lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}; it has "
            f"{', '.join(present)}. Add scores with scorer.map(dataset, lemmas=lemmas), or correct the name of a "
            "column of your own."
        )
    if isinstance(scored, list):
        columns = {name: np.empty(len(scored), dtype=object) for name in names}
        for place, row in enumerate(scored):
            for name, column in columns.items():
                column[place] = row.get(name) if isinstance(row, dict) else None
        return columns
    if hasattr(scored, "select_columns"):
        scored = scored.with_format(None).select_columns(list(names)).to_pandas()
    return {name: scored[name].to_numpy() for name in names}


def _checked(values: np.ndarray, name: str, low: float, high: float) -> np.ndarray:
    """Return a column of numbers; NaN is a missing score, but not a count.

    Raises:
        ValueError: a value is not a number, or is less than `low` or more than `high`; with its row, counted from 0.
    """
    numbers = as_numbers(
        values, f"The column {name!r} of the scored data set holds", "natural log-probabilities"
    )
    wrong = (numbers < low - TOLERANCE) | (numbers > high + TOLERANCE)
    if name in COUNTS:
        wrong |= ~(numbers % 1 == 0)
    if wrong.any():
        row = int(wrong.argmax())
        expected = "a number from 0 to 1 (or NaN)" if high == 1 else "a natural log-probability (or NaN)"
        raise ValueError(
            f"Row {row} of the scored data set (counted from 0) has {numbers[row]:g} in the column {name!r}; expected "
            f"{'a whole number from 0 up' if name in COUNTS else expected}. Score the row again with "
            "scorer.map(dataset, lemmas=lemmas)."
        )
    return np.clip(numbers, low, high)


def _whole_numbers(values: np.ndarray, name: str) -> np.ndarray:
    """Return a column of whole numbers; they may be hashes, which are not exact as floats."""
    numbers = values if values.dtype.kind in "iu" else np.asarray(values.tolist())
    if numbers.dtype.kind not in "iu":
        wrong = [not (isinstance(value, int | float) and value % 1 == 0) for value in values.tolist()]
        row = wrong.index(True) if any(wrong) else 0
        raise ValueError(
            f"Row {row} of the scored data set (counted from 0) has {str(values[row])!r:.60} in the column {name!r}; "
            "expected the number of its context. Score the row again with scorer.map(dataset, lemmas=lemmas)."
        )
    return numbers


def group_names(groups: object) -> list[str]:
    """Return the names of groups; raises TypeError where they are not several."""
    if isinstance(groups, str | bytes) or not isinstance(groups, Iterable):
        raise TypeError(
            f"groups are a {type(groups).__name__}; expected one name for each context. Give a list of names."
        )
    return [str(name) for name in groups]


def _contexts(rows: Columns, at: np.ndarray, sides: Cutoffs) -> ContextScores:
    def scores(side: str, cutoffs: Sequence[float]) -> SideScores:
        empty = np.empty((len(at), 0))
        columns = [[rows[f"{measure}_{side}_{p:g}"][at] for p in cutoffs] for measure in MEASURES]
        return SideScores(*(np.column_stack([empty, *column]) for column in columns))

    (top, tops), (bottom, bottoms) = sides
    n_lemmas, n_ties, n_nonfinite = (rows[name][at] for name in COUNTS)
    return ContextScores(
        scores(top, tops), scores(bottom, bottoms), n_lemmas, n_ties, n_nonfinite, tops, bottoms
    )


def _tse(rows: Columns, inside: np.ndarray | slice) -> tuple[float, int, int]:
    """Return the TSE of rows, how many have one, and how many have none."""
    correct, incorrect = (rows[name][inside].astype(np.float64) for name in VERBS)
    scorable = ~(np.isnan(correct) | np.isnan(incorrect))
    right = np.asarray(is_correct(correct[scorable], incorrect[scorable]))
    n_excluded = int((~scorable).sum())
    tse = float(right.mean()) if right.size else float("nan")
    return tse, int(right.size), n_excluded
