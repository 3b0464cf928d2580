"""The kinds of chart that the report draws; each returns a figure in the style of `plots.py`."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .plots import GRID, MUTED, PAPER, Line, lines, wrapped
from .tables import MISSING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure


DIVERGING = "RdBu"  # red below, blue above the middle; told apart by colour-blind readers


def cutoff_curves(
    curves: pd.DataFrame, names: dict[str, str], styles: dict[str, Line], lowest: float
) -> "Figure":
    """Draw scores against cut-offs: one row of panels per metric, bottom-p left and top-p right.

    Args:
        curves: columns metric, cutoff_side, cutoff, label, score; a missing score is a gap.
        names: the metrics to draw, each with the name of its axis.
        styles: the line of each label.
        lowest: where the vertical axes begin; they end at 1.
    """
    from matplotlib.figure import Figure

    sides = [side for side in ("bottom", "top") if (curves["cutoff_side"] == side).any()]
    figure = Figure(figsize=(7.2, 2.55 * len(names) + 0.22 * len(styles) / 2 + 0.3))
    grid = figure.subplots(len(names), len(sides), sharey="row", squeeze=False)
    for row, metric in zip(grid, names, strict=True):
        for axes, side in zip(row, sides, strict=True):
            part = curves[(curves["metric"] == metric) & (curves["cutoff_side"] == side)]
            for label, line in styles.items():
                one = part[part["label"] == label].sort_values("cutoff")
                axes.plot(one["cutoff"], one["score"], label=label, **line.style())
            _cutoff_axis(axes, side, sorted(part["cutoff"].unique()))
        row[0].set_ylabel(names[metric])
        row[0].set_ylim(lowest - 0.02, 1.02)
    legend(figure, grid, "outside lower center")
    return figure


def _cutoff_axis(axes: "Axes", side: str, cutoffs: Sequence[float]) -> None:
    if side == "bottom":
        axes.set_xscale("log")
        axes.set_xticks(cutoffs, [f"{100 * cutoff:g}" for cutoff in cutoffs])
        axes.minorticks_off()
        axes.set_xlabel("bottom p (%): only unlikely verbs")
    else:
        axes.set_xticks(np.arange(0.2, 1.01, 0.2), ["20", "40", "60", "80", "100"])
        axes.set_xlabel("top p (%): only likely verbs")


def heat_maps(
    maps: Mapping[str, pd.DataFrame],
    low: float,
    high: float,
    axis: str,
    form: Callable[[float], str],
    across: int,
) -> "Figure":
    """Draw tables as coloured cells with their numbers in them; red below the middle of the scale, blue above.

    Args:
        maps: title → table; a missing number is an empty cell.
        low: lowest value of the colour scale.
        high: highest value of the colour scale.
        axis: name of the colour scale.
        form: formats a number for its cell.
        across: panels in a row.
    """
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    rows, columns = (max(frame.shape[i] for frame in maps.values()) for i in (0, 1))
    down = -(-len(maps) // across)
    figure = Figure(figsize=(1.6 + across * (0.56 * columns + 1.0), down * (0.34 * rows + 1.25)))
    grid = figure.subplots(down, across, squeeze=False)
    for axes, (title, frame) in zip(grid.flat, maps.items(), strict=False):
        mesh = _heat_map(axes, frame, Normalize(low, high), form)
        axes.set_title(wrapped(title, 34))
    for axes in list(grid.flat)[len(maps) :]:
        axes.set_visible(False)
    colours = figure.colorbar(mesh, ax=grid, label=axis, shrink=0.8, pad=0.02)
    colours.outline.set_visible(False)
    if colours.solids is not None:
        colours.solids.set(rasterized=False, edgecolor="face")  # a vector picture, without a bitmap in it
    return figure


def _heat_map(
    axes: "Axes", frame: pd.DataFrame, scale: "Normalize", form: Callable[[float], str]
) -> "QuadMesh":
    values = frame.to_numpy(dtype=float)
    mesh = axes.pcolormesh(values, cmap=DIVERGING, norm=scale, edgecolors=PAPER, linewidth=1.2)
    for (row, column), value in np.ndenumerate(values):
        # Not INK: a cell keeps its colour in the dark scheme, and so must its number.
        colour = MUTED if np.isnan(value) else "#ffffff" if abs(scale(value) - 0.5) > 0.36 else "#111111"
        text = MISSING if np.isnan(value) else form(value)
        cell = axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=colour, fontsize=8.5)
        cell.set_in_layout(False)  # it lies inside the axes; measuring all of them takes most of the time
    axes.set_xticks(np.arange(values.shape[1]) + 0.5, list(map(str, frame.columns)))
    axes.set_yticks(np.arange(values.shape[0]) + 0.5, list(map(str, frame.index)))
    axes.tick_params(length=0)
    if max(len(str(column)) for column in frame.columns) > 8:
        for label in axes.get_xticklabels():
            label.set(rotation=45, ha="right", rotation_mode="anchor")
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.invert_yaxis()
    return mesh


def panels_of_lines(
    panels: Mapping[str, pd.DataFrame],
    axis: str,
    chance: float | None = None,
    logarithmic: Collection[str] = (),
) -> "Figure":
    """Draw one panel per entry, each with one line per label.

    Args:
        panels: name of the horizontal axis → columns label, x, y.
        axis: name of the vertical axis, which all share.
        chance: where guessing lies, or None.
        logarithmic: panels whose horizontal axis is logarithmic.
    """
    from matplotlib.figure import Figure

    labels = list(dict.fromkeys(label for panel in panels.values() for label in panel["label"]))
    across = min(len(panels), 2)
    down = -(-len(panels) // 2)
    figure = Figure(figsize=(7.2, 2.7 * down + 0.2 * -(-len(labels) // 2) + 0.2))
    grid = figure.subplots(down, across, sharey=True, squeeze=False)
    styles = lines(labels)
    for axes, (name, panel) in zip(grid.flat, panels.items(), strict=False):
        for label in labels:
            one = panel[panel["label"] == label]
            axes.plot(one["x"], one["y"], label=label, **styles[label].style())
        if chance is not None:
            axes.axhline(chance, color=MUTED, linestyle=(0, (2, 2)), linewidth=0.9)
        axes.set_xlabel(name)
        _scale_axis(axes, panel["x"], name in logarithmic)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for row in grid:
        row[0].set_ylabel(axis)
    legend(figure, grid, "outside lower center")
    return figure


def _scale_axis(axes: "Axes", x: "pd.Series[float]", logarithmic: bool) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator

    if logarithmic and 0 < x.min() < x.max():  # one value, or none above 0, has no decades
        axes.set_xscale("log")
        decades = np.log10(x.max() / x.min())
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2 else (1,)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
    elif (x == x.round()).all():
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def dots(values: pd.DataFrame, panels: Sequence[str], axis: str, chance: float | None = None) -> "Figure":
    """Draw one panel per upper column heading: rows down, one marker per lower heading, joined by a rule.

    Args:
        values: scores; two levels of columns, (panel, series).
        panels: upper headings, in order.
        axis: name of the horizontal axis.
        chance: where guessing lies, or None.
    """
    from matplotlib.figure import Figure

    across = min(3, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(
        figsize=(3.2 + 2.2 * across if across > 1 else 6.4, down * (0.24 * len(values) + 1.0) + 0.4)
    )
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    series = list(dict.fromkeys(values.columns.get_level_values(1)))
    place = np.arange(len(values))
    for axes, panel in zip(grid.flat, panels, strict=False):
        part = values[panel]
        axes.hlines(place, part.min(axis=1), part.max(axis=1), color=GRID, linewidth=2.5)
        for name, line in lines(series).items():
            if name in part:
                axes.plot(
                    part[name], place, line.marker, color=line.colour, markersize=6, label=name, alpha=0.9
                )
        if chance is not None:
            axes.axvline(chance, color=MUTED, linestyle=(0, (2, 2)), linewidth=0.9)
        axes.set_title(wrapped(panel))
        axes.grid(axis="y", visible=False)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for axes in list(grid.flat)[len(panels) - across : len(panels)]:  # the last panel of each column
        axes.tick_params(axis="x", labelbottom=True)
    grid[0][0].set_yticks(place, list(map(str, values.index)))
    grid[0][0].invert_yaxis()
    figure.supxlabel(axis, fontsize=9.5)
    legend(figure, grid, "outside upper center")
    return figure


def legend(figure: "Figure", grid: Any, place: Any) -> None:
    """Put one legend for all panels outside of them, in as many columns as the figure's width allows."""
    known: dict[str, Any] = {}
    for axes in grid.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    if known:
        room = 12 * figure.get_figwidth() // (max(map(len, known)) + 7)  # about 12 characters in an inch
        figure.legend(list(known.values()), list(known), loc=place, ncols=int(min(max(room, 1), len(known))))
