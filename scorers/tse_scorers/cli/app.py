"""The command line: parses, calls, prints."""

import time
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from ..io.ours import RESULTS_FILE
from ..models.options import ModelOptions
from . import again as cli_again
from . import data as cli_data
from . import design as cli_design
from . import doctor as cli_doctor
from . import exports as cli_exports
from . import models as cli_models
from . import results as cli_results
from . import series as cli_series
from . import sharing as cli_sharing
from . import terminal
from .errors import guarded
from .help import App
from .model_runs import run_models
from .option_groups import takes_model_options, takes_suite_options
from .options import DATA, MODEL, OUTPUT, SPEED, Models, Overwrite, SuiteName, SuiteNames
from .several_suites import make_runs, make_suites
from .shown_report import fail_with, show_report
from .usage import Commands
from .usage import run as run_app

app = App(
    name="tse",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(cli_doctor.app)
app.add_typer(cli_data.app, name="data")
app.add_typer(cli_results.app)
app.add_typer(cli_series.app)
app.add_typer(cli_again.app)
app.add_typer(cli_models.app)
app.add_typer(cli_sharing.app)
app.add_typer(cli_design.app)
app.add_typer(cli_exports.app, name="export")


def _version(asked: bool) -> None:
    if asked:
        terminal.say(f"tse (refined-tse) {version('refined-tse')}")
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


@app.command()
@takes_model_options
@takes_suite_options
def run(
    *,
    model: Models = None,
    suite: SuiteNames = None,
    asked: dict[str, Any],
    out: Annotated[
        Path,
        typer.Option(
            help="Output folder. Default: tse-results, because models in one folder share one report.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = Path("tse-results"),
    overwrite: Overwrite = False,
    revisions: Annotated[
        str | None,
        typer.Option(
            help="A series: all revisions (or checkpoints in a folder) that match, e.g. 'step*'. Default: only the "
            "model that was named, because a series takes as many times as long.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            help="i/n: score one of n shares, for `tse merge`. Default: everything, because most models need only "
            "one machine.",
            rich_help_panel=SPEED,
        ),
    ] = None,
    no_report: Annotated[
        bool,
        typer.Option(
            "--no-report",
            help="Write scores and results, but no report. Default: with a report, because it takes only seconds.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    options: ModelOptions,
) -> None:
    """Score models on suites and write scores, results and a report."""
    with terminal.starting():
        from ..io.bundle import DEFAULT_MODELS
        from ..models.model_source import require_on_disk
        from ..runs.shards import parse_shard

        part = None if shard is None else parse_shard(shard)
        if revisions is None:
            require_on_disk(model or ())
    made = make_suites(suite or ["agreement"], asked)
    with terminal.starting("Loading PyTorch"):
        from ..engine.processes import is_main, joined_processes

        terminal.quiet()
    with joined_processes(cpu=options.device == "cpu") as device:
        runs = make_runs(made, out, overwrite, part)
        names = model or DEFAULT_MODELS
        failures = run_models(runs, names, options, revisions, None if device is None else str(device))
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


@app.command()
@takes_model_options
@takes_suite_options
def estimate(
    *,
    model: Models = None,
    suite: SuiteName = "agreement",
    asked: dict[str, Any],
    budget: Annotated[
        int | None,
        typer.Option(
            help="At most this many pairs in all, as in a training loop. Default: all, because `tse run` scores all.",
            min=1,
            rich_help_panel=DATA,
        ),
    ] = None,
    options: ModelOptions,
) -> None:
    """Print what scoring models on a suite costs, from the data and a few seconds of the real work."""
    with terminal.waiting("Reading the data"):
        from ..io.bundle import DEFAULT_MODELS
        from ..models.model_source import require_on_disk
        from ..suites.checks import findings_of
        from ..suites.registry import make_suite

        require_on_disk(model or ())
        chosen = make_suite(suite, **asked)
    terminal.findings(findings_of(chosen))
    if budget is not None:
        chosen.keep_sample(budget, seed=0)
    with terminal.starting("Loading PyTorch"):
        from ..loading import load_with_options, options_of_models
        from ..models.descriptions import Descriptions
        from ..runs.estimate import estimate as estimate_cost

        terminal.quiet()
        names, known = model or DEFAULT_MODELS, Descriptions()
        of_models = options_of_models(names, options, known)
    costs = []
    for name, used in zip(names, of_models, strict=True):
        start = time.perf_counter()
        with terminal.waiting(f"Loading {name}"):
            scorer = load_with_options(name, used, known=known)
        loading = time.perf_counter() - start
        with terminal.waiting(f"Estimating {name}"):
            costs.append((scorer.name, loading, estimate_cost(scorer, chosen)))
    terminal.costs(costs)
    if asked.get("forms") == "all" and None in (asked.get("limit"), asked.get("lemma_sample")):
        terminal.say(_CHEAPER_FORMS)


_CHEAPER_FORMS = (
    "To save time, add --limit 18 --lemma-sample 200, which scores a sample of pairs and verbs. With a model of "
    "GPT-2's size, it takes about 6 times as long as --forms single on all pairs."
)


@app.command()
@takes_model_options
def score(
    options: ModelOptions,
    file: Annotated[
        str, typer.Argument(help="Text (one sentence per line), CSV, TSV, JSONL, Parquet, or a Hub data set.")
    ],
    model: Annotated[
        str, typer.Option("--model", "-m", help="Hub id, folder, bundled model, or n-gram file.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV, TSV, JSONL or Parquet. Default: a table on the terminal, because a first look needs no file."
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            help="sentence, word, or region: rows with item, condition and text are parts of sentences. Default: "
            "sentence, because minimal pairs compare sentences.",
            show_default=False,
        ),
    ] = "sentence",
    column: Annotated[
        str | None,
        typer.Option(
            help="The column that holds the sentences. Default: sentence, because most tables call it so; with "
            "--by region: text."
        ),
    ] = None,
    bits: Annotated[
        bool,
        typer.Option(
            "--bits",
            help="Surprisals in bits. Default: in nats, because the column logprob is in natural logs.",
        ),
    ] = False,
) -> None:
    """Score the sentences of a file, their words, or their regions (surprisals, corrected for leading spaces)."""
    with terminal.waiting("Reading the sentences"):
        from ..io.table_files import check_table, write_table
        from ..models.model_source import require_on_disk
        from ..runs import score_sentences as scoring

        by = scoring.parse_by(by)
        column = column or scoring.DEFAULT_COLUMNS[by]
        inputs = [path for path in (Path(file), Path(model)) if path.is_file()]
        if out is not None:
            check_table(out, inputs)
        frame = scoring.read_sentences(file, column, by)
        require_on_disk([model])
    terminal.findings(scoring.inspect(frame, column, by))
    with terminal.waiting(f"Loading {model}"):  # importing PyTorch takes seconds
        from ..loading import load_with_options

        terminal.quiet()
        scorer = load_with_options(model, options)
    terminal.start_token(scorer)
    with terminal.progress(f"{scorer.name}: {file}") as progress:
        scored = scoring.score(scorer, frame, column, by=by, bits=bits, progress=progress)
    if out is None:
        terminal.table(scored)
    else:
        write_table(scored, out, inputs)
        scoring.write_signature(
            scorer, out, {"source": file, "column": column, "by": by, "bits": bits, "n_rows": len(scored)}
        )
        terminal.say(f"{len(scored):,} rows: {out}")


def main() -> None:
    """Run the command line; see `errors` for exit codes."""
    guarded(partial(run_app, app))
