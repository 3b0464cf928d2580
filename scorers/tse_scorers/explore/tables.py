"""A table with one column per system → HTML: scores, and below each score what it is the mean of."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from ..report.tables import MISSING, count, percent, score
from ..suites.base import SideBySide
from .markup import Cell, table


def side_by_side(view: SideBySide) -> str:
    """Return the HTML of a table; columns of systems that are there for comparison are muted, totals stay last."""
    cells = view.cells.drop_duplicates(["label", "system"], keep="last")
    systems = list(dict.fromkeys(view.cells["system"]))
    ours = set(cells["system"][cells["n"].notna()])
    printed = percent if view.percent else score
    found = {
        (row["label"], row["system"]): _cell(row, view.unit, printed) for row in cells.to_dict("records")
    }
    labels = sorted(dict.fromkeys(view.cells["label"]), key=lambda label: label in view.totals)
    rows = [
        [Cell(str(label), str(label)), *(found.get((label, system), Cell(MISSING)) for system in systems)]
        for label in labels
    ]
    return table(
        view.caption,
        [view.corner, *systems],
        rows,
        note=f"Below each score: the number of {view.unit} that it is the mean of, how many were excluded, and the "
        f"number of ties, which {view.ties}.",
        muted=[system for system in systems if system not in ours],
        n_pinned=sum(label in view.totals for label in labels),
    )


def _cell(row: dict[Any, Any], unit: str, printed: Callable[[float], str]) -> Cell:
    text = "no score" if pd.isna(row["score"]) else printed(float(row["score"]))
    if pd.isna(row["n"]):  # a published score
        return Cell(text, float(row["score"]))
    n, excluded, ties = (
        count(row[name]) if pd.notna(row[name]) else "?" for name in ("n", "n_excluded", "n_ties")
    )
    return Cell(text, float(row["score"]), f"{n} {unit} · {excluded} excluded · {ties} ties")
