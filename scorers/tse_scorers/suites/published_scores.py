"""Published scores in the place of a model that cannot be run any more: `--model scores.csv`.

- Sentences: a table with `sentence` and `logprob`, a natural logarithm. They serve minimal pairs and German sentences.
- Pairs: `sentence_good`, `sentence_bad`, `prob_good` and `prob_bad` (log-probabilities in spite of their names), as in
  BLiMP's released outputs. A sentence may have another score in another pair.

Scores are looked up, never computed: what is not in the file is an error. A sentence is found as it is written, or else
without regard to spaces and case, since released outputs write it as their model tokenized it.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..engine.progress import Progress
from ..io.files import file_digest
from ..io.tables import read_table, require_columns
from ..models.scorer import Logprobs, Scorer
from .data import check, numbers

SENTENCES = ("sentence_good", "sentence_bad")
NOISE = 1e-4
"""Two scores of one sentence that are closer than this are one score with float noise."""


def load_published(path: Path | str) -> "PublishedScorer":
    """Load published scores: of pairs where the file has `prob_good` and `prob_bad`, else of sentences.

    Args:
        path: Parquet, CSV, TSV, JSON-lines or JSON file; results call the model by its name.

    Raises:
        ValueError: the file cannot be read, or lacks columns.
    """
    frame = read_table(Path(path))
    kind = PublishedPairs if {"prob_good", "prob_bad"} <= {*frame} else PublishedScorer
    return kind(frame, Path(path))


class PublishedScorer(Scorer):
    """Answers log P(sentence) from a file of sentences."""

    def __init__(self, frame: pd.DataFrame, path: Path) -> None:
        self.name, self._file = path.stem, str(path)
        self.signature: dict[str, Any] = {
            "model": self.name, "revision": file_digest(path), "published_scores": path.name,
        }  # fmt: skip
        self._exact, self._loose = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
        self._read(frame)

    def _read(self, frame: pd.DataFrame) -> None:
        self._add(check(frame, self._file, texts=["sentence"])["sentence"], self._values(frame, "logprob"))

    def _values(self, frame: pd.DataFrame, column: str) -> Logprobs:
        require_columns(frame, [column], self._file)
        return numbers(frame, column, self._file).to_numpy()

    def _add(self, sentences: "pd.Series[str]", logprobs: Logprobs) -> None:
        for sentence, logprob in zip(sentences, logprobs.tolist(), strict=True):
            self._exact[sentence].append(logprob)
            self._loose[_letters(sentence)].append(logprob)

    def sentence_logprobs(self, sentences: Sequence[str], progress: Progress | None = None) -> Logprobs:
        """(sentences,) natural log-probability of each sentence, from the file.

        Raises:
            ValueError: a sentence is not in the file, or has two different scores there.
        """
        found = [self._exact.get(text) or self._loose.get(_letters(text)) or [] for text in sentences]
        missing = [text for text, scores in zip(sentences, found, strict=True) if not scores]
        if missing:
            raise ValueError(
                f"{len(missing)} of {len(found)} sentences have no score in {self._file}, for instance {missing[0]!r}. "
                "There are published scores only for the sentences that were scored."
            )
        for sentence, scores in zip(sentences, found, strict=True):
            if max(scores) - min(scores) > NOISE:
                said = f"{self._file} has two scores for {sentence!r}: {max(scores):g} and {min(scores):g}"
                raise ValueError(f"{said}. Keep the right row only.")
        return np.array([scores[0] for scores in found])


class PublishedPairs(PublishedScorer):
    """Answers from a file of minimal pairs: log P(sentence), and of both sentences of a pair."""

    def _read(self, frame: pd.DataFrame) -> None:
        texts = check(frame, self._file, texts=SENTENCES)[[*SENTENCES]]
        sides = [self._values(frame, f"prob_{side}") for side in ("good", "bad")]
        for column, values in zip(SENTENCES, sides, strict=True):
            self._add(texts[column], values)
        loose, exact = ([*of.itertuples(False, None)] for of in (texts.map(_letters), texts))
        self._pairs = dict(zip(loose + exact, [*zip(*sides, strict=True)] * 2, strict=True))

    def pair_logprobs(self, table: pd.DataFrame) -> tuple[Logprobs, Logprobs]:
        """Natural log-probabilities of the good and of the bad sentence of each pair.

        Args:
            table: columns `good`, `bad`.

        Raises:
            ValueError: a pair is not in the file.
        """
        keys = [*table[["good", "bad"]].itertuples(False, None)]
        keys = [pair if pair in self._pairs else tuple(map(_letters, pair)) for pair in keys]
        missing = np.array([key not in self._pairs for key in keys])
        if missing.any():
            first = " / ".join(table[missing].iloc[0][["good", "bad"]])
            raise ValueError(
                f"{missing.sum()} of {len(keys)} pairs have no score in {self._file}, for instance {first!r}. Choose "
                "the paradigms that were scored (--groups)."
            )
        good, bad = np.array([self._pairs[key] for key in keys]).T
        return good, bad


def _letters(sentence: str) -> str:
    return "".join(sentence.split()).lower()
