"""The suite's tabs of the explorer: accuracies of all runs, and people next to models (`tab_people.py`)."""

from functools import partial

import pandas as pd

from ....io.bundle import metric_modules
from ....report.blocks import Control, Table, View
from ....report.inputs import Runs, configs_apart
from ....report.tables import CELLS, cells_of, with_published
from ..measures import ACCURACY, METHOD_LABELS
from .section_paradigms import (
    METHODS,
    RUN,
    by_paradigm,
    from_blimp,
    is_without_paradigms,
    phenomenon_name,
    phenomenon_of,
    system_names,
)
from .tab_items import pair_items
from .tab_people import people_tabs

TOTAL = "Overall"
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
    ours = rows[rows["level"].isin((level, "all"))]
    if is_without_paradigms(rows):
        ours = ours[ours["level"] == "all"]
    names = ours["value"].map(phenomenon_name) if level == "phenomenon" else ours["value"]
    ours = ours.assign(label=names.where(ours["level"] != "all", TOTAL))
    # Others judged whole sentences; their means are over the paradigms that were run.
    theirs = _published(rows, level) if method == "full" else pd.DataFrame(columns=CELLS)
    table = Table.of_scores(
        with_published(ours, theirs),
        f"{data}: accuracy by {level}.",
        level.capitalize(),
        unit="pairs",
        digits=ACCURACY.digits,
        totals=[TOTAL],
        items=pair_items(runs, ours, method),
        measure="accuracy",
        compared=METHOD_LABELS[method],
        limited_to=f"by {level}" + ("" if method == "full" else f" {method}"),
    )
    return [table]


def _published(rows: pd.DataFrame, level: str) -> pd.DataFrame:
    """Return the cells of published models and of people."""
    others = by_paradigm(rows).drop(columns=[RUN], level=0)
    if others.empty or others.columns.empty:
        return pd.DataFrame(columns=CELLS)
    others.columns = pd.Index(system_names(others.columns))
    fields = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS
    groups = {
        "paradigm": lambda paradigm: paradigm,
        "phenomenon": lambda paradigm: phenomenon_name(phenomenon_of(paradigm)),
        "field": lambda paradigm: fields.get(paradigm, ("", "other paradigms"))[1],
    }
    means = others.groupby(others.index.map(groups[level])).mean()
    means.loc[TOTAL] = others.mean()
    return cells_of(means)
