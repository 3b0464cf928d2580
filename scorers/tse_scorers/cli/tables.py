"""Tables on the terminal: long names wrap or are truncated; numbers never are."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from ..io.files import printable
from . import terminal

if TYPE_CHECKING:
    import pandas as pd

_NAMES, _LEAST_NAME = ("system", "model"), 12
"""Columns that hold names of models, and the characters of a name that are shown in any case."""
_LEAST_TEXT = 8
"""Characters of a column of other texts that are on one line in any case."""


def table(frame: "pd.DataFrame", by: str | None = None) -> None:
    """Print a table whole, floats to four digits; where it is too wide for the terminal, print a paragraph per row.

    Args:
        frame: any table. Names of models are shortened in the middle, other texts are folded.
        by: a column whose values become headings above their rows.
    """
    headings = None if by is None else frame[by]
    cells = frame.drop(columns=by or [])
    for name in _NAMES:
        if name in cells:
            from ..report.terminal_summary import short_names

            # shortened by as many characters as the table is wider than the terminal
            models, excess = cells[name].astype(str), max(_excess(_filled(cells, headings)), 0)
            longest = max(models.str.len(), default=0) - excess
            cells = cells.assign(**{name: models.map(short_names(list(models), max(longest, _LEAST_NAME)))})
    narrow = cells.apply(lambda values: values if _is_whole(values) else values.astype(str).str[:_LEAST_TEXT])
    if _excess(_filled(narrow, headings)) <= 0:
        terminal.show(_filled(cells, headings))
        return
    texts = frame.apply(_texts)
    for row in texts.to_dict("records"):
        terminal.say("; ".join(f"{name}: {text}" for name, text in row.items()))


def _filled(frame: "pd.DataFrame", headings: "pd.Series[object] | None") -> Table:
    shown = empty()
    for name, values in frame.items():
        is_whole, title = _is_whole(values), escape(printable(str(name)))
        is_wide = is_whole and len(title) > values.astype(str).str.len().max()
        shown.add_column(
            re.sub(" (?!%)", "\n", title) if is_wide else title,
            justify="right" if is_whole else "left",
            overflow="fold",
            no_wrap=is_whole,
        )
    texts = frame.apply(_texts).map(escape)
    for heading, heading_texts in (
        [(None, texts)] if headings is None else texts.groupby(headings, sort=False)
    ):
        if heading is not None:
            shown.add_row(f"[bold]{escape(printable(str(heading)))}[/]")
        for first, *others in heading_texts.itertuples(index=False):
            shown.add_row(first if heading is None else f"  {first}", *others)
    return shown


def empty() -> Table:
    """Return a table without columns, as all tables look here."""
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)


def _texts(values: "pd.Series[object]") -> "pd.Series[str]":
    from ..report.tables import decimals

    return values.map(
        lambda value: decimals(value, 4) if isinstance(value, float) else printable(str(value))
    ).astype(object)


def _is_whole(values: "pd.Series[object]") -> bool:
    """Whether a column holds numbers, intervals or durations, which are never folded."""
    texts = values.astype(str)
    return values.dtype.kind in "iuf" or bool(texts.str.fullmatch(r"\[?[<>]?[+−-]?\d.*|–").all())


def _excess(shown: Table) -> int:
    """Return how many characters a table is wider than the terminal, below 0 if it is not."""
    wide = Console(width=10_000)
    return Measurement.get(wide, wide.options, shown).maximum - terminal.width()


def card(lines: Mapping[str, str | Sequence[str]]) -> None:
    """Print labels and texts in two aligned columns; a list of texts becomes one paragraph each."""
    shown = Table.grid(padding=(0, 2, 0, 0))
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold")
    for label, texts in lines.items():
        for place, text in enumerate([texts] if isinstance(texts, str) else texts):
            shown.add_row("" if place else escape(label), escape(printable(text)))
    terminal.show(shown)
