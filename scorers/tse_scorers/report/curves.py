"""Charts of lines, named in a legend or, where they are many, at their ends."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .legend import legend
from .plots import GRID, MUTED, Line, figure_size, lines, paper_width
from .systems import end_names, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKED = 40
"""A line with more points than this has no marks at its points, and is thinner."""
ROOM_FOR_NAMES = 4.0
"""Inches from which lines are named at their ends; a narrower figure of a paper has a legend below it."""
_DENSE = {"marker": "", "linewidth": 1.0}
NAMED = 5
"""With more lines than this, so many of them are named at their ends; the others are grey."""


def panels_of_lines(
    panels: Mapping[str, pd.DataFrame],
    axis: str,
    chance: float | None = None,
    logarithmic: Collection[str] = (),
    most: int = NAMED,
) -> "Figure":
    """Draw one panel per entry, each with one line per label.

    Args:
        panels: name of the horizontal axis → columns label, x, y; also low and high for bands, drawn around few lines.
        axis: name of the vertical axis, which all share.
        chance: where guessing lies, or None.
        logarithmic: panels whose horizontal axis is logarithmic.
        most: with more labels, the best `NAMED` lines are named at their ends, and the others are grey.
    """
    from matplotlib.figure import Figure

    labels = list(dict.fromkeys(label for panel in panels.values() for label in panel["label"]))
    across = min(len(panels), 2)
    down = -(-len(panels) // 2)
    height = 2.7 * down + 0.2 * min(-(-len(labels) // 2), most) + 0.2
    figure = Figure(figsize=figure_size(7.2, height))
    grid = figure.subplots(down, across, sharey=True, squeeze=False)
    styles = lines(labels) if len(labels) <= most else chosen_lines(pd.concat(list(panels.values())))
    for axes, (name, panel) in zip(grid.flat, panels.items(), strict=False):
        for label in reversed(labels) if len(labels) > most else labels:
            one = panel[panel["label"] == label]
            style = styles[label].style() | (_DENSE if len(one) > _MARKED else {})
            axes.plot(one["x"], one["y"], label=shortened(label), **style)
            if "low" in panel and len(labels) <= most:
                axes.fill_between(
                    one["x"], one["low"], one["high"], color=styles[label].colour, alpha=0.15, linewidth=0
                )
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
    if (paper_width() or math.inf) < ROOM_FOR_NAMES:
        _name_below(axes, styles)
        return
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


def _name_below(axes: "Axes", styles: Mapping[str, Line]) -> None:
    """Name lines in a legend below the figure."""
    own = {shortened(label) for label, line in styles.items() if line is not OTHERS}
    known = zip(*axes.get_legend_handles_labels(), strict=True)
    handles = {label: handle for handle, label in known if label in own}
    axes.figure.legend(list(handles.values()), list(handles), loc="outside lower center")


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
