"""What Laplace and KenLM models have in common as scorers: words in, sums of log-probabilities out.

log P(sentence) = sum over its words of log P(word | the n - 1 words before). The first words see the start of
the sentence instead of the words that are not there; a unigram model sees nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ..words import Split, WordSplitter, check_texts

Logprobs = NDArray[np.float64]
Unknown = Literal["score", "nan"]
END = "</s>"


class WordScore(NamedTuple):
    """One word of a scored text.

    Attributes:
        word: the word as the model sees it.
        logprob: log P(word | the words before), natural log.
        known: whether the word is in the vocabulary; an unknown one is scored as `<unk>`.
    """

    word: str
    logprob: float
    known: bool


class NgramScorer(ABC):
    """Scores with a model of words that sees the n - 1 words before.

    Attributes:
        name: how results call the model.
        signature: what decided the scores (JSON-able).

    Args:
        name: how results call the model.
        split: what a word is: `punctuation` splits punctuation off, `whitespace` takes the text as it is.
        lowercase: lower-case the words.
        score_end: let the end of the sentence count as one more word of it.
        unknown: `score` scores a word outside the vocabulary as `<unk>`; `nan` leaves its text unscored.

    Raises:
        ValueError: an option has an unknown value.
    """

    def __init__(
        self, *, name: str, split: Split, lowercase: bool, score_end: bool, unknown: Unknown
    ) -> None:
        if unknown not in get_args(Unknown):
            raise ValueError(
                f"Unknown option unknown={unknown!r}; expected one of: {', '.join(get_args(Unknown))}."
            )
        self.name = name
        self.split = WordSplitter(split, lowercase)
        self.score_end = score_end
        self.unknown = unknown
        self.signature: dict[str, Any] = {
            "model": name,
            "kind": "ngram",
            "split": split,
            "lowercase": lowercase,
            "sentence_end": "scored" if score_end else "not scored",
            "unknown_words": "scored as <unk>" if unknown == "score" else "text not scored",
        }

    @abstractmethod
    def score_words(
        self, words: Sequence[str], history: Sequence[str] = ()
    ) -> tuple[Logprobs, NDArray[np.bool_]]:
        """Score each word given those before it, `history` first, the start of the sentence before that.

        Returns:
            (words,) natural log-probabilities, and (words,) whether the word is known. `</s>` is the end.
        """

    def sentence_logprobs(
        self, sentences: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> Logprobs:
        """Return log P of each sentence, (sentences,) float64, natural logs.

        NaN where a sentence has an unknown word and `unknown="nan"`.

        Raises:
            ValueError: a sentence is empty.
        """
        check_texts(sentences)
        return self._sums([("", sentence) for sentence in sentences], progress)

    def continuation_logprobs(
        self,
        prefixes: Sequence[str],
        continuations: Sequence[str],
        progress: Callable[[int, int], None] | None = None,
    ) -> Logprobs:
        """Return log P(continuation | prefix) of each pair, (pairs,) float64, natural logs.

        An empty prefix is the start of the sentence; the sentence's end is never part of a continuation.

        Raises:
            ValueError: a continuation is empty, or there are not as many prefixes as continuations.
        """
        if len(prefixes) != len(continuations):
            raise ValueError(
                f"Got {len(prefixes)} prefixes and {len(continuations)} continuations; expected as many of "
                "each."
            )
        check_texts(continuations, "Continuation")
        return self._sums(list(zip(prefixes, continuations, strict=True)), progress, ends=False)

    def word_logprobs(self, sentence: str) -> list[WordScore]:
        """Return the score of each word of a sentence, its end included if `score_end`."""
        check_texts([sentence])
        words = self._scored_words(sentence)
        logprobs, known = self.score_words(words)
        return [WordScore(*score) for score in zip(words, logprobs.tolist(), known.tolist(), strict=True)]

    def token_counts(self, sentences: Sequence[str]) -> NDArray[np.int64]:
        """(sentences,) number of words of each."""
        return np.array([len(self.split(sentence)) for sentence in sentences], dtype=np.int64)

    def unknown_counts(self, sentences: Sequence[str]) -> NDArray[np.int64]:
        """(sentences,) number of words of each that are not in the vocabulary."""
        known = (self.score_words(self.split(sentence))[1] for sentence in sentences)
        return np.array([np.count_nonzero(~each) for each in known], dtype=np.int64)

    def _scored_words(self, sentence: str) -> list[str]:
        return self.split(sentence) + [END] * self.score_end

    def _sums(
        self, pairs: list[tuple[str, str]], progress: Callable[[int, int], None] | None, ends: bool = True
    ) -> Logprobs:
        sums = np.empty(len(pairs))
        for index, (prefix, text) in enumerate(pairs):
            words = self._scored_words(text) if ends else self.split(text)
            logprobs, known = self.score_words(words, self.split(prefix))
            sums[index] = np.nan if self.unknown == "nan" and not known.all() else logprobs.sum()
            if progress is not None:
                progress(index + 1, len(pairs))
        return sums
