"""The forms of the templates' own verbs, for TSE."""

from collections.abc import Sequence
from itertools import repeat

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ....engine.plan import Indices
from ....io.bundle import metric_modules
from ....io.score_columns import Values, described
from ....models.scorer import Logprobs, Scorer
from ....models.text import capitalized
from ...own_columns import column_arrays
from ..options import AgreementOptions

PAIRS = described(
    (
        "pair_id",
        "int64",
        "number of the pair in the data: `pair_id`, else `item` if each row has its own, else counted. "
        "Text stays text",
    ),
    ("group", "string", "group"),
    ("construction", "string", "construction"),
    ("form_correct", "string", "correct form of the template's own verb"),
    ("form_incorrect", "string", "incorrect form"),
    ("context_id", "int64", "its row in the file of contexts", Values.COUNT),
    (
        "logprob_correct",
        "double",
        "log-probability of the correct form at the gap; null if it is not a single token",
        Values.LOGPROB,
    ),
    ("logprob_incorrect", "double", "log-probability of the incorrect form", Values.LOGPROB),
    (
        "tse",
        "int8",
        "1 if the correct form is more probable, 0 if not or if they tie, null if a form is not a "
        "single token",
        Values.RIGHT_OR_WRONG,
    ),
)
"""Columns of the table `pairs`, before the user's own; `pair_id` is what the data has."""
_COPIED = PAIRS.names[:5]


class TemplateVerbs:
    """The templates' own verb forms; a form that opens its sentence is another one.

    Args:
        scorer: the model.
        pairs: the pairs.
        options: which forms are scored.

    Attributes:
        ids: vocabulary ids of the forms; -1 where whole words are scored.
        words: the forms by whether they open their sentence, each with its column of log-probabilities.
    """

    def __init__(self, scorer: Scorer, pairs: pd.DataFrame, options: AgreementOptions) -> None:
        self.ids = np.zeros(0, dtype=np.int64)
        self.words: dict[bool, list[str]] = {}
        self._column: dict[tuple[str, bool], int] = {}
        self._n_tokens: dict[tuple[str, bool], int] = {}
        masked = "suffix" in scorer.context_columns
        for opening in (False, True):
            of_kind = pairs[(pairs["prefix"] == "") == opening]
            words = pd.unique(pd.concat([of_kind["form_correct"], of_kind["form_incorrect"]])).tolist()
            forms = [*map(capitalized, words)] if opening else words
            if options.whole_words:
                n_tokens = scorer.form_lengths(words, opening)
                scorable = n_tokens > 0
                ids = np.full(len(words), -1)
                if masked:
                    self._n_tokens |= dict(zip(zip(words, repeat(opening)), n_tokens.tolist(), strict=False))
            else:
                ids = scorer.single_token_ids(forms, opening)
                scorable = ids >= 0
            columns = np.where(scorable, len(self.ids) + np.cumsum(scorable) - 1, -1)
            self._column |= dict(zip(zip(words, repeat(opening)), columns.tolist(), strict=False))
            self.words[opening] = [
                word for word, is_scorable in zip(words, scorable, strict=True) if is_scorable
            ]
            self.ids = np.concatenate([self.ids, ids[scorable]])

    def columns_at(self, opening: bool) -> slice:
        """Return the columns of the forms at one kind of gap."""
        n_inside = len(self.words[False])
        return slice(n_inside, None) if opening else slice(0, n_inside)

    def _of_pairs(self, values: dict[tuple[str, bool], int], pairs: pd.DataFrame, verb: str) -> Indices:
        return np.array([values[form] for form in zip(pairs[verb], pairs["prefix"] == "", strict=True)])

    def _comparable(self, pairs: pd.DataFrame) -> NDArray[np.bool_]:
        """(pairs,) whether a masked model gives both forms the same number of masks."""
        if not self._n_tokens:
            return np.ones(len(pairs), dtype=bool)
        correct, incorrect = (
            self._of_pairs(self._n_tokens, pairs, verb) for verb in ("form_correct", "form_incorrect")
        )
        return correct == incorrect

    def table(
        self, pairs: pd.DataFrame, logprobs: NDArray[np.float64], user_columns: Sequence[str]
    ) -> pa.Table:
        """Return the table of pairs; `logprobs` is (units, own forms), `user_columns` names the user's columns."""
        padded = np.column_stack([logprobs, np.full(len(logprobs), np.nan)])
        unit = pairs["unit"].to_numpy()
        # -1, a form that is not scored, is the last column.
        correct = padded[unit, self._of_pairs(self._column, pairs, "form_correct")]
        incorrect = padded[unit, self._of_pairs(self._column, pairs, "form_incorrect")]
        scorable = ~np.isnan(correct) & ~np.isnan(incorrect) & self._comparable(pairs)
        return pair_table(pairs, correct, incorrect, scorable, user_columns)


def pair_table(
    pairs: pd.DataFrame,
    correct: Logprobs,
    incorrect: Logprobs,
    scorable: NDArray[np.bool_],
    user_columns: Sequence[str],
) -> pa.Table:
    """Return the table of pairs, which have a column `unit`: the index of their context.

    Args:
        pairs: the data.
        correct: log-probability of the correct form of each pair, (pairs,).
        incorrect: the same of the incorrect form.
        scorable: (pairs,) whether TSE judges it.
        user_columns: names of the user's columns.
    """
    judged = metric_modules("refined_tse").scores.is_correct(correct, incorrect)
    return pa.table(
        {column: pairs[column].to_numpy() for column in _COPIED if column in pairs}
        | {
            "context_id": pairs["unit"].to_numpy(),
            "logprob_correct": pa.array(correct, from_pandas=True),
            "logprob_incorrect": pa.array(incorrect, from_pandas=True),
            "tse": pa.array(judged.astype(np.int8), mask=~scorable),
        }
        | column_arrays(pairs[list(user_columns)])
    )
