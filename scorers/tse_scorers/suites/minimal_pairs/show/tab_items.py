"""The items behind the scores of the explorer's tab `BLiMP`: minimal pairs, with people's judgments."""

from functools import partial

import pandas as pd

from ....report.blocks import ScoredItems
from ....report.inputs import Runs
from ...item_files import files_of, read_files
from .section_paradigms import phenomenon_name
from .tab_people import judged_pairs

_COLUMNS = [
    "method", "paradigm", "phenomenon", "field", "sentence_good", "sentence_bad", "logprob_good", "logprob_bad",
    "correct",
]  # fmt: skip


def pair_items(runs: Runs, rows: pd.DataFrame, method: str) -> ScoredItems:
    """Return the minimal pairs that one method compares, for a table by `paradigm`, `phenomenon` or `field`."""
    groups = rows[["label", "level", "value"]].drop_duplicates().itertuples(index=False)
    values = {"logprob_good": "log P(good)", "logprob_bad": "log P(bad)", "score": "correct"}
    return ScoredItems(
        f"minimal_pairs.{method}",
        {label: {} if level == "all" else {level: _shown(level, value)} for label, level, value in groups},
        partial(read_pairs, runs, method),
        values,
        unit="pairs",
        people="people who choose the good one",
        averaged="paradigm",
    )


def _shown(level: str, value: str) -> str:
    return phenomenon_name(value) if level == "phenomenon" else value


def read_pairs(runs: Runs, method: str, system: str) -> pd.DataFrame:
    """Return a system's minimal pairs."""
    frame = read_files(files_of(runs, "minimal_pairs", system), _COLUMNS)
    if "method" in frame:
        frame = frame[frame["method"] == method].drop(columns="method")
    named = {"sentence_good": "good", "sentence_bad": "bad", "correct": "score"}
    frame = frame.rename(columns=named).assign(phenomenon=frame["phenomenon"].map(phenomenon_name))
    people = _people()
    if len(people) and method == "full":
        frame = frame.merge(people, on=["paradigm", "good", "bad"], how="left")
    return frame.drop(columns="config").drop_duplicates(["paradigm", "good", "bad"])


def _people() -> pd.DataFrame:
    """Return the share of people who chose the acceptable sentence, for the pairs that people judged."""
    named = {"sentence_good": "good", "sentence_bad": "bad", "share": "people"}
    return judged_pairs().rename(columns=named)[["paradigm", "good", "bad", "people"]]
