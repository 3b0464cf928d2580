"""The suite's tab of the explorer: accuracy per criterion, all runs side by side."""

from functools import partial

import pandas as pd

from ...report.inputs import Runs, configs_apart
from ..base import Control, SideBySide, Tab
from ..side_by_side import CELLS
from .section import TERMS

_LEVELS = {"suites": "suite", "criteria": "criterion"}


def tabs(runs: Runs) -> list[Tab]:
    """Return the tab; none if no run has criteria."""
    rows = configs_apart(runs.suite("regions"))
    rows = rows[rows["metric"] == "criterion_accuracy"]
    terms = {"Criterion": TERMS["Criterion"]}
    return [Tab("Regions", [Control("By", _LEVELS)], partial(_accuracies, rows), terms)] if len(rows) else []


def _accuracies(rows: pd.DataFrame, level: str) -> SideBySide:
    shown = rows[rows["level"].isin((level, "all"))]
    labels = shown["value"].where(shown["level"] != "all", "Overall")
    return SideBySide(
        shown.assign(label=labels).reindex(columns=CELLS),
        caption="Items that fulfil the criteria, in %.",
        corner="Suite" if level == "suite" else "Criterion",
        unit="items",
        percent=True,
        totals=["Overall"],
        measure="accuracy",
        limited_to="by suite" if level == "suite" else "by criterion",
        ties="do not fulfil a strict comparison",
    )
