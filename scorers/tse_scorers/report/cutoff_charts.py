"""Charts of scores against cut-offs: all of the data in a large panel, below it a small one per construction."""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from .curves import OTHERS, ROOM_FOR_NAMES, chosen_lines, name_ends
from .labels import legend, line_name
from .latex import COLUMN_INCHES
from .line_styles import PAPER, Line
from .plots import figure_size, paper_width
from .systems import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEW_CONTEXTS = 30
"""Points that rest on fewer contexts are faded."""
_ACROSS = 3
"""Small panels in a row."""


class Curve(NamedTuple):
    """A line of a panel; its two sides, which do not continue each other, have a gap between them.

    Attributes:
        x: places on the axis.
        y: scores, NaN in gaps.
        low: lower ends of the intervals, NaN where there is none to rely on.
        high: upper ends.
        few: whether a point is faded: over few contexts, or without an interval to rely on.
    """

    x: "np.ndarray[Any, Any]"
    y: "np.ndarray[Any, Any]"
    low: "np.ndarray[Any, Any]"
    high: "np.ndarray[Any, Any]"
    few: "np.ndarray[Any, Any]"


def cutoff_grid(
    curves: pd.DataFrame,
    axis: str,
    styles: Mapping[str, Line] | None = None,
    whole: Collection[str] = (),
) -> "Figure":
    """Draw scores against cut-offs, a line per system or measure: some panels large, the others small below them.

    In the large panels, lines are named at their ends, bands are 95 % intervals, and points that rest on few contexts
    or units are hollow. With many systems, `NAMED` of them are named and the others grey.

    Args:
        curves: columns panel, label (of the line), cutoff_side, cutoff, y, n, ci_low, ci_high; also reliable.
        axis: name of the vertical axis.
        styles: the line of each label; by default, as `chosen_lines` gives them.
        whole: the panels that are large; a single one is large in any case.
    """
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(curves["panel"]))
    large = panels if len(panels) == 1 else [panel for panel in panels if panel in whole]
    small = [panel for panel in panels if panel not in large]
    ticks = cutoff_places(curves)
    styles = styles or chosen_lines(
        curves[[key == max(ticks, key=ticks.__getitem__) for key in _keys(curves)]]
    )
    curves = curves.assign(x=[ticks[key] for key in _keys(curves)])
    ordered = curves.sort_values("x", kind="stable")
    columns = {name: ordered[name].to_numpy() for name in _POINTS if name in ordered}
    places = ordered.groupby(["panel", "label"], sort=False).indices
    lines = {
        key: _curve({name: column[is_of_panel] for name, column in columns.items()})
        for key, is_of_panel in places.items()
    }
    down, across = -(-len(small) // _ACROSS), min(_ACROSS, len(panels))
    names_fit = (paper_width() or math.inf) > ROOM_FOR_NAMES and bool(large)
    width, height = 2.55 * across + 1.6 * (across < _ACROSS), (2.6 if small else 1.75) * len(large)
    figure = Figure(figsize=figure_size(width, height + 1.5 * down + 0.5))
    grid = figure.add_gridspec(len(large) + down, across, height_ratios=[1.7] * len(large) + [1.0] * down)
    first: Axes | None = None
    for number, panel in enumerate([*large, *small]):
        row, column = (
            (number, slice(0, 2 if small else None))
            if panel in large
            else divmod(number - len(large), _ACROSS)
        )
        place = grid[row, column] if panel in large else grid[len(large) + row, column]
        axes = figure.add_subplot(place, sharey=first)
        axes.spines[:].set_in_layout(False)  # see `panel_grid`
        first = first or axes
        _draw_panel(axes, {label: lines.get((panel, label)) for label in styles}, styles, panel in large)
        axes.set_title(shortened(panel, 34), fontsize=8)
        axes.set_xlim(-0.5, max(ticks.values()) + 0.5)
        if panel in large:
            name_cutoffs(axes, ticks, is_large=True)
            axes.set_ylabel(axis)
        else:
            is_last = number + across >= len(panels)
            name_cutoffs(axes, ticks, is_large=False) if is_last else axes.tick_params(labelbottom=False)
            axes.tick_params(labelleft=column == 0)
            axes.set_ylabel(axis if column == 0 else "")
    if first is not None:
        first.set_ylim(-0.02, 1.02)
    for number, panel in enumerate(large if names_fit else ()):
        name_ends(figure.axes[number], curves[curves["panel"] == panel], styles, not small)
    if not names_fit:
        n_named = sum(line is not OTHERS for line in styles.values())
        figure.set_figheight(figure.get_figheight() + 0.15 * n_named)
        legend(figure, np.array(figure.axes), "outside lower center")
    return figure


def _keys(curves: pd.DataFrame) -> Iterator[tuple[str, float]]:
    return zip(curves["cutoff_side"], curves["cutoff"], strict=True)


_POINTS = ("x", "y", "ci_low", "ci_high", "n", "cutoff_side", "reliable")


def _curve(points: Mapping[str, "np.ndarray[Any, Any]"]) -> Curve:
    """Put a gap between the two sides of a line, whose points are given by column and in order."""
    x, y, low, high, n = (points[name].astype(float) for name in ("x", "y", "ci_low", "ci_high", "n"))
    few = n < FEW_CONTEXTS
    if "reliable" in points:
        unsure = points["reliable"] == False  # noqa: E712 - None is not known
        low, high, few = np.where(unsure, np.nan, low), np.where(unsure, np.nan, high), few | unsure
    sides = points["cutoff_side"]
    gaps = np.flatnonzero(sides[1:] != sides[:-1]) + 1
    x, y, low, high = (np.insert(numbers, gaps, np.nan) for numbers in (x, y, low, high))
    return Curve(x, y, low, high, np.insert(few, gaps, False))


def _draw_panel(
    axes: "Axes", curves: Mapping[str, Curve | None], styles: Mapping[str, Line], is_large: bool
) -> None:
    from matplotlib.collections import LineCollection

    others = [other for label, other in curves.items() if other is not None and styles[label] is OTHERS]
    if others:  # one element for all: each by itself takes most of the time of a page with many systems
        axes.add_collection(
            LineCollection(
                [np.column_stack([other.x, other.y]) for other in others],
                colors=OTHERS.colour,
                linewidths=0.8,
                zorder=1,
            )
        )
        axes.autoscale_view()
    for label in reversed(list(curves)):
        curve, line = curves[label], styles[label]
        if curve is not None and line is not OTHERS:
            _draw_curve(axes, curve, line, line_name(str(label)), is_large)


def _draw_curve(axes: "Axes", curve: Curve, line: Line, name: str, is_large: bool) -> None:
    """Draw a line; what rests on few contexts is faded, and so is what joins it to the rest."""
    style = line.style() | {"linewidth": 1.5, "marker": line.marker if is_large else "", "markersize": 3.5}
    beside = np.concatenate([[False], curve.few, [False]])
    faded = np.where(beside[1:-1] | beside[:-2] | beside[2:], curve.y, np.nan)
    if np.isfinite(faded).any():
        axes.plot(curve.x, faded, alpha=0.4, **style | {"marker": ""})
    axes.plot(curve.x, np.where(curve.few, np.nan, curve.y), **style, label=name)
    if is_large and curve.few.any():
        hollow = style | {"linestyle": "", "markerfacecolor": PAPER}
        axes.plot(curve.x, np.where(curve.few, curve.y, np.nan), **hollow)
    if is_large and np.isfinite(curve.low).any():
        axes.fill_between(curve.x, curve.low, curve.high, color=line.colour, alpha=0.13, linewidth=0)


def cutoff_places(curves: pd.DataFrame) -> dict[tuple[str, float], float]:
    """Put the cut-offs of both sides on one axis: the bottom ones, a gap, the top ones."""
    sides = {side: sorted(of_side["cutoff"].unique()) for side, of_side in curves.groupby("cutoff_side")}
    bottom, top = sides.get("bottom", []), sides.get("top", [])
    places = {("bottom", cutoff): float(place) for place, cutoff in enumerate(bottom)}
    return places | {
        ("top", cutoff): float(len(bottom) + (1 if bottom else 0) + i) for i, cutoff in enumerate(top)
    }


def name_cutoffs(axes: "Axes", ticks: Mapping[tuple[str, float], float], is_large: bool) -> None:
    """Label each second or third cut-off, or only the ends of each side and a middle."""
    shown: dict[float, str] = {}
    for side in ("bottom", "top"):
        of_side = [(place, cutoff) for (of, cutoff), place in ticks.items() if of == side]
        middle = of_side[len(of_side) // 2 :][: side == "top"]  # the other side is too narrow for it
        ends = {of_side[0], *middle, of_side[-1]} if of_side else set()
        # From the last: neighbours such as 0.001 and 0.0001 would touch, and in a paper's column the next as well.
        step = 3 if side == "bottom" and paper_width() == COLUMN_INCHES else 2
        for place, cutoff in of_side[::-step] if is_large else ends:
            shown[place] = f"{100 * cutoff:.3g}"
    axes.set_xticks(list(shown), list(shown.values()), fontsize=7)
    axes.tick_params(axis="x", labelbottom=True)
    sides = "bottom p (%)  |  top p (%)"
    axes.set_xlabel(
        "bottom p (%): unlikely verbs  |  top p (%): likely verbs" if is_large else sides, fontsize=8
    )
