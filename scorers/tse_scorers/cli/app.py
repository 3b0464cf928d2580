"""The command line: parses, calls, prints."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..models.options import ModelOptions
from . import again as cli_again
from . import data as cli_data
from . import design as cli_design
from . import doctor as cli_doctor
from . import exports as cli_exports
from . import models as cli_models
from . import results as cli_results
from . import sharing as cli_sharing
from . import terminal
from .errors import guarded
from .options import (
    DATA,
    MODEL,
    OUTPUT,
    SPEED,
    AllowUnverified,
    Config,
    ContextLengths,
    Contexts,
    Criteria,
    Dataset,
    Forms,
    Groups,
    KeepForms,
    Lemmas,
    LemmaSample,
    Limit,
    Linking,
    Models,
    Overwrite,
    Source,
    SuiteName,
    Templates,
    Unigram,
    WordEnd,
    takes_model_options,
)
from .results import show_report

if TYPE_CHECKING:
    from ..models.base import Scorer
    from ..runs.run import Failure, Run

app = typer.Typer(
    name="tse",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(cli_doctor.app)
app.add_typer(cli_data.app, name="data")
app.add_typer(cli_results.app)
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
def run(
    options: ModelOptions,
    model: Models = None,
    suite: SuiteName = "agreement",
    dataset: Dataset = None,
    config: Config = None,
    source: Source = None,
    out: Annotated[Path, typer.Option(help="Output folder.", rich_help_panel=OUTPUT)] = Path("tse-results"),
    overwrite: Overwrite = False,
    groups: Groups = None,
    lemmas: Lemmas = None,
    forms: Forms = None,
    word_end: WordEnd = None,
    lemma_sample: LemmaSample = None,
    keep_forms: KeepForms = False,
    allow_unverified: AllowUnverified = False,
    linking: Linking = None,
    unigram: Unigram = None,
    criteria: Criteria = None,
    context: Contexts = None,
    context_lengths: ContextLengths = None,
    template: Templates = None,
    limit: Limit = None,
    revisions: Annotated[
        str | None,
        typer.Option(
            help="A series: all revisions (or checkpoints in a folder) that match, e.g. 'step*'.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(help="i/n: score one of n shares, for `tse merge`.", rich_help_panel=SPEED),
    ] = None,
) -> None:
    """Score models on a suite and write scores, results and a report."""
    with terminal.waiting("Starting"):  # importing PyTorch takes seconds
        from ..engine.processes import is_main, join_processes
        from ..loading import DEFAULT_MODELS
        from ..runs.recipe import Recipe
        from ..runs.run import Run, parse_shard, silent
        from ..suites.checks import findings_of
        from ..suites.registry import make_suite, one_by_one

        terminal.quiet()
        device = join_processes(cpu=options.device == "cpu")
    asked: dict[str, Any] = {
        "dataset": dataset,
        "config": config,
        "source": source,
        "groups": groups,
        "lemmas": lemmas,
        "forms": forms,
        "word_end": word_end,
        "lemma_sample": lemma_sample,
        "keep_forms": keep_forms or None,
        "allow_unverified": allow_unverified or None,
        "linking": linking,
        "unigram": unigram,
        "criteria": criteria,
        "context": context,
        "context_lengths": context_lengths,
        "template": template,
        "limit": limit,
    }
    part = None if shard is None else parse_shard(shard)
    with terminal.waiting("Reading the data"):
        sets = one_by_one(suite, asked)
        runs = [
            Run(
                make_suite(suite, **of_set),
                out,
                terminal.progress if is_main() else silent,
                part,
                overwrite,
                recipe=Recipe(suite, of_set),
                waiting=terminal.note,
            )
            for of_set in sets
        ]
    if is_main():
        for this in runs:
            terminal.findings(findings_of(this.suite))
    names = model or DEFAULT_MODELS
    loaded: dict[str, Any] | None = (
        {} if len(names) == 1 and len(runs) > 1 else None
    )  # several may be too large
    failures = [
        failure
        for this in runs
        for failure in run_models(
            this, names, options, revisions, None if device is None else str(device), loaded
        )
    ]
    if is_main():
        if part is not None:
            terminal.say(f"Shard {shard} is in {out}; put all shards together with `tse merge`.")
        elif any(this.rows for this in runs):
            show_report(out)
        for failure in failures:
            terminal.fail(f"{failure} This model was left out; the results of the others are in {out}.")
    if failures:
        raise typer.Exit(1)


def run_models(
    this: "Run",
    names: Sequence[str],
    options: ModelOptions,
    revisions: str | None,
    device: str | None,
    loaded: "dict[str, Scorer] | None" = None,
) -> "list[Failure]":
    """Run models, or all revisions of each that match; return those that failed, if there are several.

    Args:
        this: the run.
        names: of the models.
        options: for all models.
        revisions: a pattern; None runs the models themselves.
        device: of this process, if there are several; None where the options say it.
        loaded: models that stay loaded for the next run, by name; None keeps none.
    """
    from ..engine.processes import is_main
    from ..io.files import is_file
    from ..loading import load_with_options, options_of_models
    from ..models.gguf import is_gguf
    from ..models.revisions import expand
    from ..runs.run import Job, Loaded, run_all
    from ..suites.checks import check_scorer

    series = [[(name, None)] if revisions is None else expand(name, revisions) for name in names]
    of_models = options_of_models([checkpoints[0][0] for checkpoints in series], options)
    # Files hold n-gram models and published scores: loaded at once, and not able to answer everything.
    files = {
        name: load_with_options(name, used)
        for name, used in zip(names, of_models, strict=True)
        if is_file(name) and not is_gguf(name)
    }
    for scorer in files.values():
        check_scorer(this.suite, scorer)

    def load(checkpoint: str, used: ModelOptions) -> "Scorer":
        if loaded is not None and checkpoint in loaded:
            return loaded[checkpoint]
        if is_main():
            terminal.note(f"Loading {checkpoint}")
        if checkpoint in files:
            return files[checkpoint]
        with terminal.waiting("Loading"):
            scorer = load_with_options(checkpoint, used if device is None else replace(used, device=device))
        if is_main():
            terminal.start_token(scorer)
        if loaded is not None and revisions is None:
            loaded[checkpoint] = scorer
        return scorer

    jobs = [
        Job(
            checkpoint,
            partial(load, checkpoint, used),
            Loaded(checkpoint, used),
            name if revision else None,
            revision,
        )
        for name, checkpoints, used in zip(names, series, of_models, strict=True)
        for checkpoint, revision in checkpoints
    ]
    return run_all(this, jobs)


@app.command()
@takes_model_options
def estimate(
    options: ModelOptions,
    model: Models = None,
    suite: SuiteName = "agreement",
    dataset: Dataset = None,
    config: Config = None,
    source: Source = None,
    groups: Groups = None,
    lemmas: Lemmas = None,
    forms: Forms = None,
    word_end: WordEnd = None,
    lemma_sample: LemmaSample = None,
    allow_unverified: AllowUnverified = False,
    linking: Linking = None,
    unigram: Unigram = None,
    criteria: Criteria = None,
    context: Contexts = None,
    context_lengths: ContextLengths = None,
    template: Templates = None,
    limit: Limit = None,
    budget: Annotated[
        int | None,
        typer.Option(
            help="At most this many pairs in all, as in a training loop.", min=1, rich_help_panel=DATA
        ),
    ] = None,
) -> None:
    """Print what scoring models on a suite costs, from the data and a few seconds of the real work."""
    with terminal.waiting("Starting"):
        from ..loading import DEFAULT_MODELS, load_with_options, options_of_models
        from ..runs.estimate import estimate as estimate_cost
        from ..suites.checks import findings_of
        from ..suites.registry import make_suite

        terminal.quiet()
    data: dict[str, Any] = {"dataset": dataset, "config": config, "source": source, "groups": groups}
    data |= {"lemmas": lemmas, "forms": forms, "word_end": word_end, "lemma_sample": lemma_sample}
    data |= {"linking": linking, "unigram": unigram, "criteria": criteria}
    data |= {"context": context, "context_lengths": context_lengths, "template": template}
    chosen = make_suite(suite, **data, limit=limit, allow_unverified=allow_unverified or None)
    terminal.findings(findings_of(chosen))
    if budget is not None:
        chosen.keep_sample(budget, seed=0)
    names = model or DEFAULT_MODELS
    costs = []
    for name, used in zip(names, options_of_models(names, options), strict=True):
        with terminal.waiting(f"Estimating {name}"):
            scorer = load_with_options(name, used)
            costs.append((scorer.name, estimate_cost(scorer, chosen)))
    terminal.costs(costs)


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
        Path | None, typer.Option(help="CSV, TSV, JSONL or Parquet. Default: a table on the terminal.")
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            help="sentence, word, or region: rows with item, condition and text are parts of sentences."
        ),
    ] = "sentence",
    column: Annotated[
        str | None,
        typer.Option(help="The column that holds the sentences. Default: sentence; with --by region: text."),
    ] = None,
    bits: Annotated[bool, typer.Option("--bits", help="Surprisals in bits. Default: in nats.")] = False,
) -> None:
    """Score the sentences of a file, their words, or their regions (surprisals, corrected for leading spaces)."""
    from ..io.table_files import check_table, write_table
    from ..loading import load_with_options
    from ..runs import score_sentences as scoring

    by = scoring.parse_by(by)
    column = column or scoring.DEFAULT_COLUMNS[by]
    inputs = [path for path in (Path(file), Path(model)) if path.is_file()]
    if out is not None:
        check_table(out, inputs)
    terminal.quiet()
    frame = scoring.read_sentences(file, column, by)
    terminal.findings(scoring.inspect(frame, column, by))
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
        terminal.say(f"{len(scored)} rows: {out}")


def main() -> None:
    """Run the command line; see `errors` for exit codes."""
    guarded(app)
