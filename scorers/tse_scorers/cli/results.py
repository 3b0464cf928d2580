"""Commands over output folders: `tse merge`, `tse report`, `tse compare`, `tse frequency`, `tse explore`."""

import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..io.files import check_folder
from . import terminal
from .help import App
from .options import Overwrite
from .shown_report import show_report

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from ..report.paper import Written

app = App()


@app.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(help="Output folders of `tse run --shard i/n`.")],
    out: Annotated[Path, typer.Option(help="Output folder.")] = Path("tse-results"),
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
        typer.Option(
            "--plain-latex",
            help=r"Leave intervals (\pm) out of LaTeX tables. Default: they are shown where the table fits a page of "
            "6.3 inches.",
        ),
    ] = False,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="Also write figures and tables for a paper into OUT/paper: single panels as PDF, 3.03 and 6.3 inches "
            "wide, and LaTeX with labels. Default: they are not written.",
        ),
    ] = False,
) -> None:
    """Make `results.json` again from the scores of a run, and write its report."""
    with terminal.waiting("Reading the scores"):
        from ..runs.report import refresh_results, write_paper

        refresh_results(out)
    show_report(out, not plain_latex)
    if paper:
        _write_paper(lambda: write_paper(out, not plain_latex))


def _write_paper(write: "Callable[[], Written]") -> None:
    """Write the files for a paper, and name the figures that are too wide for it."""
    with terminal.waiting("Writing the files for a paper"):
        written = write()
    terminal.say(f"Paper: {written.figures} figures and {written.tables} tables in {written.folder}")
    if written.too_wide:
        terminal.say(f"Not written, because they do not fit their page: {', '.join(written.too_wide)}.")


@app.command()
def compare(
    folders: Annotated[list[Path], typer.Argument(help="Output folders of `tse run`.")],
    out: Annotated[Path, typer.Option(help="Output folder of the common report.")] = Path("tse-comparison"),
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the differences to this JSON file.")
    ] = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", help="Also write the differences to this CSV file.")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(help="Model that the others are compared with; default: the first one of each suite."),
    ] = None,
    allow_different: Annotated[
        bool,
        typer.Option(
            "--allow-different",
            help="Compare runs on different data or with different options, and name these.",
        ),
    ] = False,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="Also write the differences for a paper into OUT/paper: forest plots as PDF, and LaTeX. Default: they "
            "are not written.",
        ),
    ] = False,
    common_lemmas: Annotated[
        bool,
        typer.Option(
            "--common-lemmas",
            help="Compare EW and MW over the lemmas that all systems score, from stored outcomes.",
        ),
    ] = False,
    figures: Annotated[
        bool,
        typer.Option(
            "--figures",
            help="Also draw the figures of each suite in the common report, which takes longer. Default: only those of "
            "the differences.",
        ),
    ] = False,
) -> None:
    """Report several runs together and compare each system with a reference, item by item."""
    check_folder(out)
    with terminal.waiting("Comparing"):
        from ..io.files import write_text
        from ..io.results import read_results
        from ..io.table_files import write_table
        from ..report.common_lemmas import section as common_section
        from ..report.comparable import unpublished_notice
        from ..report.comparison import section
        from ..report.inputs import read_runs
        from ..report.paper import write_paper as write_panels
        from ..runs.common_lemmas import common_lemmas as scores_over_common_lemmas
        from ..runs.common_lemmas import with_own_lemmas
        from ..runs.compare import as_json, for_csv
        from ..runs.compare import compare as compare_runs
        from ..runs.report import write_report

        compared = compare_runs(folders, reference, allow_different, common_lemmas)
        common = scores_over_common_lemmas(folders) if common_lemmas else None
    rows = compared.rows if common is None else with_own_lemmas(compared.rows, common)
    _show_differences(rows)
    for sentence in compared.not_compared:
        terminal.say(sentence)
    terminal.not_comparable(map(read_results, folders))
    if common is not None:
        _show_common_lemmas(common)
        write_table(common, out / "common_lemmas.csv")
    write_table(for_csv(rows), out / "comparison.csv")
    write_table(compared.items, out / "comparison_items.csv")
    if json_file is not None:
        write_text(json_file, json.dumps(as_json(rows), indent=1, ensure_ascii=False) + "\n")
    if csv_file is not None:
        write_table(rows, csv_file)
    sections = [section(rows, compared.items, compared.not_compared)]
    sections += [] if common is None else [common_section(common)]
    notice = unpublished_notice(read_runs(folders).signatures)
    sections = [own.with_notice(notice) for own in sections]
    with terminal.waiting("Writing the report"):
        page = write_report(out, folders, sections, figures=figures)
    terminal.say(f"Report: {page}")
    if paper:
        _write_paper(lambda: write_panels(out, sections))


def _show_common_lemmas(rows: "pd.DataFrame") -> None:
    """Print the overall scores over each system's own lemmas and over the common ones."""
    from ..report.common_lemmas import overview

    for config, own in rows[rows["group"] == "all"].groupby("config", sort=False, dropna=False):
        terminal.say(f"{config}, over each system's own lemmas and over those that all score:")
        terminal.table(overview(own).droplevel("group").reset_index())
        terminal.say("")


def _show_differences(rows: "pd.DataFrame") -> None:
    """Print the overall differences, and how many groups differ."""
    from ..report.comparison import findings
    from ..report.differences import overview
    from ..report.result_rows import data_name

    for (suite, config, reference), own in rows.groupby(
        ["suite", "config", "reference"], sort=False, dropna=False
    ):
        terminal.say(f"{data_name(suite, config)}, on the items shared with {reference}:")
        overall = own[own["group"] == "all"]
        shown = overview(overall).drop(columns=["detectable", "units"])
        shown.insert(0, "measure", overall["measure"].to_list())
        terminal.table(shown)
        for sentence in findings(own):
            terminal.say(sentence)
        terminal.say("")


@app.command()
def frequency(
    out: Annotated[Path, typer.Argument(help="Output folder of `tse run`.")],
    counts: Annotated[
        str,
        typer.Option(
            help="wordfreq (pip install 'refined-tse[frequency]'), or a table with columns word and count."
        ),
    ] = "wordfreq",
    language: Annotated[str, typer.Option(help="Language of wordfreq's list.")] = "en",
) -> None:
    """Add EW by the frequency of lemmas to the results and the report of a run, without running a model."""
    with terminal.waiting("Computing EW by frequency"):
        from ..runs.frequency import add_frequencies
        from ..runs.report import refresh_results

        add_frequencies(out, counts, language)
        refresh_results(out)
    show_report(out)


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
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write the page to this folder instead of serving it. Its index.html opens without a server."
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Open a page to explore results: tables and the items behind each score, curves, people, single sentences."""
    if export is not None:
        _export(folders or [], export, overwrite)
        return
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("uvicorn") is None:
        raise ValueError(
            "`tse explore` needs Starlette and uvicorn: pip install 'refined-tse[explore]'. --export needs neither."
        )
    with terminal.waiting("Reading the results"):
        from ..explore.server import app as page
        from ..explore.server import launch

        served = launch(page(folders or [], model), host, port)
    terminal.say(f"Explore at {served.address} (Ctrl+C ends it).")
    served.wait()


def _export(folders: list[Path], out: Path, overwrite: bool) -> None:
    """Write the page to a folder, which must be empty, new, or one of its own."""
    if not folders:
        raise ValueError("--export needs results. Give the output folders of `tse run`.")
    with terminal.waiting("Writing the page"):
        from ..explore.bundle import Bundle
        from ..explore.export import check_export
        from ..explore.export import export as write_page

        check_export(out, overwrite)
        bundle = Bundle(folders)
        n = sum(1 for _ in write_page(bundle, out))
    for problem in bundle.problems:
        terminal.note(f"Not in the page: {problem}")
    terminal.say(f"Page: {out / 'index.html'} ({n} files of data; copy the whole folder).")
