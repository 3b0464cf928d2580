"""What a person sees on the terminal: progress, a summary, errors."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

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
    columns = (
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("tokens in"),
        TimeElapsedColumn(),
        TextColumn("·"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=_err) as bar:
        task = bar.add_task("", total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield tell


def note(text: str) -> None:
    """Print a line about what is being done, apart from the results."""
    _err.print(printable(text), soft_wrap=True, markup=False, highlight=False)


def findings(found: "Iterable[Finding]") -> None:
    """Print what is remarkable about data, one line each, apart from the results."""
    for finding in found:
        _err.print(f"data: {finding}", style="yellow", soft_wrap=True, markup=False, highlight=False)


def waiting(what: str) -> AbstractContextManager[Any]:
    """Show on a terminal that something without a measure of its progress is being done."""
    return _err.status(what)


def summary(results: dict[str, Any]) -> None:
    """Print the table of a run's results."""
    from ..report.terminal_summary import summary_table
    from ..suites.registry import all_measures

    _out.print(summary_table(results["results"], all_measures()))


def partial_runs(results: dict[str, Any]) -> None:
    """Say which models were not scored on the whole of a released data set, and why not."""
    reasons: dict[str, list[str]] = {}
    for signature in results["signature"].get("models", []):
        recipe = signature.get("recipe") if isinstance(signature, dict) else None
        if isinstance(recipe, dict) and recipe.get("partial"):
            why = ", ".join(map(str, recipe.get("partial_reasons") or ["unknown"]))
            reasons.setdefault(why, []).append(str(signature["identity"]["model"]))
    for why, models in reasons.items():
        say(
            f"Partial run ({why}): {', '.join(dict.fromkeys(models))}. Not comparable with published numbers."
        )


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
    """Print a table whole, floats to four digits: a narrow terminal folds names, not numbers."""
    columns: list[list[str]] = []
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name, values in frame.items():
        is_number = values.dtype.kind in "iuf"
        shown.add_column(
            escape(printable(str(name))),
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=is_number,
        )
        columns.append(
            [
                f"{value:.4f}" if isinstance(value, float) else escape(printable(str(value)))
                for value in values
            ]
        )
    for row in zip(*columns, strict=True):
        shown.add_row(*row)
    _out.print(shown)


def costs(model: str, cost: "Estimate") -> None:
    """Print what a model costs on a suite."""
    say(
        f"{model}: {cost.n_examples:,} items, {cost.n_inputs:,} texts of {cost.n_tokens:,} tokens asked, "
        f"{cost.n_computed:,} tokens computed, {cost.n_reads:,} read; {cost.flops:.3g} FLOPs, about "
        f"{cost.seconds:.3g} s here."
    )


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
    _out.print(printable(text), soft_wrap=True, markup=False, highlight=False)


def fail(text: str) -> None:
    """Print an error."""
    _err.print(f"tse: {printable(text)}", style="red", soft_wrap=True, markup=False, highlight=False)


def warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print a warning in one line, without the place in the code; this stands for `warnings.showwarning`."""
    kind = "" if issubclass(category, UserWarning) else f"{category.__name__}: "
    text = printable(" ".join(str(message).split()))
    _err.print(f"tse: warning: {kind}{text}", style="yellow", soft_wrap=True, markup=False, highlight=False)


def quiet() -> None:
    """Leave the terminal to our own bars: transformers draws one for each model that is loaded."""
    from transformers.utils import logging

    logging.disable_progress_bar()
