"""N-gram models of a few sentences: scorers without a neural network."""

from collections.abc import Sequence
from pathlib import Path

from typer.testing import CliRunner

from tse_scorers.cli.app import app


def train_ngram(folder: Path, order: int, sentences: Sequence[str]) -> Path:
    """Train a model as `tse train-ngram` does; return its file, `1-gram.json` or `2-gram.json`."""
    text, out = folder / f"{order}-gram.txt", folder / f"{order}-gram.json"
    text.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
    asked = ["train-ngram", text, "--order", order, "--out", out]
    done = CliRunner().invoke(app, [*map(str, asked)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return out
