"""Subject-verb agreement: TSE, EW and MW of one model over agreement templates (Newman et al. 2021).

Pairs become contexts, unique as the model sees them. Each context is read once, at its gap, and reduced to its row of
scores (EW, MW and covered mass at every cut-off) by the functions of `metrics/refined_tse`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from ....engine.plan import Indices, digest
from ....engine.progress import Progress
from ....io.bundle import metric_modules
from ....io.table_files import require_columns
from ....models.scorer import Scorer
from ..data.tables import COLUMNS, load, load_lemmas
from ..options import AgreementOptions
from .columns import COUNTS, MEASURES, score_columns
from .gaps import Answers, Questions, context_table, gaps_of
from .inflections import Inflections
from .listing import list_lemmas, listed_table
from .outcomes import encode, lemma_table, outcome_table, outcome_width
from .template_verbs import TemplateVerbs
from .whole_words import read_words

__all__ = [
    "AgreementScores",
    "load",
    "load_lemmas",
    "score_columns",
    "score_contexts",
]


@dataclass(frozen=True)
class AgreementScores:
    """Scores of one model before averaging.

    Attributes:
        contexts: one row per context and table row, with a column per measure and cut-off.
        pairs: one row per minimal pair: log-probabilities of its own verb's forms, TSE (null if it cannot be scored).
        outcomes: one row per context: which lemmas are right.
        lemmas: the lemma of each bit of the outcomes.
        listed: one row per listed lemma: whether it is scored, and why not.
    """

    contexts: pa.Table
    pairs: pa.Table
    outcomes: pa.Table
    lemmas: pa.Table
    listed: pa.Table


def score_contexts(
    scorer: Scorer,
    pairs: pd.DataFrame,
    lemmas: pd.DataFrame,
    progress: Progress | None = None,
    user_columns: Sequence[str] = (),
    options: AgreementOptions | None = None,
) -> AgreementScores:
    """Score every context and pair with one model.

    Args:
        scorer: gives the distribution at a gap; with whole words, one that only scores these is enough.
        pairs: the columns `COLUMNS`; `construction` and `pair_id` are kept if present.
        lemmas: columns `singular` and `plural`.
        progress: called with (tokens done, tokens in all).
        user_columns: the user's columns that are copied to the scores: to each pair, and to a context if all its pairs
            have the same value.
        options: which forms are scored, and how; None: single tokens, as in the paper.

    Raises:
        ValueError: see `load`, `list_lemmas` and `AgreementOptions.word_end_for`; or the model gave NaN.
    """
    options = options or AgreementOptions()
    require_columns(pairs, COLUMNS, "The table of pairs")
    gaps = gaps_of(scorer, pairs)
    word_end = options.word_end_for(scorer)
    listed = list_lemmas(scorer, lemmas, gaps.opens, options)
    questions = Questions(gaps, listed, TemplateVerbs(scorer, gaps.pairs, options), options)
    answers = _read(scorer, questions, progress)
    names = [*score_columns(options.whole_words), *COUNTS]
    return AgreementScores(
        contexts=context_table(gaps.pairs, answers.scores, names, user_columns),
        pairs=questions.verbs.table(gaps.pairs, answers.own_verbs, user_columns),
        outcomes=outcome_table(answers.outcomes),
        lemmas=lemma_table({opening: listing.inflections for opening, listing in listed.items()}, lemmas),
        listed=listed_table(listed, options, word_end),
    )


def _read(scorer: Scorer, questions: Questions, progress: Progress | None) -> Answers:
    """Ask a model about whole words or single tokens, as the options say."""
    if questions.options.whole_words:
        return read_words(scorer, questions, progress)
    return _read_tokens(scorer, questions, progress)


def _read_tokens(scorer: Scorer, questions: Questions, progress: Progress | None) -> Answers:
    """Read the distribution over tokens at each gap."""
    gaps, verbs = questions.gaps, questions.verbs
    n_scores = len([*score_columns(), *COUNTS])
    n_read = n_scores + len(verbs.ids)
    values = np.empty((len(gaps.slots), n_read))
    answers = Answers(values[:, :n_scores], values[:, n_scores:])
    for opening, listing in questions.listed.items():
        of_kind = np.flatnonzero(gaps.opens == opening)
        inflections = listing.inflections
        reader = _ScoreReader(inflections, gaps.is_singular[of_kind], verbs.ids)
        read = scorer.read_slots([gaps.slots[unit] for unit in of_kind], reader, reader.width, progress)
        values[of_kind], outcomes = np.split(read, [n_read], axis=1)
        answers.outcomes[opening] = of_kind, outcomes, len(inflections)
    return answers


class _ScoreReader:
    """Turns logits at gaps into rows: scores at every cut-off, counts, log-probabilities of the templates' verbs."""

    def __init__(self, inflections: Inflections, is_singular: NDArray[np.bool_], own_ids: Indices) -> None:
        self._metric = metric_modules("refined_tse")
        self._inflections = inflections
        self._is_singular = is_singular
        self._own_ids = own_ids
        self._names = [*score_columns(), *COUNTS]
        self.width = len(self._names) + len(own_ids) + outcome_width(len(inflections))
        content = digest(inflections.singular, inflections.plural, is_singular.astype(np.int64), own_ids)
        self.fingerprint = f"{self._metric.scores.VERSION} {content}"

    def __call__(self, logits: Tensor, slots: Indices) -> NDArray[np.float64]:
        logits = self._metric.arrays.with_float64(logits)  # all of them once
        columns, log_normalizer = self._scores(logits, slots)
        n_own = len(self._own_ids)
        ids = np.concatenate([self._own_ids, self._inflections.singular, self._inflections.plural])
        if len(ids):
            logprobs = self._metric.ranking.form_logprobs(logits, ids, log_normalizer)
            columns.append(logprobs[:, :n_own])
            columns += self._outcomes(logprobs[:, n_own:], slots)
        joined = [torch.as_tensor(column, dtype=torch.float64, device=logits.device) for column in columns]
        return torch.cat(joined, dim=1).cpu().numpy()  # a GPU is waited for once

    def _outcomes(self, logprobs: Tensor, slots: Indices) -> list[NDArray[np.float64]]:
        """Encode the outcomes of all lemmas from the log-probabilities of the singulars, then of the plurals."""
        if not len(self._inflections):
            return []
        singular, plural = torch.as_tensor(logprobs).split(len(self._inflections), dim=1)
        is_singular = torch.from_numpy(self._is_singular[slots]).to(singular.device)[:, None]
        correct = torch.where(is_singular, singular, plural)
        incorrect = torch.where(is_singular, plural, singular)
        return [encode(self._metric.scores.is_correct(correct, incorrect))]

    def _scores(
        self, logits: Tensor, slots: Indices
    ) -> tuple[list[Tensor | NDArray[np.float64]], Tensor | None]:
        """Return the columns of scores and counts, and the log-normalizer of the logits, None if it is unknown."""
        if not len(self._inflections):
            nothing = [np.nan if name.startswith(("ew", "mw")) else 0.0 for name in self._names]
            return [np.tile(nothing, (len(slots), 1))], None
        inflections, swapped = self._inflections, self._is_singular[slots]
        scores = self._metric.boundaries.logit_scores(
            logits, inflections.plural, inflections.singular, swapped
        )
        columns = [getattr(side, measure) for side in (scores.top, scores.bottom) for measure in MEASURES]
        return columns + [getattr(scores, name)[:, None] for name in COUNTS], scores.log_normalizer
