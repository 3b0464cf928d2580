"""Commands for many checkpoints and many jobs: `tse watch`, `tse collect`."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..models.options import MODEL, OUTPUT, SPEED, ModelOptions, Purpose
from . import terminal
from .help import App
from .options import Overwrite, SuiteNames, option, takes_model_options, takes_suite_options
from .several_suites import make_runs, make_suites
from .shown_report import fail_with, show_report

if TYPE_CHECKING:
    from ..models.revisions import Revision
    from ..runs.jobs import Job

app = App()


@app.command()
@takes_model_options
@takes_suite_options
def watch(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder in which a training run saves its checkpoints.")],
    revisions: Annotated[
        str,
        option("Which subfolders are checkpoints. Default: checkpoint-*, as a Trainer writes.", MODEL),
    ] = "checkpoint-*",
    suite: SuiteNames = None,
    suite_options: dict[str, object],
    out: Annotated[Path, option("Output folder.", OUTPUT)] = Path("tse-results"),
    overwrite: Overwrite = False,
    until: Annotated[
        int | None,
        option("End when so many checkpoints are scored. Default: never.", SPEED, min=1),
    ] = None,
    idle: Annotated[
        float | None,
        option("End after so many seconds without a new checkpoint. Default: never.", SPEED, min=0),
    ] = None,
    settle: Annotated[
        float,
        option("Seconds for which a checkpoint's files must not change before it is scored.", SPEED, min=0),
    ] = 10.0,
    every: Annotated[
        float,
        option("Seconds between two looks at the folder.", SPEED, min=0.01),
    ] = 10.0,
    options: ModelOptions,
) -> None:
    """Score checkpoints as they appear in a folder, and draw the curve; Ctrl-C ends it."""
    if not folder.is_dir():
        raise ValueError(
            f"There is no folder {str(folder)!r}. Name the folder in which checkpoints will be saved."
        )
    suites_made = make_suites(suite, suite_options)
    with terminal.starting("Loading PyTorch"):
        from ..runs.folders.watch import Watch
        from ..runs.report import write_report
        from ..suites.checks import purpose_of

        terminal.quiet()
    runs = make_runs(suites_made, out, overwrite)

    job = partial(_job, folder, options, purpose_of([suite for suite, _ in suites_made]))

    report = partial(write_report, out)
    watching = Watch(str(folder), revisions, runs, job, report, terminal.note, every, settle, idle)
    terminal.note(f"Watching {folder} for {revisions} (Ctrl-C ends).")
    failures = watching.until(until)
    if watching.done:
        show_report(out)
    fail_with(failures, out, bool(watching.done), "checkpoint")


def _job(folder: Path, options: ModelOptions, purpose: Purpose, checkpoint: "Revision") -> "Job":
    from ..loading import load_with_options
    from ..runs.jobs import Job

    load = partial(load_with_options, checkpoint.model, options, purpose=purpose)
    return Job(checkpoint.model, load, options, series=str(folder), revision=checkpoint.name)


@app.command()
def collect(
    folders: Annotated[list[Path], typer.Argument(help="Output folders of `tse run`.")],
    out: Annotated[Path, option("Output folder. What is in it stays.", OUTPUT)] = Path("tse-results"),
    no_report: Annotated[bool, option("Write no report. Default: write it.", OUTPUT, "--no-report")] = False,
) -> None:
    """Join the output folders of many jobs into one, and write results and report."""
    with terminal.waiting("Joining the folders"):
        from ..runs.folders.collect import collect as collect_folders

        collected = collect_folders(folders, out)
    terminal.say(
        f"Copied {collected.n_copied:,} records to {out}; {collected.n_there:,} were there. Added the results of "
        f"{collected.n_models:,} models."
    )
    if collected.n_shards:
        terminal.say(
            f"{collected.n_shards} records are shards; put them together with `tse merge {out} --out FOLDER`."
        )
    if collected.n_models and not no_report:
        show_report(out)
