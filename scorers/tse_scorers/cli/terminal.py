"""What a person sees on the terminal: progress, a summary, errors."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from ..io.files import printable

if TYPE_CHECKING:
    import pandas as pd

    from ..models.scorer import Scorer
    from ..report.blocks import Block
    from ..suites.checks import Finding

_out = Console()
_err = Console(stderr=True)


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with the time left below a line that says what is done; yields the function to tell.

    That takes (items done, items in all).
    """
    note(title)  # on a line of its own: names are long
    with Progress(BarColumn(bar_width=24), _Done(), console=_err) as bar:
        task = bar.add_task("", total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield tell


class _Done(ProgressColumn):
    """Shows how many items are done and how long the others take; before the first batch, 'planning'."""

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
    console.print(text, style=style, soft_wrap=not is_wrapped, markup=False, highlight=False)


def note(text: str) -> None:
    """Print a line about what is being done, apart from the results."""
    _line(_err, text)


def findings(data_findings: "Iterable[Finding]") -> None:
    """Print warnings about unusual data, one line each, apart from the results."""
    for finding in data_findings:
        _line(_err, f"data: {finding}", "yellow")


def waiting(activity: str) -> AbstractContextManager[object]:
    """Show that something without a measure of its progress is being done, by one process of several.

    A terminal shows it while it lasts, anything else as a line of its own.
    """
    if not _err.is_terminal and os.environ.get("RANK", "0") == "0":
        note(activity)
    return starting(activity)


def starting(activity: str = "Starting") -> AbstractContextManager[object]:
    """Show on a terminal, within a second, that a command has begun: its imports take seconds."""
    return _err.status(activity) if os.environ.get("RANK", "0") == "0" else nullcontext()


def summary(every: "pd.DataFrame") -> None:
    """Print the first screen of `tidy` rows: a sentence for each data set, the scores, and intervals to distrust."""
    from ..report.blocks import Table
    from ..report.headline import basis, remarks
    from ..report.headline import summary as first_screen
    from ..report.scores import best_first, headlines, last_revisions

    rows = last_revisions(every)
    for block in first_screen(best_first(rows)):
        if isinstance(block, Table) and rows["data"].nunique() == 1:
            block = replace(block, title=str(rows["data"].iloc[0]))
        blocks([block])
    lines = headlines(rows)
    for data, of in lines.groupby("data", sort=False):
        for sentence in basis(of):
            say(sentence if rows["data"].nunique() == 1 else f"{data}: {sentence}")
    for sentence in remarks(lines):
        say(sentence)
    if len(rows) < len(every):
        say("Only the last revision of each long series is shown here; the report has the curves.")


def blocks(shown: "Iterable[Block]") -> None:
    """Print sentences and tables; figures are on the page only."""
    for block in shown:
        if isinstance(block, str):
            say(block)
        elif hasattr(block, "rich"):
            show(block.rich())


def not_comparable(runs: Iterable[Mapping[str, object]]) -> None:
    """Print which models have numbers that are not comparable, with what and why, each sentence once."""
    from ..runs.comparing.comparable import not_comparable as sentences
    from ..suites.registry import names

    heading = names().heading
    for sentence in dict.fromkeys(line for run in runs for line in sentences(run.get("signature"), heading)):
        say(sentence)


def lemmas(rows: "pd.DataFrame") -> None:
    """Print the number of lemmas behind EW and MW, grouping models that share it."""
    from ..report.numbers import count
    from ..runs.comparing.comparable import listed

    if "n_lemmas_listed" not in rows:
        return
    of_lists = rows[rows["level"].eq("all") & rows["n_lemmas_listed"].notna() & rows["n_lemmas"].gt(0)]
    for (n, n_listed, forms), of_list in of_lists.groupby(
        ["n_lemmas", "n_lemmas_listed", "forms"], sort=False
    ):
        models = listed([str(model) for model in of_list["model"]])
        note(
            f"{models}: {count(n)} of {count(n_listed, 'verbs')} of the list can be scored (--forms {forms})."
        )


def show(table: RenderableType) -> None:
    """Print a table, whose cells are shown as they are."""
    _out.print(table, highlight=False)


def start_token(scorer: "Scorer") -> None:
    """Say what a causal model's sentences begin with, which decides the score of their first token."""
    from ..models.causal import CausalScorer

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


def say(text: str) -> None:
    """Print a line."""
    _line(_out, text)


def fail(text: str) -> None:
    """Print an error."""
    _line(_err, f"tse: {text}", "red")


def warn(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print a warning in one line, without the place in the code; this stands for `warnings.showwarning`."""
    kind = "" if issubclass(category, UserWarning) else f"{category.__name__}: "
    _line(_err, f"tse: warning: {kind}{' '.join(str(message).split())}", "yellow")


def quiet() -> None:
    """Leave the terminal to our own bars: transformers draws one for each model that is loaded.

    Importing it takes most of a second; call this after data and options were checked.
    """
    from transformers.utils import logging

    logging.disable_progress_bar()
