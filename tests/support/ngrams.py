"""N-gram models of a few sentences: scorers without a neural network."""

from collections.abc import Sequence
from pathlib import Path

from command_line import tse


def train_ngram(folder: Path, order: int, sentences: Sequence[str]) -> Path:
    """Train a model as `tse train-ngram` does; return its file, `1-gram.json` or `2-gram.json`."""
    text, out = folder / f"{order}-gram.txt", folder / f"{order}-gram.json"
    text.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
    asked = ["train-ngram", text, "--order", order, "--out", out]
    code, said = tse(*asked)
    assert code == 0, said
    return out
