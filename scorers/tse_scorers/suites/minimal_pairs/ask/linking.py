"""Which linking function a run compares sentences by, and what it needs: token counts and unigram log-probabilities.

The formulas are in `metrics/minimal_pair_accuracy/linking.py`. They are functions of a sentence's log-probability, so
that `linked_accuracies` computes all of them from stored scores, without the model. Only `mean_continuation`
asks the model for something else (`continuations.py`).
"""

import hashlib
import math
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from ....io.bundle import metric_modules
from ....io.files import read_text, require_regular_file
from ....io.table_files import read_counts, read_table
from ....models.answers import sentence_logprobs
from ....models.base import Logprobs, Scorer, TokenCounter, TokenLister
from ....models.ngram import NgramScorer, load
from ....models.ngram.base import END
from ....models.ngram.laplace import LaplaceNgramScorer

Counts = NDArray[np.int64]
_LINES_AT_ONCE = 10_000


class ScoredSide(NamedTuple):
    """What a linking function knows about one side of some pairs.

    Attributes:
        texts: the sentences.
        logprobs: of each.
        n_tokens: over how many tokens each log-probability sums.
        unigrams: the log-probability of each by unigrams; None without a unigram model.
    """

    texts: Sequence[str]
    logprobs: Logprobs
    n_tokens: Counts
    unigrams: Logprobs | None


class LinkingFunction(Protocol):
    """A definition of `metrics/minimal_pair_accuracy/linking.py`; its text names it with its parameters."""

    name: str
    needs_unigrams: bool
    needs_continuations: bool

    def __call__(self, statistics: Any) -> Logprobs:
        """Return the score of each sentence from its `SentenceStatistics`."""
        ...


class Unigrams:
    """Unigram probabilities, over the tokens of a model or over words: P(x) = (c(x) + 1) / (N + V), Laplace.

    N is the sum of the counts; V is the number of different tokens or words with a count, and one for all others.

    Attributes:
        unit: `token` or `word`.

    Args:
        unit: see above.
        model: the counts; None counts the tokens of `text`, with the tokenizer of each model.
        text: a text with one sentence per line.
    """

    def __init__(self, unit: str, model: NgramScorer | None, text: Path | None = None) -> None:
        self.unit = unit
        self._model, self._text = model, text
        self._counted: tuple[Callable[[], Any], NgramScorer] | None = None

    def signature(self, scorer: Scorer) -> dict[str, object]:
        """Return what decides the probabilities.

        Raises:
            ValueError: the tokens of a scorer without a tokenizer are to be counted.
        """
        self._require_tokens(scorer)
        if self._model is None:  # alike for models with different tokenizers, which their own signatures name
            assert self._text is not None
            digest = hashlib.sha256(self._text.read_bytes()).hexdigest()[:16]
            return {"unit": self.unit, "revision": f"sha256:{digest}", "smoothing": "Laplace"}
        left_out = {"kind", "split", "lowercase", "sentence_end"} if self.unit == "token" else {}
        return {"unit": self.unit} | {
            key: value for key, value in self._model.signature.items() if key not in left_out
        }

    def logprobs(
        self,
        scorer: Scorer,
        texts: Sequence[str],
        prefixes: Sequence[str] | None = None,
        is_complete: Sequence[bool] | None = None,
    ) -> Logprobs:
        """Return log U of each text, (texts,): of the tokens over which log P sums, or of its words.

        Args:
            scorer: its tokens count.
            texts: sentences.
            prefixes: what is before each; its tokens do not count. None: nothing.
            is_complete: whether the scorer scores the end of each text, if it scores any; None: all.

        Raises:
            ValueError: most tokens of the texts have no count, so that the counts are of another tokenizer.
        """
        if self.unit == "word":
            return self.of_words(texts)
        model = self._of(scorer)
        assert isinstance(scorer, TokenLister)  # _of has checked it
        before = list(prefixes) if prefixes is not None else [""] * len(texts)
        joined = [f"{prefix} {text}".strip() for prefix, text in zip(before, texts, strict=True)]
        different = list(dict.fromkeys([*joined, *filter(None, before)]))
        tokens_of: dict[str, Sequence[str]] = {"": []} | dict(
            zip(different, scorer.tokens(different), strict=True)
        )
        unscored = int(scorer.signature.get("first_token") == "unscored")
        ends = scorer.signature.get("sentence_end") == "scored"
        sums, n_unknown, unknown = np.zeros(len(joined)), 0, ""
        n_tokens = 0
        for index, (prefix, text) in enumerate(zip(before, joined, strict=True)):
            tokens = tokens_of[text][len(tokens_of[prefix]) if prefix else unscored :]
            if ends and (is_complete is None or is_complete[index]):
                tokens = [*tokens, END]
            logprobs, has_count = model.score_words(tokens)
            sums[index] = math.fsum(logprobs)
            n_tokens += len(tokens)
            n_unknown += int(np.count_nonzero(~has_count))
            unknown = unknown or next(
                (token for token, is_known in zip(tokens, has_count, strict=True) if not is_known), ""
            )
        if n_unknown * 2 > n_tokens:
            raise ValueError(
                f"{n_unknown:,} of {n_tokens:,} tokens of the sentences have no count, such as {unknown!r}; expected "
                f"counts of the tokens of {scorer.name}. Name a text with --unigram, whose tokens are then counted "
                "with each model's tokenizer, or a larger one."
            )
        return sums

    def of_words(self, texts: Sequence[str]) -> Logprobs:
        """Return log U of the words of each text, (texts,)."""
        assert self._model is not None
        return sentence_logprobs(self._model, list(texts))

    def _require_tokens(self, scorer: Scorer) -> None:
        if self.unit == "token" and not isinstance(scorer, TokenLister):
            raise ValueError(
                f"{scorer.name} does not list the tokens of a sentence, over which unigrams are counted. Name unigrams "
                "of words with --unigram: a file of `tse train-ngram --order 1`, or a table with the columns word and "
                "count."
            )

    def _of(self, scorer: Scorer) -> NgramScorer:
        """Return the model of the counts."""
        self._require_tokens(scorer)
        if self._model is not None:
            return self._model
        if self._counted is None or self._counted[0]() is not scorer:
            assert isinstance(scorer, TokenLister) and self._text is not None
            self._counted = weakref.ref(scorer), _token_model(scorer, self._text)
        return self._counted[1]


def _token_model(scorer: TokenLister, text: Path) -> NgramScorer:
    """Count the tokens of a text."""
    lines = [line for line in map(str.strip, read_text(text).split("\n")) if line]
    if not lines:
        raise ValueError(f"{text} has no words; expected a text with one sentence per line. Check the file.")
    counts: Counter[str] = Counter()
    for start in range(0, len(lines), _LINES_AT_ONCE):
        counts.update(chain.from_iterable(scorer.tokens(lines[start : start + _LINES_AT_ONCE])))
    if scorer.signature.get("sentence_end") == "scored":
        counts[END] += len(lines)
    return LaplaceNgramScorer.from_counts(counts, text.stem)


def load_unigrams(path: Path | str) -> Unigrams:
    """Load unigrams over tokens (a text, a table of `token` and `count`) or over words.

    Words are a table of `word` and `count`, a file of `tse train-ngram --order 1`, or an ARPA file.

    Raises:
        ValueError: the file cannot be read, or is a model of another order.
    """
    path = Path(path)
    if path.suffix in (".txt", ".text"):
        require_regular_file(path)
        return Unigrams("token", None, path)
    if path.suffix in (".csv", ".tsv", ".jsonl", ".parquet"):
        columns = list(read_table(path))
        units = [unit for unit in ("token", "word") if unit in columns]
        if len(units) != 1:
            raise ValueError(
                f"{path} has the columns {', '.join(map(str, columns))}; expected count, and either token (as the "
                "model's vocabulary writes it) or word. Rename or remove columns."
            )
        counts = read_counts(path, units[0])
        counts_by_name = {str(name): int(count) for name, count in counts.items()}
        return Unigrams(units[0], LaplaceNgramScorer.from_counts(counts_by_name, path.stem))
    model = load(path)
    order = model.signature.get("order")
    if order != 1:
        raise ValueError(
            f"{path} is an n-gram model of order {order}; SLOR and MORCELA compare with single tokens or words. Name a "
            "text with one sentence per line, or train one with `tse train-ngram TEXT --order 1 --out FILE`."
        )
    return Unigrams("word", model)


@dataclass(frozen=True)
class Linking:
    """A linking function and its unigram model.

    Attributes:
        name: as `parse_linking` reads it.
        unigrams: the unigram model; None where the function needs none.

    Raises:
        ValueError: the function is unknown, or it needs unigrams and there are none.
    """

    name: str
    unigrams: Unigrams | None = None

    def __post_init__(self) -> None:
        if self.function.needs_unigrams and self.unigrams is None:
            raise ValueError(
                f"The linking function {self.function.name} compares a sentence with its unigram probability, and no "
                "unigrams were given. Name a text with one sentence per line with --unigram, whose tokens are counted, "
                "or a table with the columns token and count; for unigrams of words, see the option's help."
            )
        if not self.function.needs_unigrams and self.unigrams is not None:
            raise ValueError(
                f"--unigram has no effect with the linking function {self.function.name}; remove it, or choose "
                "--linking slor or --linking morcela."
            )

    @property
    def function(self) -> LinkingFunction:
        """The definition."""
        function: LinkingFunction = _definitions().parse_linking(self.name)
        return function

    def signature(self, scorer: Scorer) -> dict[str, object]:
        """Return what decides the linked scores of a scorer."""
        of_unigrams = {} if self.unigrams is None else {"unigrams": self.unigrams.signature(scorer)}
        return {"linking": str(self.function), **of_unigrams}

    def columns(
        self,
        sides: Mapping[str, ScoredSide],
        continuations: Mapping[str, tuple[Logprobs, Counts]] | None = None,
    ) -> dict[str, Logprobs | list[str]]:
        """Return the further columns of scores of some pairs; those of unigrams only with a unigram model.

        Args:
            sides: `good` and `bad` -> what is compared.
            continuations: log-probabilities and numbers of tokens of what follows the words that both share, where the
                function needs it.
        """
        n_pairs = len(next(iter(sides.values())).texts)
        columns: dict[str, Logprobs | list[str]] = {"linking": [str(self.function)] * n_pairs}
        for name, side in sides.items():
            sentences = statistics(*side)
            if continuations is not None:
                sums, counts = continuations[name]
                sentences = sentences._replace(continuation_logprob=sums, n_continuation_tokens=counts)
            columns[f"score_{name}"] = self.function(sentences)
            if side.unigrams is not None:
                columns[f"unigram_logprob_{name}"] = side.unigrams
        return columns


def token_counts(scorer: Scorer, texts: Sequence[str]) -> Counts:
    """Return the tokens of each text, 0 for an empty one; words between spaces if the scorer does not count tokens."""
    different = [text for text in dict.fromkeys(texts) if text]
    counts = (
        scorer.token_counts(different)
        if isinstance(scorer, TokenCounter)
        else [len(text.split()) for text in different]
    )
    counted = {"": 0} | dict(zip(different, map(int, counts), strict=True))
    return np.array([counted[text] for text in texts], dtype=np.int64)


def n_scored(n_tokens: ArrayLike, signature: Mapping[str, object]) -> Counts:
    """Return how many tokens a sentence's log-probability sums over, (sentences,).

    Args:
        n_tokens: the sentence's tokens.
        signature: of the scorer: a first token may be left out, an end of the sentence may be scored.
    """
    first = signature.get("first_token") == "unscored"
    end = signature.get("sentence_end") == "scored"
    return np.maximum(np.asarray(n_tokens) - int(first) + int(end), 0)


def statistics(
    sentences: Sequence[str], logprobs: ArrayLike, n_tokens: ArrayLike, unigrams: Logprobs | None = None
) -> Any:
    """Return the `SentenceStatistics` of sentences."""
    return _definitions().SentenceStatistics(
        np.asarray(logprobs, dtype=float),
        np.asarray(n_tokens),
        np.array([len(sentence) for sentence in sentences]),
        np.array([len(sentence.encode("utf-8", "surrogatepass")) for sentence in sentences]),
        unigrams,
    )


def linked_accuracies(
    examples: pa.Table, signature: Mapping[str, object], unigrams: Unigrams | None = None
) -> dict[str, dict[str, Any]]:
    """Return the overall accuracy of whole sentences by each linking function, from stored scores.

    Args:
        examples: scores per pair of a run.
        signature: of the run.
        unigrams: of words, for SLOR and MORCELA. None: those that the run stored, if it was compared by one of the two;
            else these are left out. So is `mean_continuation`, unless the run compared sentences by it.

    Returns:
        Linking function -> `accuracy` (0 to 1), `n`, `n_ties`, `n_nonfinite`; empty without whole sentences.

    Raises:
        ValueError: the unigrams are over tokens, which only the model's tokenizer can tell.
    """
    if unigrams is not None and unigrams.unit == "token":
        raise ValueError(
            "Unigrams of tokens need the model's tokenizer, and only scores are read here. Run the models with "
            "--linking slor and --unigram, which stores what this comparison needs, or name unigrams of words."
        )
    frame = examples.to_pandas().query("method == 'full'")
    if frame.empty:
        return {}
    sides = []
    for side in ("good", "bad"):
        sentences = frame[f"sentence_{side}"].tolist()
        n_tokens = n_scored(frame[f"n_tokens_{side}"], signature)
        side_unigrams = _stored_unigrams(frame, side) if unigrams is None else unigrams.of_words(sentences)
        sides.append(statistics(sentences, frame[f"logprob_{side}"], n_tokens, side_unigrams))
    accuracies = metric_modules("minimal_pair_accuracy").accuracy.accuracies
    accuracy_of = {}
    for function in map(_definitions().parse_linking, _definitions().LINKING_FUNCTIONS):
        if function.needs_continuations and str(function) == signature.get("linking"):
            accuracy_of[str(function)] = accuracies(
                frame["score_good"], frame["score_bad"], frame["paradigm"]
            )
        elif not function.needs_continuations and (
            sides[0].unigram_logprob is not None or not function.needs_unigrams
        ):
            accuracy_of[str(function)] = accuracies(*map(function, sides), frame["paradigm"])
    return accuracy_of


def _stored_unigrams(frame: pd.DataFrame, side: str) -> Logprobs | None:
    """Return the unigram log-probabilities that a run stored; None without any."""
    column = f"unigram_logprob_{side}"
    if column not in frame or frame[column].isna().all():
        return None
    return frame[column].to_numpy(dtype=float)


def _definitions() -> Any:
    return metric_modules("minimal_pair_accuracy").linking
