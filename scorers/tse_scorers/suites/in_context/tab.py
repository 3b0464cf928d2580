"""The suite's tab of the explorer: accuracy by context and length, all runs side by side."""

from functools import partial

import pandas as pd

from ...io.result_row import group_name
from ...report.inputs import Runs, configs_apart
from ..base import Control, SideBySide, Tab
from ..side_by_side import CELLS
from .section import TERMS


def tabs(runs: Runs) -> list[Tab]:
    """Return the tab; none if no run has results of the suite."""
    rows = configs_apart(runs.suite("in_context"))
    rows = rows[rows["metric"] == "accuracy_in_context"]
    if rows.empty:
        return []
    places = rows[["level", "value"]].drop_duplicates().itertuples(index=False)
    groups = {value if level != "all" else "all": group_name(level, value) for level, value in places}
    return [Tab("In context", [Control("Pairs", groups)], partial(_accuracies, rows), TERMS)]


def _accuracies(rows: pd.DataFrame, group: str) -> SideBySide:
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
    )
