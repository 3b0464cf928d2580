"""The command `tse score`."""

from pathlib import Path
from typing import Annotated

import typer

from ..models.options import DATA, MODEL, OUTPUT, ModelOptions
from . import tables, terminal
from .help import App
from .options import bundled_models, option, takes_model_options

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
            autocompletion=bundled_models,
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
            "Replace the file --out if it has other scores. Default: refused, so that nothing is lost.",
            OUTPUT,
            "--overwrite",
        ),
    ] = False,
    by: Annotated[
        str | None,
        option(
            "sentence, word or token. Default: sentence, because minimal pairs compare sentences.",
            DATA,
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        str | None,
        option(
            "The column with the sentences. Default: sentence, because it is the most common name.",
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
    """Score the sentences of a file, their words (surprisals, corrected for leading spaces), or their tokens."""
    with terminal.waiting("Reading the sentences"):
        from ..io.tables import check_table, write_table
        from ..models.model_source import require_on_disk
        from ..runs.score_sentences import ScoreRequest, check_ours

        request = ScoreRequest(file, column or "sentence", by or "sentence", bits)
        if overwrite and out is None:
            raise ValueError("--overwrite has no effect without --out; remove it.")
        inputs = [path for path in (Path(file), Path(model)) if path.is_file()]
        if out is not None:
            check_table(out, inputs)
            if not overwrite:
                check_ours(out)
        frame = request.read()
        require_on_disk([model])
    terminal.findings(request.inspect(frame))
    with terminal.waiting(f"Loading {model}"):  # importing PyTorch takes seconds
        from ..loading import load_with_options

        terminal.quiet()
        scorer = load_with_options(model, options)
    terminal.start_token(scorer)
    if out is not None and not overwrite:
        request.check_not_lost(scorer, out)
    with terminal.progress(f"{scorer.name}: {file}") as progress:
        scored = request.score(scorer, frame, progress)
    if out is None:
        tables.table(scored)
    else:
        write_table(scored, out, inputs)
        request.write_signature(scorer, out, len(scored))
        terminal.say(f"{len(scored):,} rows: {out}")
