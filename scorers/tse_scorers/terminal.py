"""What a person sees on the terminal: progress, tables, what does not compare, errors."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .io.files import printable

if TYPE_CHECKING:
    import pandas as pd
    from rich.status import Status

_out = Console(highlight=False)
_is_first = os.environ.get("RANK", "0") == "0"  # of the processes of a launch
_err = Console(stderr=True, highlight=False, quiet=not _is_first)


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar below a line that says what is done; yields the function to tell (items done, items in all)."""
    note(title)  # on a line of its own: names are long
    columns = MofNCompleteColumn(), TextColumn("items"), TimeRemainingColumn(), TextColumn("left")
    with Progress(BarColumn(bar_width=24), *columns, console=_err) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def waiting(activity: str) -> "Status":
    """Show on a terminal, within a second, that something without a measure of its progress is being done."""
    return _err.status(activity)


def _line(console: Console, text: str, style: str | None = None) -> None:
    """Print a paragraph: on a terminal broken between words, elsewhere on one line."""
    console.print(printable(text), style=style, soft_wrap=not console.is_terminal, markup=False)


def say(*texts: str) -> None:
    """Print lines, each once."""
    for text in dict.fromkeys(texts):
        _line(_out, text)


def note(text: str) -> None:
    """Print a line about what is being done, apart from the results."""
    _line(_err, text)


def fail(text: str) -> None:
    """Print an error, of whichever process."""
    _err.quiet = False
    _line(_err, f"tse: {text}", "red")


def warn(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print a warning in one line, without the place in the code; this stands for `warnings.showwarning`."""
    kind = "warning: " if issubclass(category, UserWarning) else f"{category.__name__}: "
    _line(_err, f"tse: {kind}{' '.join(str(message).split())}", "yellow")


def show(table: RenderableType) -> None:
    """Print a table, whose cells are shown as they are."""
    _out.print(table)


def table(frame: "pd.DataFrame", title: str = "") -> None:
    """Print a table that fits the terminal."""
    from .report.blocks import Plain

    show(Plain("", title, frame).rich())


def quiet() -> None:
    """Leave the terminal to our own bars: transformers draws one for each model that is loaded."""
    from transformers.utils import logging

    logging.disable_progress_bar()
