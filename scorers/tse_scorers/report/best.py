"""Which scores of a table are the best, and which may be.

Not those of another part of the data or lemma list than most, or over too few units; and only if intervals set them
apart.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from .comparable import scored_part, usual
from .inputs import Runs
from .tables import Intervals

Flags = npt.NDArray[np.bool_]


def unusable(runs: Runs, suite: str, over_lemmas: bool = False) -> set[str]:
    """Return the labels of systems whose scores do not compare with the others', with and without a configuration.

    Scores over the lemma list compare only over the most frequent one.
    """
    of_suite = {key: signature for key, signature in runs.signatures.items() if key[1] == suite}
    lemmas = usual([signature.get("lemmas") for signature in of_suite.values()])
    parts = {
        config: usual([scored_part(signature) for key, signature in of_suite.items() if key[2] == config])
        for _, _, config in of_suite
    }
    labels: set[str] = set()
    for (system, _, config), signature in of_suite.items():
        is_part = scored_part(signature) != parts[config]
        if is_part or (over_lemmas and signature.get("lemmas") != lemmas):
            labels |= {system, f"{system} ({config or ''})"}
    return labels


def best_of(scores: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike, printed: Sequence[str]) -> Flags:
    """Mark the highest of some scores that compare, if its interval overlaps with none of the lower ones.

    Scores that are printed alike are marked alike, but not where no other one is lower: none of them is better than
    anything. A score without an interval counts as it is.

    Args:
        scores: those that cannot be the best are NaN, as are unreliable ones.
        low: lower ends of their 95 % intervals, NaN where there is none.
        high: upper ends.
        printed: how the scores are printed.

    >>> best_of([0.68, 0.2], [0.0, 0.1], [1.0, 0.3], ["68.0", "20.0"]).tolist()
    [False, False]
    >>> best_of([0.98, 0.98, 0.7], [0.97, 0.97, 0.6], [0.99, 0.99, 0.8], ["0.98", "0.98", "0.70"]).tolist()
    [True, True, False]
    >>> best_of([0.98, 0.98], [0.97, 0.97], [0.99, 0.99], ["0.98", "0.98"]).tolist()
    [False, False]
    """
    values, lower, upper = (np.asarray(numbers, dtype=float) for numbers in (scores, low, high))
    is_scored = ~np.isnan(values)
    if not is_scored.any():
        return is_scored
    top = int(np.nanargmax(values))
    first = is_scored & np.array([cell == printed[top] for cell in printed])
    others = is_scored & ~first
    if not others.any():
        return others
    ends = np.where(np.isnan(upper), values, upper)[others]
    start = values[top] if np.isnan(lower[top]) else lower[top]
    return first & bool((ends < start).all())


def best_of_rows(
    values: pd.DataFrame,
    text: pd.DataFrame,
    measures: Sequence[str | None],
    intervals: Intervals | None = None,
) -> pd.DataFrame:
    """Mark the best cells of each row, as `best_of` does.

    Args:
        values: scores; a missing one cannot be the best.
        text: how they are printed; what follows the first space (an interval) is not compared.
        measures: of each column; only columns of one measure compare, and those of None do not.
        intervals: of the scores; one that is not reliable cannot be the best.
    """
    best = np.zeros(text.shape, dtype=bool)
    reliable, low, high = (_ends(values, intervals, end).to_numpy() for end in ("reliable", "low", "high"))
    scores = np.where(reliable == 0, np.nan, values.to_numpy(dtype=float))
    printed = np.array(
        [[str(cell).split(" ")[0] for cell in row] for row in text.to_numpy(dtype=object)], dtype=object
    )
    for measure in {name for name in measures if name is not None}:
        places = [place for place, name in enumerate(measures) if name == measure]
        for row in range(len(values)):
            ends = low[row, places], high[row, places]
            best[row, places] = best_of(scores[row, places], *ends, list(printed[row, places]))
    return pd.DataFrame(best, index=text.index, columns=text.columns)


def _ends(values: pd.DataFrame, intervals: Intervals | None, name: str) -> pd.DataFrame:
    """Return a table of the intervals in the rows and columns of the scores, NaN where nothing is known."""
    ends = None if intervals is None else getattr(intervals, name)
    if ends is None:
        return pd.DataFrame(np.nan, index=values.index, columns=values.columns)
    return ends.reindex(index=values.index, columns=values.columns).astype(float)
