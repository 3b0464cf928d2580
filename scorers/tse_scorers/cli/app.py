"""The command line: parses, calls, prints."""

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import __version__
from ..io.store import RESULTS_FILE
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
from .options import Models, Overwrite, SuiteName, declared, takes_model_options, takes_suite_options
from .shown_report import fail_with, show_report
from .usage import Commands
from .usage import run as run_app

if TYPE_CHECKING:
    from ..models.scorer import Scorer
    from ..suites.contract import Suite

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


def _parsed_part(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"Got --part {text[:60]!r}; expected i/n with i from 1 to n, for instance 2/8.")
    return int(match[1]), int(match[2])


@app.command()
@takes_model_options
@takes_suite_options
def run(
    *,
    model: Models = None,
    suite: SuiteName = None,
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
    part: Annotated[
        str | None,
        declared(
            Described(
                "i/n: score one of n shares, the others in other processes with the same --out",
                "all, or under torchrun a share each",
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
    """Score models on a suite and write scores, results and a report."""
    with terminal.starting():
        from ..io.bundle import DEFAULT_MODELS
        from ..models.model_source import require_on_disk

        chosen = None if part is None else _parsed_part(part)
        if revisions is None:
            require_on_disk(model or ())
    made = _made(suite, suite_options)
    with terminal.starting("Loading PyTorch"):
        from ..loading import load_with_options
        from ..runs.comparing.comparable import listed
        from ..runs.jobs import make_jobs, remember_failures
        from ..runs.run import Part, run_models, silent

        terminal.quiet()
    share = Part.of_launch() if chosen is None else Part(*chosen)
    speaks = Part.of_launch().number == 1  # of the processes of a launch, which share a terminal

    def load(name: str, used: ModelOptions, one_of_several: bool) -> "Scorer":
        with terminal.waiting(f"Loading {name}"):
            scorer = load_with_options(name, used, one_of_several=one_of_several)
        if speaks:
            terminal.start_token(scorer)
        return scorer

    if speaks:
        terminal.findings(made.findings)
    jobs = make_jobs(model or DEFAULT_MODELS, [made], options, revisions, load)
    records, failures, waiting = run_models(
        made, jobs, out, part=share, overwrite=overwrite, announce=terminal.progress if speaks else silent,
        note=terminal.note, keep_going=revisions is not None,
    )  # fmt: skip
    remember_failures(out, [job.model for job in jobs], failures)
    if waiting:
        terminal.say(
            f"Part {share.number} of {share.of} is done. Other parts of {listed(waiting)} are missing; the "
            f"process that finishes the last one writes the results to {out}."
        )
    elif records and no_report:
        terminal.say(f"Results: {out / RESULTS_FILE}")
    elif records:
        show_report(out)
    fail_with(failures, out, bool(records))


def _made(name: str | None, options: dict[str, object]) -> "Suite":
    """Return the suite of a command; without a name the only one that reads the data, agreement without any.

    Nothing here imports PyTorch, so that a wrong path or column is reported at once.
    """
    with terminal.waiting("Reading the data"):
        from ..suites.registry import made_of, suite_of_data, suites_of_data

        data = options.get("data")
        if name is None and data is not None:
            name, *others = suites_of_data(str(data))
            if Path(str(data)).exists():
                also = f" It also fits {' and '.join(others)}: --suite {others[0]}." if others else ""
                terminal.note(f"Suite: {name}, by the columns of {data}.{also}")
        return made_of(name or suite_of_data(None), options)


def main() -> None:
    """Run the command line; see `errors` for exit codes."""
    guarded(partial(run_app, app))
