"""The command `tse score`."""

from pathlib import Path
from typing import Annotated

import typer

from ..models.options import ModelOptions
from . import completions, tables, terminal
from .help import App
from .option_groups import takes_model_options
from .options import DATA, MODEL, OUTPUT

app = App()


@app.command()
@takes_model_options
def score(
    options: ModelOptions,
    file: Annotated[
        str, typer.Argument(help="Text (one sentence per line), CSV, TSV, JSONL, Parquet, or a Hub data set.")
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help="Hub id, folder, bundled model, or n-gram file.",
            rich_help_panel=MODEL,
            autocompletion=completions.models,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV, TSV, JSONL or Parquet. Default: a table on the terminal, because a first look needs no file.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace the file --out where it holds something else than these scores. Default: it is kept, so that "
            "nothing is lost.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            help="sentence, word, or region: rows with item, condition and text are parts of sentences. Default: "
            "sentence, because minimal pairs compare sentences; with --words: word.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            help="The column that holds the sentences. Default: sentence, because most tables call it so; with "
            "--by region: text.",
            rich_help_panel=DATA,
        ),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            help="The column that holds the words of each sentence, as a list (in CSV as JSON), where spaces do not "
            "separate them. Default: spaces do, because most scripts have them.",
            rich_help_panel=DATA,
        ),
    ] = None,
    frequency: Annotated[
        str | None,
        typer.Option(
            help="Add the frequency of each word, per million: wordfreq, or a table with columns word and count. "
            "Default: no such column, because scores need none.",
            rich_help_panel=DATA,
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            help="With --frequency wordfreq: language of its list. Default: en, because most test sets are English.",
            rich_help_panel=DATA,
        ),
    ] = None,
    length: Annotated[
        bool,
        typer.Option(
            "--length",
            help="Add the length of each word in characters. Default: no such column, because scores need none.",
            rich_help_panel=DATA,
        ),
    ] = False,
    stride: Annotated[
        int | None,
        typer.Option(
            help="Causal models, texts that are longer than the model's window: tokens from one window to the next. "
            "Default: half the window, because each token then has at least half a window of context.",
            rich_help_panel=DATA,
        ),
    ] = None,
    bits: Annotated[
        bool,
        typer.Option(
            "--bits",
            help="Surprisals in bits. Default: in nats, because the column logprob is in natural logs.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
) -> None:
    """Score the sentences of a file, their words, or their regions (surprisals, corrected for leading spaces)."""
    with terminal.waiting("Reading the sentences"):
        from ..io.table_files import check_table, write_table
        from ..models.model_source import require_on_disk
        from ..runs import score_sentences as scoring
        from ..runs.frequency import word_list

        facts = [name for name, given in (("frequency", frequency), ("length", length)) if given]
        by = scoring.parse_by(by, [f"--{name}" for name in (*(["words"] if words else []), *facts)])
        if language is not None and frequency is None:
            raise ValueError("--language has no effect without --frequency wordfreq; remove it.")
        zipf, known_from = word_list(frequency, language, "--frequency") if frequency else (None, None)
        for name, given in (("--column", column), ("--words", words)):
            if given is not None and scoring.is_text_file(file):
                raise ValueError(f"{name} has no effect with {file}, a text without columns; remove it.")
        if overwrite and out is None:
            raise ValueError("--overwrite has no effect without --out; remove it.")
        column = column or scoring.DEFAULT_COLUMNS[by]
        inputs = [path for path in (Path(file), Path(model)) if path.is_file()]
        if out is not None:
            check_table(out, inputs)
            if not overwrite:
                scoring.check_ours(out)
        frame = scoring.read_sentences(file, column, by, words, facts)
        require_on_disk([model])
    terminal.findings(scoring.inspect(frame, column, by, words, zipf))
    with terminal.waiting(f"Loading {model}"):  # importing PyTorch takes seconds
        from ..loading import load_with_options
        from ..models.answers import with_windows
        from ..runs.score_sentences import SENTENCES

        terminal.quiet()
        scorer = with_windows(load_with_options(model, options, purpose=SENTENCES), stride)
    terminal.start_token(scorer)
    asked = {
        "source": file,
        "column": column,
        "by": by,
        "words": words,
        "frequency": known_from,
        "length": length,
    }
    asked |= {"bits": bits}
    if out is not None and not overwrite:
        scoring.check_not_lost(scorer, out, asked)
    with terminal.progress(f"{scorer.name}: {file}") as progress:
        scored = scoring.score(
            scorer, frame, column, by=by, words=words, zipf=zipf, length=length, bits=bits, progress=progress
        )
    if out is None:
        tables.table(scored)
    else:
        write_table(scored, out, inputs)
        scoring.write_signature(scorer, out, asked | {"n_rows": len(scored)})
        terminal.say(f"{len(scored):,} rows: {out}")
