"""Whether each pair is right, by method: the items of accuracies and of comparisons."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....io.bundle import metric_modules
from ....io.runs import CannotAggregateError, TableSource, known_columns
from ...contract import Scored
from ...measure import Measure
from .intervals import grouped, with_units

_PAIR = ("method", "paradigm", "pair_id", "sentence_good", "sentence_bad")
_COLUMNS = (
    *_PAIR, "phenomenon", "field", "language", "cluster", "item", "linking", "logprob_good", "logprob_bad",
    "score_good", "score_bad", "correct",
)  # fmt: skip


def scored_pairs(table: TableSource, measures: Sequence[Measure]) -> Iterator[Scored]:
    """Yield the pairs of each method; those without prefixes for it have no score.

    Args:
        table: scores per pair and method.
        measures: accuracies, each at its method.
    """
    frame = (
        known_columns(table, _COLUMNS, (*_PAIR, "correct"))
        .rename(columns={"correct": "score"})
        .astype({"score": float})
    )
    compared = ["score_good", "score_bad"] if "score_good" in frame else ["logprob_good", "logprob_bad"]
    if {*compared} <= {*frame}:
        outcomes = metric_modules("minimal_pair_accuracy").definitions.outcomes(
            *(frame[side] for side in compared)
        )
        is_known = frame["score"].notna()
        _require_same_outcomes(frame[is_known], outcomes.correct, compared)
        frame = frame.assign(tie=outcomes.tie & is_known, nonfinite=outcomes.nonfinite & is_known)
    frame = frame.drop(columns=["logprob_good", "logprob_bad", "score_good", "score_bad"], errors="ignore")
    for measure in measures:
        pairs = frame[frame["method"] == measure.at["method"]]
        if len(pairs):
            about = {"linking": pairs["linking"].iloc[0]} if "linking" in pairs else {}
            pairs = pairs.drop(columns="linking", errors="ignore")
            yield Scored(
                {measure: "score"}, pairs, lambda items: grouped(with_units(items)), _PAIR, about=about
            )


def _require_same_outcomes(pairs: pd.DataFrame, is_right: NDArray[np.bool_], compared: Sequence[str]) -> None:
    """Raise CannotAggregateError where an outcome is not that of the pair's log-probabilities: a table was edited."""
    wrong = pairs[pairs["score"].to_numpy() != is_right[pairs.index]]
    if len(wrong):
        row = wrong.iloc[0]
        raise CannotAggregateError(
            f"A table of scores contradicts itself: row {wrong.index[0] + 1} has correct {row['score']:g}, but "
            f"{compared[0]} {row[compared[0]]:g} and {compared[1]} {row[compared[1]]:g}. It was edited: run the same "
            "`tse run` command again with --overwrite."
        )
