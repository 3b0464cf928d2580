"""Commands that write the report of an output folder: `tse merge`, `tse report`."""

from pathlib import Path
from typing import Annotated

import typer

from ..io.files import check_folder
from ..models.options import OUTPUT
from . import terminal
from .help import App
from .options import Overwrite, PaperFont, PaperWidth, check_font, option
from .shown_report import quick_reports, say_written, show_report

app = App()


@app.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(help="Output folders of `tse run --shard i/n`.")],
    out: Annotated[Path, option("Output folder.", OUTPUT)] = Path("tse-results"),
    overwrite: Overwrite = False,
) -> None:
    """Merge the shards of a run and write results and report."""
    with terminal.waiting("Merging"):
        from ..runs.merge import merge as merge_shards

        check_folder(out)
        merge_shards(folders, out, overwrite)
    show_report(out)


@app.command()
def report(
    out: Annotated[Path, typer.Argument(help="Output folder of `tse run`.")],
    plain_latex: Annotated[
        bool,
        option(
            r"Leave intervals (\pm) out of LaTeX tables. Default: they are shown where the table fits a page of "
            "6.3 inches.",
            OUTPUT,
            "--plain-latex",
        ),
    ] = False,
    paper: Annotated[
        list[PaperWidth] | None,
        option(
            "Also write figures, tables and a paragraph on methods for a paper into OUT/paper, with an index. "
            "Figures are 3.03 inches wide (column) or 6.3 (text); repeatable. Default: none.",
            OUTPUT,
            "--paper",
        ),
    ] = None,
    font: PaperFont = None,
) -> None:
    """Write `results.json` and the report of a run again, from its scores."""
    with terminal.waiting("Reading the scores"), quick_reports():
        from ..runs.report import refresh_results, write_paper

        paper_font = check_font(font, paper)
        folder = refresh_results(out)
    show_report(out, not plain_latex, folder)
    if paper:
        say_written(lambda: write_paper(out, not plain_latex, paper, paper_font))
