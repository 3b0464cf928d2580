"""Draws plots with matplotlib: the same figure for the page (SVG), a notebook and a paper (PDF)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..io.files import one_line
from .blocks import Plot
from .numbers import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, RULE, GREY = "#3a4149", "#dde1e5", "#8b949d"
"""Text, grid, and what is not ours; the page replaces the first two by its own, also in the dark."""
HUES = ("#3a78c9", "#c9611a", "#2f9167", "#8d5cc6", "#c74d86", "#1f8ea3", "#8a7d1e")
"""Colours of systems, best first, legible on white and on black; the style sheet of the page has the same."""
MARKERS = "osD^vPX"
STYLE: dict[Any, Any] = {
    "axes.spines.top": False, "axes.spines.right": False,
    "axes.spines.left": False, "axes.grid": True, "grid.color": RULE, "grid.linewidth": 0.7, "axes.edgecolor": RULE,
    "axes.axisbelow": True, "axes.titlesize": "medium", "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.titlecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.labelcolor": INK,
    "ytick.labelcolor": INK, "xtick.major.size": 0, "xtick.minor.size": 0, "ytick.major.size": 0,
    "legend.frameon": False, "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
    "svg.fonttype": "none", "pdf.fonttype": 42, "text.parse_math": False, "font.size": 9,
}  # fmt: skip
MOST_PANELS = 12
"""More panels are left out of a figure; its table has all numbers."""
MOST_MARKS = 25
"""Points of a line with more are not marked."""
MOST_BANDS = 3
"""With more lines than this, intervals are left to the table."""
WIDER = 6.3
"""Inches of a figure across the whole page of a paper."""
LONGEST_NAME = 34
"""Characters of a name in a figure; longer ones are shortened in the middle."""


@contextmanager
def style(font_size: float = 9, family: str = "") -> Iterator[None]:
    """Draw in the style of the report."""
    from matplotlib import rc_context

    fonts: dict[Any, Any] = {"font.family": [family, "DejaVu Sans"]} if family else {}
    with rc_context({**STYLE, "font.size": font_size, **fonts}):
        yield


def draw(plot: Plot, width: float = 7.2, tallest: float = np.inf) -> "Figure":
    """Draw a plot, one panel per value of `panel`, so many inches wide, inside `style`.

    Its height is estimated from its rows, panels and lines of text (`line`, in inches). What would be higher than
    `tallest` is drawn `WIDER`.
    """
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    size = rcParams["font.size"] / 9
    points = plot.points if "panel" in plot.points else plot.points.assign(panel="")
    points = points[points["panel"].isin(points["panel"].unique()[:MOST_PANELS])]
    panels = {str(name): panel for name, panel in points.groupby("panel", sort=False)}
    has_series = plot.kind == "dots" and "series" in points
    n_rows, n_series = points["label"].nunique(), points["series"].nunique() if has_series else 1
    ours = points[points["source"] == "run"] if "source" in points else points
    systems = ours["series" if has_series else "label"].unique()
    colours = dict(zip(systems, HUES, strict=False))
    longest = points.astype(str).apply(lambda of: of.str.len().max()).clip(upper=LONGEST_NAME)
    paint, least, height = {  # the least width of a panel, and its height
        "dots": (_dots, 2.0, max(0.24, 0.09 * n_series) * n_rows),
        "lines": (_lines, 1.9, 1.1 if len(panels) > 2 else 2.2),
        "heat": (_heat, 3.0, 0.24 * n_rows),
    }[plot.kind]
    line, left = 0.17 * size, size * (0.5 if plot.kind == "lines" else 0.2 + 0.068 * longest["label"])
    across = min(len(panels), max(1, int((width - left) // least)))
    down = -(-len(panels) // across)
    titles = [fill(name(title), max(int(11 * (width - left) / across / size), 12)) for title in panels]
    entries = [name(label) for label in systems if label in colours] if plot.kind != "heat" else []
    columns = max(1, int(width // (size * (0.5 + 0.075 * max(map(len, entries), default=0)))))
    n_lines = max(text.count("\n") + bool(text) for text in titles) + (2.2 if plot.ticks else 1.2)
    labels = line / 2 * longest.get("x", 0) if plot.kind == "heat" else 0.0
    tall = down * (height + line * n_lines + labels) + line * (2 + -(-len(entries) // columns))
    if tall > tallest and width < WIDER:
        return draw(plot, WIDER, tallest)
    has_one_x = plot.kind == "lines" and points.groupby("panel")["x"].nunique().nunique() == 1
    figure = Figure(figsize=(width, tall), layout="constrained")
    grid = [figure.add_subplot(down, across, place) for place in range(1, len(panels) + 1)]
    ends = _span(points, plot.chance)  # shared axes are slow to draw
    for place, (axes, text, panel) in enumerate(zip(grid, titles, panels.values(), strict=True)):
        if plot.kind != "heat":
            (axes.set_xlim if plot.kind == "dots" else axes.set_ylim)(*ends)
        paint(axes, panel, plot, colours)
        axes.set_title(text)
        is_above = (has_one_x or plot.kind == "dots") and place + across < len(panels)
        axes.tick_params(labelleft=place % across == 0, labelbottom=not is_above)
    figure.supxlabel(plot.x, fontsize="medium")
    figure.supylabel(plot.y if plot.kind == "lines" else "", fontsize="medium")
    drawn = (zip(*axes.get_legend_handles_labels(), strict=True) for axes in grid)
    handles = {label: handle for of_axes in drawn for handle, label in of_axes}
    if len(handles) > 1:
        figure.legend(handles.values(), handles, loc="outside upper left", ncols=columns, borderaxespad=0)
    return figure


def name(text: object) -> str:
    """Return a name as it is drawn: no control characters, not too long, and not hidden for a first underscore."""
    shown = one_line(text)
    if len(shown) > LONGEST_NAME:
        half = (LONGEST_NAME - 1) // 2
        shown = f"{shown[:half]}…{shown[-half:]}"
    return f" {shown}" if shown.startswith("_") else shown


def _ends(points: pd.DataFrame) -> Any:
    """Return how far intervals reach below and above, (2, points); NaN where there is none."""
    ends = points.reindex(columns=["ci_low", "ci_high"]).astype(float)
    return np.abs(ends.to_numpy().T - points["y"].to_numpy(dtype=float))


def _span(points: pd.DataFrame, chance: float | None) -> tuple[float, float]:
    """Return the ends of the axis of scores, which all panels share."""
    values = points.reindex(columns=["y", "ci_low", "ci_high"]).assign(chance=chance).astype(float)
    low, high = (values.min().min(), values.max().max()) if values.notna().any(axis=None) else (0.0, 1.0)
    margin = 0.05 * (high - low) or 0.05
    return low - margin, high + margin


def _is_unsure(points: pd.DataFrame) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Return where intervals are not to be relied on; a mark is hollow there, (points,)."""
    return np.asarray(points.get("reliable", pd.Series(True, points.index)).eq(False))


def _guessing(line: Any, plot: Plot) -> None:
    if plot.chance is not None:
        line(plot.chance, color=GREY, linestyle=(0, (2, 2)), linewidth=0.9, zorder=0)


def _dots(axes: "Axes", points: pd.DataFrame, plot: Plot, colours: Mapping[str, str]) -> None:
    """Draw a row per label, and in it a mark per series, whose shape tells it apart, too."""
    rows = {label: place for place, label in enumerate(plot.points["label"].unique())}
    order = list(plot.points["series"].unique()) if "series" in points else [""]
    step = min(0.26, 0.75 / len(order))
    for label, of in points.groupby(points["series"] if "series" in points else lambda _: "", sort=False):
        place = of["label"].map(rows) + step * (order.index(label) - (len(order) - 1) / 2)
        marker = MARKERS[list(colours).index(label)] if label in colours else "o"
        colour = colours.get(str(label), GREY if "series" in points else HUES[0])
        look: dict[str, Any] = {"color": colour, "markersize": 4}
        y, unsure, arms = of["y"].astype(float), _is_unsure(of), np.nan_to_num(_ends(of))
        axes.errorbar(y, place, xerr=arms, fmt=marker, elinewidth=1.4, label=name(label) or None, **look)
        if unsure.any():
            axes.plot(y[unsure], place[unsure], marker, markerfacecolor="white", zorder=3, **look)
    axes.set_yticks(list(rows.values()), [name(label) for label in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.locator_params(axis="x", nbins=4)
    axes.grid(visible=False, axis="y")
    _guessing(axes.axvline, plot)


def _lines(axes: "Axes", points: pd.DataFrame, plot: Plot, colours: Mapping[str, str]) -> None:
    """Draw a line per label (with a gap between its `piece`s); points over too few units are hollow, without a band.

    Lines without a colour, of published systems or of the worst of many, are thin and grey, behind the others.
    """
    piece = points["piece"] if "piece" in points else pd.Series("", points.index)
    lines = sorted(points.groupby(["label", piece], sort=False), key=lambda pair: pair[0][0] in colours)
    for (label, _), of in lines:
        x, y = of["x"].to_numpy(dtype=float), of["y"].to_numpy(dtype=float)
        if label not in colours:
            axes.plot(x, y, color=GREY, linewidth=0.6)
            continue
        is_marked = len(of) <= MOST_MARKS
        look: dict[str, Any] = {"color": colours[label], "markersize": 2.6}
        axes.plot(x, y, "o-" if is_marked else "-", linewidth=1.4, label=name(label), **look)
        unsure = _is_unsure(of)
        repeats = of["repeats"].eq(True).to_numpy() if "repeats" in of else False
        hollow = (unsure & is_marked) | repeats
        if hollow.any():
            axes.plot(x[hollow], y[hollow], "o", markerfacecolor="white", **look)
        if is_marked and len(colours) <= MOST_BANDS:
            below, above = _ends(of)
            shown = np.isfinite(below) & ~unsure
            axes.fill_between(
                x, y - below, y + above, where=shown, color=colours[label], alpha=0.15, linewidth=0
            )
    _guessing(axes.axhline, plot)
    axes.locator_params(axis="y", nbins=5)
    if plot.log:
        axes.set_xscale("symlog" if (points["x"] <= 0).any() else "log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.minorticks_off()
    if plot.ticks:
        axes.set_xticks(list(plot.ticks), list(plot.ticks.values()), fontsize="small")


def _heat(axes: "Axes", points: pd.DataFrame, plot: Plot, colours: Mapping[str, str]) -> None:
    wide = points.drop_duplicates(["label", "x"], keep="last").pivot(index="label", columns="x", values="y")
    wide = wide.reindex(index=points["label"].unique(), columns=points["x"].unique()).astype(float)
    axes.imshow(wide, cmap="RdBu", vmin=plot.span[0], vmax=plot.span[1], aspect="auto")
    (low, high), (n_rows, n_columns) = plot.span, wide.shape
    for (row, column), value in np.ndenumerate(wide.to_numpy()):
        shade = "w" if abs(value - (low + high) / 2) > 0.35 * (high - low) else "k"
        axes.text(column, row, number(value), ha="center", va="center", size=7, color=shade, clip_on=True)
    axes.set_xticks(range(n_columns), [name(label) for label in wide.columns], rotation=90)
    axes.set_yticks(range(n_rows), [name(label) for label in wide.index])
    axes.grid(visible=False)
