"""Commands that make models to score: `tse train-ngram`, `tse convert-lstm`."""

import os
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ..io.files import check_folder, require_regular_file
from ..models.options import MODEL, OUTPUT
from . import terminal
from .help import App
from .options import option

app = App()

Replace = Annotated[
    bool,
    option("Replace an existing model. Default: it is an error.", OUTPUT, "--overwrite"),
]


def _refuse_existing(path: Path, overwrite: bool) -> None:
    """Raise ValueError where a file would be replaced and nobody asked for it."""
    if not overwrite and os.path.lexists(path):
        raise ValueError(
            f"{path} exists and would be replaced. Choose another place with --out, or replace it with --overwrite."
        )


@app.command("train-ngram")
def train_ngram(
    text: Annotated[Path, typer.Argument(help="UTF-8 text, one sentence per line.")],
    out: Annotated[Path, option("The file to write; its name ends in .json.", OUTPUT)],
    order: Annotated[int, option("1 or 2.", MODEL)] = 2,
    vocabulary_size: Annotated[
        int, option("Keep this many words, the most frequent ones.", MODEL, min=1)
    ] = 50_000,
    lowercase: Annotated[bool, option("Lower-case the text.", MODEL, "--lowercase")] = False,
    overwrite: Replace = False,
) -> None:
    """Train a Laplace-smoothed n-gram model, a baseline for `tse run --model`."""
    _refuse_existing(out, overwrite)
    require_regular_file(text)
    with terminal.starting("Training the model"):
        from ..models.ngram import train_ngram as train

        written = train(text, order, out, vocabulary_size=vocabulary_size, lowercase=lowercase)
    terminal.say(f"N-gram model: {written}")


@app.command("convert-lstm")
def convert_lstm(
    checkpoint: Annotated[Path, typer.Argument(help="A file written by torch.save; code in it is not run.")],
    vocabulary: Annotated[Path, option("Its list of words.", MODEL)],
    out: Annotated[Path, option("The folder to write, for `tse run --model`.", OUTPUT)],
    kind: Annotated[str, option("colorless_green or wordnlm.", MODEL)] = "colorless_green",
    overwrite: Replace = False,
) -> None:
    """Convert a published LSTM checkpoint into a model that transformers loads."""
    check_folder(out)
    _refuse_existing(out / "config.json", overwrite)
    for file in (checkpoint, vocabulary):
        require_regular_file(file)
    with terminal.starting("Converting the model"):
        from ..models.lstm_convert import convert_lstm as convert

        terminal.quiet()
        written = convert(checkpoint, vocabulary, out, cast(Any, kind))
    terminal.say(f"Model: {written}")
