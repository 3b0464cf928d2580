"""Tables on the terminal that are not of results: texts and numbers are folded where it is narrow, never cut."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from ..io.files import printable
from . import terminal

if TYPE_CHECKING:
    import pandas as pd


def table(frame: "pd.DataFrame") -> None:
    """Print a table whole, floats to four digits."""
    from ..report.numbers import number

    shown = empty()
    for name, values in frame.items():
        justify = "right" if values.dtype.kind in "iuf" else "left"
        shown.add_column(_text(name), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in frame.itertuples(index=False):
        shown.add_row(*(_text(number(cell, 4) if isinstance(cell, float) else cell) for cell in row))
    terminal.show(shown)


def empty() -> Table:
    """Return a table without columns, as all tables look here."""
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)


def card(lines: Mapping[str, str | Sequence[str]]) -> None:
    """Print labels and texts in two aligned columns; a list of texts becomes one paragraph each."""
    shown = Table.grid(padding=(0, 2, 0, 0))
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold")
    for label, texts in lines.items():
        for place, text in enumerate([texts] if isinstance(texts, str) else texts):
            shown.add_row("" if place else _text(label), _text(text))
    terminal.show(shown)


def _text(cell: object) -> Text:
    return Text(printable(str(cell)))  # no markup in names
