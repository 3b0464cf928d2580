"""Two measurements of the same items → a picture, a correlation and a table."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..report.correlation import correlate
from ..report.plots import MUTED, Picture, lines
from ..report.tables import MISSING, count, score
from ..suites.base import Points
from .markup import Cell, picture, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESAMPLES = 1000
"""of the bootstrap intervals"""
DIFFERENCE = "difference"
"""column of the table that holds y - x"""


def scatter(view: Points) -> str:
    """Return the picture of some points with their correlation, and a table of the items, as HTML."""
    n = len(view.points)
    drawn = Picture(
        name="points",
        caption=f"{view.caption} {correlation(view)}",
        alt=f"One point for each of {n} {view.unit}; the numbers are in the table below.",
        draw=lambda: _figure(view),
    )
    headings = dict(view.headings) or {column: str(column) for column in view.points}
    points = view.points
    if view.same_scale:
        points = points.assign(**{DIFFERENCE: points["y"] - points["x"]})
        headings = _with_difference(headings)
    columns = [_cells(points[column], signed=column == DIFFERENCE) for column in headings]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return picture(drawn) + table(f"{view.caption} {n} {view.unit}.", list(headings.values()), rows)


def correlation(view: Points) -> str:
    """Say in words how far x and y agree, by the metric's correlations."""
    found = correlate(view.points["x"], view.points["y"], n_resamples=RESAMPLES)
    if found is None:
        return f"Too few {view.unit} for a correlation."
    if not np.isfinite(found["pearson"]):
        return f"No correlation over {found['n']} {view.unit}: one side is the same everywhere."
    low, high = found["pearson_interval"]
    return (
        f"Pearson's r {score(found['pearson'])} (95 % from {score(low)} to {score(high)}), Spearman's ρ "
        f"{score(found['spearman'])}, {found['n']} {view.unit}."
    )


def _with_difference(headings: dict[str, str]) -> dict[str, str]:
    """Put the difference right behind y."""
    both: dict[str, str] = {}
    for column, heading in headings.items():
        both[column] = heading
        if column == "y":
            both[DIFFERENCE] = f"{headings['y']} − {headings.get('x', 'x')}"
    return both


def _cells(column: "pd.Series[Any]", signed: bool = False) -> list[Cell]:
    """Format a column: text as it is, counts, scores with two decimals, with a sign where some are negative."""
    if not pd.api.types.is_numeric_dtype(column):
        return [Cell(str(value), str(value)) for value in column]
    form: Callable[[float], str] = score
    if pd.api.types.is_integer_dtype(column):
        form = count
    elif signed or (column < 0).any():
        form = _signed
    return [Cell(MISSING if pd.isna(value) else form(value), value) for value in column]


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _figure(view: Points) -> "Figure":
    """Draw points, one hue and marker per label; on the same scale with the line of equality."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 4.4))
    axes = figure.subplots()
    for label, line in lines(sorted(view.points["label"].unique())).items():
        part = view.points[view.points["label"] == label]
        axes.plot(
            part["x"], part["y"], line.marker, color=line.colour, alpha=0.85, markersize=5.5, label=label
        )
    equality: Any = {"color": MUTED, "linestyle": (0, (2, 2)), "linewidth": 0.9}
    if view.same_scale:
        axes.plot([0, 1], [0, 1], **equality)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    else:
        axes.axhline(0, **equality)
    axes.set(xlabel=view.x, ylabel=view.y)
    figure.legend(loc="outside lower center", ncols=2)
    return figure
