"""The command `tse report`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..io.files import check_folder
from ..models.options import OUTPUT
from . import terminal
from .help import App
from .options import option
from .shown_report import quick_reports, show_report

app = App()


class Width(StrEnum):
    """How wide figures for a paper are."""

    COLUMN = "column"
    TEXT = "text"


@app.command()
def report(
    out: Annotated[Path, typer.Argument(help="Output folder of `tse run`.")],
    paper: Annotated[
        Path | None,
        option(
            "Also write each table as LaTeX, each figure as PDF, and tables.csv into this folder. Default: none.",
            OUTPUT,
            "--paper",
        ),
    ] = None,
    width: Annotated[
        Width,
        option(
            "Width of figures for a paper: of a column (3.03 inches) or of the text (6.3). Default: column, because "
            "most papers have two.",
            OUTPUT,
            "--width",
        ),
    ] = Width.COLUMN,
) -> None:
    """Write `results.json` and the report of a run again, from its scores."""
    with terminal.waiting("Reading the scores"), quick_reports():
        from ..io.runs import read_folder
        from ..runs.run import refresh_results

        if paper is not None:
            check_folder(paper)
        folder = read_folder(out, refresh_results(out))
    show_report(out, folder)
    if paper is not None:
        with terminal.waiting("Writing the files for a paper"):
            from ..report.page import COLUMN, TEXT, write_paper

            written = write_paper([folder], paper, COLUMN if width is Width.COLUMN else TEXT)
        terminal.say(f"Paper: {written}")
