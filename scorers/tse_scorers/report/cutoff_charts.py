"""Charts of scores against cut-offs: one system with a line per construction, or a panel per construction."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .curves import OTHERS, ROOM_FOR_NAMES, chosen_lines, name_ends
from .labels import legend, line_name
from .line_styles import Line
from .plots import figure_size, paper_width
from .systems import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEW_CONTEXTS = 30
"""Points that rest on fewer contexts are faded."""


def cutoff_curves(
    curves: pd.DataFrame, names: dict[str, str], styles: dict[str, Line], lowest: float
) -> "Figure":
    """Draw scores against cut-offs: one row of panels per metric, bottom-p left and top-p right.

    Points that rest on few contexts are faded.

    Args:
        curves: columns metric, cutoff_side, cutoff, label, score, n; a missing score is a gap.
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
                _faded_line(axes, one["cutoff"], one["score"], one["n"], line.style(), label)
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


def cutoff_grid(curves: pd.DataFrame, axis: str, styles: Mapping[str, Line] | None = None) -> "Figure":
    """Draw one metric against cut-offs: a panel per construction, a line per system, named at the row's end.

    With many systems, `NAMED` of them are named and the others grey. Points that rest on few contexts are faded;
    bands are 95 % intervals.

    Args:
        curves: columns panel, label (the system), cutoff_side, cutoff, y, n, ci_low, ci_high.
        axis: name of the vertical axis.
        styles: the line of each label; by default, as `chosen_lines` gives them.
    """
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(curves["panel"]))
    across, down = min(3, len(panels)), -(-len(panels) // 3)
    ticks = cutoff_places(curves)
    curves = curves.assign(
        x=[ticks[key] for key in zip(curves["cutoff_side"], curves["cutoff"], strict=True)]
    )
    styles = styles or chosen_lines(curves[curves["x"] == max(ticks.values())])
    figure = Figure(figsize=figure_size(2.55 * across + 1.6, 1.75 * down + 0.5))
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        of_panel = curves[curves["panel"] == panel]
        for label in reversed(list(styles)):
            _cutoff_line(axes, of_panel[of_panel["label"] == label].sort_values("x"), styles[label])
        axes.set_title(shortened(panel, 34), fontsize=8)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    names_fit = (paper_width() or math.inf) > ROOM_FOR_NAMES
    if not names_fit:
        figure.set_figheight(
            figure.get_figheight() + 0.15 * sum(line is not OTHERS for line in styles.values())
        )
        legend(figure, grid, "outside lower center")
    for number, panel in enumerate(panels):
        if names_fit and (number % across == across - 1 or number == len(panels) - 1):
            is_last = number % across == across - 1
            name_ends(grid.flat[number], curves[curves["panel"] == panel], styles, is_last)
        if number >= len(panels) - across:
            _name_cutoffs(grid.flat[number], ticks)
    if names_fit:
        figure.supylabel(axis, fontsize=9.5)
    else:
        grid[0][0].set_ylabel(axis)  # the middle of the figure is in the legend
    return figure


def _cutoff_line(axes: "Axes", points: pd.DataFrame, line: Line) -> None:
    is_named = line is not OTHERS
    # No markers: they triple a page's weight.
    style = line.style() | {"marker": "", "linewidth": 1.5 if is_named else 0.8}
    name = line_name(str(points["label"].iloc[0])) if is_named and len(points) else None
    for _, side in points.groupby("cutoff_side", sort=False):  # the two sides do not continue each other
        _faded_line(axes, side["x"], side["y"], side["n"], style, name)
        if is_named and side["ci_low"].notna().any():
            axes.fill_between(
                side["x"], side["ci_low"], side["ci_high"], color=line.colour, alpha=0.13, linewidth=0
            )


def _faded_line(
    axes: "Axes",
    x: "pd.Series[float]",
    y: "pd.Series[float]",
    n: "pd.Series[int]",
    style: Mapping[str, Any],
    name: str | None,
) -> None:
    """Draw a line whose points that rest on few contexts are faded, and so is what joins them to the others."""
    few = n < FEW_CONTEXTS
    faded = y.where(few | few.shift(fill_value=False) | few.shift(-1, fill_value=False))
    if faded.notna().any():
        axes.plot(x, faded, alpha=0.3, **style)
    axes.plot(x, y.where(~few), **style, label=name)


def cutoff_places(curves: pd.DataFrame) -> dict[tuple[str, float], float]:
    """Put the cut-offs of both sides on one axis: the bottom ones, a gap, the top ones."""
    sides = {side: sorted(of_side["cutoff"].unique()) for side, of_side in curves.groupby("cutoff_side")}
    bottom, top = sides.get("bottom", []), sides.get("top", [])
    places = {("bottom", cutoff): float(place) for place, cutoff in enumerate(bottom)}
    return places | {
        ("top", cutoff): float(len(bottom) + (1 if bottom else 0) + i) for i, cutoff in enumerate(top)
    }


def _name_cutoffs(axes: "Axes", ticks: Mapping[tuple[str, float], float]) -> None:
    """Label the ends of each side."""
    shown: dict[float, str] = {}
    for side in ("bottom", "top"):
        of_side = [(place, cutoff) for (of, cutoff), place in ticks.items() if of == side]
        middle = of_side[len(of_side) // 2 :][: side == "top"]  # the other side is too narrow for it
        for place, cutoff in {of_side[0], *middle, of_side[-1]} if of_side else ():
            shown[place] = f"{100 * cutoff:.3g}"
    axes.set_xticks(list(shown), list(shown.values()), fontsize=7)
    axes.tick_params(axis="x", labelbottom=True)
    axes.set_xlabel("bottom p (%)  |  top p (%)", fontsize=8)
