"""The suite's tabs of the explorer: accuracies of all runs, and people next to models (`tab_people.py`)."""

from functools import partial

import pandas as pd

from ....report.blocks import Control, Table, View
from ....report.inputs import Runs, configs_apart
from ..measures import ACCURACY, METHOD_LABELS
from .section_paradigms import METHODS, RUN, TOTAL, accuracy_cells, from_blimp, system_names
from .tab_items import pair_items
from .tab_people import people_tabs

LEVELS = ("phenomenon", "paradigm", "field")


def tabs(runs: Runs) -> list[View]:
    """Return the tabs `BLiMP` (also for other pairs) and `People`; none if no run has results of the suite."""
    rows = runs.suite("minimal_pairs")
    rows = configs_apart(rows[rows["metric"] == "accuracy"])
    rows = rows.assign(method=rows["method"].fillna("full"))
    if rows.empty:
        return []
    methods = {name: method for method, name in METHODS.items() if method in set(rows["method"])}
    controls = [Control("By", {level: level for level in LEVELS}), Control("Asked by", methods)]
    name = "BLiMP" if from_blimp(pd.Index(rows["value"])).any() else "Minimal pairs"
    headlines = {METHOD_LABELS[method]: (LEVELS[0], title) for title, method in methods.items()}
    blocks = partial(_accuracies, runs, rows, name)
    table = View(name, "", blocks, controls, (), name, headlines=headlines)
    return [table, *people_tabs(runs, rows[rows["method"] == "full"])]


def _accuracies(runs: Runs, rows: pd.DataFrame, data: str, level: str, method: str) -> list[Table]:
    """Show accuracies by one method, by phenomenon, paradigm or field, and overall."""
    rows = rows[rows["method"] == method]
    cells = accuracy_cells(rows, level)
    table = Table.of_scores(
        cells.assign(system=system_names(zip(cells["kind"], cells["system"], strict=True))),
        f"{data}: accuracy by {level}.",
        level.capitalize(),
        unit="pairs",
        digits=ACCURACY.digits,
        totals=[TOTAL],
        items=pair_items(runs, cells[cells["kind"] == RUN], method),
        measure="accuracy",
        compared=METHOD_LABELS[method],
        limited_to=f"by {level}" + ("" if method == "full" else f" {method}"),
    )
    return [table]
