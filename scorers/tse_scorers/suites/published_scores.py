"""Published scores in the place of a model that cannot be run any more: `--model scores.csv`.

- Sentences: a table with `sentence` and `logprob`, a natural logarithm. They serve minimal pairs and German sentences.
- Pairs: `sentence_good`, `sentence_bad`, `prob_good` and `prob_bad` (log-probabilities in spite of their names), as in
  BLiMP's released outputs. A sentence may have another score in another pair.

Scores are looked up, never computed: what is not in the file is an error. A sentence is found as it is written, or else
without regard to spaces and case, since released outputs write it as their model tokenized it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
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
        self._pairs = defaultdict[tuple[str, ...], list[list[float]]](list)
        for keys, *scores in zip(_keys(frame, *SENTENCES, "UID", "pairID"), *sides, strict=True):
            for key in keys:
                self._pairs[key].append(scores)

    def pair_logprobs(self, table: pd.DataFrame) -> tuple[Logprobs, Logprobs]:
        """Natural log-probabilities of the good and of the bad sentence of each pair.

        Args:
            table: columns `good`, `bad`; `paradigm` and `pair_id` tell items with the same two sentences apart, where
                the file has `UID` and `pairID`.

        Raises:
            ValueError: a pair is not in the file, or has two different scores there.
        """
        keys = _keys(table, "good", "bad", "paradigm", "pair_id")
        found = [next((self._pairs[key] for key in of if key in self._pairs), []) for of in keys]
        missing = np.array([not scores for scores in found])
        several = np.array([bool(of) and np.ptp(of, axis=0).max() > NOISE for of in found])
        for wrong, why, advice in (
            (missing, "no score", "Choose the paradigms that were scored (--groups)."),
            (
                several,
                "two scores",
                "Keep the right rows only, or number the pairs of data and file (UID, pairID).",
            ),
        ):
            if wrong.any():
                first = " / ".join(table[wrong].iloc[0][["good", "bad"]])
                said = (
                    f"{wrong.sum()} of {len(found)} pairs have {why} in {self._file}, for instance {first!r}"
                )
                raise ValueError(f"{said}. {advice}")
        good, bad = np.array([scores[0] for scores in found]).T
        return good, bad


def _keys(table: pd.DataFrame, good: str, bad: str, *names: str) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Yield what each pair is found by: its sentences with paradigm and number, its sentences, their letters."""
    known = [table[name].astype(str).str.removesuffix(".0") for name in names if {*names} <= {*table}]
    for first, second, *of in zip(table[good], table[bad], *known, strict=True):
        yield (first, second, *of), (first, second), (_letters(first), _letters(second))


def _letters(sentence: str) -> str:
    return "".join(sentence.split()).lower()
