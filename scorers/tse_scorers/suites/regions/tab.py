"""The suite's tab of the explorer: accuracy per criterion, all runs side by side."""

from collections.abc import Callable, Mapping
from functools import partial

import pandas as pd

from ...report.inputs import Runs, ScoreFile, configs_apart
from ..base import Control, SideBySide, Tab
from ..item_files import compared_items
from ..items import ItemScores
from ..side_by_side import CELLS
from .scores import CRITERIA
from .section import TERMS

Compared = Callable[[ScoreFile], Mapping[str, ItemScores]]
_MEASURE = "criteria"
_LEVELS = {"suites": "suite", "criteria": "criterion"}


def tabs(runs: Runs, compared: Compared) -> list[Tab]:
    """Return the tab; none if no run has criteria."""
    rows = configs_apart(runs.suite("regions"))
    rows = rows[rows["metric"] == "criterion_accuracy"]
    terms = {"Criterion": TERMS["Criterion"]}
    view, by = partial(_accuracies, runs, compared, rows), [Control("By", _LEVELS)]
    return [Tab("Regions", by, view, terms, headlines={_MEASURE: ("suites",)})] if len(rows) else []


def _accuracies(runs: Runs, compared: Compared, rows: pd.DataFrame, level: str) -> SideBySide:
    shown = rows[rows["level"].isin((level, "all"))]
    shown = shown.assign(label=shown["value"].where(shown["level"] != "all", "Overall"))
    return SideBySide(
        shown.reindex(columns=CELLS),
        caption="Items that fulfil the criteria, in %.",
        corner="Suite" if level == "suite" else "Criterion",
        unit="items",
        percent=True,
        totals=["Overall"],
        measure="accuracy",
        compared=_MEASURE,
        items=compared_items(runs, "regions", compared, _MEASURE, shown, CRITERIA),
        limited_to="by suite" if level == "suite" else "by criterion",
        ties="do not fulfil a strict comparison",
    )
