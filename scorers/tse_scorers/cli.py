"""The command `tse`: each command is a function; its parameters are the options, its docstring is the help.

| exit code | what happened |
|---|---|
| 0 | done |
| 1 | some models or checks failed; with a traceback, a bug |
| 2 | the command, a file, an option or the memory does not do |
| 130 | stopped by Ctrl-C or SIGTERM |
"""

import importlib.util
import json
import os
import re
import signal
import sys
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter, UnknownOptionError

from . import __version__, terminal
from .io.suggestions import unknown_name
from .models.options import ModelOptions
from .suites import BUILT_IN, find_suite, suite_names

if TYPE_CHECKING:
    from .suites.base import Suite

app = App(
    name="tse",
    version=f"tse (refined-tse) {__version__}",
    version_flags="--version",
    help="Does this model know the grammar? Targeted syntactic evaluation of language models.",
    default_parameter=Parameter(negative="", show_default=False, show_choices=False, show_env_var=False),
    help_format="markdown",
    suppress_keyboard_interrupt=False,  # of which `main` says more
)
run_app = App(
    name="run",
    help="Score models on a suite and write scores, results and a report.\n\n"
    f"Without the name of a suite ({', '.join(BUILT_IN)}): the one that reads --data, and agreement without any. "
    "`tse run SUITE --help` lists its own options.",
)
app.command(run_app)

Together = Parameter(name="*")
Model = Annotated[str, Parameter(("--model", "-m"))]
Models = Annotated[list[str] | None, Parameter(("--model", "-m"))]


@dataclass(frozen=True, kw_only=True)
class Loading(ModelOptions):
    """Options of a model as they are typed."""

    model_arg: list[str] | None = None  # type: ignore[assignment]
    """KEY=VALUE: an argument of from_pretrained (device_map=auto, attn_implementation=eager); repeatable"""

    def read(self) -> ModelOptions:
        """Return the options; VALUE is JSON, else text: `device_map=auto`, `low_cpu_mem_usage=true`."""
        arguments: dict[str, object] = {}
        for text in self.model_arg or ():
            key, equals, value = text.partition("=")
            if not equals:
                raise ValueError(f"--model-arg is {text!r}; expected KEY=VALUE, such as device_map=auto.")
            arguments[key] = value
            with suppress(ValueError):
                arguments[key] = json.loads(value)
        return ModelOptions(**vars(self) | {"model_arg": arguments or None})


@dataclass(frozen=True, kw_only=True)
class Running:
    """Options of all runs."""

    model: Models = None
    """Hub id (org/name@revision), folder, bundled or n-gram model, or file of scores; repeatable [tiny-masked and
    tiny-causal, which are bundled]"""
    out: Path = Path("tse-results")
    """output folder; models in one folder share one report [tse-results]"""
    overwrite: bool = False
    """replace scores that were computed on other data or with different options"""
    revisions: str | None = None
    """a series: all revisions, or checkpoints in a folder, that match ('step*')"""
    part: str | None = None
    """i/n: score one of n shares, the others in other processes with the same --out [under torchrun, a share each]"""
    no_report: bool = False
    """write scores and results, but no report"""


Run = Annotated[Running, Together]
Load = Annotated[Loading, Parameter(name="*", group="Model")]


def add_suite(suite_class: "type[Suite]") -> None:
    """Add `tse run SUITE`: the fields of the suite are its options."""
    default = suite_class()

    def command(
        *,
        suite: Annotated[suite_class, Together] = default,  # type: ignore[valid-type]
        running: Run = Running(),
        options: Load = Loading(),
    ) -> int:
        return score_suite(suite, running, options)

    command.__doc__ = (suite_class.__doc__ or suite_class.title).splitlines()[0]
    if suite_class.name not in run_app:
        run_app.command(command, name=suite_class.name)


@run_app.default
def run_default(  # noqa: D417  (options of all runs have their own texts)
    name: Annotated[str | None, Parameter(show=False)] = None,
    /,
    *,
    data: str | None = None,
    groups: list[str] | None = None,
    limit: int | None = None,
    running: Run = Running(),
    options: Load = Loading(),
) -> int:
    """Score models on the suite that reads the data.

    Args:
        data: a table of yours, whose columns decide the suite, or a name such as blimp, marvin_linzen, org/name on the
            Hub [the agreement templates marvin_linzen]
        groups: only these groups of the data; repeatable [all]
        limit: at most this many items of each group; scores then estimate those of the whole [all]
    """
    if name is not None:
        what = "a table with --data, a model with --model"
        raise ValueError(unknown_name("suite", name, suite_names(), what))
    with terminal.waiting("Reading the data"):
        from .suites import suite_of

        suite = suite_of(data)(data=data, groups=groups, limit=limit)
    if data is not None and Path(data).exists():
        terminal.note(f"Suite: {suite.name}, by the columns of {data}.")
    return score_suite(suite, running, options)


def score_suite(suite: "Suite", running: Running, options: Loading) -> int:
    """Score the models of a command on a suite; return the exit code."""
    model_options, part = options.read(), re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", running.part or "1/1")
    if part is None or int(part[1]) > int(part[2]):
        raise ValueError(f"--part is {running.part!r}; expected i/n with i from 1 to n, such as 2/8.")
    with terminal.waiting("Reading the data"):  # nothing here imports PyTorch: what is wrong is said at once
        from .io.bundle import DEFAULT_MODELS
        from .models.model_source import require_on_disk

        if running.revisions is None:
            require_on_disk(running.model or ())
        _ = suite.items
    with terminal.waiting("Loading PyTorch"):
        from .runs.jobs import make_jobs
        from .runs.run import Part, run_models

    share = Part(int(part[1]), int(part[2])) if running.part else Part.of_launch()
    jobs = make_jobs(running.model or DEFAULT_MODELS, [suite], model_options, running.revisions, load)
    records, failures, left = run_models(
        [suite], jobs, running.out, part=share, overwrite=running.overwrite, announce=terminal.progress,
        note=terminal.note, keep_going=running.revisions is not None,
    )  # fmt: skip
    if left:
        terminal.say(
            f"Part {share.number} of {share.of} is done. Other parts of {', '.join(left[:3])} are missing; the process "
            f"that finishes the last one writes the results to {running.out}."
        )
    elif records:
        show_scores(running.out, report=not running.no_report)
    for failure in failures:
        terminal.fail(str(failure))
    return 1 if failures else 0


def load(name: str, options: ModelOptions, one_of_several: bool = False) -> Any:
    """Return a scorer."""
    with terminal.waiting(f"Loading {name}"):  # importing PyTorch takes seconds
        from .loading import load_with_options

        terminal.quiet()
        return load_with_options(name, options, one_of_several=one_of_several)


def show_scores(out: Path, report: bool = True) -> None:
    """Print the scores of an output folder and what does not compare; with `report`, write its page."""
    with terminal.waiting("Writing the report" if report else "Reading the scores"):
        from .report.headline import first_screen
        from .report.page import write_report
        from .results import Results

        results = Results.load(out)
        page = write_report(out, results) if report else None
        blocks = first_screen(results)
    for block in blocks:
        terminal.say(block) if isinstance(block, str) else terminal.show(block.rich())
    terminal.say(f"Report: {page}" if page else f"Results: {out / 'results.json'}")


@app.command
def score(  # noqa: D417
    source: str,
    /,
    *,
    model: Model,
    by: Literal["sentence", "word", "token"] | None = None,
    column: str = "sentence",
    bits: bool = False,
    out: Path | None = None,
    options: Load = Loading(),
) -> None:
    """Score a text or the sentences of a file, their words (surprisals) or their tokens.

    Args:
        source: a text in quotes, a file of sentences (a text with one a line, CSV, TSV, JSON lines, Parquet), or a data
            set of the Hub
        model: Hub id, folder, bundled or n-gram model
        by: sentence, word or token [sentence; of one text word]
        column: the column with the sentences [sentence]
        bits: surprisals in bits, not nats
        out: a CSV, TSV, JSON-lines or Parquet file [a table on the terminal]
    """
    with terminal.waiting("Reading the sentences"):
        from .io.tables import check_table, write_table
        from .models.model_source import require_on_disk
        from .runs.score_sentences import read_sentences, score_sentences

        if out is not None:
            check_table(out, [path for path in (Path(source), Path(model)) if path.is_file()])
        frame, is_text = read_sentences(source, column)
        require_on_disk([model])
    scorer, by = load(model, options.read()), by or ("word" if is_text else "sentence")
    with terminal.progress(f"{scorer.name}: {source[:80]}") as progress:
        scored = score_sentences(scorer, frame, column, by, bits, progress)
    if out is None:
        terminal.table(scored)
    else:
        write_table(scored, out)
        terminal.say(f"{len(scored):,} rows: {out}")


@app.command
def doctor(model: Model, *, options: Load = Loading()) -> int:  # noqa: D417
    """Check a model: mask, finite numbers, start token, spaces, probabilities. Exit code 1 if a check fails.

    Args:
        model: Hub id, folder, GGUF file, bundled or n-gram model
    """
    scorer = load(model, options.read())
    with terminal.waiting(f"Checking {scorer.name}"):
        import pandas as pd

        from .runs.doctor import diagnose

        findings = diagnose(scorer)
    terminal.table(pd.DataFrame(findings)[["check", "verdict", "found"]], scorer.name)
    return int(any(found.verdict == "failed" for found in findings))


@app.command
def show(
    out: Path, /, *, table: str | None = None, level: str | None = None, columns: str = "", rows: int = 20
) -> None:
    """Show the results of a folder, or the rows of a table of scores, writing nothing.

    Args:
        out: output folder of `tse run`
        table: contexts, pairs, items, …: its rows, in place of results
        level: a level of results, such as paradigm, group, or a column of yours [the whole and your own conditions]
        columns: of the table, separated by commas [model, and all that --table has of its own]
        rows: how many rows of a table [20]
    """
    with terminal.waiting("Reading the scores"):
        from .io.rows import IDENTITY
        from .results import Results

        results = Results.load(out)
    if table is None:
        for suite in results.frame["suite"].unique():
            terminal.table(results.table(suite, level))
        return
    items = results.items(table=table)
    names = columns.split(",") if columns else ["model", *(name for name in items if name not in IDENTITY)]
    if unknown := [name for name in names if name not in items]:
        raise ValueError(unknown_name("column", unknown[0], items))
    terminal.table(items[names].head(rows))


@app.command
def report(out: Path, /, *, paper: Path | None = None) -> None:
    """Write `results.json` and the report of a folder again, from its scores.

    Args:
        out: output folder of `tse run`
        paper: also write each table as LaTeX, each figure as PDF, and tables.csv into this folder
    """
    with terminal.waiting("Reading the scores"):
        from .report.page import write_paper
        from .results import Results
        from .runs.run import refresh_results

        refresh_results(out)
    show_scores(out)
    if paper is not None:
        with terminal.waiting("Writing the files for a paper"):
            write_paper(Results.load(out), paper)
        terminal.say(f"Paper: {paper}")


@app.command
def compare(
    folders: list[Path],
    /,
    *,
    reference: str | None = None,
    measure: list[str] | None = None,
    by: str = "",
    common_lemmas: bool = False,
    allow_different: bool = False,
    json_file: Annotated[Path | None, Parameter("--json")] = None,
) -> None:
    """Compare models with one of them, or conditions of your data, item by item; p values are adjusted (Holm).

    Args:
        folders: output folders of `tse run`
        reference: the model that the others are compared with, by its name in the tables [the first that was run]
        measure: such as ew, accuracy, ew@top-0.9; repeatable [the headline measures]
        by: a column of your data, or several with commas: differences between its values, and models x values
        common_lemmas: EW over the lemmas that all models score, not only the two of a row
        allow_different: compare runs on different data or with different options, and name these
        json_file: also write the differences to this JSON file
    """
    with terminal.waiting("Comparing"):
        from .io.files import check_file, write_text
        from .report.differences import printed
        from .results import Results
        from .runs.comparable import all_notices
        from .runs.compare import as_json, directions
        from .runs.compare import compare as compare_results

        if json_file is not None:
            check_file(json_file, (".json",))
        columns, results = [name.strip() for name in by.split(",") if name.strip()], Results.load(*folders)
        compared = compare_results(results, reference, measure or (), columns, common_lemmas, allow_different)
    terminal.say(*directions(compared.rows))
    for block in printed(compared):
        terminal.say(block) if isinstance(block, str) else terminal.show(block)
    terminal.say(*all_notices(results))
    if json_file is not None:
        write_text(json_file, json.dumps(as_json(compared), indent=1, ensure_ascii=False) + "\n")


@app.command
def explore(folders: list[Path], /, *, model: Models = None, port: int | None = None) -> None:
    """Serve a page on this machine to look into results: scores, groups, items, and a sentence of your own.

    Args:
        folders: output folders of `tse run`
        model: a model to ask about sentences; repeatable
        port: number of the page's port on this machine [the first free one from 7860]
    """
    if importlib.util.find_spec("gradio") is None:
        raise ValueError("`tse explore` needs gradio: pip install 'refined-tse[explore]'")
    with terminal.waiting("Starting the page"):
        from .explore import app, launch
        from .results import Results

        page = app(Results.load(*folders), model or [])
        address = launch(page, port)
    terminal.say(f"Explore at {address} (Ctrl+C ends it).")
    page.block_thread()


@app.command
def reproduce(
    paper: str | None = None,
    /,
    *,
    table: str | None = None,
    model: Models = None,
    source: Path | None = None,
    limit: int | None = None,
    out: Path = Path("tse-reproduction"),
) -> int:
    """Run the models and data of a published table and print our numbers next to the published ones.

    Args:
        paper: newman2021, warstadt2020, rochereau2020 or hu2020 [list their tables]
        table: the number of one of its tables [all but those of people's judgments]
        model: run this model instead of the paper's; repeatable
        source: folder with data that is not shipped
        limit: at most this many items of each group [all]
        out: output folder [tse-reproduction]
    """
    from .papers.papers import PAPERS, describe

    if paper is None:
        for name, described in PAPERS.items():
            terminal.say(
                f"{name}: {described.title}", *(f"  {n:>2}  {of}" for n, of in described.tables.items())
            )
        return 0
    describe(paper, table)  # an unknown name is an error before PyTorch is imported, which takes seconds
    with terminal.waiting("Starting"):
        from .io.files import check_folder
        from .io.tables import write_table
        from .papers.reproduce import reproduce as run_paper

        check_folder(out)
        terminal.quiet()
    found = run_paper(
        paper, out, table=table, models=model or [], source=source, limit=limit, announce=terminal.progress,
        note=terminal.note,
    )  # fmt: skip
    terminal.table(found.as_printed(), found.title)
    terminal.table(found.summary(), "Ours minus published")
    terminal.say(str(found), *(f"Left out: {reason}" for reason in found.left_out))
    terminal.say("Reasons for differences:", *(f"- {reason}" for reason in found.differences))
    write_table(found.table, out / "reproduction.csv")
    terminal.say(f"Table: {out / 'reproduction.csv'}")
    for failure in found.failures:
        terminal.fail(str(failure))
    return 1 if found.failures else 0


@app.command
def sets(name: str | None = None, /) -> None:
    """List the published sets of minimal pairs for `tse run minimal_pairs --data NAME`, or describe one.

    Args:
        name: one of them: its source, licence, columns, how its authors score it, traps
    """
    with terminal.waiting("Starting"):
        import pandas as pd

        from .suites.pair_sets import SETS, find_set

    if name is None:
        rows = [
            {
                "set": known, "languages": len(of.configs) or "many", "pairs": f"{of.n_pairs:,}" if of.n_pairs else "–",
                "licence": of.licence, "linking": of.linking or "sum (not its authors')",
            }
            for known, of in SETS.items()
        ]  # fmt: skip
        terminal.table(pd.DataFrame(rows))
        terminal.say("refined-tse has no copies of these sets; they are loaded from their authors.")
    else:
        terminal.say(str(find_set(name)))
    terminal.say(f"Next: tse run minimal_pairs --data {name or 'SET'} --model MODEL")


@app.command
def fetch(name: str, /, *, out: Path = Path("tse-data"), source: Path | None = None) -> None:
    """Download the pinned files of a data set that is not shipped, check them, and build it.

    Args:
        name: newman2021-blimp (the BLiMP row of Newman et al.'s Table 2) or rochereau2020 (their German sentences)
        out: folder for the data set [tse-data]
        source: folder that holds the pinned files [they are downloaded]
    """
    with terminal.waiting(f"Fetching {name}"):
        from .papers import fetch as papers

        paths = papers.fetch(name, out, source)
    terminal.say(*(f"Built {path}" for path in paths))
    terminal.say(f"The data is in {out}; use it with --source {out}.")


@app.command
def publish(
    results: Path,
    /,
    *,
    model_repo: str | None = None,
    results_repo: str | None = None,
    data_org: str | None = None,
    create_pr: bool = False,
    yes: bool = False,
) -> None:
    """Publish results on the Hub, in a model's repository or in a data set of results; by default a dry run.

    Args:
        results: output folder of `tse run`
        model_repo: the model's repository, org/model: scores over whole released data sets
        results_repo: a data set of results, org/name: every row is added to it
        data_org: the organisation on the Hub that hosts the shipped data sets, with --model-repo
        create_pr: open a pull request [a commit]
        yes: send it [print only what would be sent]
    """
    with terminal.waiting("Reading the results"):
        from . import publishing

        plans = publishing.publications(results, model_repo, results_repo, data_org)
    for plan in plans:
        terminal.say(f"{plan.kind} {plan.repo}:", *(f"  ! {note}" for note in plan.notes))
        for path, content in plan.files.items():
            terminal.say(f"  + {path}  {len(content):,} bytes")
            if path.endswith(".yaml"):
                terminal.say(content.decode())
        if yes:
            terminal.say(f"  Published: {publishing.publish(plan, create_pr)}")
    if not yes:
        terminal.say("Nothing was sent. Add --yes to send what is not there yet.")


@app.command
def install_metrics() -> None:
    """Copy the metrics into the cache of evaluate, so that `evaluate.load("refined_tse")` works offline."""
    with terminal.waiting("Copying the metrics"):
        from . import publishing

        folders = publishing.install_metrics()
    terminal.say(*(f"Installed {folder}" for folder in folders))


@app.command
def train_ngram(
    text: Path,
    /,
    *,
    out: Path,
    order: Literal[1, 2] = 2,
    vocabulary_size: int = 50_000,
    lowercase: bool = False,
) -> None:
    """Train a unigram or bigram model (Laplace-smoothed), a baseline for `tse run --model`.

    Args:
        text: UTF-8 text, one sentence per line
        out: the file to write; its name ends in .json
        order: 1 or 2 [2]
        vocabulary_size: keep this many words, the most frequent ones [50000]
        lowercase: lower-case the text
    """
    with terminal.waiting("Training the model"):
        from .models import ngram

        written = ngram.train_ngram(text, order, out, vocabulary_size=vocabulary_size, lowercase=lowercase)
    terminal.say(f"N-gram model: {written}")


@app.command
def convert_lstm(checkpoint: Path, /, *, vocabulary: Path, out: Path) -> None:
    """Convert a published LSTM checkpoint into a model that transformers loads.

    Args:
        checkpoint: a file written by torch.save; code in it is not run
        vocabulary: its list of words
        out: the folder to write, for `tse run --model`
    """
    with terminal.waiting("Converting the model"):
        from .models import lstm_convert

        terminal.quiet()
        written = lstm_convert.convert_lstm(checkpoint, vocabulary, out)
    terminal.say(f"Model: {written}")


def said(error: BaseException) -> str:
    """Return an error as one paragraph; of an option that other suites have, which these are."""
    if isinstance(error, UnknownOptionError) and "run" in (error.command_chain or ()):
        typed = str(error.token.keyword or error.token.value).partition("=")[0]
        field = typed.strip("-").replace("-", "_")
        if owners := [name for name in BUILT_IN if field in find_suite(name).__dataclass_fields__]:
            return f"{typed} is an option of {' and '.join(f'`tse run {name}`' for name in owners)}."
    return " ".join(str(error).split()) or type(error).__name__


def main() -> None:
    """Run the command line; what cannot be done is one paragraph, with TSE_DEBUG=1 a traceback."""
    if os.environ.get("WORLD_SIZE", "1") == "1":  # the processes of a launch are stopped by their launcher
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    warnings.showwarning = terminal.warn
    try:
        if sys.argv[1:2] == ["run"]:  # the named suite alone: another package's may be broken
            for name in [of for of in sys.argv[2:3] if of in suite_names()] or suite_names():
                add_suite(find_suite(name))
        code = app(sys.argv[1:], exit_on_error=False, print_error=False, result_action="return_value")
    # ImportError: an optional package is missing.
    except (CycloptsError, ValueError, TypeError, ImportError, OSError, MemoryError) as error:
        if os.environ.get("TSE_DEBUG"):
            raise
        terminal.fail(said(error))
        code = 2
    except KeyboardInterrupt:
        terminal.fail("Stopped. Run the same command again: it computes only what is not saved yet.")
        code = 130
    sys.stdout.flush()
    sys.exit(code or 0)
