"""The items behind the scores: minimal pairs."""

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from ....report.blocks import ScoredItems
from ....report.inputs import Runs
from ....report.measure import Measure
from ...item_files import files_of, items_of_rows, read_files
from .texts import phenomenon_name

if TYPE_CHECKING:
    from ...contract import Suite

_COLUMNS = [
    "method", "context", "paradigm", "phenomenon", "field", "sentence_good", "sentence_bad", "logprob_good",
    "logprob_bad", "correct",
]  # fmt: skip


def pair_items(suite: "type[Suite]", runs: Runs, measure: Measure, rows: pd.DataFrame) -> ScoredItems:
    """Return the minimal pairs that one method compares, behind results with a `label`."""
    method = str(measure.at["method"])
    # Pairs have the names of phenomena that tables call them by.
    rows = rows.assign(value=rows["label"].where(rows["level"] == "phenomenon", rows["value"]))
    values = {"logprob_good": "log P(good)", "logprob_bad": "log P(bad)", "score": "correct"}
    return ScoredItems(
        f"minimal_pairs.{method}",
        items_of_rows(rows),
        partial(read_pairs, runs, method),
        values,
        unit="pairs",
        averaged="paradigm",
    )


def read_pairs(runs: Runs, method: str, system: str) -> pd.DataFrame:
    """Return a system's minimal pairs."""
    pairs = read_files(files_of(runs, "minimal_pairs", system), _COLUMNS)
    if "method" in pairs:
        pairs = pairs[pairs["method"] == method].drop(columns="method")
    if "context" in pairs:
        before = pairs["context"].fillna("") + " "
        sides = ("sentence_good", "sentence_bad")
        pairs = pairs.assign(**{side: (before + pairs[side]).str.strip() for side in sides})
    names = {"sentence_good": "good", "sentence_bad": "bad", "correct": "score"}
    pairs = pairs.rename(columns=names).assign(phenomenon=pairs["phenomenon"].map(phenomenon_name))
    return pairs.drop(columns="config").drop_duplicates(["paradigm", "good", "bad"])
