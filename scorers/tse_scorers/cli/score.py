"""The command `tse score`."""

from pathlib import Path
from typing import Annotated

import typer

from ..models.options import ModelOptions
from . import completions, tables, terminal
from .help import App
from .option_groups import takes_model_options
from .options import DATA, MODEL, OUTPUT, option

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
        option(
            "Hub id, folder, bundled model, or n-gram file.",
            MODEL,
            "--model",
            "-m",
            autocompletion=completions.models,
        ),
    ],
    out: Annotated[
        Path | None,
        option(
            "CSV, TSV, JSONL or Parquet. Default: a table on the terminal, because a first look needs no file.",
            OUTPUT,
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        option(
            "Replace the file --out where it holds something else than these scores. Default: it is kept, so that "
            "nothing is lost.",
            OUTPUT,
            "--overwrite",
        ),
    ] = False,
    by: Annotated[
        str | None,
        option(
            "sentence, word, or region: rows with item, condition and text are parts of sentences. Default: "
            "sentence, because minimal pairs compare sentences; with --words: word.",
            DATA,
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        str | None,
        option(
            "The column that holds the sentences. Default: sentence, because most tables call it so; with "
            "--by region: text.",
            DATA,
        ),
    ] = None,
    words: Annotated[
        str | None,
        option(
            "The column that holds the words of each sentence, as a list (in CSV as JSON), where spaces do not "
            "separate them. Default: spaces do, because most scripts have them.",
            DATA,
        ),
    ] = None,
    frequency: Annotated[
        str | None,
        option(
            "Add the frequency of each word, per million: wordfreq, or a table with columns word and count. "
            "Default: no such column, because scores need none.",
            DATA,
        ),
    ] = None,
    language: Annotated[
        str | None,
        option(
            "With --frequency wordfreq: language of its list. Default: en, because most test sets are English.",
            DATA,
        ),
    ] = None,
    length: Annotated[
        bool,
        option(
            "Add the length of each word in characters. Default: no such column, because scores need none.",
            DATA,
            "--length",
        ),
    ] = False,
    stride: Annotated[
        int | None,
        option(
            "Causal models, texts that are longer than the model's window: tokens from one window to the next. "
            "Default: half the window, because each token then has at least half a window of context.",
            DATA,
        ),
    ] = None,
    bits: Annotated[
        bool,
        option(
            "Surprisals in bits. Default: in nats, because the column logprob is in natural logs.",
            OUTPUT,
            "--bits",
        ),
    ] = False,
) -> None:
    """Score the sentences of a file, their words, or their regions (surprisals, corrected for leading spaces)."""
    with terminal.waiting("Reading the sentences"):
        from ..io.table_files import check_table, write_table
        from ..models.model_source import require_on_disk
        from ..runs import score_sentences as scoring
        from ..runs.frequency import word_list

        facts = [name for name, value in (("frequency", frequency), ("length", length)) if value]
        by = scoring.parse_by(by, [f"--{name}" for name in (*(["words"] if words else []), *facts)])
        if language is not None and frequency is None:
            raise ValueError("--language has no effect without --frequency wordfreq; remove it.")
        zipf, known_from = word_list(frequency, language, "--frequency") if frequency else (None, None)
        for name, value in (("--column", column), ("--words", words)):
            if value is not None and scoring.is_text_file(file):
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
    request = {
        "source": file,
        "column": column,
        "by": by,
        "words": words,
        "frequency": known_from,
        "length": length,
    }
    request |= {"bits": bits}
    if out is not None and not overwrite:
        scoring.check_not_lost(scorer, out, request)
    with terminal.progress(f"{scorer.name}: {file}") as progress:
        scored = scoring.score(
            scorer, frame, column, by=by, words=words, zipf=zipf, length=length, bits=bits, progress=progress
        )
    if out is None:
        tables.table(scored)
    else:
        write_table(scored, out, inputs)
        scoring.write_signature(scorer, out, request | {"n_rows": len(scored)})
        terminal.say(f"{len(scored):,} rows: {out}")
