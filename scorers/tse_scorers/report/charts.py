"""Draws the charts of `blocks.py` in the style of `plots.py`, on a page or as figures of a paper."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..io.files import write_text
from .blocks import Chart
from .curves import NAMED, lines_with_intervals, panels_of_lines, small_multiples
from .cutoff_charts import cutoff_grid
from .heat import heat_maps, references_last
from .labels import legend, row_inches, row_labels
from .line_styles import GRID, INK, MUTED, PAPER, lines
from .plots import PAPER_HEIGHT, panel_grid, style, to_svg
from .published import is_reference
from .systems import shortened
from .tables import Intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PAGE_WIDTH = 7.2
"""Inches of a figure whose few lines have a legend; those of a narrower one are named at their ends."""
MANY = 5
"""With more systems, panels or series than this, heat tables replace dots and legends, and pictures of single systems
are folded."""


WHISKERS = "Whiskers: 95 % intervals; hollow: over too few units for one to rely on."
"""What the caption of dots with intervals says."""
_ROW = 0.24
"""Inches of a row."""


def draw(chart: Chart) -> "Figure":
    """Draw a chart."""
    panels, points = chart.panels, next(iter(chart.panels.values()))
    if tables := heat_tables(chart):
        return heat_maps(tables, *chart.span, chart.x, chart.across, chart.digits)
    match chart.kind:
        case "dots":
            return dots(pd.concat(panels, axis=1), list(panels), chart.x, chart.chance, chart.intervals)
        case "lines":
            most = 0 if chart.width < _PAGE_WIDTH else NAMED
            return panels_of_lines(
                panels,
                chart.y,
                chart.chance,
                chart.logarithmic,
                most,
                chart.width,
                chart.behind,
            )
        case "whiskers":
            return lines_with_intervals(panels, chart.x, chart.y, chart.ticks, chart.chance)
        case "multiples":
            behind = next(iter(chart.behind.values()), None)
            is_logarithmic = bool(chart.logarithmic)
            return small_multiples(points, chart.whole, chart.x, chart.y, is_logarithmic, behind)
        case "cutoffs":
            curves = [
                panel_points.assign(panel=name, cutoff_side=panel_points["side"], cutoff=panel_points["x"])
                for name, panel_points in panels.items()
            ]
            return cutoff_grid(pd.concat(curves), chart.y, chart.styles, chart.large)
    return forest(panels, chart.x)


def drawn(chart: Chart) -> "Figure":
    """Draw a chart in the style of the report."""
    with style():
        return draw(chart)


def save(chart: Chart, folder: Path) -> str:
    """Draw a chart, write `folder/name.svg`, return the SVG's text."""
    with style():
        svg = to_svg(draw(chart))
    write_text(folder / f"{chart.name}.svg", svg)
    return svg


def heat_tables(chart: Chart) -> Mapping[str, pd.DataFrame]:
    """Return the tables of coloured cells that a picture consists of, by title; empty for other pictures.

    Those of `heat`, and of `dots` with so many panels or series that their marks could not be told apart.
    """
    if chart.kind == "heat":
        return {title: references_last(frame) for title, frame in chart.panels.items()}
    if chart.kind != "dots":
        return {}
    series = list(dict.fromkeys(name for panel in chart.panels.values() for name in panel))
    if max(len(chart.panels), len(series)) <= MANY:
        return {}
    # One table per series, panels down; or, with few panels, one per panel, series down.
    if len(chart.panels) > MANY:
        maps = {
            str(name): pd.concat(
                {title: panel[name] for title, panel in chart.panels.items() if name in panel}, axis=1
            ).reindex(columns=list(chart.panels))
            for name in series
        }
    else:
        maps = dict(chart.panels)
    return {title: references_last(frame.T) for title, frame in maps.items()}


def paper_charts(chart: Chart) -> dict[str, Chart]:
    """Return the figures of a paper, each a chart: the panels, or the heat tables in place of dots."""
    if chart.alone:
        return dict(chart.alone)
    if chart.kind == "dots" and len(chart.panels) > MANY:
        series = dict.fromkeys(name for panel in chart.panels.values() for name in panel)
        return {
            str(name): replace(
                chart,
                panels={title: points[[name]] for title, points in chart.panels.items() if name in points},
            )
            for name in series
        }
    names = chart.panels if chart.in_paper is None else chart.in_paper
    return {name: replace(chart, panels={name: chart.panels[name]}, across=1) for name in names}


def dots(
    values: pd.DataFrame,
    panels: Sequence[str],
    axis: str,
    chance: float | None = None,
    intervals: Intervals | None = None,
) -> "Figure":
    """Draw one panel per upper column heading: rows down, one marker per lower heading, joined by a rule.

    Args:
        values: scores; two levels of columns, (panel, series).
        panels: upper headings, in order.
        axis: name of the horizontal axis.
        chance: where guessing lies, or None.
        intervals: the ends of the whiskers, with the columns of `values`; None for none.
    """
    names = list(dict.fromkeys(values.columns.get_level_values(1)))
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    width = 3.2 + 2.2 * across if across > 1 else 6.4
    rows = [str(name) for name in values.index]
    labels = [row_labels(rows, 2)[name] for name in rows]
    if row_inches(labels, 0) * len(rows) + 1.4 > PAPER_HEIGHT:  # rows of a full page are lower
        labels = [row_labels(rows)[name] for name in rows]
    row = row_inches(labels, _ROW)
    height = down * (row * len(values) + 1.0) + 0.4
    figure, grid = panel_grid(len(panels), across, width, height, sharex=True, sharey=True)
    place = np.arange(len(values))
    ends = intervals and intervals.map(lambda side: side.reindex(index=values.index, columns=values.columns))
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw_dots(axes, values[panel], names, ends and ends.map(itemgetter(panel)))
        if chance is not None:
            axes.axvline(chance, color=MUTED, linestyle=(0, (2, 2)), linewidth=0.9)
        axes.set_title(shortened(panel, 26 if across > 1 else 48))
        axes.grid(axis="y", visible=False)
    for axes in list(grid.flat)[len(panels) - across : len(panels)]:  # the last panel of each column
        axes.tick_params(axis="x", labelbottom=True)
        axes.set_xlabel(axis)
    grid[0][0].set_yticks(place, labels)
    _set_references_apart(grid, values.index)
    grid[0][0].set_ylim(len(values) - 0.5, -0.5)  # marks of the outer rows are whole
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


def forest(panels: Mapping[str, pd.DataFrame], axis: str) -> "Figure":
    """Draw differences with their intervals, one panel per entry; the height follows the rows.

    Args:
        panels: title -> columns label, difference, ci_low, ci_high and is_clear (fills the mark).
        axis: name of the horizontal axis.
    """
    shown = row_labels([str(name) for panel in panels.values() for name in panel["label"]], 2)
    labels = [[shown[str(name)] for name in panel["label"]] for panel in panels.values()]
    row = max(row_inches(of_panel, _ROW) for of_panel in labels)
    heights = [len(panel) + 2.4 for panel in panels.values()]
    size = 7.6, row * sum(heights) + 0.5
    figure, grid = panel_grid(len(panels), 1, *size, sharex=True, height_ratios=heights)
    for axes, (title, panel), names in zip(grid.flat, panels.items(), labels, strict=True):
        place, is_clear = np.arange(len(panel)), panel["is_clear"].to_numpy(dtype=bool)
        axes.axvline(0, color=MUTED, linewidth=1.0)
        axes.hlines(place, panel["ci_low"], panel["ci_high"], color=INK, linewidth=1.3)
        for chosen, fill in ((is_clear, INK), (~is_clear, "none")):
            axes.scatter(
                panel["difference"][chosen], place[chosen], s=26, color=fill, edgecolor=INK, zorder=3
            )
        axes.tick_params(labelbottom=True)
        axes.set_yticks(place, names, fontsize=8.5)
        axes.set_ylim(len(panel) - 0.4, -0.6)
        axes.set_title(title, fontsize=9)
        axes.grid(axis="y", visible=False)
    # Below the figure, not the panel: beside long labels of rows, the panel of a column is narrower than this text.
    figure.supxlabel(axis, fontsize=9.5)
    return figure
