"""N-gram language models: Laplace-smoothed models, and ARPA or KenLM files of any order."""

from pathlib import Path

from .scorer import KenlmScorer, LaplaceNgramScorer, NgramScorer

KENLM_SUFFIXES = (".arpa", ".arpa.gz", ".bin", ".binary", ".klm")


def load(path: Path | str) -> NgramScorer:
    """Load an n-gram model by its file's ending: `.json` (Laplace), or one of `KENLM_SUFFIXES`.

    Raises:
        ImportError: the file needs `kenlm`, which is not installed.
        ValueError: the file cannot be read.
    """
    path = Path(path)
    return KenlmScorer(path) if path.name.endswith(KENLM_SUFFIXES) else LaplaceNgramScorer.load(path)


__all__ = ["KenlmScorer", "LaplaceNgramScorer", "NgramScorer", "load"]
