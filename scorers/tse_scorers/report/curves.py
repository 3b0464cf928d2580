"""Charts of lines, named in a legend or, where they are many, at their ends."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .labels import legend, line_name, line_names
from .line_styles import FAINT, INK, MUTED, PAPER, Line, lines, place_of_system
from .plots import panel_grid, paper_width
from .scales import scale_axis
from .systems import shortened

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
    width: float = 7.2,
    behind: Mapping[str, pd.DataFrame] | None = None,
) -> "Figure":
    """Draw one panel per entry, each with one line per label.

    With more than `NAMED` labels, so many have lines of their own (see `chosen_lines`), and the others are grey.

    Args:
        panels: name of the horizontal axis → columns label, x, y; also ci_low and ci_high for bands around lines that
            are not grey, and reliable.
        axis: name of the vertical axis, which all share.
        chance: where guessing lies, or None.
        logarithmic: panels whose horizontal axis is logarithmic.
        most: with more labels, lines are named at their ends instead of in a legend.
        width: of the figure, in inches.
        behind: name of the horizontal axis -> thin lines without names: columns line, x, y.
    """
    labels = list(dict.fromkeys(label for panel in panels.values() for label in panel["label"]))
    is_few, has_legend = len(labels) <= NAMED, len(labels) <= most
    across = min(len(panels), 2)
    down = -(-len(panels) // 2)
    height = 2.7 * down + 0.2 * min(-(-len(labels) // 2), most) + 0.2
    figure, grid = panel_grid(len(panels), across, width, height, sharey=True)
    styles = lines(labels) if is_few else chosen_lines(pd.concat(list(panels.values())))
    for axes, (name, panel) in zip(grid.flat, panels.items(), strict=False):
        for label in reversed(styles):
            has_band = styles[label] is not OTHERS
            draw_line(axes, panel[panel["label"] == label], label, styles[label], has_band)
        if chance is not None:
            axes.axhline(chance, color=MUTED, linestyle=(0, (2, 2)), linewidth=0.9)
        axes.set_xlabel(name)
        thin = (behind or {}).get(name, panel[:0])
        _draw_behind(axes, thin)
        scale_axis(axes, pd.concat([panel["x"], thin["x"]]), name in logarithmic)
    for row in grid:
        row[0].set_ylabel(axis)
    if has_legend:
        legend(figure, grid, "outside lower center", list(styles))
    for number, panel in enumerate(() if has_legend else panels.values()):
        if number % across == across - 1 or number == len(panels) - 1:
            name_ends(grid.flat[number], panel, styles, number % across == across - 1)
    return figure


def draw_line(axes: "Axes", points: pd.DataFrame, label: str, line: Line, with_band: bool) -> None:
    """Draw one line, the columns x and y, with a band over its intervals if asked for and there.

    A point whose interval is not one to rely on (column reliable) is hollow, and the band has a gap there.
    """
    unsure = are_unsure(points)
    axes.plot(
        points["x"],
        points["y"],
        label=line_name(label),
        **line.style() | (_DENSE if len(points) > _MARKED else {}),
    )
    if line is not OTHERS:
        mark_unsure(axes, points[unsure], line)
    if with_band and "ci_low" in points:
        ends = (points[end].astype(float).mask(unsure) for end in ("ci_low", "ci_high"))
        axes.fill_between(points["x"], *ends, color=line.colour, alpha=0.15, linewidth=0)


def are_unsure(points: pd.DataFrame) -> "pd.Series[bool]":
    """Return which points have no interval to rely on: over too few units, or none where others have one."""
    if "reliable" not in points:
        return pd.Series(False, points.index)
    return points["reliable"].eq(False) | points["ci_low"].isna() & points["ci_low"].notna().any()


def mark_unsure(axes: "Axes", points: pd.DataFrame, line: Line) -> None:
    """Draw points whose interval is not one to rely on: hollow, as in all figures."""
    axes.plot(
        points["x"], points["y"], linestyle="", marker=line.marker or "o", color=line.colour,
        markerfacecolor=PAPER, markersize=None if line.marker else 3,
    )  # fmt: skip


def _draw_behind(axes: "Axes", points: pd.DataFrame) -> None:
    """Draw thin lines behind all others: columns line, x, y."""
    for _, line in points.groupby("line", sort=False) if len(points) else ():
        axes.plot(line["x"], line["y"], color=FAINT, linewidth=0.6, zorder=0)


OTHERS = Line(FAINT, "", width=0.9)
"""The line of what is not named."""


def chosen_lines(points: pd.DataFrame) -> dict[str, Line]:
    """Give some labels lines of their own, and a grey one to all others.

    On a page, these are the systems that come first there, so that they are the same in all figures; elsewhere, the
    labels with the highest mean y.
    """
    means = points.groupby("label", sort=False)["y"].mean().sort_values(ascending=False, kind="stable")
    places = {label: place_of_system(label) for label in means.index}
    placed = sorted((place, label) for label, place in places.items() if place is not None)
    labels = [label for _, label in placed] + [label for label in means.index if places[label] is None]
    styles = lines(labels[:NAMED])
    return {label: styles.get(label, OTHERS) for label in labels}


def on_naming(n: int) -> str:
    """Say which of many systems a figure names; empty where it names all."""
    sentence = f" Named: {NAMED} of {n} models, the same in all figures; the others are grey."
    return sentence if n > NAMED else ""


def on_bands(n: int, over: str = "") -> str:
    """Say what the bands of a figure of `n` systems are, and where the intervals of grey ones are."""
    whose = " of the named models; the tables have those of all" if n > NAMED else ""
    return f" Bands: 95 % intervals{over}{whose}."


def name_ends(axes: "Axes", points: pd.DataFrame, styles: Mapping[str, Line], has_room: bool) -> None:
    """Write the names of lines at the right of a panel, in the order of their ends, each with a piece of its line.

    Args:
        axes: the panel.
        points: columns label, x, y.
        styles: the line of each label; those of `OTHERS` are not named.
        has_room: whether the layout makes room for the names; elsewhere, the next panel's place is empty.
    """
    if (paper_width() or math.inf) < ROOM_FOR_NAMES:
        shown_names = {line_name(label) for label, line in styles.items() if line is not OTHERS}
        drawn = zip(*axes.get_legend_handles_labels(), strict=True)
        handles = {label: handle for handle, label in drawn if label in shown_names}
        axes.figure.legend(list(handles.values()), list(handles), loc="outside lower center")
        return
    last = points.dropna(subset=["y"]).sort_values("x").groupby("label", sort=False).tail(1)
    ends = last[[styles[label] is not OTHERS for label in last["label"]]].sort_values("y")
    low, high = axes.get_ylim()
    height = axes.bbox.height / 100  # inches, at matplotlib's dots per inch
    gap = min(0.14 / height * 1.6, 1 / max(len(ends), 1))
    places = spread([(y - low) / (high - low) for y in ends["y"]], gap)
    names = line_names(list(styles))
    for label, place in zip(ends["label"], places, strict=True):
        line = styles[label]
        name = axes.annotate(
            names[label], (1.02, place), xytext=(15, 0), xycoords="axes fraction", textcoords="offset points",
            va="center", fontsize=7.5, color=INK, annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": line.colour, "linewidth": 1.8, "linestyle": line.style()["linestyle"],
                "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 0,
            },
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


_ACROSS = 5
_TICKS = 4
"""Marks of a horizontal axis for which a panel has room."""
_OWN, _WHOLE = Line(INK, ""), Line(FAINT, "", width=1.2)


def small_multiples(
    points: pd.DataFrame,
    whole: str,
    x_axis: str,
    y_axis: str,
    logarithmic: bool,
    behind: pd.DataFrame | None = None,
) -> "Figure":
    """Draw one panel per label with its band, and the line of the label `whole` in grey in all of them.

    Args:
        points: columns label, x, y, ci_low, ci_high; also reliable.
        whole: the label that all others are compared with; it has a panel of its own, the first.
        x_axis: name of the horizontal axes.
        y_axis: name of the vertical axis, which all share.
        logarithmic: whether the horizontal axes are.
        behind: thin lines in the panels of their labels, in place of the grey line: columns label, line, x, y.
    """
    thin = points[:0].assign(line="") if behind is None else behind
    labels = sorted(pd.unique(points["label"]), key=lambda label: label != whole)
    across = min(_ACROSS, len(labels))
    width, height = 1.92 * across, 1.35 * -(-len(labels) // across) + 0.4
    figure, grid = panel_grid(len(labels), across, width, height, sharex=True, sharey=True)
    for axes, label in zip(grid.flat, labels, strict=False):
        _draw_behind(axes, thin[thin["label"] == label])
        if label != whole and thin.empty:
            draw_line(axes, points[points["label"] == whole], whole, _WHOLE, with_band=False)
        draw_line(axes, points[points["label"] == label], label, _OWN, with_band=True)
        axes.set_title(shortened(label, 28), fontsize=7.5, fontweight="normal")
    for axes in list(grid.flat)[len(labels) - across : len(labels)]:  # the last panel of each column
        axes.tick_params(axis="x", labelbottom=True)
    scale_axis(grid[0][0], pd.concat([points["x"], thin["x"]]), logarithmic, most=_TICKS)
    figure.supxlabel(x_axis, fontsize=9.5)
    figure.supylabel(y_axis, fontsize=9.5)
    return figure


def lines_with_intervals(
    panels: Mapping[str, pd.DataFrame],
    x_axis: str,
    y_axis: str,
    ticks: Sequence[str] | None = None,
    chance: float | None = None,
) -> "Figure":
    """Draw one panel per entry, each with one line per label and whiskers at its points.

    Args:
        panels: title -> columns label, x, y, ci_low, ci_high, also reliable; no whisker where an end is missing, or the
            interval is not one to rely on.
        x_axis: name of the horizontal axes.
        y_axis: name of the vertical axis, which all share.
        ticks: names of the x values 0, 1, …; None shows numbers.
        chance: where guessing lies, or None.
    """
    labels = list(dict.fromkeys(label for panel in panels.values() for label in panel["label"]))
    across = min(len(panels), 2)
    height = 2.9 * -(-len(panels) // 2) + 0.2 * -(-len(labels) // 2) + 0.2
    figure, grid = panel_grid(len(panels), across, 7.2, height, sharey=True, sharex=True)
    styles = lines(labels)
    for axes, (title, panel) in zip(grid.flat, panels.items(), strict=False):
        _draw_lines(axes, panel, styles, beside=0.06 if ticks is not None else 0.0)
        if chance is not None:
            axes.axhline(chance, color=MUTED, linestyle=(0, (2, 2)), linewidth=0.9)
        axes.set_title(shortened(title, 34))
        axes.set_xlabel(x_axis)
        if ticks is not None:
            axes.set_xticks(range(len(ticks)), list(ticks))
            for tick in axes.get_xticklabels():
                tick.set(rotation=30, ha="right", rotation_mode="anchor")
    for row in grid:
        row[0].set_ylabel(y_axis)
    legend(figure, grid, "outside lower center")
    return figure


def _draw_lines(axes: "Axes", panel: pd.DataFrame, styles: Mapping[str, Line], beside: float) -> None:
    """Draw the lines of one panel, each a little beside the other: whiskers at the same place hide each other."""
    for number, (label, line) in enumerate(styles.items()):
        one = panel[panel["label"] == label]
        x = one["x"].to_numpy(dtype=float) + beside * (number - (len(styles) - 1) / 2)
        y = one["y"].to_numpy(dtype=float)
        unsure = are_unsure(one)
        ends = np.abs(one[["ci_low", "ci_high"]].mask(unsure).to_numpy(dtype=float).T - y)
        axes.errorbar(x, y, yerr=np.nan_to_num(ends), label=line_name(label), elinewidth=0.9, **line.style())
        mark_unsure(axes, one.assign(x=x)[unsure], line)
