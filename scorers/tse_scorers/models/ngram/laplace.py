"""Unigram and bigram models with Laplace smoothing, the baselines of Rochereau et al. (2020).

    P(w)     = (c(w) + 1) / (N + V)            order 1
    P(w | v) = (c(v, w) + 1) / (c(v, .) + V)   order 2

c are the counts of the training text, N is its number of words, and V is the number of possible outcomes: the
words of the vocabulary, `<unk>` for all others, and `</s>` if the sentence's end is scored. The paper does not
define the context of the first word: here it follows `<s>`.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import scipy  # whose parts are imported when they are used
from numpy.typing import NDArray

from ...io.declared import parse
from ...io.files import unwritable
from ..scorer import Logprobs
from ..words import Split
from .base import NgramScorer

UNKNOWN = "<unk>"
FORMAT = "laplace-ngram-1"


@dataclass(frozen=True)
class State:
    """The content of a file; `count_matrix` checks the numbers."""

    format: str
    order: int
    split: str
    lowercase: bool
    score_end: bool
    words: tuple[str, ...]
    counts: Any
    outcomes: Any
    row_lengths: Any


def checked_words(words: Sequence[str]) -> list[str]:
    """Return the vocabulary of a file; raise ValueError unless it is one: different words, `<unk>` first."""
    if words[:1] != (UNKNOWN,) or len(set(words)) < len(words):
        raise ValueError(f"its words do not begin with {UNKNOWN}, or one is there twice")
    return list(words)


def count_matrix(state: State, n_contexts: int) -> "scipy.sparse.csr_array":
    """Return the counts of a file, (contexts, words); raise ValueError unless they are whole, above 0 and in order."""
    parts = []
    for key, least in (("counts", 1), ("outcomes", 0), ("row_lengths", 0)):
        values = getattr(state, key)
        if not isinstance(values, list) or not all(type(value) is int and value >= least for value in values):
            raise ValueError(f"its {key} are not whole numbers from {least} up")
        parts.append(np.array(values, dtype=np.int64))
    counts, outcomes, lengths = parts
    if not len(counts) or len(lengths) != n_contexts or lengths.sum() != len(counts):
        raise ValueError("its counts do not fit its words")
    contexts = np.repeat(np.arange(n_contexts), lengths)
    if outcomes.max() >= len(state.words) or (np.diff(contexts * len(state.words) + outcomes) <= 0).any():
        # The search for a count needs the order.
        raise ValueError("its outcomes are not words in ascending order")
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    return scipy.sparse.csr_array((counts, outcomes, pointers), shape=(n_contexts, len(state.words)))


def word_index(words: Sequence[str]) -> dict[str, int]:
    """Return the number of each word of a vocabulary."""
    return {word: number for number, word in enumerate(words) if word != UNKNOWN}


def word_ids(words: Sequence[str], index: Mapping[str, int]) -> NDArray[np.int64]:
    """Return (words,) their numbers; 0 is `<unk>`."""
    return np.array([index.get(word, 0) for word in words], dtype=np.int64)


def contexts_of(outcomes: NDArray[np.int64], order: int, start: int) -> NDArray[np.int64]:
    """Return (words,) the row of the counts for each word: that of the word before it, `start` for the first."""
    if order == 1:
        return np.zeros_like(outcomes)
    return np.concatenate([[start], outcomes[:-1]])[: len(outcomes)]


class LaplaceNgramScorer(NgramScorer):
    """A unigram or bigram model with Laplace smoothing, of counts; `tse train-ngram` counts a text.

    >>> counts = scipy.sparse.csr_array(np.array([[0, 2, 1]]))
    >>> scorer = LaplaceNgramScorer(["<unk>", "a", "b"], counts)  # P(a) = (2 + 1) / (3 + 3)
    >>> np.exp(scorer.sentence_logprobs(["a"])).round(3).tolist()
    [0.5]

    Args:
        words: the vocabulary; `<unk>`, which stands for all other words, is its first.
        counts: how often each word follows each context: (1, words) of a unigram model; (words + 1, words) of a
            bigram model, whose last context is the start of a sentence.
        split: how to split words: `punctuation` separates punctuation, `whitespace` splits only at whitespace.
        lowercase: lower-case the words.
        score_end: score the end of the sentence as an additional word.
        name: the model's name in results.

    Raises:
        ValueError: an option has an unknown value.
    """

    def __init__(
        self,
        words: Sequence[str],
        counts: "scipy.sparse.csr_array",
        *,
        split: Split = "punctuation",
        lowercase: bool = False,
        score_end: bool = False,
        name: str | None = None,
    ) -> None:
        self.order = 1 if counts.shape[0] == 1 else 2
        super().__init__(
            name=name or f"laplace-{self.order}gram", split=split, lowercase=lowercase, score_end=score_end
        )
        self._options = {"order": self.order, "split": split, "lowercase": lowercase, "score_end": score_end}
        self._words = list(words)
        self._index = word_index(words)
        contexts, outcomes = counts.tocoo().coords
        # In order, so that they can be searched.
        self._keys = contexts.astype(np.int64) * len(words) + outcomes
        self._counts: NDArray[np.int64] = counts.data
        self._totals: NDArray[np.int64] = np.asarray(counts.sum(axis=1), dtype=np.int64)
        digest = hashlib.sha256("\n".join(words).encode())
        digest.update(self._keys.tobytes() + self._counts.tobytes())
        self.signature |= {
            "revision": f"sha256:{digest.hexdigest()[:16]}",
            "order": self.order,
            "smoothing": "Laplace",
            "vocabulary": len(words),
            "training_words": int(self._totals.sum()),
            "first_token": "given the start of the sentence" if self.order == 2 else "given nothing",
        }

    def score_words(
        self, words: Sequence[str], history: Sequence[str] = ()
    ) -> tuple[Logprobs, NDArray[np.bool_]]:
        """Score each word given the one before it; see `NgramScorer.score_words`."""
        outcomes = word_ids(words, self._index)
        before = word_ids(history[-1:], self._index)
        contexts = contexts_of(outcomes, self.order, before[0] if len(before) else len(self._words))
        keys = contexts * len(self._words) + outcomes
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        counts = np.where(self._keys[place] == keys, self._counts[place], 0)
        logprobs = np.log(counts + 1) - np.log(self._totals[contexts] + len(self._words))
        return logprobs, outcomes != 0

    def save(self, path: Path | str) -> Path:
        """Write the model as JSON: options, words, and the counts as a sparse matrix by rows of contexts.

        Raises:
            ValueError: the file cannot be written.
        """
        contexts, outcomes = np.divmod(self._keys, len(self._words))
        state = {
            "format": FORMAT,
            **self._options,
            "words": self._words,
            "row_lengths": np.bincount(contexts, minlength=len(self._totals)).tolist(),
            "outcomes": outcomes.tolist(),
            "counts": self._counts.tolist(),
        }
        path = Path(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(state, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
        except OSError as error:
            raise unwritable(path, error) from error
        return path

    @classmethod
    def load(cls, path: Path | str) -> "LaplaceNgramScorer":
        """Read a model that `save` wrote.

        Raises:
            ValueError: the file does not exist or is not such a model.
        """
        path = Path(path)
        try:
            state: State = parse(State, json.loads(path.read_text(encoding="utf-8")))
            if state.format != FORMAT:
                raise ValueError(f"its format is {state.format!r}")
            if state.order not in (1, 2):
                raise ValueError(f"its order is {state.order}, not 1 or 2")
            return cls(
                checked_words(state.words),
                count_matrix(state, 1 if state.order == 1 else len(state.words) + 1),
                split=cast(Split, state.split),  # the constructor checks it
                lowercase=state.lowercase,
                score_end=state.score_end,
                name=path.stem,
            )
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"{path} is not an n-gram model of `tse train-ngram` ({error}); expected JSON of format {FORMAT}. "
                "Train the model again, or get the file again."
            ) from error
