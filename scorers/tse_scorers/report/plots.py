"""Pictures: one style for all, written as SVG and PNG, and put into the page as inline SVG.

Text and lines are drawn in a few fixed neutral colours which the page replaces by its own, so that a
picture follows the reader's light or dark scheme. Matplotlib is imported only when something is drawn,
and its state is left alone (no pyplot). The same data give the same bytes.
"""

import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Neutral colours → the page's variables. The values are those of the page's light scheme.
INK, MUTED, GRID, PAPER = "#1f2328", "#59636e", "#d8dee4", "#fefefe"
_PAGE_COLOURS = {INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--grid)", PAPER: "var(--paper)"}
# Seven hues chosen for the largest smallest difference (OKLab, under normal and the three kinds of
# dichromatic vision) among colours with a contrast of 3:1 or more on both schemes' backgrounds.
HUES = ("#9240c3", "#f25914", "#0da26b", "#de6cbc", "#1c7570", "#bb3f00", "#a76ef8")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
DIVERGING = "RdBu"  # red below, blue above the middle; told apart by colour-blind readers
_STYLE: Any = {
    "figure.facecolor": PAPER, "savefig.facecolor": PAPER, "axes.facecolor": "none",
    "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 9.5,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": MUTED, "axes.titlesize": 10,
    "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.linewidth": 0.8,
    "xtick.color": MUTED, "ytick.color": MUTED, "xtick.labelcolor": INK, "ytick.labelcolor": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
    "grid.color": GRID, "grid.linewidth": 0.7, "lines.linewidth": 1.6, "lines.markersize": 4.5,
    "legend.frameon": False, "legend.fontsize": 9, "text.parse_math": False,
    "svg.fonttype": "none", "svg.hashsalt": "refined-tse", "figure.constrained_layout.use": True,
}  # fmt: skip


@dataclass(frozen=True)
class Picture:
    """A picture of the report.

    Attributes:
        name: file name without ending.
        caption: what it shows, for everybody.
        alt: what is to be seen, for readers who do not see it.
        draw: draws it; called inside the report's style.
        tables: its numbers.
    """

    name: str
    caption: str
    alt: str
    draw: Callable[[], "Figure"]
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Line:
    """How one series is drawn; hue, dashes and marker together tell it apart."""

    colour: str
    marker: str
    dashed: bool = False
    width: float = 1.6

    def style(self) -> dict[str, Any]:
        """Return the keyword arguments of `Axes.plot`."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": (0, (4, 2)) if self.dashed else "-",
            "linewidth": self.width,
        }


def lines(labels: Sequence[str]) -> dict[str, Line]:
    """Give every label a line of its own: hues first, then the same hues dashed, markers all along."""
    return {
        label: Line(HUES[i % len(HUES)], MARKERS[i % len(MARKERS)], dashed=(i // len(HUES)) % 2 == 1)
        for i, label in enumerate(labels)
    }


def wrapped(label: str, width: int = 24) -> str:
    r"""Break a long label after `/`, `-`, `_`, `@` or a space, so that it fits above a panel.

    >>> wrapped("organisation/a-model-with-a-long-name", 16)
    'organisation/a-\nmodel-with-a-\nlong-name'
    """
    broken, line = [], ""
    for piece in re.findall(r"[^/\-_@ ]*[/\-_@ ]|[^/\-_@ ]+", label):
        if line and len(line) + len(piece.rstrip()) > width:
            broken.append(line.rstrip(" "))
            line = ""
        line += piece
    return "\n".join([*broken, line])


def save(picture: Picture, folder: Path) -> str:
    """Draw a picture, write `folder/name.svg` and `.png`, return the SVG's text."""
    from matplotlib import rc_context

    buffer = BytesIO()
    with rc_context(_STYLE), warnings.catch_warnings():
        # A glyph that the PNG's font lacks is a box there; in the SVG the reader's fonts have it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure = picture.draw()
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(buffer, format="svg", metadata=no_metadata)
        figure.set_layout_engine(
            "none"
        )  # the layout is made; making it again for the PNG takes as long as drawing
        figure.savefig(folder / f"{picture.name}.png", dpi=160, metadata={"Software": None})
    (folder / f"{picture.name}.svg").write_bytes(buffer.getvalue())
    return buffer.getvalue().decode("utf-8")


def inline(svg: str, name: str, alt: str) -> str:
    """Turn an SVG file's text into an element of an HTML page.

    Identifiers get `name` as prefix (several pictures share the page), neutral colours become the page's
    variables, namespaces and metadata go, and `alt` becomes the accessible name.
    """
    root = ElementTree.fromstring(svg)
    width = root.get("width", "")
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        attributes = {
            _local(key): _adapted(_local(key), value, name) for key, value in element.attrib.items()
        }
        element.attrib.clear()
        element.attrib.update(attributes)
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    # Below three quarters of its size the text gets too small to read: from there on the picture scrolls.
    size = f"max-width:{width};min-width:calc(0.75 * {width})"
    root.attrib.update({"role": "img", "aria-label": alt, "style": size})
    return ElementTree.tostring(root, encoding="unicode")


def _local(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]


def _adapted(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return re.sub(r"^#", f"#{name}-", value)
    value = re.sub(r"url\(#", f"url(#{name}-", value)
    if key == "style":
        value = re.sub("|".join(_PAGE_COLOURS), lambda match: _PAGE_COLOURS[match[0]], value)
        value = re.sub(r"(font:[^;]*?)'DejaVu Sans'[^;]*", r"\1system-ui, sans-serif", value)
    return value


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
    _legend(figure, grid, "outside lower center")
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
    scale = Normalize(low, high)
    for axes, (title, frame) in zip(grid.flat, maps.items(), strict=False):
        values = frame.to_numpy(dtype=float)
        mesh = axes.pcolormesh(values, cmap=DIVERGING, norm=scale, edgecolors=PAPER, linewidth=1.2)
        for (row, column), value in np.ndenumerate(values):
            dark = abs(scale(value) - 0.5) > 0.36
            # Not INK: a cell keeps its colour in the dark scheme, and so must its number.
            colour = MUTED if np.isnan(value) else "#ffffff" if dark else "#111111"
            text = "–" if np.isnan(value) else form(value)
            cell = axes.text(
                column + 0.5, row + 0.5, text, ha="center", va="center", color=colour, fontsize=8.5
            )
            cell.set_in_layout(False)  # it lies inside the axes; measuring all of them takes most of the time
        axes.set_xticks(np.arange(values.shape[1]) + 0.5, list(map(str, frame.columns)))
        axes.set_yticks(np.arange(values.shape[0]) + 0.5, list(map(str, frame.index)))
        axes.tick_params(length=0)
        if max(len(str(column)) for column in frame.columns) > 8:
            axes.tick_params(axis="x", labelrotation=45)
            for label in axes.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.invert_yaxis()
        axes.set_title(wrapped(title, 34))
    for axes in list(grid.flat)[len(maps) :]:
        axes.set_visible(False)
    colours = figure.colorbar(mesh, ax=grid, label=axis, shrink=0.8, pad=0.02)
    colours.outline.set_visible(False)
    if colours.solids is not None:
        colours.solids.set(rasterized=False, edgecolor="face")  # a vector picture, without a bitmap in it
    return figure


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
    from matplotlib.ticker import LogLocator

    labels = list(dict.fromkeys(label for panel in panels.values() for label in panel["label"]))
    down = -(-len(panels) // 2)
    figure = Figure(figsize=(7.2, 2.7 * down + 0.2 * -(-len(labels) // 2) + 0.2))
    grid = figure.subplots(down, 2, sharey=True, squeeze=False)
    styles = lines(labels)
    for axes, (name, panel) in zip(grid.flat, panels.items(), strict=False):
        for label in labels:
            one = panel[panel["label"] == label]
            axes.plot(one["x"], one["y"], label=label, **styles[label].style())
        if chance is not None:
            axes.axhline(chance, color=MUTED, linestyle=(0, (2, 2)), linewidth=0.9)
        axes.set_xlabel(name)
        if name in logarithmic:
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter("{x:g}")
            axes.minorticks_off()
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for row in grid:
        row[0].set_ylabel(axis)
    _legend(figure, grid, "outside lower center")
    return figure


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
    _legend(figure, grid, "outside upper center")
    return figure


def _legend(figure: "Figure", grid: Any, place: Any) -> None:
    """Put one legend for all panels outside of them, in as many columns as the figure's width allows."""
    known: dict[str, Any] = {}
    for axes in grid.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    if known:
        room = 12 * figure.get_figwidth() // (max(map(len, known)) + 7)  # about 12 characters in an inch
        figure.legend(list(known.values()), list(known), loc=place, ncols=int(min(max(room, 1), len(known))))
