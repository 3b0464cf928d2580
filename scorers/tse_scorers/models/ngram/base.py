"""The common part of the scorers for Laplace and KenLM models, which sum log-probabilities of words.

log P(sentence) = sum over its words of log P(word | the n - 1 words before). The first words have the start of
the sentence as their context; a unigram model has no context.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.progress import Progress
from ..scorer import Logprobs, ScoredTokens, Scorer, Slot
from ..text import checked_forms, checked_pairs, checked_texts, warn_of_unknown
from ..words import Split, WordSplitter

END = "</s>"


class NgramScorer(Scorer, ABC):
    """Scores with a word model whose context is the n - 1 words before.

    Attributes:
        name: the model's name in results.
        signature: everything that decides the scores (JSON-able).
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
    context_columns = ("prefix",)
    reads_word_ends = False

    def __init__(self, *, name: str, split: Split, lowercase: bool, score_end: bool) -> None:
        self.name = name
        self.split = WordSplitter(split, lowercase)
        self.score_end = score_end
        self.signature: dict[str, Any] = {
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
        """Return log P of each sentence, (sentences,) float64, natural logs.

        Raises:
            ValueError: a sentence is empty.
        """
        texts = checked_texts(sentences)
        self._warn_of_unknown(texts)
        return self._sums([("", text) for text in texts], progress)

    def continuation_logprobs(
        self,
        prefixes: Iterable[str],
        continuations: Iterable[str],
        progress: Progress | None = None,
    ) -> Logprobs:
        """Return log P(continuation | prefix) of each pair, (pairs,) float64, natural logs.

        An empty prefix is the start of the sentence; the sentence's end is never part of a continuation.

        Raises:
            ValueError: a continuation is empty, or there are not as many prefixes as continuations.
        """
        pairs = list(zip(*checked_pairs(prefixes, continuations), strict=True))
        self._warn_of_unknown([" ".join(pair) for pair in pairs])
        return self._sums(pairs, progress, ends=False)

    def word_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[list[tuple[str, float]]]:
        """Return, for each sentence, its words between white space, each with its log-probability.

        A punctuation mark counts towards the word that it is attached to; the sentence's end, if scored, is
        a separate word, `</s>`. A word outside the vocabulary is scored as `<unk>`.

        Raises:
            ValueError: a sentence is empty.
        """
        texts = checked_texts(sentences)
        self._warn_of_unknown(texts)
        scored = []
        for index, of_text in enumerate(map(str.split, texts)):
            scored_words = [*of_text, *([END] if self.score_end else [])]
            parts = [self.split(word) for word in of_text] + [[END]] * self.score_end
            logprobs, _ = self.score_words(list(chain.from_iterable(parts)))
            owner = np.repeat(np.arange(len(scored_words)), [len(part) for part in parts])
            sums = np.bincount(owner, weights=logprobs, minlength=len(scored_words))
            scored.append(list(zip(scored_words, sums.tolist(), strict=True)))
            if progress is not None:
                progress(index + 1, len(texts))
        return scored

    def token_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[ScoredTokens]:
        """Return the whitespace-separated words of each sentence as its tokens, as `word_logprobs` scores them."""
        texts = checked_texts(sentences)
        tokens = []
        for text, words in zip(texts, self.word_logprobs(texts, progress), strict=True):
            spans = [match.span() for match in re.finditer(r"\S+", text)] + [
                (len(text),) * 2
            ] * self.score_end
            starts, ends = np.array(spans, dtype=np.int64).T
            tokens.append(ScoredTokens(starts, ends, np.array([logprob for _, logprob in words])))
        return tokens

    def form_lengths(self, forms: Sequence[str], opening: bool = False) -> NDArray[np.int64]:
        """Return the number of words of each form, (forms,); 0 if one of them is not in the vocabulary."""
        words = [self.split(form) for form in checked_forms(forms, opening)]
        return np.array(
            [len(form_words) if self.score_words(form_words)[1].all() else 0 for form_words in words],
            dtype=np.int64,
        )

    def form_logprobs(
        self,
        slots: Iterable[Slot],
        forms: Sequence[str],
        progress: Progress | None = None,
    ) -> Logprobs:
        """Return log P of each form given the words before its gap, (slots, forms) float64, natural logs.

        NaN if a form is not in the vocabulary: all unknown words have the same probability, which is not theirs.

        Args:
            slots: sentences with a gap; the suffix is not seen.
            forms: words; they get a capital where the gap opens its sentence.
            progress: called with (different contexts done, in all).
        """
        words = {
            opening: [self.split(form) for form in checked_forms(forms, opening)] for opening in (False, True)
        }
        slots = list(slots)
        self._warn_of_unknown([slot.prefix for slot in slots])
        contexts = [(slot.prefix == "", self._history(slot.prefix)) for slot in slots]
        different = {context: row for row, context in enumerate(dict.fromkeys(contexts))}
        rows = np.empty((len(different), len(forms)))
        for (opening, history), row in different.items():
            for column, form in enumerate(words[opening]):
                logprobs, is_known = self.score_words(form, history)
                rows[row, column] = logprobs.sum() if is_known.all() else np.nan
            if progress is not None:
                progress(row + 1, len(different))
        return rows[[different[context] for context in contexts]]

    def _history(self, prefix: str) -> tuple[str, ...]:
        """Return the words of a prefix that the model sees."""
        words = self.split(prefix)
        return tuple(words[max(len(words) - self.order + 1, 0) :])

    def token_counts(self, sentences: Iterable[str]) -> NDArray[np.int64]:
        """(sentences,) number of words of each."""
        return np.array([len(self.split(sentence)) for sentence in sentences], dtype=np.int64)

    def _warn_of_unknown(self, texts: Sequence[str]) -> None:
        unknown = [not self.score_words(self.split(text))[1].all() for text in texts]
        warn_of_unknown(self.name, texts, unknown, "<unk>")

    def _sums(self, pairs: list[tuple[str, str]], progress: Progress | None, ends: bool = True) -> Logprobs:
        sums = np.empty(len(pairs))
        for index, (prefix, text) in enumerate(pairs):
            words = self.split(text) + [END] * (ends and self.score_end)
            logprobs, _ = self.score_words(words, self.split(prefix))
            # fsum, because the same words in another order must tie exactly.
            sums[index] = math.fsum(logprobs)
            if progress is not None:
                progress(index + 1, len(pairs))
        return sums
