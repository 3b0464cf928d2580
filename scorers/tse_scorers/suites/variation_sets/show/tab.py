"""The suite's tabs of the explorer: AUCs of all runs, and people next to models in the 36 cells."""

from functools import partial

import pandas as pd

from ....report.blocks import Chart, Control, Table, View
from ....report.inputs import Runs, configs_apart
from ..measures import KIND_LABELS
from .section_cells import HUMANS, SETS, TOTAL, auc_cells, our_cells, published_cells, published_systems
from .section_ties import tied_systems
from .tab_items import comparison_items

LEVELS = {"case orders": "case_order", "role assignments": "role", "cells": "cell", "kinds of set": "set"}
_CORNERS = {"cell": "Case order · roles", "case_order": "Case order", "role": "Roles", "set": "Kind of set"}


def tabs(runs: Runs) -> list[View]:
    """Return the tabs `German` and `People`; none if no run has results of the suite."""
    rows = configs_apart(runs.suite("german"))
    rows = rows[rows["metric"] == "auc"]
    if rows.empty:
        return []
    kinds = Control("Violations in a set", {name: kind for kind, name in SETS.items()})
    headlines = {KIND_LABELS[kind]: (next(iter(LEVELS)), name) for kind, name in SETS.items()}
    blocks = partial(_aucs, runs, rows)
    table = View("German", "", blocks, [Control("By", LEVELS), kinds], (), "German", headlines=headlines)
    theirs = published_systems()
    if HUMANS not in theirs:
        return [table]
    ours = rows.loc[rows["level"] == "cell", "system"].unique()
    systems = [*ours, *(system for system in theirs if system != HUMANS)]
    models = Control("Model", {system: system for system in systems})
    people = View("", "", partial(_people, rows), [models, kinds], (), "People", "German cells")
    return [table, people] if systems else [table]


def _aucs(runs: Runs, rows: pd.DataFrame, level: str, kind: str) -> list[Table]:
    """Show AUCs by `cell`, `case_order` or `role` for one kind of set; or by kind of `set`, over all cells."""
    cells = auc_cells(rows, level, kind)
    tied = tied_systems(rows)
    of = "" if level == "set" else f", sets of {SETS[kind]}"
    table = Table.of_scores(
        cells,
        f"AUC of minimal variation sets, 0 to 1{of}.",
        _CORNERS[level],
        unit="sets",
        totals=[TOTAL],
        ties="count half" + (f" (all comparisons of {', '.join(tied)} tie)" if tied else ""),
        items=comparison_items(runs, cells[cells["level"].notna()]),
        measure="AUC",
        compared="" if level == "set" else KIND_LABELS[kind],
        limited_to=f"by {_CORNERS[level]}{of}",
    )
    return [table]


def _people(rows: pd.DataFrame, system: str, kind: str) -> list[Chart]:
    """Show people's AUC and a system's in each cell, for one kind of set.

    Raises:
        ValueError: one of them has no such cells.
    """
    published = published_cells()
    human = published[HUMANS]
    grid = (published | our_cells(rows[rows["system"] == system]))[system].get(kind)
    if grid is None or kind not in human or grid.isna().all(axis=None):
        raise ValueError(
            f"{system} has no AUCs for sets of {SETS[kind]}. Choose another kind of set or model."
        )
    points = pd.DataFrame({"x": human[kind].stack(), "y": grid.stack()}).reset_index(names=["label", "role"])
    chart = Chart(
        "scatter",
        "people",
        {"": points.assign(item=points["label"] + " · " + points["role"])},
        caption=f"{system} and people.",
        x=f"people: AUC (sets of {SETS[kind]})",
        y=f"{system}: AUC (sets of {SETS[kind]})",
        unit="cells",
        headings={"item": "Case order · roles", "x": "people", "y": "system"},
        same_scale=True,
        limited_to=f"{system} {SETS[kind]}",
    )
    return [chart]
