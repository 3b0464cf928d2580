"""Blocks, and the items behind scores → data for the page.

The page knows no suite. It draws tables of scores, curves and scatter plots itself, and shows the numbers of other
charts as plain tables. Texts of items are shared by systems; numbers are of one system.
"""

import base64
import hashlib
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..report.blocks import Block, Chart, Examples
from ..report.correlation import correlate
from ..report.cutoff_charts import FEW_CONTEXTS
from ..report.leaderboard import BADGES, doubts_of
from ..report.observations import split_pair
from ..report.scales import short_number
from ..report.tables import ScoredItems, Table, joined, score, shared_headings

_SHOWN = ("people",)
"""Columns of numbers that belong to the texts."""


@dataclass(frozen=True)
class SystemItems:
    """The items of one system.

    Attributes:
        texts_name: the same for systems with the same items in the same order.
        frame: what the suite read.
        columns: the columns of texts that describe an item, such as its row in a table.
        values: column of numbers -> heading.
    """

    texts_name: str
    frame: pd.DataFrame
    columns: tuple[str, ...]
    values: Mapping[str, str]

    def texts(self) -> dict[str, Any]:
        """Return the texts, each pair as `before, good, bad, after` where what is in between differs."""
        numbers = [name for name in _SHOWN if name in self.frame and self.frame[name].notna().any()]
        pairs = zip(self.frame["good"].tolist(), self.frame["bad"].tolist(), strict=True)
        return {
            "texts": ["\x1f".join(split_pair(good, bad)) for good, bad in pairs],
            "labels": {name: _codes(self.frame[name]) for name in self.columns},
            "numbers": {name: packed(self.frame[name]) for name in numbers},
        }

    def numbers(self) -> dict[str, Any]:
        """Return the system's numbers, float32 in base64."""
        values = {name: packed(self.frame[name]) for name in self.values if name in self.frame}
        return {"texts": self.texts_name, "values": values}


def system_items(items: ScoredItems, system: str) -> SystemItems:
    """Read the items of one system.

    Raises:
        ValueError: the suite finds no scores of items.
    """
    frame = items.read(system).reset_index(drop=True)
    numbers = {"score", *_SHOWN, *items.values}
    columns = tuple(str(name) for name in frame if name not in {"good", "bad"} | numbers)
    hashed = pd.util.hash_pandas_object(frame[["good", "bad", *columns]], index=False)
    name = hashlib.sha256(hashed.to_numpy().tobytes()).hexdigest()[:16]
    return SystemItems(name, frame, columns, items.values)


def packed(numbers: "pd.Series[Any]") -> str:
    """Return numbers as little-endian float32 in base64.

    >>> packed(pd.Series([1.0]))
    'AACAPw=='
    """
    return base64.b64encode(np.asarray(numbers, dtype="<f4").tobytes()).decode()


def _codes(column: "pd.Series[Any]") -> dict[str, Any]:
    codes, names = pd.factorize(column.fillna("").astype(str))
    width = 2 if len(names) < 2**16 else 4
    return {
        "names": names.tolist(),
        "width": width,
        "codes": base64.b64encode(codes.astype(f"<u{width}").tobytes()).decode(),
    }


RESAMPLES = 1000
"""Of the bootstrap intervals."""
NUMBERS = ("score", "n", "n_excluded", "n_ties", "ci_low", "ci_high", "reliable")
"""What the page gets of a cell, in this order, and before its badges."""


CURVES = ("lines", "whiskers", "multiples", "cutoffs")
"""Kinds of charts that the page draws as curves."""


def blocks_data(
    blocks: Sequence[Block],
    names: Callable[[Table], Mapping[str, str]] = lambda table: {},
    partial: Collection[str] = (),
    model_of: Callable[[str], str] = str,
    compared: Callable[[Table], str] = lambda table: "",
) -> dict[str, Any]:
    """Return blocks as JSON-able data, those after the first one under `more`; a number that does not exist is None.

    Args:
        blocks: what a view shows.
        names: gives for a table: label of a system -> its name in the names of files of items.
        partial: labels of systems that were scored on a part of the data.
        model_of: gives the model of a label, which may say the configuration of the data as well.
        compared: gives the name of a table's differences in names of files; "" where they have no intervals.
    """
    first, *more = (
        _table(block, names(block), partial, model_of) | {"compared": compared(block)}
        if isinstance(block, Table) and block.cells is not None
        else _plain_table(block)
        if isinstance(block, Table)
        else _points(block)
        if block.kind == "scatter"
        else _curves(block)
        for block in _drawable(blocks)
    )
    return first | {"more": more} if more else first


def _drawable(blocks: Sequence[Block]) -> Iterator[Table | Chart]:
    """Yield the blocks that the page can draw, and the tables of other charts and those beside curves."""
    for block in blocks:
        if isinstance(block, Table) or (isinstance(block, Chart) and block.kind in (*CURVES, "scatter")):
            yield block
        if not isinstance(block, Table | Examples):
            yield from block.tables


def _plain_table(table: Table) -> dict[str, Any]:
    return {
        "kind": "plain",
        "caption": table.title,
        "note": table.notes,
        "headings": [table.corner, *shared_headings(table.text.columns)],
        "rows": [[header, *map(joined, cells)] for header, cells in table.rows()],
    }


def _table(
    view: Table, names: Mapping[str, str], partial: Collection[str], model_of: Callable[[str], str]
) -> dict[str, Any]:
    assert view.cells is not None
    cells = view.cells.drop_duplicates(["label", "system"], keep="last")
    cells = cells.reindex(
        columns=["label", "system", *NUMBERS, "n_units", "n_units_effective", "config", "group"]
    )
    scored_here = set(cells["system"][cells["n"].notna()])
    badges = map(doubts_of, cells.assign(chance=view.chance).itertuples(index=False))
    numbers_of = {
        (label, system): [*map(plain_number, numbers), list(of_cell)]
        for (label, system, *numbers), of_cell in zip(
            cells[["label", "system", *NUMBERS]].itertuples(index=False), badges, strict=True
        )
    }
    places = {
        label: [config if isinstance(config, str) else "", group]
        for label, config, group, n in cells[["label", "config", "group", "n"]].itertuples(index=False)
        if isinstance(group, str) and not pd.isna(n)
    }
    systems, rows = (list(dict.fromkeys(cells[name])) for name in ("system", "label"))
    return {
        "kind": "table",
        "caption": view.caption,
        "corner": view.corner,
        "unit": view.unit,
        "digits": view.digits,
        "ties": view.ties,
        "badges": BADGES,
        "systems": [
            {
                "name": system,
                "published": system not in scored_here,
                "file": names.get(system),
                "of": model_of(str(system)),
                "partial": system in partial,
            }
            for system in systems
        ],
        "rows": [{"name": str(row), "total": row in view.totals, "place": places.get(row)} for row in rows],
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


def _curves(view: Chart) -> dict[str, Any]:
    points = pd.concat([panel.assign(measure=title) for title, panel in view.panels.items()])
    points = points if "side" in points else points.assign(side="")
    axis = (
        _named(view.ticks)
        if view.ticks is not None
        else _cutoffs(points)
        if points["side"].any()
        else _numbers(points["x"])
    )
    order = {key: place for place, key in enumerate(axis.places)}
    columns = points.reindex(
        columns=["measure", "label", "side", "x", "y", "n", "ci_low", "ci_high", "reliable"]
    )
    return {
        "kind": "curves",
        "caption": view.caption,
        "limited_to": view.limited_to,
        "few": FEW_CONTEXTS,
        "axis": view.x,
        "y": view.y,
        "digits": view.digits,
        "unit": view.unit,
        "places": list(axis.places.values()),
        "ticks": axis.ticks,
        "points": [
            [measure, str(label), side, order[side, x], *map(plain_number, numbers)]
            for measure, label, side, x, *numbers in columns.itertuples(index=False)
        ],
    }


class _Axis(NamedTuple):
    """A horizontal axis: (side, x) -> name and place, in order; and its ticks, names and places."""

    places: dict[tuple[str, float], tuple[str, float]]
    ticks: list[tuple[str, float]]


def _cutoffs(points: pd.DataFrame) -> _Axis:
    """Place cut-offs as in the report: bottom p, then top p, each rising; the whole distribution is far right.

    The top ones do not continue the bottom ones: a place between them is empty.
    """
    keys = set(points[["side", "x"]].itertuples(index=False, name=None))
    ordered = sorted(keys, key=lambda key: (key[0] == "top", key[1]))
    n_bottom = sum(side == "bottom" for side, _ in ordered)
    places = {
        (side, x): (f"{side} {100 * x:g} %", float(place + (place >= n_bottom > 0)))
        for place, (side, x) in enumerate(ordered)
    }
    return _Axis(places, list(places.values()))


def _named(names: Sequence[str]) -> _Axis:
    places = {("", float(place)): (name, float(place)) for place, name in enumerate(names)}
    return _Axis(places, list(places.values()))


_MOST_TICKS = 6


def _numbers(x: "pd.Series[float]") -> _Axis:
    """Place numbers on a logarithmic axis, with 0 before the first; on a linear one where some are negative."""
    values = sorted(set(x))
    positive = [value for value in values if value > 0]
    if values[0] < 0 or not positive:
        places = {("", value): (short_number(value), float(value)) for value in values}
        return _Axis(places, list(places.values())[:: -(-len(places) // _MOST_TICKS)])
    least, most = (math.log10(value) for value in (positive[0], positive[-1]))
    zero = least - 0.1 * max(most - least, 1)
    places = {("", value): (f"{value:,g}", math.log10(value) if value else zero) for value in values}
    steps = (1,) if most - least > 2 else (1, 2, 5)
    tens = range(math.floor(least), math.ceil(most) + 1)
    ticks = [step * 10.0**ten for ten in tens for step in steps]
    ticks = [tick for tick in ticks if positive[0] <= tick <= positive[-1]] or positive
    distances = np.diff(np.log10(positive))
    if len(values) <= _MOST_TICKS and (distances > (most - least) / 10).all():
        ticks = positive
    shown = ticks[:: -(-len(ticks) // _MOST_TICKS)]
    at_zero = [("0", zero)] if values[0] == 0 else []
    return _Axis(places, at_zero + [(short_number(tick), math.log10(tick)) for tick in shown])


def _points(view: Chart) -> dict[str, Any]:
    (points,) = view.panels.values()
    headings = dict(view.headings) or {column: str(column) for column in points}
    if view.same_scale:
        points = points.assign(difference=points["y"] - points["x"])
        headings = {**headings, "difference": f"{headings['y']} − {headings['x']}"}
    return {
        "kind": "points",
        "caption": f"{view.caption} {correlation(points, view.unit)}",
        "x": view.x,
        "y": view.y,
        "unit": view.unit,
        "same_scale": view.same_scale,
        "limited_to": view.limited_to,
        "headings": dict(headings),
        "columns": {
            name: [plain_number(value) for value in points[name]]
            for name in dict.fromkeys(["item", "label", "x", "y", *headings])
        },
    }


def correlation(points: pd.DataFrame, unit: str) -> str:
    """Say in words how far x and y agree, by the metric's correlations."""
    correlations = correlate(points["x"], points["y"], n_resamples=RESAMPLES, intervals=["pearson"])
    if correlations is None:
        return f"Too few {unit} for a correlation."
    if not np.isfinite(correlations["pearson"]):
        return f"No correlation over {correlations['n']} {unit}: one side is the same everywhere."
    low, high = correlations["pearson_interval"]
    return (
        f"Pearson's r {score(correlations['pearson'])} (95 % from {score(low)} to {score(high)}), Spearman's ρ "
        f"{score(correlations['spearman'])}, {correlations['n']} {unit}."
    )


def plain_number(value: Any) -> Any:
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
