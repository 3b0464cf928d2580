"""The command `tse compare`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..io.files import check_file, check_folder
from ..io.ours import RESULTS_FILE
from ..models.options import DATA, OUTPUT
from . import tables, terminal
from .help import App
from .options import PaperFont, PaperWidth, Reference, check_font, option
from .shown_report import say_written

if TYPE_CHECKING:
    import pandas as pd

app = App()


@app.command()
def compare(
    folders: Annotated[list[Path], typer.Argument(help="Output folders of `tse run`.")],
    out: Annotated[Path, option("Output folder of the common report.", OUTPUT)] = Path("tse-comparison"),
    json_file: Annotated[
        Path | None,
        option("Also write the differences to this JSON file.", OUTPUT, "--json"),
    ] = None,
    csv_file: Annotated[
        Path | None,
        option("Also write the differences to this CSV file.", OUTPUT, "--csv"),
    ] = None,
    reference: Reference = None,
    allow_different: Annotated[
        bool,
        option(
            "Compare runs on different data or with different options, and name these.",
            DATA,
            "--allow-different",
        ),
    ] = False,
    by: Annotated[
        list[str] | None,
        option(
            "Compare conditions within each model, by means of items: a column of your own table. Repeat it for a "
            "design of several factors; two factors of two values have an interaction. Default: none.",
            DATA,
            "--by",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        option(
            "Compare this measure, such as ew or accuracy; at a cut-off ew@top-0.9. Repeatable. Default: the headline "
            "measures.",
            DATA,
            "--measure",
        ),
    ] = None,
    paper: Annotated[
        list[PaperWidth] | None,
        option(
            "Also write the differences for a paper into OUT/paper, with an index. Figures "
            "are 3.03 inches wide (column) or 6.3 (text); repeatable. Default: none.",
            OUTPUT,
            "--paper",
        ),
    ] = None,
    font: PaperFont = None,
    common_lemmas: Annotated[
        bool,
        option(
            "Compare EW over the lemmas that all models score, from stored outcomes.",
            DATA,
            "--common-lemmas",
        ),
    ] = False,
    figures: Annotated[
        bool,
        option(
            "Also draw the figures of each suite in the common report, which takes longer. Default: the figures of "
            "the differences, and the tables of each suite.",
            OUTPUT,
            "--figures",
        ),
    ] = False,
) -> None:
    """Report several runs together and compare each system with a reference, item by item."""
    check_folder(out)
    if json_file is not None:
        check_file(json_file, (".json",))
    with terminal.waiting("Comparing"):
        from ..io.files import write_text
        from ..io.table_files import check_table, write_table
        from ..report.common_lemmas import section as common_section
        from ..report.comparable import unpublished_notice
        from ..report.comparison import answers, best_first, section
        from ..report.conditions import section as conditions_section
        from ..report.inputs import read_runs
        from ..report.paper import write_paper as write_panels
        from ..runs.comparing.compare import as_json, with_own_lemmas
        from ..runs.comparing.compare import common_lemmas as scores_over_common_lemmas
        from ..runs.comparing.compare import compare as compare_runs
        from ..runs.report import write_report
        from ..suites.registry import all_measures, names

        paper_font = check_font(font, paper)
        _keep_inputs(folders, out, json_file)
        if csv_file is not None:
            check_table(csv_file)
        compared = compare_runs(folders, reference, allow_different, common_lemmas, by or (), measure or ())
        common = scores_over_common_lemmas(folders) if common_lemmas else None
    rows = compared.rows if common is None else with_own_lemmas(compared.rows, common)
    _show_conditions(compared.conditions)
    _show_differences(best_first(rows))
    for sentence in compared.not_compared:
        terminal.say(sentence)
    runs = read_runs(folders)
    terminal.not_comparable(runs.runs)
    if common is not None:
        _show_common_lemmas(common)
        write_table(common, out / "common_lemmas.csv")
    if len(compared.conditions):
        write_table(compared.conditions, out / "conditions.csv")
    if len(rows):
        write_table(rows, out / "comparison.csv")
        write_table(compared.items, out / "comparison_items.csv")
    if json_file is not None:
        written = as_json(rows) + as_json(compared.conditions)
        write_text(json_file, json.dumps(written, indent=1, ensure_ascii=False) + "\n")
    if csv_file is not None:
        write_table(rows, csv_file)
    called, measures = names(), all_measures()
    sections = [section(rows, compared.items, compared.not_compared, called, measures)] if len(rows) else []
    sections += (
        [conditions_section(compared.conditions, called, measures)] if len(compared.conditions) else []
    )
    sections += [] if common is None else [common_section(common)]
    notice = unpublished_notice(runs.signatures, heading=called.heading)
    sections = [part.with_notice(notice, list(runs.rows["system"].unique())) for part in sections]
    with terminal.waiting("Writing the report"):
        page = write_report(out, folders, sections, figures=figures, compared=answers(rows, measures))
    terminal.say(f"Report: {page}")
    if paper:
        say_written(lambda: write_panels(out, sections, widths=paper, font=paper_font))


def _keep_inputs(folders: Sequence[Path], out: Path, json_file: Path | None) -> None:
    """Raise ValueError where the output would replace a file of the runs that are compared."""
    from ..io.records import RUNS, listing

    if listing(out):
        raise ValueError(
            f"{out} has scores, and its report would be replaced by that of the comparison. Choose another folder "
            "with --out."
        )
    if json_file is None:
        return
    for folder in map(Path.resolve, folders):
        file = json_file.resolve()
        if file == folder / RESULTS_FILE or file.is_relative_to(folder / RUNS):
            raise ValueError(
                f"{json_file} belongs to a run that is compared, and would be replaced. Name another file with "
                "--json."
            )


def _show_common_lemmas(rows: "pd.DataFrame") -> None:
    """Print the overall scores over each model's own lemmas and over the common ones."""
    from ..report.common_lemmas import overview

    for config, config_rows in rows[rows["group"] == "all"].groupby("config", sort=False, dropna=False):
        terminal.say(f"{config}, over each model's own lemmas and over those that all score:")
        tables.table(overview(config_rows).droplevel("group").reset_index())
        terminal.say("")


def _show_conditions(rows: "pd.DataFrame") -> None:
    """Print scores of conditions and contrasts between them, with a sentence for each family."""
    from ..report.conditions import findings, overview
    from ..suites.registry import all_measures, names

    heading, measures = names().heading, all_measures()
    if rows.empty:
        return
    for (suite, config, measure), measure_rows in rows.groupby(
        ["suite", "config", "measure"], sort=False, dropna=False
    ):
        by = measure_rows["by"].iloc[0]
        terminal.say(f"{heading(suite, config)}, {measure} by {by}:")
        for _, of_kind in measure_rows.groupby("kind", sort=False):
            tables.table(overview(of_kind, measures), "model")
        for sentence in findings(measure_rows):
            terminal.say(sentence)
        terminal.say("")


def _show_differences(rows: "pd.DataFrame") -> None:
    """Print the overall differences, and how many groups differ: measures of one model, or models by measure."""
    from ..report.comparison import findings, without_repeated
    from ..report.differences import overview
    from ..report.tables import count
    from ..suites.registry import all_measures, names

    heading, measures = names().heading, all_measures()
    for (suite, config, reference), data_rows in rows.groupby(
        ["suite", "config", "reference"], sort=False, dropna=False
    ):
        terminal.say(f"{heading(suite, config)}, on the items shared with {reference}:")
        overall = data_rows[data_rows["group"] == "all"]
        shown = overview(overall, measures).drop(columns=["detectable", "units"])
        shown.insert(0, "measure", overall["measure"].to_list())
        shown["n"] = [count(n) for n in overall["n_items"]]
        by = "model" if shown["model"].nunique() == 1 else "measure"
        tables.table(shown, by)
        for sentence in findings(without_repeated(data_rows)):
            terminal.say(sentence)
        terminal.say("")
