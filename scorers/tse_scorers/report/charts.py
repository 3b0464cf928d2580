"""The kinds of chart that the report draws; each returns a figure in the style of `plots.py`."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .curves import panels_of_lines
from .heat import heat_maps
from .labels import legend, row_inches, row_labels
from .line_styles import GRID, INK, MUTED, PAPER, lines
from .plots import PAPER_HEIGHT, figure_size
from .published import is_reference
from .systems import shortened
from .tables import Intervals, percent, score

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["WHISKERS", "dots", "heat_maps", "panels_of_lines", "single_dots"]

MANY = 5
"""With more systems, panels or series than this, heat tables replace dots and legends, and pictures of single systems
are folded."""


WHISKERS = "Whiskers: 95 % intervals; hollow: over too few units for one to rely on."
"""What the caption of dots with intervals says."""
_ROW = 0.24
"""Inches of a row."""


def dots(
    values: pd.DataFrame,
    panels: Sequence[str],
    axis: str,
    chance: float | None = None,
    intervals: Intervals | None = None,
) -> "Figure":
    """Draw one panel per upper column heading: rows down, one marker per lower heading, joined by a rule.

    With many panels or headings, these become the rows of heat tables.

    Args:
        values: scores; two levels of columns, (panel, series).
        panels: upper headings, in order.
        axis: name of the horizontal axis.
        chance: where guessing lies, or None.
        intervals: the ends of the whiskers, with the columns of `values`; None for none. Heat tables have none.
    """
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(values.columns.get_level_values(1)))
    if max(len(panels), len(names)) > MANY:
        return _heat_instead(values, panels, axis, chance)
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    width = 3.2 + 2.2 * across if across > 1 else 6.4
    rows = [str(name) for name in values.index]
    labels = [row_labels(rows, 2)[name] for name in rows]
    if row_inches(labels, 0) * len(rows) + 1.4 > PAPER_HEIGHT:  # rows of a full page are lower
        labels = [row_labels(rows)[name] for name in rows]
    row = row_inches(labels, _ROW)
    figure = Figure(figsize=figure_size(width, down * (row * len(values) + 1.0) + 0.4))
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    place = np.arange(len(values))
    ends = intervals and intervals.map(lambda side: side.reindex(index=values.index, columns=values.columns))
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw_dots(axes, values[panel], names, ends and ends.map(itemgetter(panel)))
        if chance is not None:
            axes.axvline(chance, color=MUTED, linestyle=(0, (2, 2)), linewidth=0.9)
        axes.set_title(shortened(panel, 26 if across > 1 else 48))
        axes.grid(axis="y", visible=False)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for axes in list(grid.flat)[len(panels) - across : len(panels)]:  # the last panel of each column
        axes.tick_params(axis="x", labelbottom=True)
        axes.set_xlabel(axis)
    grid[0][0].set_yticks(place, labels)
    _set_references_apart(grid, values.index)
    grid[0][0].invert_yaxis()
    legend(figure, grid, "outside upper center")
    return figure


def _draw_dots(axes: "Axes", part: pd.DataFrame, names: Sequence[str], intervals: Intervals | None) -> None:
    """Draw one panel; in rows with several whiskers, which would hide each other, markers are moved apart."""
    place = np.arange(len(part))
    axes.hlines(place, part.min(axis=1), part.max(axis=1), color=GRID, linewidth=2.5)
    there = [name for name in names if name in part]
    crowded = 0.0 if intervals is None else (intervals.low[there].notna().sum(axis=1) > 1).to_numpy()
    for name, line in lines(names).items():
        if name not in part:
            continue
        beside = place + 0.18 * crowded * (there.index(name) - (len(there) - 1) / 2)
        is_sure = np.ones(len(part), dtype=bool)
        if intervals is not None:
            if intervals.reliable is not None:
                is_sure = intervals.reliable[name].astype(float).ne(0).to_numpy()
            low, high = intervals.low[name][is_sure], intervals.high[name][is_sure]
            axes.hlines(beside[is_sure], low, high, color=line.colour, linewidth=1.1)
        style: dict[str, Any] = {"color": line.colour, "markersize": 6, "alpha": 0.9}
        axes.plot(part[name].where(is_sure), beside, line.marker, label=name, **style)
        if not is_sure.all():
            axes.plot(part[name].mask(is_sure), beside, line.marker, markerfacecolor=PAPER, **style)


def single_dots(
    values: pd.DataFrame,
    panels: Sequence[str],
    axis: str,
    chance: float | None = None,
    intervals: Intervals | None = None,
) -> "dict[str, Callable[[], Figure]]":
    """Return each panel of `dots` as a figure of its own: with many panels or headings, the heat tables."""
    names = list(dict.fromkeys(values.columns.get_level_values(1)))
    if len(panels) > MANY:
        return {
            str(name): partial(
                dots, values.loc[:, values.columns.get_level_values(1) == name], panels, axis, chance
            )
            for name in names
        }
    return {panel: partial(dots, values[[panel]], [panel], axis, chance, intervals) for panel in panels}


def _set_references_apart(grid: Any, names: "pd.Index[Any]") -> None:
    """Write references (people, published models) in grey, and draw a rule where they begin or end."""
    references = [is_reference(name) for name in names]
    for place in range(1, len(references)):
        if references[place] != references[place - 1]:
            for axes in grid.flat:
                axes.axhline(place - 0.5, color=MUTED, linewidth=0.8)
    for row in grid:
        for label, is_grey in zip(row[0].get_yticklabels(), references, strict=True):
            label.set_color(MUTED if is_grey else INK)


def _heat_instead(values: pd.DataFrame, panels: Sequence[str], axis: str, chance: float | None) -> "Figure":
    """Draw one heat table per series, panels down; or, with few panels, one per panel, series down."""
    if len(panels) > MANY:
        series = dict.fromkeys(values.columns.get_level_values(1))
        maps = {str(name): values.xs(name, axis=1, level=1).reindex(columns=panels).T for name in series}
    else:
        maps = {panel: values[panel].T for panel in panels}
    is_percent = chance is not None and chance > 1
    top = 100.0 if is_percent else 1.0
    return heat_maps(
        maps, 0.0, top, axis, lambda value: percent(value / 100) if is_percent else score(value), 1
    )
