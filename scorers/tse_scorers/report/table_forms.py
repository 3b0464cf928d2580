"""A table as Markdown and CSV, and all its files.

Markdown and LaTeX hold formatted text; CSV holds the numbers themselves, unrounded, in the unit of `results.json`
(accuracies and shares in 0–1).
"""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from ..io.files import printable, write_text
from ..io.table_files import without_formulas
from .latex import to_latex
from .tables import Table, joined, shared_headings


def to_markdown(table: Table) -> str:
    """Write a table as GitHub-flavoured Markdown, caption first."""
    basis = table.basis_columns
    headings = [table.corner, *basis, *shared_headings(table.text.columns)]
    lines = [_markdown_row(headings), "|".join(["", "---", *["---:"] * (len(headings) - 1), ""])]
    lines += [
        _markdown_row([header, *(texts[place] for texts in basis.values()), *map(joined, cells)])
        for place, (header, cells) in enumerate(table.rows())
    ]
    title = " ".join(filter(None, [table.title, table.notice]))
    parts = [_escape_markdown(title), "\n".join(lines), _escape_markdown(table.notes)]
    return "\n\n".join(part for part in parts if part) + "\n"


def to_csv(table: Table) -> str:
    """Write the raw numbers as CSV, one heading line; then intervals and numbers of items; missing numbers are empty.

    A name that a spreadsheet would take for a formula gets a leading apostrophe.
    """
    values = table.values.copy()
    values.columns = pd.Index(shared_headings(values.columns))
    index = values.index
    names = [str(name or "") for name in index.names]
    headers = index.to_frame(index=False).set_axis(names, axis=1)
    frames = [headers, values.reset_index(drop=True)]
    if table.intervals is not None:
        frames.append(table.intervals.columns(table.values.columns, index))
    if table.basis is not None:
        frames.append(table.basis.columns(table.values.columns, index))
    safe = without_formulas(pd.concat(frames, axis=1))
    return safe.to_csv(index=False, lineterminator="\n")


def write_table(table: Table, folder: Path, latex_intervals: bool = True) -> None:
    """Write a table that has a file name as .md, .tex and .csv."""
    if table.file is None:
        return
    latex = partial(to_latex, intervals=latex_intervals)
    for suffix, form in (("md", to_markdown), ("tex", latex), ("csv", to_csv)):
        write_text(folder / f"{table.file}.{suffix}", form(table))


def _markdown_row(cells: Sequence[str]) -> str:
    return "|".join(["", *(f" {_escape_markdown(cell)} " for cell in cells), ""])


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_|<>\[\]$~])", r"\\\1", re.sub(r"\s+", " ", printable(text)))
