"""What a tab of a suite shows, and the items behind scores → data for the page.

The page knows three kinds of views and no suite. Texts of items are shared by systems; numbers are of one system.
"""

import base64
import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..report.correlation import correlate
from ..report.cutoff_charts import FEW_CONTEXTS
from ..report.leaderboard import BADGES
from ..report.numbers import FEW_ITEMS
from ..report.tables import score
from ..suites.base import Curves, Points, ScoredItems, SideBySide

_SHOWN = ("people",)
"""Columns of numbers that belong to the texts."""
_WORD = re.compile(r"\S*\s|\S+")


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
        return {"texts": self.texts_name, "n": len(self.frame), "values": values}


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


def split_pair(good: str, bad: str) -> tuple[str, str, str, str]:
    """Split two texts into what they share and the words in between.

    >>> split_pair("The keys are here.", "The keys is here.")
    ('The keys ', 'are', 'is', ' here.')
    >>> split_pair("The key works.", "The key work.")
    ('The key ', 'works', 'work', '.')
    >>> split_pair("The keys ___.", "")
    ('The keys ___.', '', '', '')
    """
    if not bad or good == bad:
        return good, "", "", ""
    one, other = _WORD.findall(good), _WORD.findall(bad)  # each word with the white space after it
    most = min(len(one), len(other)) - 1  # a word is left of each
    before = after = 0
    while before < most and one[before] == other[before]:
        before += 1
    while before + after < most and one[-1 - after] == other[-1 - after]:
        after += 1
    middle = ["".join(words[before : len(words) - after]) for words in (one, other)]
    start, end = "".join(one[:before]), "".join(one[len(one) - after :])
    while all(len(text) > 1 and not text[-1].isalnum() for text in middle) and middle[0][-1] == middle[1][-1]:
        end = middle[0][-1] + end  # a space or a full stop that both words carry
        middle = [text[:-1] for text in middle]
    return start, middle[0], middle[1], end


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
