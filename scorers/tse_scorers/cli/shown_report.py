"""The end of a run: its report, its headlines on the terminal, and what failed."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from . import terminal

if TYPE_CHECKING:
    from ..io.runs import OutputFolder
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
def show_report(out: Path, folder: "OutputFolder | None" = None) -> None:
    """Write the report of an output folder, which may have been read before, and print its headlines."""
    with terminal.waiting("Writing the report"):
        from ..io.runs import read_folder, runs_of
        from ..report.page import write_report
        from ..report.scores import tidy

        folder = folder or read_folder(out)
        runs = runs_of([folder])
        rows = tidy(runs)
        page = write_report(out, [folder], rows)
    terminal.summary(rows)
    terminal.lemmas(runs.rows)
    terminal.not_comparable(runs.runs)
    terminal.say(f"Report: {page}")


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
