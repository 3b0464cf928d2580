"""Charts of lines: scores against cut-offs, and against anything else; each returns a figure."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .legend import legend
from .plots import GRID, MUTED, Line, lines
from .systems import end_names, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED = 5
"""With more lines than this, so many of them are named at their ends; the others are grey."""

FEW_CONTEXTS = 30
"""Points that rest on fewer contexts are faded."""


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


def panels_of_lines(
    panels: Mapping[str, pd.DataFrame],
    axis: str,
    chance: float | None = None,
    logarithmic: Collection[str] = (),
    most: int = NAMED,
) -> "Figure":
    """Draw one panel per entry, each with one line per label.

    Args:
        panels: name of the horizontal axis → columns label, x, y.
        axis: name of the vertical axis, which all share.
        chance: where guessing lies, or None.
        logarithmic: panels whose horizontal axis is logarithmic.
        most: with more labels, the best `NAMED` lines are named at their ends, and the others are grey.
    """
    from matplotlib.figure import Figure

    labels = list(dict.fromkeys(label for panel in panels.values() for label in panel["label"]))
    across = min(len(panels), 2)
    down = -(-len(panels) // 2)
    figure = Figure(figsize=(7.2, 2.7 * down + 0.2 * min(-(-len(labels) // 2), most) + 0.2))
    grid = figure.subplots(down, across, sharey=True, squeeze=False)
    styles = lines(labels) if len(labels) <= most else chosen_lines(pd.concat(list(panels.values())))
    for axes, (name, panel) in zip(grid.flat, panels.items(), strict=False):
        for label in reversed(labels) if len(labels) > most else labels:
            one = panel[panel["label"] == label]
            axes.plot(one["x"], one["y"], label=shortened(label), **styles[label].style())
        if chance is not None:
            axes.axhline(chance, color=MUTED, linestyle=(0, (2, 2)), linewidth=0.9)
        axes.set_xlabel(name)
        _scale_axis(axes, panel["x"], name in logarithmic)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for row in grid:
        row[0].set_ylabel(axis)
    if len(labels) <= most:
        legend(figure, grid, "outside lower center")
    for number, panel in enumerate(panels.values() if len(labels) > most else ()):
        if number % across == across - 1 or number == len(panels) - 1:
            name_ends(grid.flat[number], panel, styles, number % across == across - 1)
    return figure


OTHERS = Line(GRID, "", width=1.0)
"""The line of what is not named."""


def chosen_lines(points: pd.DataFrame) -> dict[str, Line]:
    """Give the labels with the highest mean y lines of their own, and a grey one to all others."""
    means = points.groupby("label", sort=False)["y"].mean().sort_values(ascending=False, kind="stable")
    own = lines(list(means.index[:NAMED]))
    return {label: own.get(label, OTHERS) for label in means.index}


def name_ends(axes: "Axes", points: pd.DataFrame, styles: Mapping[str, Line], has_room: bool) -> None:
    """Write the names of lines at their right ends, pushed apart where they would overlap.

    Args:
        axes: the panel.
        points: columns label, x, y.
        styles: the line of each label; those of `OTHERS` are not named.
        has_room: whether the layout makes room for the names; elsewhere, the next panel's place is empty.
    """
    last = points.dropna(subset=["y"]).sort_values("x").groupby("label", sort=False).tail(1)
    ends = last[[styles[label] is not OTHERS for label in last["label"]]].sort_values("y")
    low, high = axes.get_ylim()
    height = axes.bbox.height / 100  # inches, at matplotlib's dots per inch
    gap = min(0.14 / height * 1.6, 1 / max(len(ends), 1))
    places = spread([(y - low) / (high - low) for y in ends["y"]], gap)
    names = end_names(list(styles))
    for label, place in zip(ends["label"], places, strict=True):
        name = axes.annotate(
            names[label], (1.02, place), xycoords="axes fraction", va="center", fontsize=7.5,
            color=styles[label].colour, annotation_clip=False,
        )  # fmt: skip
        name.set_in_layout(has_room)


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Move sorted places in 0 to 1 so that neighbours are at least `gap` apart.

    >>> spread([0.5, 0.5], 0.5), spread([0.9, 1.0], 0.2)
    ([0.5, 1.0], [0.8, 1.0])
    """
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    ceiling = 1.0
    for number in reversed(range(len(moved))):
        moved[number] = round(min(moved[number], ceiling), 9)
        ceiling = moved[number] - gap
    return moved


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


def cutoff_grid(curves: pd.DataFrame, axis: str) -> "Figure":
    """Draw one metric against cut-offs: a panel per construction, a line per system, named at the row's end.

    With many systems, the best `NAMED` are named and the others grey. Points that rest on few contexts are faded;
    bands are 95 % intervals.

    Args:
        curves: columns panel, label (the system), cutoff_side, cutoff, y, n, ci_low, ci_high.
        axis: name of the vertical axis.
    """
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(curves["panel"]))
    across, down = min(3, len(panels)), -(-len(panels) // 3)
    ticks = cutoff_places(curves)
    curves = curves.assign(
        x=[ticks[key] for key in zip(curves["cutoff_side"], curves["cutoff"], strict=True)]
    )
    styles = chosen_lines(curves[curves["x"] == max(ticks.values())])
    figure = Figure(figsize=(2.55 * across + 1.6, 1.75 * down + 0.5))
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        own = curves[curves["panel"] == panel]
        for label in reversed(styles):
            _cutoff_line(axes, own[own["label"] == label].sort_values("x"), styles[label])
        axes.set_title(shortened(panel, 34), fontsize=8)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for number, panel in enumerate(panels):
        if number % across == across - 1 or number == len(panels) - 1:
            is_last = number % across == across - 1
            name_ends(grid.flat[number], curves[curves["panel"] == panel], styles, is_last)
        if number >= len(panels) - across:
            _name_cutoffs(grid.flat[number], ticks)
    figure.supylabel(axis, fontsize=9.5)
    return figure


def _cutoff_line(axes: "Axes", points: pd.DataFrame, line: Line) -> None:
    is_named = line is not OTHERS
    few = points["n"] < FEW_CONTEXTS
    style = line.style() | {
        "marker": "",
        "linewidth": 1.5 if is_named else 0.8,
    }  # markers triple a page's weight
    for _, side in points.groupby("cutoff_side", sort=False):  # the two sides do not continue each other
        axes.plot(side["x"], side["y"], **style | {"alpha": 0.3})
        axes.plot(side["x"], side["y"].where(~few[side.index]), **style)
        if is_named and side["ci_low"].notna().any():
            axes.fill_between(
                side["x"], side["ci_low"], side["ci_high"], color=line.colour, alpha=0.13, linewidth=0
            )


def cutoff_places(curves: pd.DataFrame) -> dict[tuple[str, float], float]:
    """Put the cut-offs of both sides on one axis: the bottom ones, a gap, the top ones."""
    sides = {side: sorted(own["cutoff"].unique()) for side, own in curves.groupby("cutoff_side")}
    bottom, top = sides.get("bottom", []), sides.get("top", [])
    places = {("bottom", cutoff): float(place) for place, cutoff in enumerate(bottom)}
    return places | {
        ("top", cutoff): float(len(bottom) + (1 if bottom else 0) + i) for i, cutoff in enumerate(top)
    }


def _name_cutoffs(axes: "Axes", ticks: Mapping[tuple[str, float], float]) -> None:
    """Label the ends of each side."""
    shown: dict[float, str] = {}
    for side in ("bottom", "top"):
        own = [(place, cutoff) for (of, cutoff), place in ticks.items() if of == side]
        middle = own[len(own) // 2 :][: side == "top"]  # the other side is too narrow for it
        for place, cutoff in {own[0], *middle, own[-1]} if own else ():
            shown[place] = f"{100 * cutoff:.3g}"
    axes.set_xticks(list(shown), list(shown.values()), fontsize=7)
    axes.tick_params(axis="x", labelbottom=True)
    axes.set_xlabel("bottom p (%)  |  top p (%)", fontsize=8)
