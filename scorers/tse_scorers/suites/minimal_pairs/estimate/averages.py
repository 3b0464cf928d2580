"""Accuracies of groups of minimal pairs: means of scores per example, with intervals over the units of their pairs."""

import pandas as pd
import pyarrow as pa

from ....io.bundle import metric_modules
from ....io.result_row import ResultRow
from ....statistics import clustered_mean
from ..measures import METHODS
from .intervals import grouped, with_units

_COLUMNS = (
    "paradigm", "phenomenon", "field", "language", "sentence_good", "sentence_bad", "cluster", "item", "method",
    "linking", "logprob_good", "logprob_bad", "score_good", "score_bad", "correct",
)  # fmt: skip


def aggregate_scores(examples: pa.Table) -> list[ResultRow]:
    """Average scores per example: rows for each group of `intervals.grouped`, by method.

    `n` counts the pairs scored, `n_excluded` those without prefixes for the method. A group without a scored pair has
    the score NaN.
    """
    frame = examples.select([name for name in _COLUMNS if name in examples.column_names]).to_pandas()
    frame = frame.rename(columns={"correct": "score"}).astype({"score": float})
    compared = "logprob" if "score_good" not in frame else "score"
    outcomes = metric_modules("minimal_pair_accuracy").accuracy.outcomes
    found = outcomes(frame[f"{compared}_good"], frame[f"{compared}_bad"])
    is_scored = frame["score"].notna()
    # A null is no NaN: of imported pairs, only the outcome may be known.
    is_compared = is_scored & examples[f"{compared}_good"].is_valid().to_numpy()
    frame = frame.assign(tie=found.tie & is_scored, nonfinite=found.nonfinite & is_compared)
    return [row for method in METHODS for row in _rows(frame[frame["method"] == method], method)]


def _rows(pairs: pd.DataFrame, method: str) -> list[ResultRow]:
    if pairs.empty:
        return []
    about = {"method": method} | ({"linking": pairs["linking"].iloc[0]} if "linking" in pairs else {})
    return [
        group.row(
            "accuracy",
            clustered_mean(group.items["score"], group.units),
            n_ties=int(group.items["tie"].sum()),
            n_nonfinite=int(group.items["nonfinite"].sum()),
            **about,
        )
        for group in grouped(with_units(pairs))
    ]
