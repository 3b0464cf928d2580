"""The contract of all scorers: what a model is asked about texts, and how its answers are checked.

All log-probabilities are natural logs, float64; NaN means that a text cannot be scored.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..engine.plan import Indices
from ..engine.progress import Progress
from .text import TooLongError

if TYPE_CHECKING:  # results are read, compared and reported without the libraries that run models
    from ..engine.run import Reader

Logprobs = NDArray[np.float64]
"""Natural log-probabilities."""
Data = TypeVar("Data")
Query = TypeVar("Query", bound=Hashable)


class Slot(NamedTuple):
    """A sentence with a gap for one word: `The author`, the word with a space before it, ` tall.`.

    If `prefix` is empty, the word opens the sentence, with a capital and without a space before it. A causal model does
    not see `suffix`.
    """

    prefix: str
    suffix: str


CARRIER = Slot("The author", ".")
"""A neutral sentence. Words are put into its gap to find out which of them are single tokens."""


class ScoredTokens(NamedTuple):
    """The tokens of one sentence."""

    starts: Indices  # (tokens,) first character of each, with or without the space before it
    ends: Indices  # (tokens,) the character after its last one
    logprobs: Logprobs  # (tokens,) log P(token | tokens before); NaN for a token that cannot be scored


ScoredWords = list[tuple[str, float]]
"""The words of one sentence between white space, each with its natural log-probability; NaN if it cannot be scored."""


class Scorer(ABC):
    """Answers questions about texts with one model.

    A scorer of a model of another kind inherits from this class and implements what the model can answer;
    `sentence_logprobs` is enough for minimal pairs. A model that computes logits needs no class: give `load_scorer` the
    model, or a function from ids to logits, with its tokenizer. `progress`, if given, may be called with (work done,
    work in all).

    `signature` holds everything that decides the scores, as JSON-able values; `model` and `revision` at least. Scores
    on disk are reused only if it is the same; a `revision` of None means "may have changed". `execution` is how the
    scores were computed, which changes them only by floating-point noise.

    >>> class CoinFlip(Scorer):
    ...     name = "coin"
    ...     signature = {"model": "coin", "revision": "1"}
    ...
    ...     def sentence_logprobs(self, sentences, progress=None):
    ...         return np.full(len(sentences), np.log(0.5))
    >>> CoinFlip().can("sentence_logprobs"), CoinFlip().can("read_slots")
    (True, False)
    """

    name: str
    signature: dict[str, Any]
    context_columns: tuple[str, ...] = ("prefix",)
    """The parts of a gap's context that the model sees. Contexts with equal parts are one context."""
    reads_word_ends: bool = False
    """Whether `form_logprobs` includes that the word ends after its last token. It does not in masked models, for which
    the number of masks says where the word ends, and in models of whole words."""
    execution: dict[str, Any] = {}  # noqa: RUF012  (of scorers that have nothing to say)

    def can(self, method: str) -> bool:
        """Whether the model answers a question, by the name of its method."""
        return getattr(type(self), method) is not getattr(Scorer, method)

    @abstractmethod
    def sentence_logprobs(self, sentences: Sequence[str], progress: Progress | None = None) -> Logprobs:
        """Return log P of each sentence, (sentences,), natural logs; NaN if a sentence cannot be scored.

        Raises:
            ValueError: a sentence is empty or too long for the model.
        """

    def continuation_logprobs(
        self, prefixes: Sequence[str], continuations: Sequence[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P(continuation | prefix) of each pair, (pairs,), natural logs.

        White space between the two belongs to the continuation; if there is none, a space is added. An empty prefix is
        the start of the sentence. Raises as `sentence_logprobs`.
        """
        raise self._cannot("texts after other texts")

    def pair_logprobs(self, table: pd.DataFrame) -> tuple[Logprobs, Logprobs]:
        """Return log P of the good and of the bad sentence of each pair, found by its number, (pairs,) each."""
        raise self._cannot("pairs by their numbers")

    def word_logprobs(self, sentences: Sequence[str], progress: Progress | None = None) -> list[ScoredWords]:
        """Return the words of each sentence."""
        raise self._cannot("words")

    def token_logprobs(
        self, sentences: Sequence[str], progress: Progress | None = None
    ) -> list[ScoredTokens]:
        """Return the tokens of each sentence, from left to right."""
        raise self._cannot("tokens")

    def token_counts(self, sentences: Sequence[str]) -> Indices:
        """Return the number of tokens of each sentence, (sentences,), without special tokens."""
        raise self._cannot("tokens")

    def read_slots(
        self, slots: Sequence[Slot], reader: "Reader", progress: Progress | None = None
    ) -> NDArray[Any]:
        """Return what a reader makes of the distribution at each gap, (slots,) records of its dtype.

        Raises:
            ValueError: a text is too long for the model, or a gap has no context that the model sees.
        """
        raise self._cannot("the distribution at a gap")

    def single_token_ids(self, words: Sequence[str], opening: bool = False) -> Indices:
        """Return the vocabulary id of each word at a gap, (words,); -1 if it is not a single known token.

        Words are as written. Those that are `opening` a sentence have their capital, and no space before them.
        """
        raise self._cannot("the distribution at a gap")

    def token_text(self, token: int) -> str:
        """Return the text of a vocabulary id, for people to read."""
        raise self._cannot("the distribution at a gap")

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, which is the width of the logits."""
        raise self._cannot("the distribution at a gap")

    def form_lengths(self, forms: Sequence[str], opening: bool = False) -> Indices:
        """Return the number of tokens of each form at a gap, (forms,); 0 if the form cannot be scored.

        Forms are words as they are inside a sentence. Those that are `opening` one get a capital, and no space before
        them. A masked model gives comparable log-probabilities only to forms of the same length.
        """
        raise self._cannot("words at a gap")

    def form_logprobs(
        self, slots: Sequence[Slot], forms: Sequence[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P of each form at each gap, (slots, forms), natural logs; NaN if a form cannot be scored.

        Forms are words as they are inside a sentence; they get a capital where the gap opens its sentence. Raises as
        `read_slots`.
        """
        raise self._cannot("words at a gap")

    def with_authors_pll(self, pll: str) -> "Scorer":
        """Return a scorer with the pseudo-log-likelihood of a set's authors, or itself where it has none to choose."""
        return self

    def map(self, dataset: Data, columns: str | Sequence[str] | None = None, **options: Any) -> Data:
        """Score every row of a data set: `tse_scorers.score_dataset` with this model."""
        from .. import score_dataset  # which needs all models, so that the package's root hands it down

        return score_dataset(dataset, self, columns, **options)

    def _cannot(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{self.name} does not score {what}. Use another model.")

    def __repr__(self) -> str:
        facts = [self.signature.get("kind"), self.execution.get("device"), self.signature.get("dtype")]
        return f"{type(self).__name__}({', '.join([repr(self.name), *filter(None, facts)])})"


# Asking: each different text once, and log-probabilities of texts checked.

ROUNDING = 1e-3
"""How far above 0 a log-probability may be: sums in low precision end there where the probability is 1."""


def ask_sentences(scorer: Scorer, sentences: Iterable[str], progress: Progress | None = None) -> Logprobs:
    """Return log P of each sentence, (sentences,), natural logs; NaN if a sentence cannot be scored.

    Raises:
        TypeError: the scorer returned no log-probabilities.
        ValueError: as `Scorer.sentence_logprobs`.
    """

    def answer(asked: list[str]) -> Logprobs:
        return checked(scorer, scorer.sentence_logprobs(asked, progress=progress), (len(asked),))

    return np.array(each_once(sentences, answer), np.float64)


def ask_continuations(
    scorer: Scorer, pairs: Iterable[tuple[str, str]], progress: Progress | None = None
) -> Logprobs:
    """Return log P(continuation | prefix) of each (prefix, continuation), (pairs,); raises as `ask_sentences`."""

    def answer(asked: list[tuple[str, str]]) -> Logprobs:
        prefixes, continuations = map(list, zip(*asked, strict=True))
        logprobs = scorer.continuation_logprobs(prefixes, continuations, progress=progress)
        return checked(scorer, logprobs, (len(asked),))

    return np.array(each_once(pairs, answer), np.float64)


def ask_words(
    scorer: Scorer, sentences: Iterable[str], progress: Progress | None = None
) -> list[ScoredWords]:
    """Return the words of each sentence and log P of each."""
    return each_once(sentences, lambda texts: scorer.word_logprobs(texts, progress=progress))


def ask_tokens(
    scorer: Scorer, sentences: Iterable[str], progress: Progress | None = None
) -> list[ScoredTokens]:
    """Return the tokens of each sentence, with log P of each; raises as `ask_sentences`."""
    answers = each_once(sentences, lambda texts: scorer.token_logprobs(texts, progress=progress))
    for tokens in answers:
        checked(scorer, tokens.logprobs, (len(tokens.starts),))
    return answers


def each_once(queries: Iterable[Query], answer: Callable[[list[Query]], Any]) -> list[Any]:
    """Return the answer to each query; those that differ are asked together, each once."""
    queries = list(queries)
    place = {query: number for number, query in enumerate(dict.fromkeys(queries))}
    try:
        answers = answer([*place]) if queries else []
    except TooLongError as error:
        error.place = queries.index([*place][error.place])  # of the first of those that asked it
        raise
    return [answers[place[query]] for query in queries]


def checked(scorer: Scorer, answer: object, shape: tuple[int, ...]) -> Logprobs:
    """Return a scorer's answer as float64.

    Raises:
        TypeError: it is not numbers of this shape (complex, texts, truth values, None).
        ValueError: a value is above 0, by more than rounding.
    """
    expected = f"natural log-probabilities of shape {shape}, one for each text in their order, at most 0"
    array = np.asarray(answer)
    if array.shape != shape or (array.dtype.kind not in "fiu" and array.size):
        raise TypeError(f"{scorer.name} returned {array.dtype} of shape {array.shape}; expected {expected}.")
    values = array.astype(np.float64)
    if (values > ROUNDING).any():
        raise ValueError(f"{scorer.name} returned {values.max():g}; expected {expected}.")
    return values
