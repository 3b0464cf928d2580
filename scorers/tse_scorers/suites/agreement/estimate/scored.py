"""TSE of pairs, and EW and MW of contexts: the one enumeration of averages, intervals and comparisons.

| measure | items | estimate |
|---|---|---|
| TSE | pairs | mean |
| EW over the whole distribution | contexts | mean over contexts x lemmas, from the outcome of each lemma |
| MW, covered mass, share without lemmas; EW at cut-offs | contexts | mean; the lemmas are fixed |

Groups and units are those of `intervals`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import pandas as pd
import pyarrow as pa

from ....io.result_row import Scalar
from ....io.runs import ScoreTables, TableSource, known_columns, optional_table, table_named
from ....io.score_columns import Values, described
from ....statistics import Estimate, mean
from ...contract import Scored
from ...items import Group, ItemScores
from ...measure import Measure
from ..tables import COUNTS
from .context_scores import KEY, ContextScores, context_groups
from .coverage import Coverage
from .intervals import cells_of, groups_of, with_pair_units, with_units
from .measures import EW, TSE, WITHOUT_LEMMAS, measures_in
from .outcomes import Outcomes, read_outcomes

METRICS = described(
    ("tse", "double", "share of pairs with the correct form more probable", Values.SHARE),
    ("ew", "double", "mean share of lemmas with the correct form more probable", Values.SHARE),
    ("mw", "double", "mean share of probability on correct forms", Values.SHARE),
    ("covered_mass", "double", "mean probability of the listed forms", Values.SHARE),
    ("share_without_lemmas", "double", "share of contexts with no lemma inside the cut-off", Values.SHARE),
)
"""Metrics of the rows of results."""
PAIR = ("group", "construction", "pair_id", "form_correct", "form_incorrect")
"""What makes two pairs the same in two runs."""
_UNITS = ("cluster", "item", "context_id")


@dataclass(frozen=True)
class LemmaTables:
    """What a record says about its lemmas; each table is read when it is first needed.

    Attributes:
        tables: all tables of the record.
    """

    tables: ScoreTables

    @cached_property
    def listed(self) -> pa.Table | None:
        """The lemma list, and why lemmas were not scored."""
        return optional_table(self.tables, "listed")

    @cached_property
    def coverage(self) -> Coverage:
        """What rows of results say about the list."""
        return Coverage.of(self.listed)

    @cached_property
    def outcomes(self) -> Sequence[Outcomes]:
        """The outcomes of each kind of gap."""
        outcomes, lemmas = (optional_table(self.tables, name) for name in ("outcomes", "lemmas"))
        return [] if outcomes is None or lemmas is None else list(read_outcomes(outcomes, lemmas))


@dataclass(frozen=True, kw_only=True)
class ScoredPairs(Scored):
    """Pairs, with TSE of their own verbs.

    Attributes:
        lemmas: of the record.
    """

    lemmas: LemmaTables

    def details(self, group: Group, measure: Measure, estimate: Estimate) -> dict[str, Scalar]:
        """Return the number of verbs, or of lemmas where these are units, and what became of the lemma list."""
        n_lemmas = {} if estimate.n_crossed is None else {"n_lemmas": estimate.n_crossed}
        return n_lemmas | self.lemmas.coverage.columns(measure.name)


@dataclass(frozen=True, kw_only=True)
class ScoredContexts(ScoredPairs):
    """Contexts, with EW, MW and what they rest on at cut-offs."""

    def estimates(self, group: Group, found: Mapping[Measure, Estimate]) -> dict[Measure, Estimate]:
        """Return the means; lemmas are units of EW over the whole distribution, where all contexts have one list."""
        estimates, outcomes = super().estimates(group, found), self.lemmas.outcomes
        if len(outcomes) == 1 and EW in estimates:
            estimates[EW] = nouns_by_lemmas(group, outcomes[0]) or estimates[EW]
        return estimates

    def counts(self, group: Group) -> dict[str, Scalar]:
        """Return the numbers of ties and lemmas."""
        n_lemmas = int(group.values("n_lemmas").max()) if group.n_items else None
        return super().counts(group) | {"n_lemmas": n_lemmas}

    def item_scores(self, measure: Measure) -> ItemScores:
        """Return the contexts with the outcomes of their lemmas, where all contexts have the same list."""
        outcomes = self.lemmas.outcomes
        is_one_list = len(outcomes) == 1 and outcomes[0].lemmas.is_unique
        return ContextScores(
            super().item_scores(measure).items.drop(columns=list(COUNTS), errors="ignore"),
            context_groups,
            measure=measure,
            outcomes=outcomes[0] if is_one_list else None,
        )


def nouns_by_lemmas(group: Group, outcomes: Outcomes) -> Estimate | None:
    """Return EW over the whole distribution, with lemmas as units; None where outcomes of a context are unknown."""
    items = group.items[group.items["ew_top_1"].notna()]
    places = outcomes.places(items)
    if not len(items) or (places < 0).any():
        return None
    units, (cells,) = cells_of(items, [outcomes.packed[places]], len(outcomes.lemmas))
    return mean(cells, units)._replace(n_items=len(items))


def scored_pairs(lemmas: LemmaTables) -> ScoredPairs:
    """Return the pairs of a record; those with a form of several tokens have no score."""
    tables = lemmas.tables
    logprobs = ["logprob_correct", "logprob_incorrect"]
    pairs = known_columns(
        table_named(tables, "pairs"), [*PAIR, *_UNITS, TSE.column, *logprobs], ("context_id", TSE.column)
    )
    contexts = known_columns(table_named(tables, "contexts"), ["prefix", "number", *_UNITS])
    pairs = pairs.assign(
        tse=pairs[TSE.column].astype(float), tie=pairs["logprob_correct"] == pairs["logprob_incorrect"]
    )
    return ScoredPairs(
        {TSE: TSE.column},
        with_pair_units(pairs.drop(columns=logprobs), contexts),
        partial(groups_of, crossed="verb"),
        tuple(column for column in PAIR if column in pairs),
        lemmas=lemmas,
    )


def scored_contexts(lemmas: LemmaTables, measures: Sequence[Measure] | None) -> ScoredContexts:
    """Return the contexts of a record with their scores on measures of them, each at its point.

    Args:
        lemmas: of the record.
        measures: None for all, at all points.
    """
    table = table_named(lemmas.tables, "contexts")
    points = list(measures_in(table.column_names)) if measures is None else measures
    shares = [measure for measure in points if measure.name == WITHOUT_LEMMAS.name]
    stored = [measure.score_column for measure in points if measure not in shares]
    contexts = read_contexts(table, [*COUNTS, *stored], stored if measures is None else ())
    derived = {
        share.score_column: contexts[EW.moved(share.at).score_column].isna().astype(float) for share in shares
    }
    contexts = contexts.assign(**derived).rename(columns={"n_ties": "tie"})
    columns = {measure: measure.score_column for measure in points if measure.score_column in contexts}
    return ScoredContexts(columns, contexts, groups_of, KEY, lemmas=lemmas)


def read_contexts(table: TableSource, columns: Sequence[str], required: Sequence[str] = ()) -> pd.DataFrame:
    """Read contexts with their units and those of the columns that are there."""
    contexts = known_columns(table, [*KEY, "construction", *_UNITS, *columns], required)
    return with_units(contexts.fillna({"suffix": ""}).assign(group=contexts.get("group", "")))
