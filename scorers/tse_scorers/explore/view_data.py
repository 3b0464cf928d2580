"""What a tab of a suite shows → data for the page; the page knows three kinds of views and no suite."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..report.correlation import correlate
from ..report.cutoff_charts import FEW_CONTEXTS
from ..report.leaderboard import BADGES
from ..report.numbers import FEW_ITEMS
from ..report.tables import score
from ..suites.base import Curves, Points, ScoredItems, SideBySide

RESAMPLES = 1000
"""Of the bootstrap intervals."""
_COUNTS = ("n", "n_excluded", "n_ties")


def view_data(
    view: SideBySide | Curves | Points, names: Mapping[str, str] | None = None, partial: Collection[str] = ()
) -> dict[str, Any]:
    """Return a view as JSON-able data; a number that does not exist is None.

    Args:
        view: what a suite's tab shows.
        names: label of a system -> its name in the names of files of items.
        partial: labels of systems that were scored on a part of the data.
    """
    match view:
        case SideBySide():
            return _table(view, names or {}, partial)
        case Curves():
            return _curves(view)
        case Points():
            return _points(view)


def _table(view: SideBySide, names: Mapping[str, str], partial: Collection[str]) -> dict[str, Any]:
    cells = view.cells.drop_duplicates(["label", "system"], keep="last")
    cells = cells.reindex(columns=["label", "system", "score", *_COUNTS, "ci_low", "ci_high", "reliable"])
    scored_here = set(cells["system"][cells["n"].notna()])
    numbers_of = {
        (label, system): [_number(value) for value in numbers]
        for label, system, *numbers in cells.itertuples(index=False)
    }
    systems, rows = (list(dict.fromkeys(view.cells[name])) for name in ("system", "label"))
    return {
        "kind": "table",
        "caption": view.caption,
        "corner": view.corner,
        "unit": view.unit,
        "percent": view.percent,
        "ties": view.ties,
        "few": FEW_ITEMS,
        "badges": BADGES,
        "systems": [
            {
                "name": system,
                "published": system not in scored_here,
                "file": names.get(system),
                "partial": system in partial,
            }
            for system in systems
        ],
        "rows": [{"name": str(row), "total": row in view.totals} for row in rows],
        "cells": [[numbers_of.get((row, system)) for system in systems] for row in rows],
        "items": None if view.items is None else _items(view.items, rows),
        "measure": view.measure,
        "limited_to": view.limited_to,
    }


def _items(items: ScoredItems, rows: Collection[str]) -> dict[str, Any]:
    return {
        "name": items.name,
        "unit": items.unit,
        "people": items.people,
        "averaged": items.averaged,
        "values": dict(items.values),
        "rows": {str(row): dict(items.rows[row]) for row in rows if row in items.rows},
    }


def _curves(view: Curves) -> dict[str, Any]:
    points = view.points[["measure", "label", "side", "x", "y", "n"]]
    return {
        "kind": "curves",
        "caption": view.caption,
        "limited_to": view.limited_to,
        "few": FEW_CONTEXTS,
        "points": [
            [measure, str(label), side, _number(x), _number(y), _number(n)]
            for measure, label, side, x, y, n in points.itertuples(index=False)
        ],
    }


def _points(view: Points) -> dict[str, Any]:
    headings: Mapping[str, str] = view.headings or {column: str(column) for column in view.points}
    points = view.points
    if view.same_scale:
        points = points.assign(difference=points["y"] - points["x"])
        headings = {**headings, "difference": f"{headings['y']} − {headings['x']}"}
    return {
        "kind": "points",
        "caption": f"{view.caption} {correlation(view)}",
        "x": view.x,
        "y": view.y,
        "unit": view.unit,
        "same_scale": view.same_scale,
        "limited_to": view.limited_to,
        "headings": dict(headings),
        "columns": {
            name: [_number(value) for value in points[name]]
            for name in dict.fromkeys(["item", "label", "x", "y", *headings])
        },
    }


def correlation(view: Points) -> str:
    """Say in words how far x and y agree, by the metric's correlations."""
    correlations = correlate(view.points["x"], view.points["y"], n_resamples=RESAMPLES, intervals=["pearson"])
    if correlations is None:
        return f"Too few {view.unit} for a correlation."
    if not np.isfinite(correlations["pearson"]):
        return f"No correlation over {correlations['n']} {view.unit}: one side is the same everywhere."
    low, high = correlations["pearson_interval"]
    return (
        f"Pearson's r {score(correlations['pearson'])} (95 % from {score(low)} to {score(high)}), Spearman's ρ "
        f"{score(correlations['spearman'])}, {correlations['n']} {view.unit}."
    )


def _number(value: Any) -> Any:
    """Return a number with six decimals, None for NaN; texts as they are.

    What rounds to a whole number keeps its digits: it would be printed as exactly 1.
    """
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return None
    if float(value).is_integer():
        return int(value)
    rounded = round(float(value), 6)
    return float(value) if rounded.is_integer() else rounded
