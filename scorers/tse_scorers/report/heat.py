"""Tables as coloured cells with their numbers in them: of HTML on the page, drawn in notebooks and for a paper."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from .labels import LABEL, LINE, longest, row_inches, row_labels
from .line_styles import MUTED, PAPER
from .plots import PAPER_HEIGHT, SMALL, SMALL_SIZE, panel_grid, paper_width
from .published import is_reference
from .systems import shortened
from .tables import MISSING, score

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

MOST_NUMBERS = 4000
"""A table with more cells than this is drawn without numbers in them."""
_ROW, _COLUMN, _CHARACTER = 0.27, 0.56, 0.085
"""Inches of a row, a column and a character of a label."""
_BAR, _WIDE_COLUMN, _LEAST_ROW = 0.75, 0.4, 0.16
"""In a paper, inches of a colour bar on the side, of a column whose rows are as high as on the page, and of a row."""
_PAPER_CHARACTER, _MARGIN, _NARROW = 0.064, 0.2, 4.0
"""In a paper, inches of a character of a label and of margins; in a narrower one the colour bar is on top."""
_NUMBER_SIZES, _DIGIT = (8, SMALL_SIZE), 0.0089
"""In a paper, sizes of numbers in points, the best first; inches of a character in a size of one point."""
_HEADING = 20
"""In a paper, characters of a line of a heading on two lines."""
_LEAST_HEADING = 0.095
"""In a paper, inches of a column whose heading, on its side, does not touch the next."""
_LOW = 12
"""Stacked tables with at most this many rows share the headings of the last one."""


_UPRIGHT = 7
"""Characters of the longest heading that stands above a column of the page, not on its side."""
_STEPS = 5
"""Shades on either side of the middle of the scale."""


class HeatRow(NamedTuple):
    """A row of a heat table on the page: its name, whether it is a reference, and each cell's text and shade."""

    name: str
    is_reference: bool
    cells: Sequence[tuple[str, str]]


class HeatTable(NamedTuple):
    """A heat table on the page; shades are classes of the page's style, `red5` to `blue5`, "" in the middle."""

    title: str
    headings: Sequence[str]
    rows: Sequence[HeatRow]

    @property
    def is_tilted(self) -> bool:
        """Whether its headings are too long to stand above narrow columns."""
        return max(map(len, self.headings), default=0) > _UPRIGHT


def html_tables(
    maps: Mapping[str, pd.DataFrame], span: tuple[float, float], digits: int
) -> Iterator[HeatTable]:
    """Yield the heat tables of a page; see `heat_maps` for the arguments."""
    low, high = span
    for title, frame in maps.items():
        values = frame.to_numpy(dtype=float)
        shades = np.clip(np.rint(_STEPS * (2 * (values - low) / (high - low) - 1)), -_STEPS, _STEPS)
        rows = []
        for name, numbers, steps in zip(frame.index, values, shades, strict=True):
            texts = [MISSING if np.isnan(number) else score(number, digits) for number in numbers]
            rows.append(
                HeatRow(str(name), is_reference(name), list(zip(texts, map(_shade, steps), strict=True)))
            )
        yield HeatTable(title, [str(name) for name in frame.columns], rows)


def _shade(step: float) -> str:
    return "" if np.isnan(step) or step == 0 else f"{'red' if step < 0 else 'blue'}{abs(int(step))}"


class Shape:
    """The inches of a panel, and whether its cells hold their numbers."""

    def __init__(self, maps: Mapping[str, pd.DataFrame], n_digits: int) -> None:
        self._maps, self._n_digits = maps, n_digits
        self._n_rows, self._n_columns = (max(frame.shape[i] for frame in maps.values()) for i in (0, 1))
        self._names = [str(name) for frame in maps.values() for name in frame.index]
        self._headings = [str(name) for frame in maps.values() for name in frame.columns]
        self.columns = row_labels(self._headings, width=LABEL)
        self.has_headings, self.bar_on_top = True, False
        self.is_low = self._n_rows <= _LOW
        paper = paper_width()
        if paper is None:
            self._set_for_page()
            return
        self._set_for_paper(paper, n_lines=2)
        if self.height + _BAR > PAPER_HEIGHT:
            self._set_for_paper(paper, n_lines=1)

    def _set_for_page(self) -> None:
        self.rows = row_labels(self._names)
        self.has_numbers, self.size = self._n_rows * self._n_columns <= MOST_NUMBERS, 8.5
        self.is_tilted = max(map(len, self._headings), default=0) > _COLUMN / _CHARACTER + 2
        row, column = (_ROW, _COLUMN) if self.has_numbers else (_ROW / 2, _ROW / 2)
        self._set_size(row, column, _CHARACTER * min(max(map(len, self._names), default=0), LABEL))

    def _set_for_paper(self, paper: float, n_lines: int) -> None:
        """Choose what fits the width; with `n_lines` 2, long names of rows are broken over two lines."""
        self.bar_on_top = paper < _NARROW
        self.rows = row_labels(self._names, n_lines)
        label = _PAPER_CHARACTER * longest(self.rows.values())
        column = (paper - label - (_MARGIN if self.bar_on_top else _BAR)) / self._n_columns
        fitting = [size for size in _NUMBER_SIZES if column >= _DIGIT * size * self._n_digits]
        self.has_numbers, self.size = bool(fitting), max(fitting, default=SMALL_SIZE)
        least = _ROW if column >= _WIDE_COLUMN and not self.bar_on_top else _LEAST_ROW
        labels = ([self.rows[str(name)] for name in frame.index] for frame in self._maps.values())
        row = max(row_inches(of_map, least) for of_map in labels)
        self.is_tilted = max(map(len, self._headings), default=0) > column / _PAPER_CHARACTER
        can_break = column >= 2 * LINE
        self.columns = row_labels(self._headings, 1 + can_break, _HEADING if can_break else LABEL)
        self.has_headings = column >= _LEAST_HEADING or any(
            list(frame.index) != list(frame.columns) for frame in self._maps.values()
        )
        self._set_size(row, column, label)

    def _set_size(self, row: float, column: float, label: float) -> None:
        is_upright = self.is_tilted and self.has_headings
        tilt = 0.7 * _CHARACTER * min(longest(self.columns.values()), LABEL) if is_upright else 0.25
        self.heading = tilt
        self.width = self._n_columns * column + label + 0.2
        self.height = self._n_rows * row + tilt + 0.35


DIVERGING = "RdBu"  # red below, blue above the middle; told apart by colour-blind readers
_ORDERED = "in the order of the rows"
"""Names columns that are the rows and too narrow for names."""
_TITLE_CHARACTER = 0.1
"""Inches of a character of a panel's title."""


def heat_maps(
    maps: Mapping[str, pd.DataFrame],
    low: float,
    high: float,
    axis: str,
    across: int,
    digits: int = 2,
) -> "Figure":
    """Draw tables as coloured cells with their numbers in them; red below the middle of the scale, blue above.

    The height follows the rows. References (people, published models) are in grey, behind a rule.

    Args:
        maps: title → table, references last; a missing number is an empty cell.
        low: lowest value of the colour scale.
        high: highest value of the colour scale.
        axis: name of the colour scale.
        across: panels in a row.
        digits: the decimals of the numbers.
    """
    from matplotlib.colors import Normalize

    form = partial(score, digits=digits)
    numbers = (value for frame in maps.values() for value in frame.to_numpy(dtype=float).flat)
    shape = Shape(maps, longest(form(value) for value in numbers if not np.isnan(value)))
    down = -(-len(maps) // across)
    is_shared = across == 1 and down > 1 and shape.is_low
    height = down * shape.height - (down - 1) * shape.heading * is_shared
    width = across * shape.width + 1.0
    figure, grid = panel_grid(len(maps), across, width, height + 0.4, sharex=is_shared)
    for axes, (title, frame) in zip(grid.flat, maps.items(), strict=False):
        mesh = _heat_map(axes, frame, Normalize(low, high), form, shape)
        axes.set_title(shortened(title, int(shape.width / _TITLE_CHARACTER)))
    is_tall = shape.bar_on_top or figure.get_figheight() > figure.get_figwidth()
    place: dict[str, Any] = {"location": "top", "shrink": 0.5} if is_tall else {"shrink": 0.8}
    colours = figure.colorbar(mesh, ax=grid, label=axis, pad=0.02, aspect=30, **place)
    colours.outline.set_visible(False)
    if colours.solids is not None:
        colours.solids.set(rasterized=False, edgecolor="face")  # a vector picture, without a bitmap in it
    return figure


def references_last(frame: pd.DataFrame) -> pd.DataFrame:
    """Put people and published models last; of a table whose columns are its rows, the columns as well."""
    order = sorted(range(len(frame)), key=lambda place: is_reference(frame.index[place]))
    if list(frame.index) == list(frame.columns):
        return frame.iloc[order, order]
    return frame.iloc[order]


def _heat_map(
    axes: "Axes", frame: pd.DataFrame, scale: "Normalize", form: Callable[[float], str], shape: Shape
) -> "QuadMesh":
    values = frame.to_numpy(dtype=float)
    is_small = not shape.has_numbers and paper_width() is None
    edge = 0.0 if is_small else 1.2
    mesh = axes.pcolormesh(
        values, cmap=DIVERGING, norm=scale, edgecolors=PAPER, linewidth=edge, rasterized=is_small
    )
    mesh.set_clip_on(False)
    colours = mesh.to_rgba(values)
    for (row, column), value in np.ndenumerate(values) if shape.has_numbers else ():
        text = MISSING if np.isnan(value) else form(value)
        colour = MUTED if np.isnan(value) else readable_on(colours[row, column])
        cell = axes.text(
            column + 0.5, row + 0.5, text, ha="center", va="center", color=colour, fontsize=shape.size
        )
        cell.set_gid(SMALL if shape.size == SMALL_SIZE else None)
        cell.set_in_layout(False)  # it lies inside the axes; measuring all of them takes most of the time
    size = 5.5 if is_small else 8.5
    if shape.has_headings:
        axes.set_xticks(
            np.arange(values.shape[1]) + 0.5,
            [shape.columns[str(name)] for name in frame.columns],
            fontsize=size,
        )
    else:
        axes.set_xticks([])
        axes.set_xlabel(_ORDERED)
    axes.set_yticks(
        np.arange(values.shape[0]) + 0.5, [shape.rows[str(name)] for name in frame.index], fontsize=size
    )
    axes.tick_params(length=0, left=False, bottom=False)
    if shape.is_tilted:
        for label in axes.get_xticklabels():
            upright: dict[str, Any] = {"rotation": 90, "va": "center"}
            is_sloping = shape.has_numbers and paper_width() is None
            label.set(**({"rotation": 45} if is_sloping else upright), ha="right", rotation_mode="anchor")
    _set_references_apart(axes, frame)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.invert_yaxis()
    return mesh


def _set_references_apart(axes: "Axes", frame: pd.DataFrame) -> None:
    references = [is_reference(name) for name in frame.index]
    if any(references) and not all(references):
        axes.axhline(references.index(True), color=MUTED, linewidth=1.4)
    for label, is_grey in zip(axes.get_yticklabels(), references, strict=True):
        if is_grey:
            label.set_color(MUTED)


_EQUAL_CONTRAST = 0.1791
"""The luminance on which black and white have the same contrast, 4.58:1; AA asks for 4.5:1."""


def readable_on(colour: Any) -> str:
    """Return black or white, whichever has the larger contrast (WCAG 2.2) on a colour.

    Not INK: a cell keeps its colour in the dark scheme, and so must its number.
    """
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return "#000000" if np.dot(linear, [0.2126, 0.7152, 0.0722]) > _EQUAL_CONTRAST else "#ffffff"
