"""Which linking function a run compares sentences by, and what it needs: token counts and unigram log-probabilities.

The formulas are in `metrics/minimal_pair_accuracy/linking.py`. They are functions of a sentence's log-probability, so
that `linked_accuracies` computes all of them from stored scores, without the model. Only `mean_continuation`
asks the model for something else (`continuations.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ...io.bundle import metric_modules
from ...io.table_files import is_table, read_table, require_columns, require_text
from ...models.answers import sentence_logprobs
from ...models.base import Logprobs
from ...models.ngram import NgramScorer, load
from ...models.ngram.laplace import LaplaceNgramScorer


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
    unigrams: NgramScorer | None = None

    def __post_init__(self) -> None:
        if self.function.needs_unigrams and self.unigrams is None:
            raise ValueError(
                f"The linking function {self.function.name} compares a sentence with its unigram probability, and no "
                "unigram model was given. Name one with --unigram: a file of `tse train-ngram --order 1`, or a table "
                "with the columns word and count."
            )
        if not self.function.needs_unigrams and self.unigrams is not None:
            raise ValueError(
                f"--unigram has no effect with the linking function {self.function.name}; remove it, or choose "
                "--linking slor or --linking morcela."
            )

    @property
    def function(self) -> Any:
        """The definition."""
        return _definitions().parse_linking(self.name)

    def signature(self) -> dict[str, Any]:
        """Return what decides the linked scores."""
        of_unigrams = {} if self.unigrams is None else {"unigrams": self.unigrams.signature}
        return {"linking": str(self.function), **of_unigrams}

    def columns(
        self,
        sides: Mapping[str, tuple[Sequence[str], Logprobs, Any]],
        continuations: Mapping[str, tuple[Logprobs, Any]] | None = None,
    ) -> dict[str, Any]:
        """Return the further columns of scores of some pairs; those of unigrams only with a unigram model.

        Args:
            sides: `good` and `bad` -> texts, their log-probabilities, and over how many tokens these are summed.
            continuations: the last two of what follows the words that both share, where the function needs it.
        """
        n_pairs = len(next(iter(sides.values()))[0])
        found: dict[str, Any] = {"linking": [str(self.function)] * n_pairs}
        for side, (texts, logprobs, n_tokens) in sides.items():
            unigrams = None if self.unigrams is None else sentence_logprobs(self.unigrams, texts)
            of = statistics(texts, logprobs, n_tokens, unigrams)
            if continuations is not None:
                sums, counts = continuations[side]
                of = of._replace(continuation_logprob=sums, n_continuation_tokens=counts)
            found[f"score_{side}"] = self.function(of)
            if unigrams is not None:
                found[f"unigram_logprob_{side}"] = unigrams
        return found


def load_unigrams(path: Path | str) -> NgramScorer:
    """Load a unigram model: a file of `tse train-ngram --order 1`, an ARPA file, or a table of `word` and `count`.

    Raises:
        ValueError: the file cannot be read, or is a model of another order.
    """
    path = Path(path)
    if is_table(str(path)) and path.suffix != ".json":
        return _from_counts(path)
    found = load(path)
    order = found.signature.get("order")
    if order != 1:
        raise ValueError(
            f"{path} is an n-gram model of order {order}; SLOR and MORCELA compare with single words. Train one with "
            "`tse train-ngram TEXT --order 1 --out FILE`."
        )
    return found


def _from_counts(path: Path) -> NgramScorer:
    frame = read_table(path, texts=["word"])
    require_columns(frame, ("word", "count"), str(path))
    require_text(frame, ("word",), str(path))
    counts = pd.to_numeric(frame["count"], errors="coerce")
    wrong = (counts.isna() | (counts < 0) | (counts % 1 != 0)).to_numpy()
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{path} holds {frame['count'].iloc[row]!s:.80} in column 'count' of row {row}; expected a whole number "
            "from 0 up. Fix this column."
        )
    # Lists may count a word once for each part of speech.
    total = counts.astype(int).groupby(frame["word"]).sum()
    return LaplaceNgramScorer.from_counts({str(word): int(count) for word, count in total.items()}, path.stem)


def n_scored(n_tokens: Any, signature: Mapping[str, Any]) -> Any:
    """Return how many tokens a sentence's log-probability sums over, (sentences,).

    Args:
        n_tokens: the sentence's tokens.
        signature: of the scorer: a first token may be left out, an end of the sentence may be scored.
    """
    first = signature.get("first_token") == "unscored"
    end = signature.get("sentence_end") == "scored"
    return np.maximum(np.asarray(n_tokens) - int(first) + int(end), 0)


def statistics(
    sentences: Sequence[str], logprobs: Any, n_tokens: Any, unigrams: Logprobs | None = None
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
    examples: pa.Table, signature: Mapping[str, Any], unigrams: NgramScorer | None = None
) -> dict[str, dict[str, Any]]:
    """Return the overall accuracy of whole sentences by each linking function, from stored scores.

    Args:
        examples: scores per pair of a run.
        signature: of the run.
        unigrams: for SLOR and MORCELA, which are left out without it. So is `mean_continuation`, unless the run
            compared sentences by it.

    Returns:
        Linking function -> `accuracy` (0 to 1), `n`, `n_ties`, `n_nonfinite`; empty without whole sentences.
    """
    frame = examples.to_pandas().query("method == 'full'")
    if frame.empty:
        return {}
    sides = []
    for side in ("good", "bad"):
        sentences = frame[f"sentence_{side}"].tolist()
        n_tokens = n_scored(frame[f"n_tokens_{side}"], signature)
        own = None if unigrams is None else sentence_logprobs(unigrams, sentences)
        sides.append(statistics(sentences, frame[f"logprob_{side}"], n_tokens, own))
    accuracies = metric_modules("minimal_pair_accuracy").accuracy.accuracies
    found = {}
    for function in map(_definitions().parse_linking, _definitions().LINKING_FUNCTIONS):
        if function.needs_continuations and str(function) == signature.get("linking"):
            found[str(function)] = accuracies(frame["score_good"], frame["score_bad"], frame["paradigm"])
        elif not function.needs_continuations and (unigrams is not None or not function.needs_unigrams):
            found[str(function)] = accuracies(*map(function, sides), frame["paradigm"])
    return found


def _definitions() -> Any:
    return metric_modules("minimal_pair_accuracy").linking
