"""Scorers of n-gram models, which sum log-probabilities of words.

log P(sentence) = sum over its words of log P(word | the n - 1 words before). The first words have the start of
the sentence as their context; a unigram model has no context.
"""

import hashlib
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...engine.plan import Indices
from ...engine.progress import Progress
from ...io.files import file_digest
from ..scorer import Logprobs, ScoredTokens, Scorer, Slot
from ..text import checked_forms, checked_pairs, checked_texts, warn_of_unknown
from ..words import Split, WordSplitter

END, UNKNOWN = "</s>", "<unk>"


class NgramScorer(Scorer, ABC):
    """Scores with a word model whose context is the n - 1 words before.

    Attributes:
        order: n; a word's context is the n - 1 words before it.

    Args:
        name: the model's name in results.
        split: how to split words: `punctuation` separates punctuation, `whitespace` splits only at whitespace.
        lowercase: lower-case the words.
        score_end: score the end of the sentence as an additional word.

    Raises:
        ValueError: an option has an unknown value.
    """

    order: int

    def __init__(self, *, name: str, split: Split, lowercase: bool, score_end: bool) -> None:
        self.name = name
        self.split = WordSplitter(split, lowercase)
        self.score_end = score_end
        self.signature = {
            "model": name,
            "kind": "ngram",
            "split": split,
            "lowercase": lowercase,
            "sentence_end": "scored" if score_end else "not scored",
        }

    @abstractmethod
    def score_words(
        self, words: Sequence[str], history: Sequence[str] = ()
    ) -> tuple[Logprobs, NDArray[np.bool_]]:
        """Score each word given those before it, `history` first, the start of the sentence before that.

        Returns:
            (words,) natural log-probabilities, and (words,) whether the word is known. `</s>` is the end.
        """

    def sentence_logprobs(self, sentences: Iterable[str], progress: Progress | None = None) -> Logprobs:
        """Return log P of each sentence, (sentences,), natural logs."""
        return self._sums([("", text) for text in checked_texts(sentences)], progress, self.score_end)

    def continuation_logprobs(
        self, prefixes: Iterable[str], continuations: Iterable[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P(continuation | prefix) of each pair, (pairs,); the end of the sentence is no part of it."""
        return self._sums(list(zip(*checked_pairs(prefixes, continuations), strict=True)), progress, False)

    def _sums(self, pairs: list[tuple[str, str]], progress: Progress | None, ends: bool) -> Logprobs:
        self._warn_of_unknown([" ".join(pair) for pair in pairs])
        sums = np.empty(len(pairs))
        for index, (prefix, text) in enumerate(pairs):
            logprobs, _ = self.score_words(self.split(text) + [END] * ends, self.split(prefix))
            sums[index] = math.fsum(logprobs)  # the same words in another order must tie exactly
            if progress is not None:
                progress(index + 1, len(pairs))
        return sums

    def word_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[list[tuple[str, float]]]:
        """Return, for each sentence, its words between white space, each with its log-probability.

        A punctuation mark counts towards the word that it is attached to; the sentence's end, if scored, is
        a separate word, `</s>`.
        """
        texts = checked_texts(sentences)
        self._warn_of_unknown(texts)
        scored = []
        for index, text in enumerate(texts):
            words = text.split() + [END] * self.score_end
            parts = [self.split(word) for word in text.split()] + [[END]] * self.score_end
            logprobs, _ = self.score_words(list(chain.from_iterable(parts)))
            owner = np.repeat(np.arange(len(words)), [len(part) for part in parts])
            sums = np.bincount(owner, weights=logprobs, minlength=len(words))
            scored.append(list(zip(words, sums.tolist(), strict=True)))
            if progress is not None:
                progress(index + 1, len(texts))
        return scored

    def token_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[ScoredTokens]:
        """Return the words of each sentence as its tokens, as `word_logprobs` scores them."""
        texts, tokens = checked_texts(sentences), []
        for text, words in zip(texts, self.word_logprobs(texts, progress), strict=True):
            spans = [match.span() for match in re.finditer(r"\S+", text)]
            spans += [(len(text), len(text))] * self.score_end
            starts, ends = np.array(spans, dtype=np.int64).T
            tokens.append(ScoredTokens(starts, ends, np.array([logprob for _, logprob in words])))
        return tokens

    def token_counts(self, sentences: Iterable[str]) -> Indices:
        """Return the number of words of each sentence, (sentences,)."""
        return np.array([len(self.split(sentence)) for sentence in sentences], dtype=np.int64)

    def form_lengths(self, forms: Sequence[str], opening: bool = False) -> Indices:
        """Return the number of words of each form, (forms,); 0 if one of them is not in the vocabulary."""
        words = [self.split(form) for form in checked_forms(forms, opening)]
        return np.array([len(of_form) * self.score_words(of_form)[1].all() for of_form in words], np.int64)

    def form_logprobs(
        self, slots: Iterable[Slot], forms: Sequence[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P of each form given the words before its gap, (slots, forms), natural logs.

        NaN if a form is not in the vocabulary: all unknown words have the same probability, which is not theirs.
        """
        slots = list(slots)
        self._warn_of_unknown([slot.prefix for slot in slots])
        words = {
            opening: [self.split(form) for form in checked_forms(forms, opening)] for opening in (False, True)
        }
        rows: dict[tuple[bool, tuple[str, ...]], list[float]] = {}
        keys = []
        for index, slot in enumerate(slots):
            before = self.split(slot.prefix)
            key = not slot.prefix, tuple(before[max(len(before) - self.order + 1, 0) :])
            if key not in rows:
                scored = [self.score_words(form, key[1]) for form in words[key[0]]]
                rows[key] = [logprobs.sum() if known.all() else np.nan for logprobs, known in scored]
            keys.append(key)
            if progress is not None:
                progress(index + 1, len(slots))
        return np.array([rows[key] for key in keys]).reshape(len(slots), len(forms))

    def _warn_of_unknown(self, texts: Sequence[str]) -> None:
        unknown = [not self.score_words(self.split(text))[1].all() for text in texts]
        warn_of_unknown(self.name, texts, unknown, UNKNOWN)


class LaplaceNgramScorer(NgramScorer):
    """A unigram or bigram model with Laplace smoothing, a baseline of Rochereau et al. (2020).

        P(w)     = (c(w) + 1) / (N + V)            order 1
        P(w | v) = (c(v, w) + 1) / (c(v, .) + V)   order 2

    c are the counts of the training text, N is its number of words, and V is the number of possible outcomes: the
    words of the vocabulary, `<unk>` for all others, and `</s>` if the sentence's end is scored. The paper does not
    define the context of the first word: here it follows `<s>`.

    >>> scorer = LaplaceNgramScorer(["<unk>", "a", "b"], 1, np.array([1, 2]), np.array([2, 1]))
    >>> np.exp(scorer.sentence_logprobs(["a"])).round(3).tolist()  # P(a) = (2 + 1) / (3 + 3)
    [0.5]

    Args:
        words: the vocabulary; `<unk>`, which stands for all other words, is its first.
        order: 1 or 2.
        events: what was seen, ascending: context * V + outcome. An outcome is the place of a word among `words`; a
            context is 0 of a unigram model, else the place of the word before, V at the start of a sentence.
        counts: (events,) how often.
        split: how to split words: `punctuation` separates punctuation, `whitespace` splits only at whitespace.
        lowercase: lower-case the words.
        score_end: score the end of the sentence as an additional word.
        name: the model's name in results.
    """

    def __init__(
        self,
        words: Sequence[str],
        order: int,
        events: Indices,
        counts: Indices,
        *,
        split: Split = "punctuation",
        lowercase: bool = False,
        score_end: bool = False,
        name: str | None = None,
    ) -> None:
        name = name or f"laplace-{order}gram"
        super().__init__(name=name, split=split, lowercase=lowercase, score_end=score_end)
        self.order, self.words, self._events, self._counts = order, list(words), events, counts
        self._places = {word: place for place, word in enumerate(words) if word != UNKNOWN}
        self._totals = np.zeros(len(words) + 1, np.int64)
        np.add.at(self._totals, events // len(words), counts)
        digest = hashlib.sha256("\n".join(words).encode() + events.tobytes() + counts.tobytes())
        self.signature |= {
            "revision": f"sha256:{digest.hexdigest()[:16]}",
            "order": order,
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
        state = {name: self.signature[name] for name in ("order", "split", "lowercase")}
        state |= {"score_end": self.score_end, "words": self.words}
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
            if state["order"] not in (1, 2) or state["words"][0] != UNKNOWN:
                raise ValueError(f"its order is not 1 or 2, or its words do not begin with {UNKNOWN}")
            if (
                len(events) != len(counts)
                or counts.min() < 1
                or events[0] < 0
                or (np.diff(events) <= 0).any()
            ):
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
    training text was split and cased; many unknown words show that the options here do not fit it.

    Args:
        path: an ARPA file (`.arpa`, `.arpa.gz`) or a KenLM binary.
        split: as in `NgramScorer`.
        lowercase: as there.
        score_end: as there.

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
        path = Path(path)
        super().__init__(name=path.name, split=split, lowercase=lowercase, score_end=score_end)
        try:
            import kenlm
        except ImportError as error:
            raise ImportError(
                "ARPA files and KenLM binaries need the package kenlm, which is not installed. Install it with "
                "`pip install 'refined-tse[ngram]'` (this compiles it, which requires a C++ compiler and CMake)."
            ) from error
        if not path.is_file():
            raise ValueError(f"There is no file {path}; expected an ARPA file or a KenLM binary.")
        config = kenlm.Config()
        config.show_progress = False
        try:
            self._model = kenlm.Model(str(path), config)
        except (OSError, RuntimeError) as error:
            raise ValueError(f"KenLM cannot read {path} as an n-gram model: {error}") from error
        self._states = kenlm.State(), kenlm.State()
        self.order = self._model.order
        self.signature |= {
            "revision": file_digest(path),
            "order": self.order,
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
