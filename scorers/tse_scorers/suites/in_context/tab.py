"""The suite's tab of the explorer: accuracy by context and length, all runs side by side."""

from functools import partial

import pandas as pd

from ...io.result_row import group_name
from ...report.inputs import Runs, configs_apart
from ..base import Control, ScoredItems, SideBySide, Tab
from ..item_files import files_of, read_files
from ..side_by_side import CELLS
from .queries import LABELS
from .section import TERMS

_COLUMNS = [
    "paradigm", "phenomenon", "field", "context", "length", "prefix", "sentence_good", "sentence_bad", "logprob_good",
    "logprob_bad", "correct",
]  # fmt: skip


def tabs(runs: Runs) -> list[Tab]:
    """Return the tab; none if no run has results of the suite."""
    rows = configs_apart(runs.suite("in_context"))
    rows = rows[rows["metric"] == "accuracy_in_context"]
    if rows.empty:
        return []
    places = rows[["level", "value"]].drop_duplicates().itertuples(index=False)
    groups = {value if level != "all" else "all": group_name(level, value) for level, value in places}
    headlines = {label: ("all",) for label in LABELS.values()}
    return [
        Tab(
            "In context",
            [Control("Pairs", groups)],
            partial(_accuracies, runs, rows),
            TERMS,
            headlines=headlines,
        )
    ]


def _accuracies(runs: Runs, rows: pd.DataFrame, group: str) -> SideBySide:
    shown = rows[rows["group"] == group]
    lengths = shown["length"].astype(int).astype(str)
    labels = shown["context"].where(shown["length"].astype(int) == 0, shown["context"] + " · " + lengths)
    return SideBySide(
        shown.assign(label=labels).reindex(columns=CELLS),
        caption="Accuracy in %, by context and number of its sentences.",
        corner="Context",
        unit="pairs",
        percent=True,
        measure="accuracy",
        limited_to=shown["value"].iloc[0] or "all",
        items=_items(runs, shown.assign(label=labels)),
    )


def _items(runs: Runs, rows: pd.DataFrame) -> ScoredItems:
    """Return the pairs after each context, where the group is one of the columns of their scores."""
    places = rows.drop_duplicates("label")[["label", "context", "length", "level", "value"]]
    of_rows = {
        label: {"context": str(context), "length": str(int(length))}
        | ({} if level == "all" else {level: value})
        for label, context, length, level, value in places.itertuples(index=False)
    }
    values = {"logprob_good": "log P(good)", "logprob_bad": "log P(bad)", "score": "correct"}
    return ScoredItems("in_context", of_rows, partial(_pairs, runs), values, "pairs", averaged="paradigm")


def _pairs(runs: Runs, system: str) -> pd.DataFrame:
    frame = read_files(files_of(runs, "in_context", system), _COLUMNS).drop(columns="config")
    texts = {
        named: (frame["prefix"] + " " + frame[column]).str.strip()
        for named, column in (("good", "sentence_good"), ("bad", "sentence_bad"))
    }
    frame = frame.assign(**texts, length=frame["length"].astype(int).astype(str), score=frame["correct"])
    return frame.drop(columns=["prefix", "sentence_good", "sentence_bad", "correct"])
