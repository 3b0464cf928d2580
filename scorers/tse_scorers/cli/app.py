"""The command line: parses, calls, prints."""

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from . import models as cli_models
from . import results as cli_results
from . import sharing as cli_sharing
from . import terminal
from .options import (
    BatchTokens,
    Config,
    Dataset,
    Device,
    Dtype,
    Groups,
    Kind,
    Lemmas,
    Limit,
    Models,
    Overwrite,
    PseudoLikelihood,
    Source,
    SuiteName,
    Trust,
)
from .results import show_report

app = typer.Typer(
    name="tse",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(cli_results.app)
app.add_typer(cli_models.app)
app.add_typer(cli_sharing.app)


def _version(asked: bool) -> None:
    if asked:
        terminal.say(f"tse (refined-tse) {version('refined-tse')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Does this model know the grammar? Targeted syntactic evaluation of language models."""


@app.command()
def run(
    model: Models = None,
    suite: SuiteName = "agreement",
    dataset: Dataset = None,
    config: Config = None,
    source: Source = None,
    out: Annotated[Path, typer.Option(help="Output folder.")] = Path("tse-results"),
    overwrite: Overwrite = False,
    groups: Groups = None,
    lemmas: Lemmas = None,
    limit: Limit = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    kind: Kind = None,
    pll: PseudoLikelihood = "within_word_l2r",
    bos: Annotated[
        bool, typer.Option("--bos", help="At a gap, put a causal model's start token first.")
    ] = False,
    leading_space: Annotated[
        bool, typer.Option("--leading-space", help="Put a space before the first word.")
    ] = False,
    trust_remote_code: Trust = False,
    device_map: Annotated[
        str | None, typer.Option(help="auto: spread a model that is larger than one GPU over all of them.")
    ] = None,
    revisions: Annotated[
        str | None,
        typer.Option(help="A series: revisions (or checkpoints in a folder) that fit, e.g. 'step*'."),
    ] = None,
    shard: Annotated[str | None, typer.Option(help="i/n: score one of n shares, for `tse merge`.")] = None,
    batch_tokens: BatchTokens = None,
    torch_compile: Annotated[
        bool, typer.Option("--torch-compile", help="Compile the models' layers first.")
    ] = False,
) -> None:
    """Score models on a suite and write scores, results and a report."""
    from ..engine.processes import is_main, join_processes
    from ..loading import DEFAULT_MODELS, check_models, load_scorer
    from ..models.revisions import expand
    from ..runs.run import Run, parse_shard, silent
    from ..suites.registry import make_suite

    terminal.quiet()
    own_device = join_processes(cpu=device == "cpu")
    if own_device is not None:
        device = str(own_device)
    chosen = make_suite(
        suite, dataset=dataset, config=config, source=source, groups=groups, lemmas=lemmas, limit=limit
    )
    part = None if shard is None else parse_shard(shard)
    this = Run(chosen, out, terminal.progress if is_main() else silent, part, overwrite)
    options: dict[str, Any] = {
        "kind": kind, "device": device, "dtype": dtype, "pll": pll, "bos": bos, "leading_space": leading_space,
        "trust_remote_code": trust_remote_code, "tokens": batch_tokens,
        "device_map": device_map, "torch_compile": torch_compile,
    }  # fmt: skip
    names = model or DEFAULT_MODELS
    if revisions is None:
        check_models(names, options["kind"], trust_remote_code)
        checkpoints: list[tuple[Any, ...]] = [(name,) for name in names]
    else:
        checkpoints = [(at, name, step) for name in names for at, step in expand(name, revisions)]
    for checkpoint, *in_series in checkpoints:
        if is_main():
            terminal.note(f"Loading {checkpoint}")
        this.add(load_scorer(checkpoint, **options), *in_series)
    if not is_main():
        return
    if part is not None:
        terminal.say(f"Shard {shard} is in {out}; put all of them together with `tse merge`.")
    else:
        show_report(out)


@app.command()
def estimate(
    model: Models = None,
    suite: SuiteName = "agreement",
    dataset: Dataset = None,
    config: Config = None,
    source: Source = None,
    groups: Groups = None,
    lemmas: Lemmas = None,
    limit: Limit = None,
    budget: Annotated[
        int | None, typer.Option(help="At most so many pairs in all, as in a training loop.", min=1)
    ] = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    kind: Kind = None,
    pll: PseudoLikelihood = "within_word_l2r",
    trust_remote_code: Trust = False,
    batch_tokens: BatchTokens = None,
) -> None:
    """Say what scoring models on a suite costs, after a look at the data and a few seconds of the real work."""
    from ..loading import DEFAULT_MODELS, load_scorer
    from ..runs.estimate import estimate as estimate_cost
    from ..suites.registry import make_suite

    terminal.quiet()
    chosen = make_suite(
        suite, dataset=dataset, config=config, source=source, groups=groups, lemmas=lemmas, limit=limit
    )
    if budget is not None:
        chosen.keep_sample(budget, seed=0)
    options: dict[str, Any] = {
        "kind": kind, "device": device, "dtype": dtype, "pll": pll, "trust_remote_code": trust_remote_code,
        "tokens": batch_tokens,
    }  # fmt: skip
    for name in model or DEFAULT_MODELS:
        scorer = load_scorer(name, **options)
        terminal.costs(scorer.name, estimate_cost(scorer, chosen))


@app.command()
def score(
    file: Annotated[
        str, typer.Argument(help="Text (one sentence a line), CSV, TSV, JSONL, Parquet, or a Hub data set.")
    ],
    model: Annotated[str, typer.Option("--model", "-m", help="Hub id, folder, bundled model, n-gram file.")],
    out: Annotated[
        Path | None, typer.Option(help="CSV, TSV, JSONL or Parquet; else a table on the terminal.")
    ] = None,
    by: Annotated[str, typer.Option(help="sentence or word.")] = "sentence",
    column: Annotated[str, typer.Option(help="The column that holds the sentences.")] = "sentence",
    bits: Annotated[bool, typer.Option("--bits", help="Surprisals in bits; else in nats.")] = False,
    device: Device = "auto",
    dtype: Dtype = "auto",
    kind: Kind = None,
    pll: PseudoLikelihood = "within_word_l2r",
    trust_remote_code: Trust = False,
) -> None:
    """Score the sentences of a file, or their words (surprisals, corrected for leading spaces)."""
    from ..io.table_files import check_table, write_table
    from ..loading import load_scorer
    from ..runs import score_sentences as scoring

    if by not in ("sentence", "word"):
        raise ValueError(f"Cannot score by {by!r}; expected sentence or word.")
    if out is not None:
        check_table(out)
    terminal.quiet()
    frame = scoring.read_sentences(file, column)
    options: dict[str, Any] = {
        "kind": kind, "device": device, "dtype": dtype, "pll": pll, "trust_remote_code": trust_remote_code,
    }  # fmt: skip
    scorer = load_scorer(model, **options)
    with terminal.progress(f"{scorer.name}: {file}") as progress:
        scored = scoring.score(scorer, frame, column, by=by, bits=bits, progress=progress)
    if out is None:
        terminal.table(scored)
    else:
        write_table(scored, out)
        terminal.say(f"{len(scored)} rows: {out}")


def main() -> None:
    """Run the command line; an error that a user can mend is one paragraph, not a traceback."""
    try:
        app(standalone_mode=True)
    except (ValueError, TypeError, ImportError) as error:  # ImportError: an optional package is not installed
        terminal.fail(str(error))
        sys.exit(2)
    except SystemExit as stop:
        if stop.code == 130:  # what typer makes of Ctrl-C
            terminal.fail("Stopped. What was scored is kept; run the same command again to go on.")
        raise
