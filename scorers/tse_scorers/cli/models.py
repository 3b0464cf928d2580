"""Commands that make models to score: `tse train-ngram`, `tse convert-lstm`."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from . import terminal

app = typer.Typer()


@app.command("train-ngram")
def train_ngram(
    text: Annotated[Path, typer.Argument(help="UTF-8 text, one sentence per line.")],
    out: Annotated[Path, typer.Option(help="The file to write; its name ends in .json.")],
    order: Annotated[int, typer.Option(help="1 or 2.")] = 2,
    vocabulary_size: Annotated[
        int, typer.Option(help="Keep this many words, the most frequent ones.", min=1)
    ] = 50_000,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Lower-case the text.")] = False,
) -> None:
    """Train a Laplace-smoothed n-gram model, a baseline for `tse run --model`."""
    from ..models.ngram import train_ngram as train

    written = train(text, order, out, vocabulary_size=vocabulary_size, lowercase=lowercase)
    terminal.say(f"N-gram model: {written}")


@app.command("convert-lstm")
def convert_lstm(
    checkpoint: Annotated[Path, typer.Argument(help="A file written by torch.save; code in it is not run.")],
    vocabulary: Annotated[Path, typer.Option(help="Its list of words.")],
    out: Annotated[Path, typer.Option(help="The folder to write, for `tse run --model`.")],
    kind: Annotated[str, typer.Option(help="colorless_green or wordnlm.")] = "colorless_green",
) -> None:
    """Convert a published LSTM checkpoint into a model that transformers loads."""
    from transformers.utils import logging

    from ..models.lstm import convert_lstm as convert

    logging.disable_progress_bar()
    terminal.say(f"Model: {convert(checkpoint, vocabulary, out, cast(Any, kind))}")
