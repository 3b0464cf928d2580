"""Commands that write results and data in the formats of other tools: `tse export …`."""

from pathlib import Path
from typing import Annotated

import typer

from ..models.options import DATA, OUTPUT
from . import terminal
from .help import App
from .options import SuiteNames, option, takes_suite_options
from .several_suites import make_suites
from .usage import Commands

app = App(cls=Commands, no_args_is_help=True, help="Write results and data in the formats of other tools.")

Folders = Annotated[list[Path], typer.Argument(help="Output folders of `tse run`.")]
Out = Annotated[Path, option("Output folder.", OUTPUT)]


@app.command("mixed-models")
def mixed_models(
    folders: Folders,
    out: Out = Path("tse-mixed-models"),
    by: Annotated[
        list[str] | None,
        option(
            "A column of your own table that is a fixed effect; repeatable. Default: condition, if there is one.",
            DATA,
            "--by",
        ),
    ] = None,
) -> None:
    """Write one tidy Parquet file per suite with all random effects, and the R code (lme4) that fits it."""
    with terminal.waiting("Writing the tables"):
        from ..exporting.mixed_models import export
        from ..io.files import check_folder

        check_folder(out)
        written = list(export(folders, out, by or ()))
    for path in written:
        terminal.say(f"Written: {path}")


@app.command()
def items(folders: Folders, out: Out = Path("tse-items")) -> None:
    """Write scores per item as Parquet, one file per table, with model, revision and sentences in columns."""
    with terminal.waiting("Writing the items"):
        from ..exporting.items import export
        from ..io.files import check_folder

        check_folder(out)
        written = list(export(folders, out))
    for path in written:
        terminal.say(f"Written: {path}")


@app.command("every-eval-ever")
def every_eval_ever(
    folders: Folders,
    organization: Annotated[str, option("Who ran the evaluation.", OUTPUT)],
    relationship: Annotated[
        str,
        option("To the models' developers: first_party, third_party, collaborative, other.", OUTPUT),
    ] = "third_party",
    data_org: Annotated[
        str | None,
        option("Who hosts the shipped data sets on the Hub. Default: not named.", DATA),
    ] = None,
    items: Annotated[
        bool,
        option("Write minimal pairs as well. Default: only the scores.", OUTPUT, "--items"),
    ] = False,
    out: Out = Path("tse-every-eval-ever"),
) -> None:
    """Write headline scores as records of the Every Eval Ever schema."""
    with terminal.starting():
        from ..exporting.every_eval_ever import (
            RELATIONSHIPS,
            Reporter,
            records,
            scored_by_identity,
            with_samples,
            write,
        )
        from ..io.files import check_folder
        from ..report.inputs import read_runs

    if relationship not in RELATIONSHIPS:
        raise ValueError(f"Got --relationship {relationship}; expected one of: {', '.join(RELATIONSHIPS)}.")
    check_folder(out)
    reporter, unnamed = Reporter(organization, relationship, data_org), Reporter(organization, relationship)
    records_of = {folder: list(records(folder, reporter)) for folder in folders}
    if data_org is not None and records_of == {folder: list(records(folder, unnamed)) for folder in folders}:
        raise ValueError("--data-org has no effect: no score is over a whole shipped data set; remove it.")
    for folder, folder_records in records_of.items():
        scored = scored_by_identity(read_runs([folder])) if items else {}
        for record in folder_records:
            complete = with_samples(record, scored, out) if items else record
            terminal.say(f"Written: {write(complete, out)}")


@app.command("lm-eval")
@takes_suite_options
def lm_eval(
    *,
    out: Annotated[Path, typer.Argument(help="Output folder, for lm-eval's --include_path.")],
    suite: SuiteNames = None,
    suite_options: dict[str, object],
) -> None:
    """Write the pairs of suites as tasks of lm-evaluation-harness (agreement: TSE; minimal_pairs: whole sentences)."""
    suites_made = make_suites(suite, suite_options)
    with terminal.waiting("Writing the tasks"):
        from ..exporting.lm_eval_tasks import export
        from ..io.files import check_folder

        check_folder(out)
        exported = dict(export(chosen, out, recipe.given) for chosen, recipe in suites_made)
    terminal.say(f"Written: {len({path for files in exported.values() for path in files})} files in {out}")
    terminal.say(
        f"Run: lm-eval run --model hf --model_args pretrained=MODEL --tasks {','.join(exported)} "
        f"--include_path {out}"
    )
