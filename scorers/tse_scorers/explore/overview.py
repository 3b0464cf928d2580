"""What the page shows of all suites at once: the leaderboard, and scores over the course of training.

Both come from the suites' headline measures alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from ..report.blocks import Chart, Control, View
from ..report.inputs import Runs
from ..report.leaderboard import BADGES, Cell
from ..report.leaderboard import leaderboard as in_report
from ..report.measure import Measures
from ..report.revisions import positions
from ..report.series import LEAST
from ..report.summary import headlines
from ..report.systems import model_names
from ..suites.registry import names, suites_of
from ..suites.standard_view import measures_in, rows_of
from .view_data import NUMBERS, plain_number

Data = dict[str, Any]


def leaderboard(runs: Runs, views: Mapping[str, Sequence[View]]) -> Data:
    """Return the report's leaderboard as data: a row for each system and a column for each headline measure.

    A cell has the numbers of `NUMBERS`, its badges, and whether it is the best of its column.

    Args:
        runs: the results.
        views: of each suite; they say where the items of a score are.
    """
    measures: Measures = {suite.name: suite.measures for suite in suites_of(runs)}
    lines = headlines(runs.rows, measures, names().heading)
    board = in_report(lines, runs.signatures, is_series=bool(_series(runs.rows).any()))
    suites = [suite for suite, span in board.groups for _ in range(span)]
    keys = list(zip(suites, board.columns, strict=True))
    line_of = {(line["suite"], line["measure"], line["system"]): line for line in lines.to_dict("records")}
    first = {key[:2]: line for key, line in reversed(line_of.items())}
    return {
        "kind": "table",
        "across": "measure",
        "caption": "Headline scores, with 95 % intervals.",
        "corner": "Model",
        "unit": "items",
        "digits": 2,
        "ties": "",
        "badges": BADGES,
        "systems": [_column(first[key], measures, views) for key in keys],
        "rows": [{"name": system, "total": False} for system in board.rows],
        "cells": [
            [_cell(line_of.get((*key, system)), cell) for key, cell in zip(keys, cells, strict=True)]
            for system, cells in board.rows.items()
        ],
        "items": None,
        "compared": "",
        "measure": "score",
        "limited_to": "",
    }


def _column(line: Mapping[str, Any], measures: Measures, views: Mapping[str, Sequence[View]]) -> Data:
    """Describe the column of a headline number."""
    suite, heading = line["suite_name"], line["suite"]
    measure = next(measure for measure in measures[suite] if measure.label == line["measure"])
    return {
        "name": f"{heading}: {measure.label}",
        "label": measure.label,
        "digits": measure.digits,
        "heading": heading,
        "link": _link(views.get(suite, ()), line["config"], measure.label),
    }


def _cell(line: Mapping[str, Any] | None, cell: Cell) -> list[Any] | None:
    if line is None:
        return None
    return [*(plain_number(line[name]) for name in NUMBERS), list(cell.badges), cell.best]


def _link(views: Sequence[View], config: str | None, label: str) -> dict[str, str] | None:
    """Return what the page's address says of the items behind a score; None where no view shows them."""
    for view in views:
        if view.tab and label in view.headlines:
            choices = {f"c{place}": choice for place, choice in enumerate(view.headlines[label])}
            part = {"part": view.part} if view.part else {}
            return {"tab": view.tab, **part, **choices, "whole": config or ""}
    return None


def training_views(runs: Runs) -> list[View]:
    """Return a part of the tab `Training` for each suite and data of which a model has enough revisions."""
    runs = runs.every_revision()
    suite_names = names()
    rows = runs.rows.assign(x=positions(runs.rows["revision"]))
    rows = rows[_series(rows) & rows["x"].notna() & rows["score"].notna()]
    scored = [
        rows_of(of_suite, measure).assign(measure=measure.label)
        for suite in suites_of(runs)
        for of_suite in [rows[rows["suite"] == suite.name]]
        for measure in measures_in(suite.measures, of_suite)
    ]
    views = []
    for (suite, config), of_data in (
        pd.concat(scored).groupby(["suite", "config"], sort=False) if scored else ()
    ):
        group_names = suite_names.groups(suite, of_data["level"], of_data["value"])
        of_data = of_data.assign(named=group_names, line=of_data["model"].map(model_names(of_data["model"])))
        labels = Control("Score", {label: label for label in of_data["measure"].unique()})
        controls = [labels, Control("Of", dict(_groups(of_data)))]
        blocks = partial(_curves, of_data)
        views.append(View("", "", blocks, controls, tab="Training", part=suite_names.heading(suite, config)))
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
        {measure: shown[["x", "n", "ci_low", "ci_high", "reliable"]].assign(label=label, y=shown["score"])},
        caption=f"{measure} of {of} over the course of training. Each point is one revision; its place is the last "
        "number in the revision's name.",
        x="step or tokens",
        limited_to=of,
    )
    return [chart]
