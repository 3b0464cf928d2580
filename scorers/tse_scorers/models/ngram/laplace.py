"""Unigram and bigram models with Laplace smoothing, the baselines of Rochereau et al. (2020).

    P(w)     = (c(w) + 1) / (N + V)            order 1
    P(w | v) = (c(v, w) + 1) / (c(v, .) + V)   order 2

c are the counts of the training text, N is its number of words, and V is the number of possible outcomes: the
words of the vocabulary, `<unk>` for all others, and `</s>` if the sentence's end is scored. The paper does not
define its vocabulary or the context of the first word. Here the vocabulary is the most frequent words (50,000, as
many as in the paper's LSTM), each line of the training text is one sentence, and the first word follows `<s>`.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...io.declared import parse
from ...io.files import not_utf8, unreadable, unwritable
from ..base import Logprobs
from ..words import Split
from .base import END, NgramScorer

UNKNOWN = "<unk>"


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


def count_matrix(state: State, n_contexts: int) -> sparse.csr_array:
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
    return sparse.csr_array((counts, outcomes, pointers), shape=(n_contexts, len(state.words)))


FORMAT = "laplace-ngram-1"
WORDS_AT_ONCE = 2**22
"""Training words that are counted together: about 100 MB."""


class LaplaceNgramScorer(NgramScorer):
    """A unigram or bigram model with Laplace smoothing.

    >>> scorer = LaplaceNgramScorer(order=1).train(["a b", "a"])  # P(a) = (2 + 1) / (3 + 3)
    >>> np.exp(scorer.sentence_logprobs(["a"])).round(3).tolist()
    [0.5]

    Args:
        order: 1 or 2.
        vocabulary_size: number of words to keep, most frequent first; None keeps all.
        split: how to split words: `punctuation` separates punctuation, `whitespace` splits only at whitespace.
        lowercase: lower-case the words.
        score_end: score the end of the sentence as an additional word.
        name: the model's name in results.

    Raises:
        ValueError: an option has an unknown value.
    """

    def __init__(
        self,
        order: int = 2,
        *,
        vocabulary_size: int | None = 50_000,
        split: Split = "punctuation",
        lowercase: bool = False,
        score_end: bool = False,
        name: str | None = None,
    ) -> None:
        if order not in (1, 2):
            raise ValueError(
                f"Got order {order!r}; a Laplace model has order 1 or 2. For more, estimate an ARPA file "
                "with KenLM's lmplz and load that."
            )
        if vocabulary_size is not None and vocabulary_size < 1:
            raise ValueError(
                f"Got a vocabulary of {vocabulary_size} words; expected at least one, or None for all."
            )
        super().__init__(
            name=name or f"laplace-{order}gram",
            split=split,
            lowercase=lowercase,
            score_end=score_end,
        )
        self.order = order
        self.vocabulary_size = vocabulary_size
        self._options = {"order": order, "split": split, "lowercase": lowercase, "score_end": score_end}
        self._vocabulary: list[str] = []

    def train(self, text: Path | Sequence[str]) -> "LaplaceNgramScorer":
        """Count the words of a text file (UTF-8) or of lines, one sentence each; empty lines do not count.

        Raises:
            ValueError: the file does not exist, is not UTF-8, or contains no word.
        """
        frequencies = Counter(chain.from_iterable(self._sentences(text)))
        for special in (UNKNOWN, END, "<s>"):
            frequencies.pop(special, None)
        if not frequencies:
            name = text if isinstance(text, Path) else f"{len(text)} lines"
            raise ValueError(f"No word was found in {name}; expected one sentence per line.")
        ranked = sorted(frequencies.items(), key=lambda item: (-item[1], item[0]))[: self.vocabulary_size]
        self._set_vocabulary([UNKNOWN, *([END] if self.score_end else []), *(word for word, _ in ranked)])
        shape = (len(self._vocabulary) + 1 if self.order == 2 else 1, len(self._vocabulary))
        counts = sparse.csr_array(shape, dtype=np.int64)
        for contexts, outcomes in self._events(text):
            ones = np.ones(len(outcomes), dtype=np.int64)
            counts = counts + sparse.coo_array((ones, (contexts, outcomes)), shape).tocsr()
        self._set_counts(counts.sorted_indices())
        return self

    @classmethod
    def from_counts(cls, counts: Mapping[str, int], name: str | None = None) -> "LaplaceNgramScorer":
        """Make a unigram model from counts of words; `<unk>`, if given, counts all other words.

        Raises:
            ValueError: no word has a count above 0.
        """
        words = sorted(word for word, count in counts.items() if count > 0 and word != UNKNOWN)
        if not words:
            raise ValueError("No word has a count above 0; expected at least one.")
        scorer = cls(1, vocabulary_size=None, name=name)
        scorer._set_vocabulary([UNKNOWN, *words])
        row = [[counts.get(word, 0) for word in scorer._vocabulary]]
        scorer._set_counts(sparse.csr_array(np.array(row, dtype=np.int64)))
        return scorer

    def score_words(
        self, words: Sequence[str], history: Sequence[str] = ()
    ) -> tuple[Logprobs, NDArray[np.bool_]]:
        """Score each word given the one before it; see `NgramScorer.score_words`."""
        if not self._vocabulary:
            raise ValueError("This n-gram model has not been trained; call train() or load one.")
        outcomes = self._ids(words)
        contexts = self._contexts(outcomes, self._ids(history[-1:]))
        keys = contexts * len(self._vocabulary) + outcomes
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        counts = np.where(self._keys[place] == keys, self._counts[place], 0)
        logprobs = np.log(counts + 1) - np.log(self._totals[contexts] + len(self._vocabulary))
        return logprobs, outcomes != 0

    def save(self, path: Path | str) -> Path:
        """Write the model as JSON: options, words, and the counts as a sparse matrix by rows of contexts.

        Raises:
            ValueError: the file cannot be written.
        """
        contexts, outcomes = np.divmod(self._keys, len(self._vocabulary))
        state = {
            "format": FORMAT,
            **self._options,
            "words": self._vocabulary,
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
            scorer = cls(
                state.order,
                vocabulary_size=None,
                split=cast(Split, state.split),  # the constructor checks it
                lowercase=state.lowercase,
                score_end=state.score_end,
                name=path.stem,
            )
            scorer._set_vocabulary(checked_words(state.words))
            scorer._set_counts(count_matrix(state, 1 if scorer.order == 1 else len(state.words) + 1))
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"{path} is not an n-gram model of `tse train-ngram` ({error}); expected JSON of format {FORMAT}. "
                "Train the model again, or get the file again."
            ) from error
        return scorer

    def _set_vocabulary(self, words: list[str]) -> None:
        self._vocabulary = words
        self._index = {word: index for index, word in enumerate(words) if word != UNKNOWN}

    def _set_counts(self, counts: sparse.csr_array) -> None:
        """Keep the counts as sorted keys (context * V + outcome), and each context's sum."""
        contexts, outcomes = counts.tocoo().coords
        self._keys = contexts.astype(np.int64) * len(self._vocabulary) + outcomes
        self._counts: NDArray[np.int64] = counts.data
        self._totals: NDArray[np.int64] = np.asarray(counts.sum(axis=1), dtype=np.int64)
        digest = hashlib.sha256("\n".join(self._vocabulary).encode())
        digest.update(self._keys.tobytes() + self._counts.tobytes())
        self.signature |= {
            "revision": f"sha256:{digest.hexdigest()[:16]}",
            "order": self.order,
            "smoothing": "Laplace",
            "vocabulary": len(self._vocabulary),
            "training_words": int(self._totals.sum()),
            "first_token": "given the start of the sentence" if self.order == 2 else "given nothing",
        }

    def _ids(self, words: Sequence[str]) -> NDArray[np.int64]:
        return np.array([self._index.get(word, 0) for word in words], dtype=np.int64)

    def _contexts(self, outcomes: NDArray[np.int64], before: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of the counts for each word, (words,); the last row is `<s>`."""
        if self.order == 1:
            return np.zeros_like(outcomes)
        start = before if len(before) else np.array([len(self._vocabulary)])
        return np.concatenate([start, outcomes[:-1]])

    def _sentences(self, text: Path | Sequence[str]) -> Iterator[list[str]]:
        for line in _lines(text):
            if words := self.split(line):
                yield words + [END] * self.score_end

    def _events(self, text: Path | Sequence[str]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield (contexts, outcomes) of the training text, some millions of words at a time."""
        contexts, outcomes, n_words = [], [], 0
        for words in self._sentences(text):
            ids = self._ids(words)
            outcomes.append(ids)
            contexts.append(self._contexts(ids, ids[:0]))
            n_words += len(ids)
            if n_words >= WORDS_AT_ONCE:
                yield np.concatenate(contexts), np.concatenate(outcomes)
                contexts, outcomes, n_words = [], [], 0
        if n_words:
            yield np.concatenate(contexts), np.concatenate(outcomes)


def _lines(text: Path | Sequence[str]) -> Iterator[str]:
    if not isinstance(text, Path):
        yield from text
        return
    try:
        with text.open(encoding="utf-8-sig") as file:
            yield from file
    except OSError as error:
        raise unreadable(text, error) from error
    except UnicodeDecodeError as error:
        raise not_utf8(text) from error
