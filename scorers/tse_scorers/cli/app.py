"""The command line: parses, calls, prints."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import __version__
from ..io.limits import SHARDS
from ..io.ours import RESULTS_FILE
from ..models.options import EVERYDAY, MODEL, OUTPUT, SPEED, Described, ModelOptions
from . import (
    comparison,
    data,
    doctor,
    explore,
    models,
    papers,
    results,
    score,
    sharing,
    terminal,
)
from .errors import guarded
from .help import App
from .options import Models, Overwrite, SuiteNames, declared, takes_model_options, takes_suite_options
from .several_suites import make_runs, make_suites
from .shown_report import fail_with, show_report
from .usage import Commands
from .usage import run as run_app

if TYPE_CHECKING:
    from ..models.scorer import Scorer

app = App(
    name="tse",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for commands in (
    score,
    doctor,
    results,
    comparison,
    explore,
    papers,
    models,
    sharing,
):
    app.add_typer(commands.app)
app.add_typer(data.app, name="data")


def _version(is_given: bool) -> None:
    if is_given:
        terminal.say(f"tse (refined-tse) {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Print the traceback of an error as well. Default: one paragraph.")
    ] = False,
) -> None:
    """Does this model know the grammar? Targeted syntactic evaluation of language models."""


def _parsed_shard(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or len(text) > 30 or not 1 <= int(match[1]) <= int(match[2]) <= SHARDS:
        raise ValueError(
            f"Got the shard {text[:60]!r}; expected i/n with i from 1 to n and n up to {SHARDS:,}, for instance 2/8."
        )
    return int(match[1]), int(match[2])


@app.command()
@takes_model_options
@takes_suite_options
def run(
    *,
    model: Models = None,
    suite: SuiteNames = None,
    suite_options: dict[str, object],
    out: Annotated[
        Path,
        declared(
            Described("Output folder", "tse-results", "models in one folder share one report", EVERYDAY)
        ),
    ] = Path("tse-results"),
    overwrite: Overwrite = False,
    revisions: Annotated[
        str | None,
        declared(
            Described(
                "A series: all revisions, or checkpoints in a folder, that match ('step*')",
                "one model",
                "a series takes as many times as long",
                MODEL,
            )
        ),
    ] = None,
    shard: Annotated[
        str | None,
        declared(
            Described(
                "i/n: score one of n shares, for `tse merge`",
                "all",
                "most models need only one machine",
                SPEED,
            )
        ),
    ] = None,
    no_report: Annotated[
        bool,
        declared(
            Described(
                "Write scores and results, but no report",
                "with a report",
                "it takes only seconds",
                OUTPUT,
            ),
            "--no-report",
        ),
    ] = False,
    options: ModelOptions,
) -> None:
    """Score models on suites and write scores, results and a report."""
    with terminal.starting():
        from ..io.bundle import DEFAULT_MODELS
        from ..models.model_source import require_on_disk

        part = None if shard is None else _parsed_shard(shard)
        if revisions is None:
            require_on_disk(model or ())
    suites = make_suites(suite, suite_options)
    with terminal.starting("Loading PyTorch"):
        from ..engine.processes import is_main, joined_processes
        from ..loading import load_with_options, loads_at_once
        from ..runs.jobs import make_jobs, remember_failures
        from ..runs.run import run_all

        terminal.quiet()
    with joined_processes(cpu=options.device == "cpu") as device:

        def load(name: str, used: ModelOptions, one_of_several: bool) -> "Scorer":
            if device is not None and not loads_at_once(name):
                used = replace(used, device=str(device))  # of this process
            with terminal.waiting(f"Loading {name}"):
                scorer = load_with_options(name, used, one_of_several=one_of_several)
            if is_main():
                terminal.start_token(scorer)
            return scorer

        runs = make_runs(suites, out, overwrite, part)
        jobs = make_jobs(model or DEFAULT_MODELS, suites, options, revisions, load)
        failures = run_all(runs, jobs, keep_going=revisions is not None)
        remember_failures(out, [job.model for job in jobs], failures)
        is_first, scored = is_main(), any(run.n_models for run in runs)
        if is_first and scored:
            if part is not None:
                terminal.say(f"Shard {shard} is in {out}; put all shards together with `tse merge`.")
            elif no_report:
                terminal.say(f"Results: {out / RESULTS_FILE}")
            elif (out / RESULTS_FILE).exists():
                show_report(out)
    if is_first:
        fail_with(failures, out, scored)
    if failures:
        raise typer.Exit(1)


def main() -> None:
    """Run the command line; see `errors` for exit codes."""
    guarded(partial(run_app, app))
