"""Commands over output folders of `tse run`: `tse merge`, `tse report`, `tse compare`, `tse explore`."""

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from ..io.files import check_folder
from . import terminal
from .options import Overwrite

app = typer.Typer()


@app.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(help="Output folders of `tse run --shard i/n`.")],
    out: Annotated[Path, typer.Option(help="Output folder.")] = Path("tse-results"),
    overwrite: Overwrite = False,
) -> None:
    """Merge the shards of a run and write results and report."""
    from ..runs.merge import merge as merge_shards

    check_folder(out)
    merge_shards(folders, out, overwrite)
    show_report(out)


@app.command()
def report(out: Annotated[Path, typer.Argument(help="Output folder of `tse run`.")]) -> None:
    """Write the report of a finished run again."""
    show_report(out)


@app.command()
def compare(
    folders: Annotated[list[Path], typer.Argument(help="Output folders of `tse run`.")],
    out: Annotated[Path, typer.Option(help="Output folder of the common report.")] = Path("tse-comparison"),
) -> None:
    """Report several runs together and compare each system with the first one, item by item."""
    from ..io.table_files import write_table
    from ..runs.compare import compare as compare_runs
    from ..runs.compare import named_tests
    from ..runs.report import write_report

    check_folder(out)
    compared = compare_runs(folders)
    for (of_suite, reference), rows in compared.groupby(["suite", "reference"], sort=False):
        terminal.say(f"{of_suite}, on the items shared with {reference}:")
        shown = rows.drop(columns=["suite", "reference", "test"])
        terminal.table(shown.rename(columns={"reference score": "reference"}))
        terminal.say(f"{named_tests(rows)}\n")
    write_table(compared, out / "comparison.csv")
    terminal.say(f"Report: {write_report(out, folders)}")


@app.command()
def explore(
    folders: Annotated[list[Path] | None, typer.Argument(help="Output folders of `tse run`.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", help="Another model to ask about sentences; repeatable."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(help="Port to listen on; default: the first free one from 7860.", min=1, max=65535),
    ] = None,
) -> None:
    """Open a page to explore results: tables, curves, single sentences, people next to models."""
    if importlib.util.find_spec("gradio") is None:
        raise ValueError("`tse explore` needs Gradio: pip install 'refined-tse[explore]'.")
    from ..explore.app import app as page
    from ..explore.serve import launch

    terminal.quiet()
    shown = page(folders or [], model)
    terminal.say(f"Explore at {launch(shown, host, port)} (Ctrl+C ends it).")
    shown.block_thread()


def show_report(out: Path) -> None:
    """Write the report of an output folder and print its headlines."""
    from ..io.results import read_results
    from ..runs.report import write_report

    with terminal.waiting("Writing the report"):
        page = write_report(out)
    terminal.summary(read_results(out))
    terminal.say(f"Report: {page}")
