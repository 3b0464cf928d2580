"""What the page shows of all suites at once: the leaderboard, and scores over the course of training.

Both come from the suites' headline measures alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from ..report.blocks import Chart, Control, View
from ..report.inputs import Runs
from ..report.leaderboard import BADGES
from ..report.measure import Measures, measure_named, measured
from ..report.numbers import FEW_ITEMS
from ..report.revisions import positions
from ..report.series import LEAST
from ..report.systems import model_names
from ..suites.registry import names, suites_of
from .view_data import NUMBERS, plain_number

Data = dict[str, Any]


def leaderboard(runs: Runs, views: Mapping[str, Sequence[View]], on_part: Mapping[str, set[str]]) -> Data:
    """Return a table with a row for each system and a column for each headline measure, in its own scale.

    Args:
        runs: the results.
        views: of each suite; they say where the items of a score are.
        on_part: of each suite, the systems that were scored on a part of its data.
    """
    measures: Measures = {suite.name: suite.measures for suite in suites_of(runs)}
    heading = names().heading
    whole = runs.rows[runs.rows["group"] == "all"].to_dict("records")
    found = {
        (str(row["suite"]), row["config"], measure.label, row["system"]): row
        for row, measure in measured(whole, measures)
    }
    order = [(suite, measure.label) for suite, declared in measures.items() for measure in declared]
    columns = sorted({key[:3] for key in found}, key=lambda key: (key[0], str(key[1])))
    columns.sort(key=lambda key: order.index((key[0], key[2])))
    columns.sort(key=lambda key: list(measures).index(key[0]))
    headings = {column: heading(*column[:2]) for column in columns}
    systems = list(dict.fromkeys(runs.rows["system"]))
    if columns and not _series(runs.rows).any():
        systems.sort(key=lambda system: _rank(found.get((*columns[0], system))), reverse=True)
    cells = [
        [_cell(found.get((*column, system)), system in on_part.get(column[0], ())) for column in columns]
        for system in systems
    ]
    all_partial = [all(cell[-1] for row in cells if (cell := row[place])) for place in range(len(columns))]
    return {
        "kind": "table",
        "across": "measure",
        "caption": "Headline scores, with 95 % intervals.",
        "corner": "Model",
        "unit": "items",
        "percent": False,
        "ties": "",
        "few": FEW_ITEMS,
        "badges": BADGES,
        "systems": [
            {
                "name": f"{headings[column]}: {column[2]}",
                "label": (own := measure_named(measures, column[0], column[2])).heading,
                "percent": own.percent,
                "heading": headings[column],
                "link": _link(views.get(column[0], ()), *column[1:]),
                "partial": is_partial,
            }
            for column, is_partial in zip(columns, all_partial, strict=True)
        ],
        "rows": [{"name": system, "total": False} for system in systems],
        "cells": cells,
        "items": None,
        "compared": False,
        "measure": "score",
        "limited_to": "",
    }


def _rank(row: Mapping[str, Any] | None) -> float:
    return -1.0 if row is None or pd.isna(row["score"]) else float(row["score"])


def _cell(row: Mapping[str, Any] | None, is_partial: bool) -> list[Any] | None:
    return None if row is None else [*(plain_number(row[name]) for name in NUMBERS), is_partial]


def _link(views: Sequence[View], config: str | None, label: str) -> dict[str, str] | None:
    """Return what the page's address says of the items behind a score; None where no view shows them."""
    for view in views:
        if label in view.headlines:
            choices = {f"c{place}": choice for place, choice in enumerate(view.headlines[label])}
            part = {"part": view.part} if view.part else {}
            return {"tab": view.tab, **part, **choices, "whole": config or ""}
    return None


def training_views(runs: Runs) -> list[View]:
    """Return a part of the tab `Training` for each suite and data of which a model has enough revisions."""
    runs = runs.every_revision()
    measures, known = {suite.name: suite.measures for suite in suites_of(runs)}, names()
    rows = runs.rows.assign(x=positions(runs.rows["revision"]))
    rows = rows[_series(rows) & rows["x"].notna() & rows["score"].notna()]
    scored = pd.DataFrame(
        [{**row, "measure": measure.label} for row, measure in measured(rows.to_dict("records"), measures)]
    )
    views = []
    for (suite, config), of_data in scored.groupby(["suite", "config"], sort=False) if len(scored) else ():
        named = [known.group(suite, *place) for place in zip(of_data["level"], of_data["value"], strict=True)]
        of_data = of_data.assign(named=named, line=of_data["model"].map(model_names(of_data["model"])))
        labels = Control("Score", {label: label for label in of_data["measure"].unique()})
        controls = [labels, Control("Of", dict(_groups(of_data)))]
        blocks = partial(_curves, of_data)
        views.append(View("", "", blocks, controls, tab="Training", part=known.heading(suite, config)))
    return views


def _series(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Whether each row is of a model with enough revisions for a curve, on its suite and data."""
    keys = [rows["suite"], rows["config"].astype(str), rows["model"]]
    places = positions(rows["revision"])
    return places.groupby(keys, sort=False).transform("nunique") >= LEAST


def _groups(rows: pd.DataFrame) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """Yield the choices of groups: everything, each group of a level, and every single group."""
    places = rows[["level", "value", "named"]].drop_duplicates()
    levels = places["level"].value_counts(sort=False)
    if "all" in levels:
        yield "everything", ("all", None)
    yield from ((f"each {level.replace('_', ' ')}", (level, None)) for level in levels.index[levels > 1])
    for level, value, name in places.itertuples(index=False):
        if level != "all":
            yield f"{level.replace('_', ' ')}: {name}", (level, value)


def _curves(rows: pd.DataFrame, measure: str, place: tuple[str, str | None]) -> list[Chart]:
    """Show the scores of a measure over revisions, of one group or of each group of a level."""
    level, value = place
    shown = rows[(rows["measure"] == measure) & (rows["level"] == level)]
    shown = shown if value is None else shown[shown["value"] == value]
    if shown.empty:
        raise ValueError(f"{measure} has no scores of these groups. Choose something else in the list.")
    line, group = shown["line"], shown["named"]
    several = line.nunique() > 1
    label = line if group.nunique() == 1 else line + " · " + group if several else group
    of = (
        "everything"
        if level == "all"
        else f"each {level.replace('_', ' ')}"
        if value is None
        else group.iloc[0]
    )
    chart = Chart(
        "lines",
        "training",
        {measure: shown[["x", "n", "ci_low", "ci_high"]].assign(label=label, y=shown["score"])},
        caption=f"{measure} of {of} over the course of training. Each point is one revision; its place is the last "
        "number in the revision's name.",
        x="step or tokens",
        limited_to=of,
    )
    return [chart]
