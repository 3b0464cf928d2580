"""N-gram language models: Laplace-smoothed ones, which can be trained here, and ARPA or KenLM files of any order.

log P(sentence) = sum over its words of log P(word | the n - 1 words before). The first words have the start of
the sentence as their context; a unigram model has no context. The end of a sentence is not scored.
"""

import hashlib
import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..engine.plan import Indices
from ..engine.progress import Progress
from ..io.files import check_file, file_digest, not_utf8
from .model_source import KENLM_SUFFIXES
from .scorer import Logprobs, ScoredTokens, Scorer, Slot
from .text import capitalized, checked_texts, joined_pairs, warn_of_unknown
from .words import WordSplitter

UNKNOWN = "<unk>"


class NgramScorer(Scorer, ABC):
    """Scores with a word model whose context is the n - 1 words before.

    Args:
        name: the model's name in results.
        order: n; a word's context is the n - 1 words before it.
        lowercase: lower-case the words.
    """

    def __init__(self, name: str, order: int, lowercase: bool) -> None:
        self.name, self.order = name, order
        self.split = WordSplitter(lowercase)
        self.signature = {"model": name, "kind": "ngram", "order": order, "lowercase": lowercase}

    @abstractmethod
    def score_words(
        self, words: Sequence[str], history: Sequence[str] = ()
    ) -> tuple[Logprobs, NDArray[np.bool_]]:
        """Score each word given those before it, `history` first, the start of the sentence before that.

        Returns:
            (words,) natural log-probabilities, and (words,) whether the word is known.
        """

    def sentence_logprobs(self, sentences: Iterable[str], progress: Progress | None = None) -> Logprobs:
        """Return log P of each sentence, (sentences,), natural logs."""
        texts = checked_texts(sentences)
        return self._sums([""] * len(texts), texts, progress)

    def continuation_logprobs(
        self, prefixes: Iterable[str], continuations: Iterable[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P(continuation | prefix) of each pair, (pairs,)."""
        return self._sums(*joined_pairs(prefixes, continuations), progress)

    def _sums(self, prefixes: list[str], texts: list[str], progress: Progress | None) -> Logprobs:
        """Return log P of each text after its prefix."""
        self._warn_of_unknown(texts)
        sums = np.empty(len(texts))
        for index, (prefix, text) in enumerate(zip(prefixes, texts, strict=True)):
            logprobs, _ = self.score_words(self.split(text[len(prefix) :]), self.split(prefix))
            sums[index] = math.fsum(logprobs)  # the same words in another order must tie exactly
            if progress is not None:
                progress(index + 1, len(texts))
        return sums

    def token_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[ScoredTokens]:
        """Return what stands between white space in each sentence, with its log-probability.

        A punctuation mark counts towards the word that it is attached to.
        """
        texts, scored = checked_texts(sentences), []
        self._warn_of_unknown(texts)
        for text in texts:
            matches = list(re.finditer(r"\S+", text))
            parts = [self.split(match.group()) for match in matches]
            logprobs, _ = self.score_words(list(chain.from_iterable(parts)))
            owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
            sums = np.bincount(owner, weights=logprobs, minlength=len(parts))
            starts, ends = np.array([match.span() for match in matches], dtype=np.int64).T
            scored.append(ScoredTokens(starts, ends, sums.astype(np.float64)))
        return scored

    def word_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[list[tuple[str, float]]]:
        """Return, for each sentence, its words between white space, each with its log-probability."""
        texts = checked_texts(sentences)
        return [
            list(zip(text.split(), tokens.logprobs.tolist(), strict=True))
            for text, tokens in zip(texts, self.token_logprobs(texts), strict=True)
        ]

    def token_counts(self, sentences: Iterable[str]) -> Indices:
        """Return the number of words of each sentence, (sentences,)."""
        return np.array([len(self.split(sentence)) for sentence in sentences], dtype=np.int64)

    def form_lengths(self, forms: Sequence[str], opening: bool = False) -> Indices:
        """Return the number of words of each form, (forms,); 0 if one of them is not in the vocabulary."""
        words = [self.split(capitalized(form) if opening else form) for form in checked_texts(forms)]
        return np.array([len(of_form) * self.score_words(of_form)[1].all() for of_form in words], np.int64)

    def form_logprobs(
        self, slots: Iterable[Slot], forms: Sequence[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P of each form given the words before its gap, (slots, forms), natural logs.

        NaN if a form is not in the vocabulary: all unknown words have the same probability, which is not theirs.
        """
        slots, forms = list(slots), checked_texts(forms)
        self._warn_of_unknown([slot.prefix for slot in slots])
        rows: dict[tuple[bool, tuple[str, ...]], list[float]] = {}
        keys = []
        for slot in slots:
            before = self.split(slot.prefix)
            opening, history = key = not slot.prefix, tuple(before[max(len(before) - self.order + 1, 0) :])
            if key not in rows:
                words = [self.split(capitalized(form) if opening else form) for form in forms]
                scored = [self.score_words(form, history) for form in words]
                rows[key] = [logprobs.sum() if known.all() else np.nan for logprobs, known in scored]
            keys.append(key)
        return np.array([rows[key] for key in keys]).reshape(len(slots), len(forms))

    def _warn_of_unknown(self, texts: Sequence[str]) -> None:
        unknown = [not self.score_words(self.split(text))[1].all() for text in texts]
        warn_of_unknown(self.name, texts, unknown, UNKNOWN)


class LaplaceNgramScorer(NgramScorer):
    """A unigram or bigram model with Laplace smoothing, a baseline of Rochereau et al. (2020).

        P(w)     = (c(w) + 1) / (N + V)            order 1
        P(w | v) = (c(v, w) + 1) / (c(v, .) + V)   order 2

    c are the counts of the training text, N is its number of words, and V is the number of possible outcomes: the
    words of the vocabulary and `<unk>` for all others. The paper does not define the context of the first word: here
    it follows `<s>`.

    >>> scorer = LaplaceNgramScorer(["<unk>", "a", "b"], 1, np.array([1, 2]), np.array([2, 1]))
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
        self,
        words: Sequence[str],
        order: int,
        events: Indices,
        counts: Indices,
        lowercase: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(name or f"laplace-{order}gram", order, lowercase)
        self.words, self._events, self._counts = list(words), events, counts
        self._places = {word: place for place, word in enumerate(words) if word != UNKNOWN}
        self._totals = np.zeros(len(words) + 1, np.int64)
        np.add.at(self._totals, events // len(words), counts)
        digest = hashlib.sha256("\n".join(words).encode() + events.tobytes() + counts.tobytes())
        self.signature |= {
            "revision": f"sha256:{digest.hexdigest()[:16]}",
            "smoothing": "Laplace",
            "vocabulary": len(words),
            "training_words": int(self._totals.sum()),
            "first_token": "given the start of the sentence" if order == 2 else "given nothing",
        }

    def score_words(
        self, words: Sequence[str], history: Sequence[str] = ()
    ) -> tuple[Logprobs, NDArray[np.bool_]]:
        """Score each word given the one before it; see `NgramScorer.score_words`."""
        before = [self._places.get(word, 0) for word in history[-1:]] or [len(self.words)]
        outcomes = np.array([self._places.get(word, 0) for word in words], dtype=np.int64)
        contexts = np.array([*before, *outcomes], np.int64)[: len(outcomes)] * (self.order - 1)
        events = contexts * len(self.words) + outcomes
        place = np.minimum(np.searchsorted(self._events, events), len(self._events) - 1)
        counts = np.where(self._events[place] == events, self._counts[place], 0)
        return np.log(counts + 1) - np.log(self._totals[contexts] + len(self.words)), outcomes != 0

    def save(self, path: Path) -> None:
        """Write the model as JSON."""
        state = {name: self.signature[name] for name in ("order", "lowercase")} | {"words": self.words}
        state |= {"events": self._events.tolist(), "counts": self._counts.tolist()}
        path.write_text(json.dumps(state, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "LaplaceNgramScorer":
        """Read a model that `save` wrote.

        Raises:
            ValueError: the file does not exist or is not such a model.
        """
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
            events, counts = (np.array(state.pop(name), dtype=np.int64) for name in ("events", "counts"))
            if state["order"] not in (1, 2) or state["words"][0] != UNKNOWN or len(events) != len(counts):
                raise ValueError(f"its order is not 1 or 2, or its words do not begin with {UNKNOWN}")
            if counts.min() < 1 or events[0] < 0 or (np.diff(events) <= 0).any():
                raise ValueError("its counts are not above 0, or not those of ascending events")
            return cls(**state, events=events, counts=counts, name=path.stem)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(
                f"{path} is not an n-gram model of `tse train-ngram` ({type(error).__name__}: {error}). Train the "
                "model again, or get the file again."
            ) from error


class KenlmScorer(NgramScorer):
    """An n-gram model of any order in ARPA or KenLM's binary format, through the package `kenlm` (Heafield 2011).

    A word outside the vocabulary gets the file's `<unk>`; without one, KenLM uses a log10 probability of -100. A binary
    file is mapped into memory without checks, so load only files that you trust. The file does not record how its
    training text was split and cased; many unknown words are a sign that this was done in another way.

    Args:
        path: an ARPA file (`.arpa`, `.arpa.gz`) or a KenLM binary.

    Raises:
        ImportError: `kenlm` is not installed.
        ValueError: the file does not exist or is not an n-gram model.
    """

    def __init__(self, path: Path | str) -> None:
        path = Path(path)
        try:
            import kenlm
        except ImportError as error:
            raise ImportError(
                "ARPA files and KenLM binaries need the package kenlm, which is not installed. Install it with "
                "`pip install 'refined-tse[ngram]'` (this compiles it, which requires a C++ compiler and CMake)."
            ) from error
        config = kenlm.Config()
        config.show_progress = False
        try:
            self._model = kenlm.Model(str(path), config)
        except (OSError, RuntimeError) as error:
            raise ValueError(f"KenLM cannot read {path} as an n-gram model: {error}") from error
        super().__init__(path.name, self._model.order, lowercase=False)
        self._states = kenlm.State(), kenlm.State()
        self.signature |= {
            "revision": file_digest(path),
            "smoothing": "as in the file",
            "first_token": "given the start of the sentence",
        }

    def score_words(
        self, words: Sequence[str], history: Sequence[str] = ()
    ) -> tuple[Logprobs, NDArray[np.bool_]]:
        """Score each word given the n - 1 before it; see `NgramScorer.score_words`."""
        state, after = self._states
        self._model.BeginSentenceWrite(state)
        scores = []
        for word in (*history, *words):
            scores.append(self._model.BaseFullScore(state, word, after))
            state, after = after, state
        scores = scores[len(history) :]
        log10 = np.array([score.log_prob for score in scores], dtype=np.float64)
        return log10 * math.log(10), np.array([not score.oov for score in scores], dtype=np.bool_)


def load(path: Path) -> NgramScorer:
    """Load an n-gram model by its file's ending: `.json` (Laplace), or one of `KENLM_SUFFIXES`.

    Raises:
        ImportError: the file needs `kenlm`, which is not installed.
        ValueError: the file cannot be read.
    """
    return KenlmScorer(path) if path.name.endswith(KENLM_SUFFIXES) else LaplaceNgramScorer.load(path)


def train_ngram(
    text: Path,
    order: int,
    out: Path,
    *,
    vocabulary_size: int | None = 50_000,
    lowercase: bool = False,
) -> Path:
    """Train a Laplace-smoothed model from a text file, one sentence per line, and write it as JSON.

    Args:
        text: UTF-8 text.
        order: 1 or 2.
        out: the file to write; its name ends in `.json`.
        vocabulary_size: number of words to keep, most frequent first; None keeps all.
        lowercase: lower-case the words.

    Returns:
        The file written.

    Raises:
        ValueError: the text cannot be read or has no word, an option has an unknown value, or the file cannot be
            written.
    """
    check_file(out, [".json"])
    try:
        model = count_words(text, order, vocabulary_size=vocabulary_size, lowercase=lowercase)
    except OSError as error:
        raise ValueError(
            f"{text} cannot be read: {error.strerror}. Check the path and its permissions."
        ) from error
    except UnicodeDecodeError as error:
        raise not_utf8(text) from error
    out.parent.mkdir(parents=True, exist_ok=True)
    model.save(out)
    return out


def count_words(
    text: Path | Sequence[str],
    order: int,
    *,
    vocabulary_size: int | None = 50_000,
    lowercase: bool = False,
) -> LaplaceNgramScorer:
    """Make a model of a text file or of lines, one sentence each; arguments as in `train_ngram`.

    The paper does not define its vocabulary. Here it is the most frequent words, as many as in the paper's LSTM.
    """
    if order not in (1, 2):
        raise ValueError(
            f"Got order {order!r}; a Laplace model has order 1 or 2. For more, estimate an ARPA file with KenLM's "
            "lmplz and load that."
        )
    words_of = WordSplitter(lowercase)

    def sentences() -> Iterator[list[str]]:
        with text.open(encoding="utf-8-sig") if isinstance(text, Path) else nullcontext(text) as lines:
            yield from filter(None, map(words_of, lines))

    frequencies = Counter(word for words in sentences() for word in words)
    for special in (UNKNOWN, "</s>", "<s>"):
        frequencies.pop(special, None)
    ranked = sorted(frequencies, key=lambda word: (-frequencies[word], word))[:vocabulary_size]
    if not ranked:
        raise ValueError(
            f"No word was found in {text if isinstance(text, Path) else f'{len(text)} lines'}; expected one sentence "
            "per line, and a vocabulary of at least one word."
        )
    place = {word: number for number, word in enumerate([UNKNOWN, *ranked])}

    def events() -> Iterator[int]:
        for words in sentences():
            before = len(place)
            for outcome in (place.get(word, 0) for word in words):
                yield before * (order - 1) * len(place) + outcome
                before = outcome

    found, counts = np.unique(np.fromiter(events(), np.int64), return_counts=True)  # 8 bytes a word
    return LaplaceNgramScorer([*place], order, found, counts, lowercase)
