"""Protocols for models, which suites and commands require.

A scorer answers questions about texts for one model. Any class with the right attributes and methods is a scorer; it
does not need a base class. Implement what your model can answer:

| protocol | answers | asked by |
|---|---|---|
| `Scorer` | log P(sentence) | every suite of sentences, `tse score` |
| `ContinuationScorer` | log P(continuation given a prefix) | the prefix methods of BLiMP |
| `WordScorer` | log P of each word of a sentence | `tse score --by word` |
| `TokenScorer` | log P of each token, and where it is in the sentence | suites of regions, `tse score --by token` |
| `GapScorer` | the distribution over the vocabulary at a gap | TSE, EW and MW |
| `FormScorer` | log P of words of any number of tokens at a gap | the same over all forms |
| `PseudoScorer` | pseudo-log-likelihoods, of a kind that the authors of a set may decide | registered sets |
| `TokenCounter` | the number of tokens of a sentence | the columns `n_tokens` |
| `PairScorer` | both log-probabilities of a minimal pair by its number | published scores |
| `EngineScorer` | runs its queries through `tse_scorers.engine` | continuing after a stop |

A suite that needs an answer checks with `isinstance(scorer, GapScorer)` before any model time is spent, and raises a
ValueError that says what is missing. All log-probabilities are natural logs, float64; NaN means that a text cannot be
scored. `progress`, if given, may be called with (work done, work in all), as often as is convenient.

Pass such an object to `tse_scorers.run` in place of a model's name:

>>> class CoinFlip:
...     name = "coin"
...     signature = {"model": "coin", "revision": "1"}
...
...     def sentence_logprobs(self, sentences, progress=None):
...         return np.full(len(sentences), np.log(0.5))
>>> isinstance(CoinFlip(), Scorer), isinstance(CoinFlip(), GapScorer)
(True, False)

`Scorer` and `ContinuationScorer` are enough for minimal pairs. A language model that computes logits needs no class:
give `load_scorer` the model, or a function from ids to logits, and its tokenizer. For anything else, `GapScorer` takes
more work: pass each gap's logits to `function`, in batches of any size.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..engine.plan import Indices
from ..engine.progress import Progress
from .queries import Slot

if TYPE_CHECKING:  # results are read, compared and reported without the libraries that run models
    from torch import Tensor

Logprobs = NDArray[np.float64]
"""Natural log-probabilities."""

Data = TypeVar("Data")

SlotFunction = Callable[["Tensor", Indices], Logprobs]
"""Computes numbers from the distributions at gaps.

Called once per batch with logits (rows, vocabulary), not normalized, float32 or float64, on the model's device, and
with the index of each row's slot, in any order. Returns (rows, width) float64 on the CPU. If it has an attribute
`fingerprint` (a string that identifies what it computes), finished answers can be kept in a journal.
"""


@runtime_checkable
class Scorer(Protocol):
    """Answers log P(sentence).

    Attributes:
        name: the model's name in results.
        signature: everything that decides its scores, as JSON-able values; `model` and `revision` at least. Scores
            on disk are reused only if the signature is the same; a `revision` of None means "may have changed".
    """

    name: str
    signature: dict[str, Any]

    def sentence_logprobs(self, sentences: Sequence[str], progress: Progress | None = None) -> Logprobs:
        """Return log P of each sentence, (sentences,), natural logs; NaN if a sentence cannot be scored.

        Args:
            sentences: whole sentences.
            progress: called with (work done, work in all).

        Raises:
            ValueError: a sentence is empty or too long for the model.
        """
        ...


@runtime_checkable
class LoadedScorer(Scorer, Protocol):
    """What `load_scorer` returns: a scorer with the method `map`."""

    def map(self, dataset: Data, columns: str | Sequence[str] | None = None, **options: Any) -> Data:
        """Score every row of a data set: `tse_scorers.score_dataset` with this model."""
        ...


class MapsDataSets:
    """Gives a scorer that inherits from it the method `map`, and says at a prompt which model it is."""

    name: str
    signature: dict[str, Any]

    def map(self: Scorer, dataset: Data, columns: str | Sequence[str] | None = None, **options: Any) -> Data:
        """Score every row of a data set: `tse_scorers.score_dataset` with this model."""
        from .. import score_dataset  # which needs all models, so that the package's root hands it down

        return score_dataset(dataset, self, columns, **options)

    def __repr__(self) -> str:
        """Return class, model, kind, device and dtype in a line, as far as they are known."""
        device = getattr(self, "execution", {}).get("device")
        facts = [self.signature.get("kind"), device, self.signature.get("dtype")]
        return f"{type(self).__name__}({', '.join([repr(self.name), *filter(None, facts)])})"


@runtime_checkable
class ContinuationScorer(Scorer, Protocol):
    """Answers log P(continuation given a prefix) as well."""

    def continuation_logprobs(
        self, prefixes: Sequence[str], continuations: Sequence[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P(continuation | prefix) of each pair, (pairs,), natural logs.

        The scorer adds one space between the two, unless there is white space at the end of the prefix or at the
        beginning of the continuation, which is then scored with the continuation. An empty prefix is the start of the
        sentence.

        Raises:
            ValueError: a text is empty or too long, or the two lists differ in length.
        """
        ...


@runtime_checkable
class WordScorer(Scorer, Protocol):
    """Answers log P of each word as well."""

    def word_logprobs(
        self, sentences: Sequence[str], progress: Progress | None = None
    ) -> list[list[tuple[str, float]]]:
        """Return each sentence's words between white space, each with its natural log-probability.

        Args:
            sentences: whole sentences.
            progress: called with (work done, work in all).
        """
        ...


class ScoredTokens(NamedTuple):
    """The tokens of one sentence.

    Attributes:
        starts: first character of each token, with or without the space before it, (tokens,).
        ends: the character after its last one, (tokens,).
        logprobs: log P(token | tokens before), (tokens,), natural logs; NaN for a token that cannot be scored.
    """

    starts: Indices
    ends: Indices
    logprobs: Logprobs


@runtime_checkable
class TokenScorer(Scorer, Protocol):
    """Answers log P of each token given the tokens before it as well, which a masked model cannot."""

    def token_logprobs(
        self, sentences: Sequence[str], progress: Progress | None = None
    ) -> list[ScoredTokens]:
        """Return the tokens of each sentence; a token at `len(sentence)` is the sentence's end.

        Raises:
            ValueError: a sentence is empty or too long, or the tokenizer does not give the positions of its tokens.
        """
        ...


@runtime_checkable
class GapScorer(Scorer, Protocol):
    """Gives the distribution over its vocabulary at the gap of a sentence.

    Attributes:
        context_columns: the parts of a gap's context that the model sees, `("prefix",)` for a causal model and
            `("prefix", "suffix")` for a masked one. Contexts with equal parts count as one context.
        vocabulary_size: number of ids, which is the width of the logits.
    """

    context_columns: tuple[str, ...]

    @property
    def vocabulary_size(self) -> int: ...  # noqa: D102

    def single_token_ids(self, words: Sequence[str], opening: bool = False) -> Indices:
        """Return the vocabulary id of each word at a gap, (words,); -1 if it is not a single known token.

        Args:
            words: words as written; a word that opens a sentence has its capital.
            opening: the words open the sentence, so there is no space before them.
        """
        ...

    def token_text(self, token: int) -> str:
        """Return the text of a vocabulary id, for people to read."""
        ...

    def read_slots(
        self, slots: Sequence[Slot], function: SlotFunction, width: int, progress: Progress | None = None
    ) -> Logprobs:
        """Apply a function to the distribution at each gap, (slots, width).

        Args:
            slots: sentences with a gap.
            function: computes the numbers from logits.
            width: number of values that it returns per slot.
            progress: called with (work done, work in all).

        Raises:
            ValueError: a text is too long for the model, or a gap has no context that the model sees.
        """
        ...


@runtime_checkable
class FormScorer(Scorer, Protocol):
    """Answers log P(word at a gap), also for words of several tokens.

    Attributes:
        context_columns: as in `GapScorer`.
        reads_word_ends: whether probabilities include that the word ends after its last token. They do not in masked
            models, for which the number of masks says where the word ends, and in models of whole words.
    """

    context_columns: tuple[str, ...]
    reads_word_ends: bool

    def form_lengths(self, forms: Sequence[str], opening: bool = False) -> Indices:
        """Return the number of tokens of each form at a gap, (forms,); 0 if the form cannot be scored.

        A masked model gives comparable log-probabilities only to forms of the same length.

        Args:
            forms: words as they are inside a sentence.
            opening: the forms open their sentence, so they get a capital, and no space before them.
        """
        ...

    def form_logprobs(
        self,
        slots: Sequence[Slot],
        forms: Sequence[str],
        progress: Progress | None = None,
    ) -> Logprobs:
        """Return log P of each form at each gap, (slots, forms), natural logs; NaN if a form cannot be scored.

        Args:
            slots: sentences with a gap.
            forms: words as they are inside a sentence; they get a capital where the gap opens its sentence.
            progress: called with (work done, work in all).

        Raises:
            ValueError: a text is too long for the model, or a gap has no context that the model sees.
        """
        ...


@runtime_checkable
class PseudoScorer(Scorer, Protocol):
    """Answers with pseudo-log-likelihoods."""

    def with_authors_pll(self, pll: str) -> "PseudoScorer":
        """Return a scorer with the pseudo-log-likelihood of a set's authors, or itself if the user chose one."""
        ...


@runtime_checkable
class TokenCounter(Protocol):
    """Counts tokens."""

    def token_counts(self, sentences: Sequence[str]) -> Indices:
        """Return the number of tokens of each sentence, (sentences,), without special tokens."""
        ...


@runtime_checkable
class PairScorer(Scorer, Protocol):
    """Looks up minimal pairs by their numbers, in files of published scores."""

    def pair_logprobs(self, table: pd.DataFrame) -> tuple[Logprobs, Logprobs]:
        """Return the log-probabilities of the good and of the bad sentence of each pair, (pairs,) each."""
        ...


@runtime_checkable
class EngineScorer(Scorer, Protocol):
    """Runs its queries through the engine, which can continue after a stop.

    Attributes:
        journal_folder: folder for finished answers while queries run, or None. The caller deletes it.
        execution: how the scores were computed (device, sharing); it changes them only by floating-point noise.
    """

    journal_folder: Path | None
    execution: dict[str, Any]
