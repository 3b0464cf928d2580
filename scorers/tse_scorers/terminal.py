"""What a person sees on the terminal: progress, tables, what does not compare, errors."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from .io.files import printable

if TYPE_CHECKING:
    import pandas as pd

    from .models.scorer import Scorer

_out = Console(highlight=False)
_err = Console(stderr=True, highlight=False)


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with the time left below a line that says what is done; yields the function to tell.

    That takes (items done, items in all).
    """
    note(title)  # on a line of its own: names are long
    with Progress(BarColumn(bar_width=24), _Done(), console=_err) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _Done(ProgressColumn):
    """Shows how many items are done and how long the others take."""

    def render(self, task: Task) -> Text:
        """Return the text beside the bar."""
        elapsed = TimeElapsedColumn().render(task)
        if task.total is None:
            return Text(f"planning, {elapsed}")
        remaining = TimeRemainingColumn().render(task)
        return Text(f"{task.completed:,.0f} of {task.total:,.0f} items in {elapsed}, {remaining} left")


def _line(console: Console, text: str, style: str | None = None) -> None:
    """Print a paragraph: on a terminal broken between words, elsewhere on one line.

    A paragraph with a word that is wider than the terminal is left to the terminal, so that a long path can be copied.
    """
    text = printable(text)
    is_wrapped = console.is_terminal and all(cell_len(word) <= console.width for word in text.split())
    console.print(text, style=style, soft_wrap=not is_wrapped, markup=False)


def say(text: str) -> None:
    """Print a line."""
    _line(_out, text)


def note(text: str) -> None:
    """Print a line about what is being done, apart from the results."""
    _line(_err, text)


def fail(text: str) -> None:
    """Print an error."""
    _line(_err, f"tse: {text}", "red")


def warn(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print a warning in one line, without the place in the code; this stands for `warnings.showwarning`."""
    kind = "warning: " if issubclass(category, UserWarning) else f"{category.__name__}: "
    _line(_err, f"tse: {kind}{' '.join(str(message).split())}", "yellow")


def waiting(activity: str) -> AbstractContextManager[object]:
    """Show on a terminal, within a second, that something without a measure of its progress is being done."""
    return _err.status(activity) if os.environ.get("RANK", "0") == "0" else nullcontext()


def show(table: RenderableType) -> None:
    """Print a table, whose cells are shown as they are."""
    _out.print(table)


def table(frame: "pd.DataFrame", title: str = "") -> None:
    """Print a table whole: texts are folded where the terminal is narrow, never cut; floats have four digits."""
    shown = Table(
        title=title or None, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )
    for name, values in frame.items():
        justify = "right" if values.dtype.kind in "iuf" else "left"
        shown.add_column(Text(printable(str(name))), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in frame.itertuples(index=False):
        cells = (f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row)
        # No markup in names.
        shown.add_row(*(Text(printable("" if cell == "nan" else cell)) for cell in cells))
    show(shown)


def start_token(scorer: "Scorer") -> None:
    """Say what a causal model's sentences begin with, which decides the score of their first token."""
    from .models.causal import CausalScorer

    if not isinstance(scorer, CausalScorer):
        return
    if scorer.start_token is None:
        note(f"{scorer.name}: no start token; the first token of a sentence is not scored")
        return
    why = " instead of its own start token, which opens chat turns" if scorer.avoids_chat_token else ""
    gaps = "the same" if scorer.signature["bos_at_gap"] else "no start token (see --bos)"
    note(
        f"{scorer.name}: first token of a sentence: conditioned on {scorer.start_token_text}{why}; at a gap: {gaps}"
    )


def sentences(texts: Iterable[str]) -> None:
    """Print sentences, each once."""
    for text in dict.fromkeys(texts):
        say(text)


def quiet() -> None:
    """Leave the terminal to our own bars: transformers draws one for each model that is loaded."""
    from transformers.utils import logging

    logging.disable_progress_bar()
