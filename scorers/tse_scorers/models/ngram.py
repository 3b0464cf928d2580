"""Unigram and bigram models with Laplace smoothing, and their training.

    P(w)     = (c(w) + 1) / (N + V)            order 1
    P(w | v) = (c(v, w) + 1) / (c(v, .) + V)   order 2

c are the counts of the training text, N is its number of words, and V is the number of possible outcomes: the words of
the vocabulary and `<unk>` for all others. Rochereau et al. (2020), whose baselines these are, do not define the context
of the first word: here it follows `<s>`. log P(sentence) is the sum over its words; its end is not scored.
"""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.plan import Indices
from ..engine.progress import Progress
from ..io.files import check_file, read_text, write_text
from .scorer import Logprobs, ScoredTokens, ScoredWords, Scorer, Slot
from .text import capitalized, checked_texts, joined_pairs, warn_of_unknown
from .words import WordSplitter

UNKNOWN = "<unk>"


class NgramScorer(Scorer):
    """Scores with a unigram or bigram model.

    >>> scorer = NgramScorer(["<unk>", "a", "b"], 1, np.array([1, 2]), np.array([2, 1]), False, "unigram")
    >>> np.exp(scorer.sentence_logprobs(["a"])).round(3).tolist()  # P(a) = (2 + 1) / (3 + 3)
    [0.5]

    Args:
        words: the vocabulary; `<unk>`, which stands for all other words, is its first.
        order: 1 or 2.
        events: what was seen, ascending: context * V + outcome. An outcome is the place of a word among `words`; a
            context is 0 of a unigram model, else the place of the word before, V at the start of a sentence.
        counts: (events,) how often.
        lowercase: lower-case the words.
        name: the model's name in results.
    """

    def __init__(
        self, words: Sequence[str], order: int, events: Indices, counts: Indices, lowercase: bool, name: str
    ) -> None:
        self.name, self.order, self.split = name, order, WordSplitter(lowercase)
        self.words, self._events, self._counts = list(words), events, counts
        self._places = {word: place for place, word in enumerate(words)}
        self._totals = np.zeros(len(words) + 1, np.int64)
        np.add.at(self._totals, events // len(words), counts)
        digest = hashlib.sha256("\n".join(words).encode() + events.tobytes() + counts.tobytes())
        first_token = "given the start of the sentence" if order == 2 else "given nothing"
        self.signature = {"model": name, "revision": f"sha256:{digest.hexdigest()[:16]}", "kind": "ngram"}
        self.signature |= {
            "order": order,
            "lowercase": lowercase,
            "smoothing": "Laplace",
            "first_token": first_token,
        }
        self.signature |= {"vocabulary": len(words), "training_words": int(self._totals.sum())}

    def score_words(
        self, words: Sequence[str], history: Sequence[str] = ()
    ) -> tuple[Logprobs, NDArray[np.bool_]]:
        """Return log P of each word, (words,), and whether it is known, (words,); `history` stands before the first."""
        before = [self._places.get(word, 0) for word in history[-1:]] or [len(self.words)]
        outcomes = np.array([self._places.get(word, 0) for word in words], dtype=np.int64)
        contexts = np.array([*before, *outcomes], np.int64)[: len(outcomes)] * (self.order - 1)
        events = contexts * len(self.words) + outcomes
        place = np.minimum(np.searchsorted(self._events, events), len(self._events) - 1)
        counts = np.where(self._events[place] == events, self._counts[place], 0)
        return np.log(counts + 1) - np.log(self._totals[contexts] + len(self.words)), outcomes != 0

    def sentence_logprobs(self, sentences: Iterable[str], progress: Progress | None = None) -> Logprobs:
        """Return log P of each sentence, (sentences,), natural logs."""
        texts = checked_texts(sentences)
        return self.continuation_logprobs([""] * len(texts), texts)

    def continuation_logprobs(
        self, prefixes: Iterable[str], continuations: Iterable[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P(continuation | prefix) of each pair, (pairs,)."""
        prefixes, texts = joined_pairs(prefixes, continuations)
        self._warn_of_unknown(texts)
        scored = [
            self.score_words(self.split(text[len(prefix) :]), self.split(prefix))[0]
            for prefix, text in zip(prefixes, texts, strict=True)
        ]
        # A sum without rounding: the same words in any order tie exactly.
        return np.array([math.fsum(logprobs) for logprobs in scored])

    def token_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[ScoredTokens]:
        """Return what stands between white space in each sentence, with its log-probability.

        A punctuation mark counts towards the word that it is attached to.
        """
        texts, scored = checked_texts(sentences), []
        self._warn_of_unknown(texts)
        for text in texts:
            parts = [self.split(word) for word in text.split()]
            logprobs, _ = self.score_words(list(chain.from_iterable(parts)))
            first = np.cumsum([0, *map(len, parts[:-1])])
            starts, ends = np.array([word.span() for word in re.finditer(r"\S+", text)], dtype=np.int64).T
            scored.append(ScoredTokens(starts, ends, np.add.reduceat(logprobs, first)))
        return scored

    def word_logprobs(self, sentences: Iterable[str], progress: Progress | None = None) -> list[ScoredWords]:
        """Return, for each sentence, its words between white space, each with its log-probability."""
        texts = checked_texts(sentences)
        values = [of_text.logprobs.tolist() for of_text in self.token_logprobs(texts)]
        return [
            [*zip(text.split(), of_text, strict=True)] for text, of_text in zip(texts, values, strict=True)
        ]

    def token_counts(self, sentences: Sequence[str]) -> Indices:
        """Return the number of words of each sentence, (sentences,)."""
        return np.array([len(self.split(sentence)) for sentence in sentences], dtype=np.int64)

    def form_lengths(self, forms: Sequence[str], opening: bool = False) -> Indices:
        """Return the number of words of each form, (forms,); 0 if one of them is not in the vocabulary."""
        words = [self.split(capitalized(form) if opening else form) for form in checked_texts(forms)]
        return np.array([len(of_form) * self.score_words(of_form)[1].all() for of_form in words], np.int64)

    def form_logprobs(
        self, slots: Iterable[Slot], forms: Sequence[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P of each form given the word before its gap, (slots, forms), natural logs.

        NaN if a form is not in the vocabulary: all unknown words have the same probability, which is not theirs.
        """
        slots, forms = list(slots), checked_texts(forms)
        self._warn_of_unknown([slot.prefix for slot in slots])
        contexts = [tuple(self.split(slot.prefix)[-1:]) for slot in slots]
        rows = {}  # a context without a word opens the sentence
        for before in dict.fromkeys(contexts):
            words = [self.split(form if before else capitalized(form)) for form in forms]
            scored = [self.score_words(of_form, before) for of_form in words]
            rows[before] = [of_form.sum() if known.all() else np.nan for of_form, known in scored]
        return np.array([rows[context] for context in contexts]).reshape(len(slots), len(forms))

    def _warn_of_unknown(self, texts: Sequence[str]) -> None:
        unknown = [not self.score_words(self.split(text))[1].all() for text in texts]
        warn_of_unknown(self.name, texts, unknown, UNKNOWN)

    def save(self, path: Path) -> None:
        """Write the model as JSON."""
        state = {name: self.signature[name] for name in ("order", "lowercase")} | {"words": self.words}
        state |= {"events": self._events.tolist(), "counts": self._counts.tolist()}
        write_text(path, json.dumps(state, ensure_ascii=False, separators=(",", ":")))


def load(path: Path) -> NgramScorer:
    """Read a model that `save` wrote.

    Raises:
        ValueError: the file is not such a model.
    """
    try:
        state = json.loads(read_text(path))
        events, counts = (np.array(state.pop(name), dtype=np.int64) for name in ("events", "counts"))
        ascend = events[0] >= 0 and (np.diff(events) > 0).all()
        is_counted = ascend and events.shape == counts.shape and counts.min() >= 1
        if not is_counted or state["order"] not in (1, 2) or state["words"][0] != UNKNOWN:
            raise ValueError(f"expected order 1 or 2, {UNKNOWN} first, and ascending events with counts")
        return NgramScorer(**state, events=events, counts=counts, name=path.stem)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(
            f"{path} is not an n-gram model ({type(error).__name__}: {error}). Make one with `tse train-ngram`."
        ) from error


def train_ngram(text: Path, order: int, out: Path, **options: Any) -> Path:
    """Train a model from a UTF-8 text file, one sentence per line; write it as JSON, and return the file.

    Args:
        text: the text.
        order: 1 or 2.
        out: the file to write; its name ends in `.json`.
        **options: of `count_words`.

    Raises:
        ValueError: the text cannot be read or has no word, the order is another, or the file cannot be written.
    """
    check_file(out, [".json"])
    count_words(read_text(text).split("\n"), order, **options).save(out)
    return out


def count_words(
    lines: Sequence[str], order: int, *, vocabulary_size: int | None = 50_000, lowercase: bool = False
) -> NgramScorer:
    """Make a Laplace-smoothed model of lines, one sentence each.

    The vocabulary is the most frequent words (None: all), by default as many as in the paper's LSTM; the paper does not
    define it.
    """
    if order not in (1, 2):
        raise ValueError(f"Got order {order!r}; expected 1 (words by themselves) or 2 (pairs of words).")
    split = WordSplitter(lowercase)
    frequencies = Counter(chain.from_iterable(map(split, lines)))
    ranked = sorted(frequencies, key=lambda word: (-frequencies[word], word))[:vocabulary_size]
    if not ranked:
        raise ValueError(f"No word was found in {len(lines)} lines; expected one sentence per line.")
    place = {word: number for number, word in enumerate([UNKNOWN, *ranked])}

    def events() -> Iterator[int]:
        for words in map(split, lines):
            before = len(place)
            for outcome in (place.get(word, 0) for word in words):
                yield before * (order - 1) * len(place) + outcome
                before = outcome

    found, counts = np.unique(np.fromiter(events(), np.int64), return_counts=True)  # 8 bytes a word
    return NgramScorer([*place], order, found, counts, lowercase, f"laplace-{order}gram")
