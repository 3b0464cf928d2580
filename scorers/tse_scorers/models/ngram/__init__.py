"""N-gram language models: Laplace-smoothed models, and ARPA or KenLM files of any order."""

from pathlib import Path
from typing import Any

from ...io.files import check_file
from .arpa import KenlmScorer
from .base import NgramScorer
from .laplace import LaplaceNgramScorer

KENLM_SUFFIXES = (".arpa", ".arpa.gz", ".bin", ".binary", ".klm")


def load(path: Path | str) -> NgramScorer:
    """Load an n-gram model by its file's ending: `.json` (Laplace), or `.arpa`, `.arpa.gz`, `.bin`, `.klm` (KenLM).

    Raises:
        ImportError: the file needs `kenlm`, which is not installed.
        ValueError: the ending is unknown, or the file cannot be read.
    """
    path = Path(path)
    if path.name.endswith(KENLM_SUFFIXES):
        return KenlmScorer(path)
    if path.suffix != ".json":
        raise ValueError(
            f"Cannot tell what kind of n-gram model {path.name!r} is; expected a name that ends in .json "
            f"(of `tse train-ngram`) or one of: {', '.join(KENLM_SUFFIXES)}."
        )
    return LaplaceNgramScorer.load(path)


def train_ngram(text: Path | str, order: int, out: Path | str, **options: Any) -> Path:
    """Train a Laplace-smoothed model from a text file, one sentence per line, and write it as JSON.

    Args:
        text: UTF-8 text.
        order: 1 or 2.
        out: the file to write; its name ends in `.json`.
        **options: options of `LaplaceNgramScorer`: `vocabulary_size`, `split`, `lowercase`, `score_end`.

    Returns:
        The file written.

    Raises:
        ValueError: the text cannot be read or is empty, an option has an unknown value, or the file cannot be written.
    """
    check_file(Path(out), [".json"])
    return LaplaceNgramScorer(order, **options).train(Path(text)).save(out)


__all__ = ["KenlmScorer", "LaplaceNgramScorer", "NgramScorer", "load", "train_ngram"]
