"""Published scores in the place of a model that cannot be run any more: `--model scores.csv`.

- Sentences: a table with `sentence` and `logprob`, a natural logarithm. They serve minimal pairs and German sentences.
- Pairs: `prob_good` and `prob_bad` (log-probabilities in spite of their names), `UID` and `pairID`, as in BLiMP's
  released outputs. These write a sentence as their model tokenized it, so a pair is found by its number.

Scores are looked up, never computed: what is not in the file is an error. A sentence is found as it is written, or else
without regard to spaces and case.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..engine.progress import Progress
from ..io.files import file_digest
from ..io.tables import read_table, require_columns, require_text
from ..models.scorer import Logprobs, Scorer
from .minimal_pairs import pair_numbers

LOGPROBS = ("logprob", "log_probability", "log_prob")
NOISE = 1e-4
"""Two scores of one sentence that are closer than this are one score with float noise."""


def load_published(path: Path | str) -> "PublishedScorer":
    """Load published scores: of pairs where the file has `prob_good` and `prob_bad`, else of sentences.

    Args:
        path: Parquet, CSV, TSV, JSON-lines or JSON file; results call the model by its name.

    Raises:
        ValueError: the file cannot be read, lacks columns, or has two different scores for one sentence or pair.
    """
    frame = read_table(Path(path))
    kind = PublishedPairs if {"prob_good", "prob_bad"} <= {*frame} else PublishedScorer
    return kind(frame, Path(path))


class PublishedScorer(Scorer):
    """Answers log P(sentence) from a file of sentences."""

    def __init__(self, frame: pd.DataFrame, path: Path) -> None:
        self.name, self._file = path.stem, path
        self.signature: dict[str, Any] = {
            "model": self.name, "revision": file_digest(path), "published_scores": path.name,
        }  # fmt: skip
        self._read(frame)

    def _read(self, frame: pd.DataFrame) -> None:
        column = next((name for name in LOGPROBS if name in frame), LOGPROBS[0])
        self._add(frame, "sentence", self._values(frame, column))
        for sentence, scores in self._exact.items():
            self._single(sentence, scores)

    def _add(self, frame: pd.DataFrame, column: str, logprobs: Logprobs) -> None:
        require_columns(frame, (column,), str(self._file))
        require_text(frame, (column,), str(self._file))
        by_letters = frame[column].map(_letters)
        scores = pd.Series(logprobs)
        self._exact, self._loose = (
            scores.groupby(keys.tolist()).agg(list).to_dict() for keys in (frame[column], by_letters)
        )

    def _values(self, frame: pd.DataFrame, column: str) -> Logprobs:
        require_columns(frame, (column,), str(self._file))
        values = pd.to_numeric(frame[column], errors="coerce").to_numpy(float)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            rows = ", ".join(f"{row + 1} ({frame[column].iloc[row]!s:.80})" for row in wrong[:3])
            raise ValueError(
                f"{self._file} has values in the column {column!r} that are not finite numbers, in {len(wrong)} of "
                f"{len(values)} rows: {rows}{', …' if len(wrong) > 3 else ''}. Remove these rows."
            )
        return values

    def _single(self, sentence: str, scores: list[float]) -> float:
        if max(scores) - min(scores) > NOISE:
            both = f"{max(scores):g} and {min(scores):g}"
            raise ValueError(
                f"{self._file} has two scores for {sentence!r}: {both}. Keep the right row only."
            )
        return scores[0]

    def sentence_logprobs(self, sentences: Sequence[str], progress: Progress | None = None) -> Logprobs:
        """(sentences,) natural log-probability of each sentence, from the file.

        Raises:
            ValueError: a sentence is not in the file, or has two different scores there.
        """
        found = [self._exact.get(text) or self._loose.get(_letters(text)) for text in sentences]
        missing = [text for text, scores in zip(sentences, found, strict=True) if not scores]
        if missing:
            raise ValueError(
                f"{len(missing)} of {len(found)} sentences have no score in {self._file}, for instance {missing[0]!r}. "
                "There are published scores only for the sentences that were scored."
            )
        return np.array([self._single(text, scores) for text, scores in zip(sentences, found, strict=True)])


class PublishedPairs(PublishedScorer):
    """Answers from a file of minimal pairs: log P(sentence), and whole pairs by their number."""

    def _read(self, frame: pd.DataFrame) -> None:
        require_columns(frame, ("UID",), str(self._file))
        require_text(frame, ("UID",), str(self._file))
        keys = {"paradigm": frame["UID"], "pair_id": pair_numbers(frame, str(self._file))}
        values = {f"prob_{side}": self._values(frame, f"prob_{side}") for side in ("good", "bad")}
        texts = {side: frame.get(f"sentence_{side}", pd.Series("", frame.index)) for side in ("good", "bad")}
        pairs = pd.DataFrame(keys | values | texts)
        of_pair = pairs.groupby([*keys])[[*values]]
        if (apart := ((of_pair.max() - of_pair.min()) > NOISE).any(axis=1)).any():
            paradigm, number = apart.index[apart][0]
            said = f"{self._file} has two different scores for pair {number} of {paradigm}"
            raise ValueError(f"{said}. Keep the right row only.")
        self._pairs = pairs.drop_duplicates([*keys])
        both = pd.concat(texts.values(), ignore_index=True).to_frame("sentence")
        self._add(both, "sentence", np.concatenate([*values.values()]))

    def pair_logprobs(self, table: pd.DataFrame) -> tuple[Logprobs, Logprobs]:
        """Natural log-probabilities of the good and of the bad sentence of each pair, by paradigm and number.

        Args:
            table: columns `paradigm`, `pair_id`, `good`, `bad`.

        Raises:
            ValueError: a pair is not in the file, or the file has other sentences under its number (compared without
                regard to spaces and case).
        """
        columns = ["paradigm", "pair_id", "good", "bad"]
        found = table[columns].merge(self._pairs, "left", ["paradigm", "pair_id"], suffixes=("", "_there"))
        if (missing := found["prob_good"].isna()).any():
            first = found[missing].iloc[0]
            raise ValueError(
                f"{missing.sum()} of {len(found)} pairs have no score in {self._file}, for instance pair "
                f"{first['pair_id']} of {first['paradigm']}. Choose the paradigms that were scored (--groups)."
            )
        for side in ("good", "bad"):
            here, there = (found[column].map(_letters) for column in (side, f"{side}_there"))
            if (other := there.ne("") & here.ne(there)).any():
                first = found[other].iloc[0]
                raise ValueError(
                    f"{other.sum()} of {len(found)} pairs have other sentences in {self._file} than in the data, for "
                    f"instance pair {first['pair_id']} of {first['paradigm']}: {first[f'{side}_there']!r} there, "
                    f"{first[side]!r} in the data. Pairs are found by UID and pairID; fix these columns."
                )
        return found["prob_good"].to_numpy(), found["prob_bad"].to_numpy()


def _letters(sentence: str) -> str:
    return "".join(sentence.split()).lower()
