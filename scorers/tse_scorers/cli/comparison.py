"""The command `tse compare`."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..io.files import check_file, check_folder
from ..io.store import RESULTS_FILE
from ..models.options import DATA, OUTPUT
from . import terminal
from .help import App
from .options import Reference, option

app = App()


@app.command()
def compare(
    folders: Annotated[list[Path], typer.Argument(help="Output folders of `tse run`.")],
    out: Annotated[Path, option("Folder of the tables (CSV).", OUTPUT)] = Path("tse-comparison"),
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
    common_lemmas: Annotated[
        bool,
        option(
            "Compare EW over the lemmas that all models score, from stored outcomes.",
            DATA,
            "--common-lemmas",
        ),
    ] = False,
) -> None:
    """Compare each system with a reference, item by item."""
    check_folder(out)
    if json_file is not None:
        check_file(json_file, (".json",))
    with terminal.waiting("Comparing"):
        from ..io.files import write_text
        from ..io.runs import read_runs
        from ..io.tables import check_table, write_table
        from ..report.differences import for_terminal
        from ..runs.comparing.compare import as_json, with_own_lemmas
        from ..runs.comparing.compare import common_lemmas as scores_over_common_lemmas
        from ..runs.comparing.compare import compare as compare_runs

        _keep_inputs(folders, json_file)
        if csv_file is not None:
            check_table(csv_file)
        compared = compare_runs(folders, reference, allow_different, common_lemmas, by or (), measure or ())
        common = scores_over_common_lemmas(folders) if common_lemmas else None
        if common is not None:
            compared = replace(compared, rows=with_own_lemmas(compared.rows, common))
    terminal.blocks(for_terminal(compared, common))
    terminal.not_comparable(read_runs(folders).runs)
    if common is not None:
        write_table(common, out / "common_lemmas.csv")
    if len(compared.conditions):
        write_table(compared.conditions, out / "conditions.csv")
    if len(compared.rows):
        write_table(compared.rows, out / "comparison.csv")
        write_table(compared.items, out / "comparison_items.csv")
    if json_file is not None:
        written = as_json(compared.rows) + as_json(compared.conditions)
        write_text(json_file, json.dumps(written, indent=1, ensure_ascii=False) + "\n")
    if csv_file is not None:
        write_table(compared.rows, csv_file)
    terminal.say(f"Tables: {out}")


def _keep_inputs(folders: Sequence[Path], json_file: Path | None) -> None:
    """Raise ValueError where the JSON file would replace one of the runs that are compared."""
    from ..io.store import RUNS

    if json_file is None:
        return
    for folder in map(Path.resolve, folders):
        file = json_file.resolve()
        if file == folder / RESULTS_FILE or file.is_relative_to(folder / RUNS):
            raise ValueError(
                f"{json_file} belongs to a run that is compared, and would be replaced. Name another file with "
                "--json."
            )
