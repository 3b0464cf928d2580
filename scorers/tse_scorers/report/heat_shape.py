"""The room of tables as coloured cells: inches of rows, columns and labels, and whether cells hold numbers."""

from collections.abc import Mapping

import pandas as pd

from .labels import LABEL, LINE, longest, row_inches, row_labels
from .plots import PAPER_HEIGHT, SMALL_SIZE, paper_width

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
        row = max(row_inches(own, least) for own in labels)
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
