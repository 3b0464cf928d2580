"""What a person sees on the terminal: progress, a summary, errors."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ..io.files import printable

if TYPE_CHECKING:
    import pandas as pd

    from ..models.base import Scorer
    from ..runs.diagnosis import Diagnosis
    from ..runs.estimate import Estimate
    from ..suites.checks import Finding

_out = Console()
_err = Console(stderr=True)


@contextmanager
def progress(what: str) -> Iterator[Any]:
    """Show a bar with the time left below a line that says what is done; yields the function to tell.

    That takes (tokens done, tokens in all).
    """
    note(what)  # on a line of its own: names are long
    with Progress(BarColumn(bar_width=24), _Done(), console=_err) as bar:
        task = bar.add_task("", total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield tell


class _Done(ProgressColumn):
    """Says how many tokens are done and how long the rest takes; before the first ones, that work is planned."""

    def render(self, task: Task) -> Text:
        """Return the text beside the bar."""
        elapsed = TimeElapsedColumn().render(task)
        if task.total is None:
            return Text(f"planning, {elapsed}")
        left = TimeRemainingColumn().render(task)
        return Text(f"{task.completed:,.0f} of {task.total:,.0f} tokens in {elapsed}, {left} left")


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


def findings(found: "Iterable[Finding]") -> None:
    """Print what is remarkable about data, one line each, apart from the results."""
    for finding in found:
        _line(_err, f"data: {finding}", "yellow")


def waiting(what: str) -> AbstractContextManager[Any]:
    """Show that something without a measure of its progress is being done, by one process of several.

    A terminal shows it while it lasts, anything else as a line of its own.
    """
    if not _err.is_terminal and os.environ.get("RANK", "0") == "0":
        note(what)
    return starting(what)


def starting(what: str = "Starting") -> AbstractContextManager[Any]:
    """Show on a terminal, within a second, that a command has begun: its imports take seconds."""
    return _err.status(what) if os.environ.get("RANK", "0") == "0" else nullcontext()


def summary(results: dict[str, Any]) -> None:
    """Print the table of a run's results."""
    from ..report.terminal_summary import summary_table
    from ..suites.registry import all_measures

    _out.print(summary_table(results["results"], all_measures()))


def not_comparable(runs: Iterable[dict[str, Any]]) -> None:
    """Say which models have numbers that do not compare, with what, and why not, each sentence once."""
    from ..report.comparable import not_comparable as sentences

    for sentence in dict.fromkeys(line for results in runs for line in sentences(results.get("signature"))):
        say(sentence)


def lemmas(results: dict[str, Any]) -> None:
    """Say over how many lemmas of the list EW and MW are, for each model."""
    shown = dict.fromkeys(
        f"{row['model']}: EW and MW are over {row['n_lemmas']:,} of {row['n_lemmas_listed']:,} lemmas "
        f"(--forms {row['forms']})."
        for row in results["results"]
        if row.get("n_lemmas_listed") and row.get("n_lemmas") and row["group"] == "all"
    )
    for line in shown:
        note(line)


def table(frame: "pd.DataFrame") -> None:
    """Print a table whole, floats to four digits: a narrow terminal folds names, not numbers and their intervals."""
    from ..report.tables import decimals

    columns: list[list[str]] = []
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name, values in frame.items():
        is_number = values.dtype.kind in "iuf"
        texts = values.astype(str)
        has_intervals = not is_number and bool(texts.str.fullmatch(r"\[?[<>]?[+−-]?\d.*|–").all())
        heading = escape(printable(str(name)))
        is_wide = has_intervals and len(heading) > texts.str.len().max()
        shown.add_column(
            heading.replace(" ", "\n") if is_wide else heading,
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=is_number or has_intervals,
        )
        columns.append(
            [
                decimals(value, 4) if isinstance(value, float) else escape(printable(str(value)))
                for value in values
            ]
        )
    for row in zip(*columns, strict=True):
        shown.add_row(*row)
    _out.print(shown)


def card(lines: Mapping[str, str | Sequence[str]]) -> None:
    """Print labels and texts in two aligned columns; a list of texts becomes one paragraph each."""
    shown = Table.grid(padding=(0, 2, 0, 0))
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold")
    for label, texts in lines.items():
        for place, text in enumerate([texts] if isinstance(texts, str) else texts):
            shown.add_row("" if place else escape(label), escape(printable(text)))
    _out.print(shown, highlight=False)


def costs(found: "Sequence[tuple[str, float, Estimate]]") -> None:
    """Print what models cost on a suite, one row per model: its name, the seconds that loading took, the rest."""
    from ..report.systems import end_names

    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    shown.add_column("model", overflow="fold")
    for name in ("items", "texts", "tokens", "computed", "read", "FLOPs", "time here"):
        shown.add_column(name, justify="right", no_wrap=True)
    names = end_names([printable(model) for model, _, _ in found])
    for model, _, cost in found:
        counts = (cost.n_examples, cost.n_inputs, cost.n_tokens, cost.n_computed, cost.n_reads)
        cells = (*(f"{number:,}" for number in counts), f"{cost.flops:.3g}", duration(cost.seconds))
        shown.add_row(escape(names[printable(model)]), *cells)
    _out.print(shown)
    loading = [f"{names[printable(model)]} {duration(seconds)}" for model, seconds, _ in found]
    say("tokens: of all texts, each run by itself; computed: what the model runs, equal beginnings once.")
    say("read: positions at which the distribution over the vocabulary is computed.")
    say(
        "time here: measured on this machine, in one process. "
        f"Loading takes additional time: {', '.join(loading)}."
    )


def duration(seconds: float) -> str:
    """Say how long something takes, in the units of a clock.

    >>> duration(7.31), duration(95), duration(7520)
    ('7.3 s', '1 min 35 s', '2 h 5 min')
    """
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def diagnoses(model: str, found: "Sequence[Diagnosis]") -> None:
    """Print what `tse doctor` found."""
    colors = {"ok": "green", "warning": "yellow", "failed": "red", "not applicable": "dim"}
    shown = Table(
        title=escape(model), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )
    for name in ("check", "verdict", "found"):
        shown.add_column(name, no_wrap=name != "found", overflow="fold")
    for finding in found:
        advice = "" if finding.verdict in ("ok", "not applicable") else finding.what_to_do
        text = "\n".join(filter(None, (finding.found, advice and f"→ {advice}")))
        verdict = f"[{colors[finding.verdict]}]{finding.verdict}[/]"
        shown.add_row(escape(finding.check), verdict, escape(text))
    _out.print(shown)


def start_token(scorer: "Scorer") -> None:
    """Say what a causal model's sentences begin with, which decides the score of their first token."""
    from ..models.causal import CausalScorer

    if not isinstance(scorer, CausalScorer):
        return
    if scorer.start_token is None:
        note(f"{scorer.name}: no start token; the first token of a sentence is not scored")
        return
    why = " instead of its own start token, which opens chat turns" if scorer.avoids_chat_token else ""
    note(f"{scorer.name}: first token of a sentence: conditioned on {scorer.start_token_text}{why}")


def say(text: str) -> None:
    """Print a line."""
    _line(_out, text)


def fail(text: str) -> None:
    """Print an error."""
    _line(_err, f"tse: {text}", "red")


def warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print a warning in one line, without the place in the code; this stands for `warnings.showwarning`."""
    kind = "" if issubclass(category, UserWarning) else f"{category.__name__}: "
    _line(_err, f"tse: warning: {kind}{' '.join(str(message).split())}", "yellow")


def quiet() -> None:
    """Leave the terminal to our own bars: transformers draws one for each model that is loaded.

    Importing it takes most of a second; call this after data and options were checked.
    """
    from transformers.utils import logging

    logging.disable_progress_bar()
