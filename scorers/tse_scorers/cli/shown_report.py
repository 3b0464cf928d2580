"""The end of a run: its report, its headlines on the terminal, and what failed."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from . import terminal

if TYPE_CHECKING:
    from ..report.inputs import OutputFolder
    from ..report.paper import Written
    from ..runs.jobs import Failure


@contextmanager
def quick_reports() -> Iterator[None]:
    """Set Python and pandas for a report: millions of objects without cycles, and thousands of tables of few rows.

    The search for cycles would take a sixth of its time, and so would calls of Arrow for texts of so few rows.
    """
    threshold = gc.get_threshold()
    gc.set_threshold(200_000, *threshold[1:])
    try:
        from pandas import option_context

        with option_context("mode.string_storage", "python"):
            yield
    finally:
        gc.set_threshold(*threshold)


@quick_reports()
def show_report(out: Path, latex_intervals: bool = True, folder: "OutputFolder | None" = None) -> None:
    """Write the report of an output folder, which may have been read before, and print its headlines."""
    with terminal.waiting("Writing the report"):
        from ..report.inputs import read_folder, runs_of
        from ..report.revisions import without_earlier
        from ..report.summary import headlines, warnings_of
        from ..runs.report import write_report
        from ..suites.registry import all_measures, names

        folder = folder or read_folder(out)
        page = write_report(out, folders=[folder], latex_intervals=latex_intervals)
    runs = runs_of([folder])
    shown = without_earlier(runs)
    lines = headlines(shown.rows, all_measures(), names().heading)
    terminal.summary(lines)
    terminal.lemmas(shown.rows)
    if shown is not runs:
        terminal.say("Only the last revision of each long series is shown here; the report has the curves.")
    terminal.not_comparable(runs.runs)
    for line in warnings_of(lines):
        terminal.say(line)
    terminal.say(f"Report: {page}")


def say_written(write: "Callable[[], Written]") -> None:
    """Write the files for a paper, and name the figures that do not fit a page."""
    with terminal.waiting("Writing the files for a paper"):
        written = write()
    counts = {"figure": written.figures, "table": written.tables}
    files = " and ".join(f"{n} {kind}{'' if n == 1 else 's'}" for kind, n in counts.items())
    terminal.say(f"Paper: {files} in {written.folder}")
    if written.too_wide:
        terminal.say(
            f"Not written, because they do not fit a page of that width: {', '.join(written.too_wide)}."
        )


def fail_with(failures: "Sequence[Failure]", out: Path, scored: bool) -> None:
    """Name the models that could not be scored, and end the command with exit code 1 if there are any.

    Args:
        failures: of the command.
        out: its output folder.
        scored: whether the command has scored any model.
    """
    others = f" This model was left out; the results of the others are in {out}." if scored else ""
    for failure in failures:
        terminal.fail(f"{failure}{others}")
    if failures:
        raise typer.Exit(1)
