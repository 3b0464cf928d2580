"""Tables as LaTeX with booktabs rules, across both columns of a paper, in parts that fit on its pages."""

import re
from typing import Any

import numpy as np
import pandas as pd

from ..io.files import one_line
from .numbers import MISSING

PAGE_WIDTH, PAGE_LINES = 120, 52
"""Characters and lines of a page, in the type of a footnote."""
HEADING, CELL = 14, 40
"""Characters of a line of a heading, and of a row's header or a cell; longer ones are broken."""
_TYPE = r"\centering\footnotesize\setlength{\tabcolsep}{3pt}"
_ESCAPED = str.maketrans({
    "\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum ",
    **{of: f"\\{of}" for of in "&%$#_{}"},
    "−": "$-$", "–": "--", "…": r"\ldots{}", "✓": "$+$", "✗": r"$\times$", "·": r"$\cdot$", "†": r"$\dagger$",
    "<": r"\textless{}", ">": r"\textgreater{}",
})  # fmt: skip
"""What TeX takes for its own, and what pdflatex has no letter for."""


def latex(name: str, caption: str, frame: pd.DataFrame, bold: pd.DataFrame | None = None) -> str:
    """Return a table whose cells and headings are escaped; what is too wide or too long for a page, in parts.

    `bold` says of each cell whether it is bold.
    """
    widths, n_headers = column_widths(frame), frame.index.nlevels
    room, across = PAGE_WIDTH - sum(widths[:n_headers]), [[0]]
    for place in range(1, len(frame.columns)):
        if sum(widths[n_headers + of] for of in (*across[-1], place)) > room:
            across.append([])
        across[-1].append(place)
    texts = pd.concat([frame.index.to_frame(index=False), frame.reset_index(drop=True)], axis=1)
    height = texts.map(lambda cell: len(_lines(cell, CELL))).max(axis=1).cumsum().to_numpy()
    down = [
        rows for rows in np.split(np.arange(len(frame)), np.flatnonzero(np.diff(height // PAGE_LINES)) + 1)
    ]
    parts = [(rows, columns) for columns in across for rows in down]
    found = []
    for n, (rows, columns) in enumerate(parts, 1):
        which, ending = (f" Part {n} of {len(parts)}.", f"-{n}") if len(parts) > 1 else ("", "")
        part = frame.iloc[rows, columns]
        shown = part.style.hide(names=True).format(lambda cell: _broken(cell, CELL, "t"))
        shown = shown.format_index(lambda of: _broken(of, CELL, "t"))
        shown = shown.format_index(escaped, axis=1)
        shown = shown.format_index(
            lambda of: _broken(of, HEADING, "b"), axis=1, level=frame.columns.nlevels - 1
        )
        if bold is not None:
            css = bold.iloc[rows, columns].map(lambda is_bold: "font-weight:bold" * (is_bold is True))
            shown = shown.apply(lambda _, css=css: css, axis=None)
        text = shown.to_latex(
            hrules=True, environment="table*", position_float="centering", multicol_align="c",
            multirow_align="naive", convert_css=True, label=f"tab:{name}{ending}", caption=escaped(caption + which),
        )  # fmt: skip
        found.append(text.replace(r"\centering", _TYPE, 1))
    return "\n".join(found)


def column_widths(frame: pd.DataFrame) -> list[int]:
    """Return the characters of each column, row headers first, with the space after it."""
    headers = [frame.index.get_level_values(level).unique() for level in range(frame.index.nlevels)]
    cells = [frame.iloc[:, place].unique() for place in range(len(frame.columns))]
    headings = frame.columns.get_level_values(-1)
    found = [[_lines(of, CELL) for of in each] for each in (*headers, *cells)]
    for of_column, heading in zip(found[len(headers) :], headings, strict=True):
        of_column.append(_lines(heading, HEADING))
    return [max((len(line) for lines in of_column for line in lines), default=0) + 2 for of_column in found]


def escaped(text: object) -> str:
    """Escape a text; it has one line."""
    return one_line(text).translate(_ESCAPED)


def _broken(cell: Any, width: int, at: str) -> str:
    """Escape a text, in lines; `at` says which of them stands in line with the other cells: t or b."""
    lines = [escaped(line) for line in _lines(cell, width)]
    if len(lines) == 1:
        return lines[0]
    stacked = r" \\ ".join(lines)  # a space after each break: TeX takes letters for its name
    return rf"\begin{{tabular}}[{at}]{{@{{}}l@{{}}}}{stacked}\end{{tabular}}"


def _lines(cell: Any, width: int) -> list[str]:
    """Break a text after spaces, slashes, underscores and hyphens, where a line would be longer."""
    if not isinstance(cell, str):
        cell = MISSING if pd.isna(cell) else f"{cell:,.2f}" if isinstance(cell, float) else f"{cell:,}"
    lines = [""]
    for part in re.findall(r".+?(?:[\s/_-]|$)", one_line(cell)):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.strip() for line in lines]
