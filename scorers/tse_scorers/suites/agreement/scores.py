"""Subject-verb agreement: TSE, EW and MW of one model over agreement templates (Newman et al. 2021).

Pairs become contexts, unique as the model sees them. Each context is read once, at its gap, and reduced to its row of
scores (EW, MW and covered mass at every cut-off) by the functions of `metrics/refined_tse`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...engine.arrays import Indices, digest
from ...engine.run import Progress
from ...io.bundle import metric_modules
from ...io.results import Row
from ...io.table_files import fingerprint, require_columns
from ...models.base import GapScorer, Scorer
from ...models.queries import Slot
from ...models.words import capitalized
from ..own_columns import column_arrays, shared_arrays
from .data import COLUMNS, load, load_lemmas
from .inflections import Inflections, inflections_at_gaps
from .intervals import with_intervals
from .outcomes import encode, lemma_table, outcome_table, outcome_width
from .top_forms import top_forms

__all__ = [
    "AgreementScores",
    "aggregate_scores",
    "describe",
    "load",
    "load_lemmas",
    "score_columns",
    "score_contexts",
]

_MEASURES = ("ew", "mw", "covered_mass")
_COUNTS = ("n_lemmas", "n_ties", "n_nonfinite")


@dataclass(frozen=True)
class AgreementScores:
    """Scores of one model before averaging.

    Attributes:
        contexts: one row per context and table row, with a column per measure and cut-off.
        pairs: one row per minimal pair: log-probabilities of its own verb's forms, TSE (null if it cannot be scored).
        top_forms: the most probable forms in a sample of contexts.
        outcomes: one row per context: which lemmas are right, and the probabilities of the heaviest ones.
        lemmas: the lemma of each bit of the outcomes.
    """

    contexts: pa.Table
    pairs: pa.Table
    top_forms: pa.Table
    outcomes: pa.Table
    lemmas: pa.Table


def describe(scorer: Scorer, pairs: pd.DataFrame, lemmas: pd.DataFrame, dataset: str) -> dict[str, Any]:
    """Return what decides the scores."""
    weighting = metric_modules("refined_tse").scores
    return {
        "suite": "agreement",
        "metric": "refined_tse",
        "metric_version": weighting.VERSION,
        "cutoffs_top": list(weighting.TOP_CUTOFFS),
        "cutoffs_bottom": list(weighting.BOTTOM_CUTOFFS),
        "dataset": dataset,
        "dataset_fingerprint": fingerprint(pairs[list(COLUMNS)]),
        "n_pairs": len(pairs),
        "lemmas_fingerprint": fingerprint(lemmas[["singular", "plural"]]),
        "n_lemmas_listed": len(lemmas),
        **scorer.signature,
    }


def score_contexts(
    scorer: GapScorer,
    pairs: pd.DataFrame,
    lemmas: pd.DataFrame,
    progress: Progress | None = None,
    own: Sequence[str] = (),
) -> AgreementScores:
    """Score every context and pair with one model.

    Args:
        scorer: gives the distribution at a gap.
        pairs: the columns `COLUMNS`; `construction` and `pair_id` are kept if present.
        lemmas: columns `singular` and `plural`.
        progress: called with (tokens done, tokens in all).
        own: the user's columns that are copied to the scores: to each pair, and to a context if all its pairs
            have the same value.

    Raises:
        ValueError: see `load` and `inflections_at_gaps`; or the model gave NaN.
    """
    require_columns(pairs, COLUMNS, "The table of pairs")
    unit_columns = [*scorer.context_columns, "number"]
    pairs = pairs.assign(unit=pairs.groupby(unit_columns, sort=False).ngroup())
    units = pairs.drop_duplicates("unit").sort_values("unit")
    slots = [Slot(prefix, suffix) for prefix, suffix in zip(units["prefix"], units["suffix"], strict=True)]
    is_singular = (units["number"] == "singular").to_numpy()
    opens = (units["prefix"] == "").to_numpy()
    listed = inflections_at_gaps(scorer, lemmas, opens)
    verbs = _TemplateVerbs(scorer, pairs)
    n_scores = len([*score_columns(), *_COUNTS])
    values = np.empty((len(slots), n_scores + len(verbs.ids)))
    encoded = {}
    for opening, inflections in listed.items():
        asked = np.flatnonzero(opens == opening)
        reader = _ScoreReader(inflections, is_singular[asked], verbs.ids)
        of_them = [slots[unit] for unit in asked]
        answers = scorer.read_slots(of_them, reader, reader.width, progress)
        values[asked] = answers[:, : values.shape[1]]
        encoded[opening] = asked, answers[:, values.shape[1] :], len(inflections)
    return AgreementScores(
        contexts=_context_table(pairs, values[:, :n_scores], own),
        pairs=verbs.table(pairs, values[:, n_scores:], own),
        top_forms=top_forms(scorer, units, slots, is_singular, listed),
        outcomes=outcome_table(encoded),
        lemmas=lemma_table(listed, lemmas),
    )


def score_columns() -> Iterator[str]:
    """Names of the score columns of a table of contexts, in order: `ew_top_0.1` … `covered_mass_bottom_1e-06`."""
    weighting = metric_modules("refined_tse").scores
    for side, cutoffs in (("top", weighting.TOP_CUTOFFS), ("bottom", weighting.BOTTOM_CUTOFFS)):
        for measure in _MEASURES:
            yield from (f"{measure}_{side}_{cutoff:g}" for cutoff in cutoffs)


RESERVED = ("context_id", "unit", "logprob_correct", "logprob_incorrect", "tse", *score_columns(), *_COUNTS)
"""Columns of scores; a user's columns must not have these names."""


def aggregate_scores(
    contexts: pd.DataFrame,
    pairs: pd.DataFrame,
    outcomes: pa.Table | None = None,
    lemmas: pa.Table | None = None,
) -> list[Row]:
    """Average the scores of contexts and pairs over each table row and over all.

    Args:
        contexts: `AgreementScores.contexts`.
        pairs: `AgreementScores.pairs`.
        outcomes: `AgreementScores.outcomes`; without it, the lemmas are fixed in the interval of EW.
        lemmas: `AgreementScores.lemmas`.

    Returns:
        Rows with `group`, `metric` (tse, ew, mw, covered_mass, share_without_lemmas), `cutoff_side`, `cutoff`,
        `score`, `n` (contexts or pairs averaged), `n_excluded` (no lemma is inside the cut-off, or a verb is not
        a single token), `n_ties` and the interval (`intervals.with_intervals`). In the group `all`, a context that
        belongs to several table rows counts once.
    """
    aggregate = metric_modules("refined_tse").averaging.aggregate
    unique = contexts.drop_duplicates("context_id")
    averaged = aggregate(_context_scores(unique))
    by_group = aggregate(_context_scores(contexts), contexts["table_row"].tolist())
    averaged += [row for row in by_group if row["group"] != "all"]
    kept = ("group", "metric", "cutoff_side", "cutoff", "score", "n", "n_excluded", "n_ties")
    groups = [("all", pairs), *pairs.groupby("table_row", sort=False)]
    found = [_tse_row(str(group), of_group) for group, of_group in groups]
    found += [{key: row[key] for key in kept} for row in averaged]
    order = ["all", *contexts["table_row"].unique()]
    rows = sorted(found, key=lambda row: order.index(row["group"]))
    return with_intervals(rows, contexts, pairs, outcomes, lemmas)


def _tse_row(group: str, pairs: pd.DataFrame) -> Row:
    judged = pairs["tse"].dropna()
    return {
        "group": group,
        "metric": "tse",
        "cutoff_side": None,
        "cutoff": None,
        "score": float(judged.mean()) if len(judged) else float("nan"),
        "n": len(judged),
        "n_excluded": len(pairs) - len(judged),
        "n_ties": int((pairs["logprob_correct"] == pairs["logprob_incorrect"]).sum()),
    }


def _context_scores(contexts: pd.DataFrame) -> Any:
    """Return a table of contexts in the metric's format."""
    weighting = metric_modules("refined_tse").scores
    sides = [
        weighting.SideScores(
            *(
                contexts[[f"{measure}_{side}_{cutoff:g}" for cutoff in cutoffs]].to_numpy()
                for measure in _MEASURES
            )
        )
        for side, cutoffs in (("top", weighting.TOP_CUTOFFS), ("bottom", weighting.BOTTOM_CUTOFFS))
    ]
    counts = [contexts[name].to_numpy() for name in _COUNTS]
    return weighting.ContextScores(*sides, *counts, weighting.TOP_CUTOFFS, weighting.BOTTOM_CUTOFFS)


class _ScoreReader:
    """Turns logits at gaps into rows: scores at every cut-off, counts, log-probabilities of the templates' verbs."""

    def __init__(self, inflections: Inflections, is_singular: NDArray[np.bool_], own_ids: Indices) -> None:
        self._metric = metric_modules("refined_tse")
        self._inflections = inflections
        self._is_singular = is_singular
        self._own_ids = own_ids
        self._names = [*score_columns(), *_COUNTS]
        self.width = len(self._names) + len(own_ids) + outcome_width(len(inflections))
        asked = digest(inflections.singular, inflections.plural, is_singular.astype(np.int64), own_ids)
        self.fingerprint = f"{self._metric.scores.VERSION} {asked}"

    def __call__(self, logits: Tensor, slots: Indices) -> NDArray[np.float64]:
        columns, log_normalizer = self._scores(logits, slots)
        n_own = len(self._own_ids)
        wanted = np.concatenate([self._own_ids, self._inflections.singular, self._inflections.plural])
        if len(wanted):
            ids = torch.from_numpy(wanted).to(logits.device)
            logprobs = self._metric.ranking.form_logprobs(logits, ids, log_normalizer)
            columns.append(logprobs[:, :n_own])
            columns += self._outcomes(logprobs[:, n_own:], slots)
        return np.concatenate([torch.as_tensor(column).cpu().numpy() for column in columns], axis=1)

    def _outcomes(self, logprobs: Tensor, slots: Indices) -> list[Any]:
        """Encode the outcomes of all lemmas from the log-probabilities of the singulars, then of the plurals."""
        if not len(self._inflections):
            return []
        singular, plural = torch.as_tensor(logprobs).split(len(self._inflections), dim=1)
        is_singular = torch.from_numpy(self._is_singular[slots]).to(singular.device)[:, None]
        correct = torch.where(is_singular, singular, plural)
        incorrect = torch.where(is_singular, plural, singular)
        return [encode(correct, incorrect, self._metric.scores.is_correct(correct, incorrect))]

    def _scores(self, logits: Tensor, slots: Indices) -> tuple[list[Any], Any]:
        """Return the columns of scores and counts, and the log-normalizer of the logits, None if it is unknown."""
        if not len(self._inflections):
            nothing = [np.nan if name.startswith(("ew", "mw")) else 0.0 for name in self._names]
            return [np.tile(nothing, (len(slots), 1))], None
        singular, plural = (
            torch.from_numpy(ids).to(logits.device)
            for ids in (self._inflections.singular, self._inflections.plural)
        )
        swapped = torch.from_numpy(self._is_singular[slots]).to(logits.device)
        scores = self._metric.boundaries.logit_scores(logits, plural, singular, swapped)
        columns = [getattr(side, measure) for side in (scores.top, scores.bottom) for measure in _MEASURES]
        return columns + [getattr(scores, name)[:, None] for name in _COUNTS], scores.log_normalizer


class _TemplateVerbs:
    """The templates' own verb forms, for TSE; a form that opens its sentence is a different token."""

    def __init__(self, scorer: GapScorer, pairs: pd.DataFrame) -> None:
        self.ids = np.zeros(0, dtype=np.int64)
        self._column: dict[tuple[str, bool], int] = {}
        for opening in (False, True):
            of_kind = pairs[(pairs["prefix"] == "") == opening]
            words = pd.unique(pd.concat([of_kind["verb_correct"], of_kind["verb_incorrect"]])).tolist()
            ids = scorer.single_token_ids([*map(capitalized, words)] if opening else words, opening)
            columns = np.where(ids >= 0, len(self.ids) + np.cumsum(ids >= 0) - 1, -1)
            self._column |= dict(zip(zip(words, repeat(opening)), columns.tolist(), strict=False))
            self.ids = np.concatenate([self.ids, ids[ids >= 0]])

    def _columns(self, pairs: pd.DataFrame, verb: str) -> Indices:
        """(pairs,) column of each pair's form, -1 where it is not one token."""
        return np.array([self._column[form] for form in zip(pairs[verb], pairs["prefix"] == "", strict=True)])

    def table(self, pairs: pd.DataFrame, logprobs: NDArray[np.float64], own: Sequence[str]) -> pa.Table:
        """Return the table of pairs; `logprobs` is (units, own forms), `own` names the user's columns."""
        padded = np.column_stack([logprobs, np.full(len(logprobs), np.nan)])
        unit = pairs["unit"].to_numpy()
        correct = padded[unit, self._columns(pairs, "verb_correct")]
        incorrect = padded[unit, self._columns(pairs, "verb_incorrect")]
        scorable = ~np.isnan(correct) & ~np.isnan(incorrect)
        judged = metric_modules("refined_tse").scores.is_correct(correct, incorrect)
        kept = [
            c
            for c in ("pair_id", "table_row", "construction", "verb_correct", "verb_incorrect")
            if c in pairs
        ]
        return pa.table(
            {column: pairs[column].to_numpy() for column in kept}
            | {
                "context_id": unit,
                "logprob_correct": pa.array(correct, from_pandas=True),
                "logprob_incorrect": pa.array(incorrect, from_pandas=True),
                "tse": pa.array(judged.astype(np.int8), mask=~scorable),
            }
            | column_arrays(pairs[list(own)])
        )


def _context_table(pairs: pd.DataFrame, values: NDArray[np.float64], own: Sequence[str]) -> pa.Table:
    columns = [c for c in ("table_row", "construction", "number", "prefix", "suffix") if c in pairs]
    contexts = pairs.drop_duplicates(["unit", "table_row"])
    scores = values[contexts["unit"].to_numpy()]
    names = [*score_columns(), *_COUNTS]
    table = {"context_id": contexts["unit"].to_numpy()} | {c: contexts[c].to_numpy() for c in columns}
    for index, name in enumerate(names):
        table[name] = scores[:, index].astype(np.int64) if name.startswith("n_") else scores[:, index]
    if own:
        table |= shared_arrays(pairs[list(own)], list(zip(pairs["unit"], pairs["table_row"], strict=True)))
    return pa.table(table)
