"""Commands that make models to score: `tse train-ngram`, `tse convert-lstm`."""

import os
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ..io.files import check_folder, require_regular_file
from . import terminal
from .help import App
from .options import MODEL, OUTPUT

app = App()

Replace = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="Replace an existing model. Default: it is an error.", rich_help_panel=OUTPUT
    ),
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
    out: Annotated[
        Path, typer.Option(help="The file to write; its name ends in .json.", rich_help_panel=OUTPUT)
    ],
    order: Annotated[int, typer.Option(help="1 or 2.", rich_help_panel=MODEL)] = 2,
    vocabulary_size: Annotated[
        int, typer.Option(help="Keep this many words, the most frequent ones.", min=1, rich_help_panel=MODEL)
    ] = 50_000,
    lowercase: Annotated[
        bool, typer.Option("--lowercase", help="Lower-case the text.", rich_help_panel=MODEL)
    ] = False,
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
    vocabulary: Annotated[Path, typer.Option(help="Its list of words.", rich_help_panel=MODEL)],
    out: Annotated[
        Path, typer.Option(help="The folder to write, for `tse run --model`.", rich_help_panel=OUTPUT)
    ],
    kind: Annotated[
        str, typer.Option(help="colorless_green or wordnlm.", rich_help_panel=MODEL)
    ] = "colorless_green",
    overwrite: Replace = False,
) -> None:
    """Convert a published LSTM checkpoint into a model that transformers loads."""
    check_folder(out)
    _refuse_existing(out / "config.json", overwrite)
    for file in (checkpoint, vocabulary):
        require_regular_file(file)
    with terminal.starting("Converting the model"):
        from ..lstm_converter import convert_lstm as convert

        terminal.quiet()
        written = convert(checkpoint, vocabulary, out, cast(Any, kind))
    terminal.say(f"Model: {written}")
