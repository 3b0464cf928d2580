"""N-gram models of any order in ARPA or KenLM's binary format, through the `kenlm` package.

KenLM (Heafield 2011) returns log10; this module converts it to natural logs. A word outside the vocabulary gets the
file's `<unk>`; without one, KenLM uses a log10 probability of -100. A binary file is mapped into memory without
checks, so load only files that you trust. The file does not record how its training text was split and cased;
many unknown words show that the options here do not fit it.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io.checksums import file_digest
from ..scorer import Logprobs
from ..words import Split
from .base import NgramScorer


class KenlmScorer(NgramScorer):
    """An n-gram model from a file.

    Args:
        path: an ARPA file (`.arpa`, `.arpa.gz`) or a KenLM binary.
        split: how to split words: `punctuation` separates punctuation, `whitespace` splits only at whitespace.
        lowercase: lower-case the words.
        score_end: score the end of the sentence, `</s>`, as an additional word.

    Raises:
        ImportError: `kenlm` is not installed.
        ValueError: the file does not exist or is not an n-gram model.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        split: Split = "punctuation",
        lowercase: bool = False,
        score_end: bool = False,
    ) -> None:
        self.path = Path(path)
        super().__init__(name=self.path.name, split=split, lowercase=lowercase, score_end=score_end)
        self._kenlm = _import_kenlm()
        if not self.path.is_file():
            raise ValueError(f"There is no file {self.path}; expected an ARPA file or a KenLM binary.")
        config = self._kenlm.Config()
        config.show_progress = False
        try:
            self._model = self._kenlm.Model(str(self.path), config)
        except (OSError, RuntimeError) as error:
            raise ValueError(f"KenLM cannot read {self.path} as an n-gram model: {error}") from error
        self.order: int = self._model.order
        self.signature |= {
            "revision": file_digest(self.path),
            "order": self.order,
            "smoothing": "as in the file",
            "first_token": "given the start of the sentence",
        }

    def score_words(
        self, words: Sequence[str], history: Sequence[str] = ()
    ) -> tuple[Logprobs, NDArray[np.bool_]]:
        """Score each word given the n - 1 before it; see `NgramScorer.score_words`."""
        state, after = self._kenlm.State(), self._kenlm.State()
        self._model.BeginSentenceWrite(state)
        scores = []
        for word in (*history, *words):
            scores.append(self._model.BaseFullScore(state, word, after))
            state, after = after, state
        scores = scores[len(history) :]
        log10 = np.array([score.log_prob for score in scores], dtype=np.float64)
        return log10 * math.log(10), np.array([not score.oov for score in scores], dtype=np.bool_)


def _import_kenlm() -> Any:
    try:
        import kenlm
    except ImportError as error:
        raise ImportError(
            "ARPA files and KenLM binaries need the package kenlm, which is not installed. Install it with "
            "`pip install 'refined-tse[ngram]'` (this compiles it, which requires a C++ compiler and CMake)."
        ) from error
    return kenlm
