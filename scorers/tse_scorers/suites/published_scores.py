"""Published scores in the place of a model that cannot be run any more.

Two kinds of file:

* sentences: a table with a sentence and its log-probability in each row;
* pairs: minimal pairs with `prob_good` and `prob_bad` (log-probabilities in spite of their names), `UID` and
  `pairID`, as in BLiMP's released outputs. These write a sentence as their model tokenized it. So a pair is found by
  its number; a sentence is found as it is written, or else without regard to spaces and case.

Scores are looked up, never computed: what is not in the file is an error.
"""

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..engine.progress import Progress
from ..io.tables import read_table, require_columns, require_text
from ..models.scorer import Logprobs, Scorer
from .minimal_pairs import _numbers as pair_ids

LOGPROB_COLUMNS = ("logprob", "log_probability", "log_prob")
NOISE = 1e-4
"""Two scores of one sentence that are closer than this are one score with float noise."""


def load_published(
    path: Path | str, *, name: str | None = None, log_base: float = math.e
) -> "PublishedScorer":
    """Load published scores: of pairs where the file has `prob_good` and `prob_bad`, else of sentences.

    Args:
        path: Parquet, CSV, TSV, JSON-lines or JSON file.
        name: how results call the model; None takes the file's name.
        log_base: base of the file's logarithms, 10 for scores of n-gram tools.

    Raises:
        ValueError: the file cannot be read, lacks columns, or has two different scores for one sentence or pair.
    """
    path = Path(path)
    frame = read_table(path)
    kind = PublishedPairs if {"prob_good", "prob_bad"} <= set(frame.columns) else PublishedScorer
    return kind(frame, path, name=name, log_base=log_base)


class PublishedScorer(Scorer):
    """Answers log P(sentence) from a file of sentences.

    Attributes:
        name: how results call the model.
        signature: where the scores come from: file, SHA-256, base of its logarithms.
    """

    def __init__(
        self, frame: pd.DataFrame, path: Path, *, name: str | None = None, log_base: float = math.e
    ) -> None:
        if not log_base > 1:
            raise ValueError(f"The base of logarithms is {log_base}; expected a number above 1, such as 10.")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        self.name = name or path.stem
        self.signature: dict[str, Any] = {
            "model": self.name,
            "revision": f"sha256:{digest[:16]}",
            "published_scores": path.name,
            "sha256": digest,
            "log_base": log_base,
        }
        self._natural = math.log(log_base)
        self._read(frame, path)

    def _read(self, frame: pd.DataFrame, path: Path) -> None:
        column = next((name for name in LOGPROB_COLUMNS if name in frame), LOGPROB_COLUMNS[0])
        require_columns(frame, ("sentence", column), str(path))
        require_text(frame, ("sentence",), str(path))
        self._scores = _Scores(frame["sentence"], self._values(frame[column], path))
        for sentence, (first, second) in self._scores.conflicts.items():
            raise ValueError(
                f"{path} has two scores for {sentence!r}: {first:g} and {second:g}. Keep the right row only."
            )

    def sentence_logprobs(self, sentences: Sequence[str], progress: Progress | None = None) -> Logprobs:
        """(sentences,) natural log-probability of each sentence, from the file.

        Raises:
            ValueError: a sentence is not in the file, or has two different scores there.
        """
        sentences = list(sentences)
        logprobs = [self._scores.find(sentence) for sentence in sentences]
        missing = [sentence for sentence, value in zip(sentences, logprobs, strict=True) if value is None]
        if missing:
            raise ValueError(
                f"{len(missing)} of {len(logprobs)} sentences have no score in {self.signature['published_scores']}, "
                f"for instance {missing[0]!r}. There are published scores only for the sentences that were scored."
            )
        if progress is not None:
            progress(len(logprobs), len(logprobs))
        return np.array(logprobs, dtype=np.float64)

    def _values(self, column: pd.Series, path: Path) -> Logprobs:
        """Return a column of log-probabilities in natural logs."""
        values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float) * self._natural
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            rows = ", ".join(f"{row + 1} ({column.iloc[row]!s:.80})" for row in wrong[:3])
            raise ValueError(
                f"{path} has values in the column {column.name!r} that are not finite numbers, in {len(wrong)} of "
                f"{len(values)} rows: {rows}{', …' if len(wrong) > 3 else ''}. Expected a log-probability in each row; "
                "remove these rows, or write the scores that were computed."
            )
        return values


class PublishedPairs(PublishedScorer):
    """Answers from a file of minimal pairs: log P(sentence), and whole pairs by their number."""

    def _read(self, frame: pd.DataFrame, path: Path) -> None:
        require_columns(frame, ("UID",), str(path))
        require_text(frame, ("UID",), str(path))
        self._frame = frame
        self._good, self._bad = (self._values(frame[column], path) for column in ("prob_good", "prob_bad"))
        self._place: dict[tuple[str, int], int] = {}
        for row, pair in enumerate(zip(frame["UID"], pair_ids(frame, str(path)), strict=True)):
            first = self._place.setdefault(pair, row)
            if any(abs(side[first] - side[row]) > NOISE for side in (self._good, self._bad)):
                raise ValueError(
                    f"{path} has two different scores for pair {pair[1]} of {pair[0]} (rows {first + 1} and "
                    f"{row + 1}). Keep the right row only."
                )
        self._has_sentences = {"sentence_good", "sentence_bad"} <= set(frame.columns)
        if self._has_sentences:
            require_columns(frame, ("sentence_good", "sentence_bad"), str(path))
            require_text(frame, ("sentence_good", "sentence_bad"), str(path))
            sentences = pd.concat([frame["sentence_good"], frame["sentence_bad"]])
            self._scores = _Scores(sentences, np.concatenate([self._good, self._bad]))
        else:
            self._scores = _Scores((), ())

    def pair_logprobs(self, table: pd.DataFrame) -> tuple[Logprobs, Logprobs]:
        """Natural log-probabilities of the good and of the bad sentence of each pair, by paradigm and number.

        Args:
            table: columns `paradigm`, `pair_id`, `sentence_good`, `sentence_bad`.

        Raises:
            ValueError: a pair is not in the file, or the file has other sentences under its number (compared without
                regard to spaces and case).
        """
        pairs = list(zip(table["paradigm"], table["pair_id"], strict=True))
        missing = [pair for pair in pairs if pair not in self._place]
        if missing:
            raise ValueError(
                f"{len(missing)} of {len(pairs)} pairs have no score in {self.signature['published_scores']}, for "
                f"instance pair {missing[0][1]} of {missing[0][0]}. Choose the paradigms that were scored (--groups)."
            )
        rows = np.array([self._place[pair] for pair in pairs])
        self._compare_sentences(table, rows)
        return self._good[rows], self._bad[rows]

    def _compare_sentences(self, table: pd.DataFrame, rows: Any) -> None:
        if not self._has_sentences:
            return
        differ = np.zeros(len(rows), dtype=bool)
        for side in ("sentence_good", "sentence_bad"):
            there, here = self._frame[side].iloc[rows], table[side]
            differ |= [_letters(one) != _letters(other) for one, other in zip(there, here, strict=True)]
        if differ.any():
            first = int(differ.argmax())
            there = self._frame.iloc[rows[first]]
            raise ValueError(
                f"{int(differ.sum())} of {len(rows)} pairs have other sentences in "
                f"{self.signature['published_scores']} than in the data, for instance pair "
                f"{table['pair_id'].iloc[first]} of {table['paradigm'].iloc[first]}: {there['sentence_good']!r} / "
                f"{there['sentence_bad']!r} there, {table['sentence_good'].iloc[first]!r} / "
                f"{table['sentence_bad'].iloc[first]!r} in the data. Pairs are found by UID and pairID; fix these "
                "columns, or score the data that the file was made for."
            )


class _Scores:
    """Scores by sentence: to the letter, else without regard to spaces and case."""

    def __init__(self, sentences: Sequence[str] | pd.Series, values: Any) -> None:
        self._exact, self.conflicts = _by_key(sentences, values)
        self._loose, self._loose_conflicts = _by_key([_letters(sentence) for sentence in sentences], values)

    def find(self, sentence: str) -> float | None:
        """The sentence's score, None where there is none; raises ValueError where there are two."""
        loose = _letters(sentence)
        scores = self._exact if sentence in self._exact else self._loose
        key = sentence if scores is self._exact else loose
        conflict = (self.conflicts if scores is self._exact else self._loose_conflicts).get(key)
        if conflict is not None:
            raise ValueError(
                f"There are two different scores for {sentence!r}: {conflict[0]:g} and {conflict[1]:g}. Ask for the "
                "pair by its number, or keep the right row only."
            )
        return scores.get(key)


def _by_key(keys: Any, values: Any) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """First value of each key, and the keys that have another value too."""
    scores: dict[str, float] = {}
    conflicts: dict[str, tuple[float, float]] = {}
    for key, value in zip(keys, values, strict=True):
        first = scores.setdefault(key, float(value))
        if abs(first - value) > NOISE:
            conflicts[key] = (first, float(value))
    return scores, conflicts


def _letters(sentence: str) -> str:
    return "".join(sentence.split()).lower()
