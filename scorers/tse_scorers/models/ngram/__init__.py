"""N-gram language models: Laplace-smoothed models, and ARPA or KenLM files of any order."""

from pathlib import Path

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


__all__ = ["KenlmScorer", "LaplaceNgramScorer", "NgramScorer", "load"]
