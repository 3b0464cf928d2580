"""EW or MW of contexts with the outcomes of their lemmas, so that two systems are compared on the lemmas of both."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....report.inputs import TableSource
from ....report.measure import Measure
from ....statistics.differences import crossed_difference
from ....statistics.estimate import Estimate
from ...items import Group, GroupDifference, ItemScores
from ..ask.columns import KEPT_FORMS
from ..ask.outcomes import Outcomes
from .intervals import cells_of, groups_of
from .measures import EW, WHOLE

Outcomes01 = NDArray[np.uint8] | NDArray[np.float64]
"""Outcomes of contexts x lemmas: 0 or 1, or means of these over suffixes."""
KEY = ("group", "prefix", "suffix", "number")
"""What makes two contexts the same in two runs."""


def context_groups(contexts: pd.DataFrame) -> Iterator[Group]:
    """Yield the groups of contexts whose index is (some of) `KEY`."""
    items = contexts.reset_index()
    return groups_of(items, once_per=[column for column in KEY[1:] if column in items])


@dataclass(frozen=True)
class ContextScores(ItemScores):
    """EW or MW of contexts, with the outcomes of their lemmas if these are known.

    Attributes:
        measure: EW or MW, at its point.
        outcomes: of all lemmas.
        forms: the table with the log-probabilities of all lemmas, if the run kept them; it may be large.
        chosen: the lemmas that the scores are over; None: all.
    """

    measure: Measure = field(kw_only=True)
    outcomes: Outcomes | None = None
    forms: TableSource | None = None
    chosen: pd.MultiIndex | None = None

    @property
    def lemmas(self) -> pd.MultiIndex:
        """The lemmas that the scores are over, as (singular, plural)."""
        assert self.outcomes is not None
        return self.outcomes.lemmas if self.chosen is None else self.chosen

    @property
    def n_lemmas(self) -> int | None:
        """How many lemmas the scores are over; None where that is unknown."""
        return None if self.outcomes is None else len(self.lemmas)

    def joined(self, reference: ItemScores) -> pd.DataFrame:
        """Return the shared contexts, averaged over suffixes if one of the systems does not see them."""
        return ItemScores.joined(*self._over_same_contexts(reference))

    def n_excluded(self, reference: ItemScores) -> int:
        """Count the contexts that only one of the two systems has a score for."""
        return ItemScores.n_excluded(*self._over_same_contexts(reference))

    def _over_same_contexts(self, reference: ItemScores) -> tuple[ItemScores, ItemScores]:
        if not any(_is_without_suffix(scores.items) for scores in (self, reference)):
            return self, reference
        system, other = (
            ItemScores(_over_suffixes(scores.items), self.groups) for scores in (self, reference)
        )
        return system, other

    def differences(self, reference: ItemScores) -> Iterator[GroupDifference]:
        """Yield the difference from a reference on each group, over the lemmas that both have.

        Raises:
            ValueError: these are not all lemmas of both, for scores at a cut-off.
        """
        is_whole = self.measure.at == WHOLE
        if not isinstance(reference, ContextScores) or self.outcomes is None or reference.outcomes is None:
            if not is_whole:
                raise self._of_other_lemmas("several lists of them")
            yield from super().differences(reference)
            return
        if not is_whole:
            if set(self.lemmas) != set(reference.lemmas):
                raise self._of_other_lemmas("different ones")
            for difference in super().differences(reference):
                yield difference._replace(n_lemmas=len(self.lemmas))
            return
        common = self.lemmas[self.lemmas.isin(reference.lemmas)]
        if self.measure.name == "ew":
            yield from self._crossed(reference, common)
            return
        system, other = self.over(common), reference.over(common)
        for difference in ItemScores.differences(system, other):
            yield difference._replace(
                n_lemmas=len(common), approximate=system.approximate or other.approximate
            )

    def _of_other_lemmas(self, lists: str) -> ValueError:
        return ValueError(
            f"{self.measure.label} cannot be compared: a cut-off is over all lemmas of a model, and the two models "
            f"score {lists}. Run both again over the lemmas that both score, with --lemmas common:FOLDER,FOLDER."
        )

    def over_common(self, systems: Mapping[str, ItemScores]) -> ItemScores | None:
        """Return the scores over the lemmas of all systems with stored outcomes; at a cut-off, None.

        Raises:
            ValueError: the systems have no lemma in common.
        """
        if self.outcomes is None or self.measure.at != WHOLE:
            return None
        lists = {
            system: scores.lemmas
            for system, scores in systems.items()
            if isinstance(scores, ContextScores) and scores.outcomes is not None
        }
        common = in_all(lists.values())
        if not len(common):
            raise ValueError(
                f"The models {', '.join(lists)} score no lemma in common. Run them with --forms all, or with a list of "
                "lemmas that all can score (--lemmas FILE)."
            )
        return self.over(common)

    def over(self, lemmas: pd.MultiIndex) -> "ContextScores":
        """Return the scores over some of the lemmas; exact for EW, and for MW if all forms were kept."""
        is_chosen = self.lemmas.isin(lemmas)
        if is_chosen.all():
            return self
        assert self.outcomes is not None and self.chosen is None, "what is restricted is not restricted again"
        scores, places = self.items["score"].to_numpy(), self.outcomes.places(self.items)
        approximate = self.measure.name == "mw" and self.forms is None
        if self.measure.name == "ew":
            over_lemmas = self.outcomes.correct(places, np.flatnonzero(is_chosen)).mean(axis=1)
        elif self.forms is not None:
            over_lemmas = mw_of_forms(self.forms, self.items, is_chosen)
        else:
            over_lemmas = self.outcomes.mw(places, scores, is_chosen)
        items = self.items.assign(score=np.where(np.isnan(scores) | (places < 0), np.nan, over_lemmas))
        return replace(self, items=items, chosen=self.lemmas[is_chosen], approximate=approximate)

    def estimates(self) -> Iterator[tuple[Group, Estimate]]:
        """Yield the score of each group, of EW with lemmas as units."""
        if self.measure != EW or self.outcomes is None:
            yield from super().estimates()
            return
        lemmas = np.flatnonzero(self.outcomes.lemmas.isin(self.lemmas))
        for group in self.groups(self.items.dropna(subset=["score"])):
            bits = self.outcomes.correct(self.outcomes.places(group.items), lemmas)
            yield group, cells_of(group.items, bits).mean()

    def _crossed(self, reference: "ContextScores", lemmas: pd.MultiIndex) -> Iterator[GroupDifference]:
        """Compare EW lemma by lemma."""
        shared = self.joined(reference).dropna(subset=["score", "reference_score"])
        if shared.empty or not len(lemmas):
            return
        matrices = [scores._matrix(shared, lemmas) for scores in (self, reference)]
        items = shared.assign(place=np.arange(len(shared)))
        for group in context_groups(items):
            rows = group.values("place")
            cells, others = (cells_of(group.items, matrix[rows]) for matrix in matrices)
            difference = crossed_difference(cells.sums, others.sums, cells.name, cells.strata, cells.units)
            n_ties = int((group.values("score") == group.values("reference_score")).sum())
            yield GroupDifference(*group.place, difference, len(rows), n_ties, difference.estimate.n_crossed)

    def _matrix(self, shared: pd.DataFrame, names: pd.MultiIndex) -> Outcomes01:
        """Return the outcomes of shared contexts and named lemmas, averaged over suffixes for causal models."""
        assert self.outcomes is not None
        lemmas = self.outcomes.lemmas.get_indexer(names)
        if "suffix" in shared.index.names:
            return self.outcomes.correct(self.outcomes.places(self.items.loc[shared.index]), lemmas)
        place = shared.index.get_indexer(self.items.index.droplevel("suffix"))
        order = np.argsort(place, kind="stable")
        order = order[(place[order] >= 0) & self.items["score"].notna().to_numpy()[order]]
        counts = np.bincount(place[order], minlength=len(shared))
        bits = self.outcomes.correct(self.outcomes.places(self.items.iloc[order]), lemmas)
        return _mean_of_runs(bits, counts)


def in_all(lists: Iterable[pd.MultiIndex]) -> pd.MultiIndex:
    """Return the lemmas that are in all lists, in the order of the first."""
    return reduce(lambda common, lemmas: common.intersection(lemmas, sort=False), lists)


def _mean_of_runs(bits: NDArray[np.uint8], counts: NDArray[np.intp]) -> Outcomes01:
    """Average consecutive rows: the first `counts[0]`, the next `counts[1]`, …; (runs, columns)."""
    if (counts == 1).all():
        return bits
    starts = np.cumsum(counts) - counts
    sums = np.zeros((len(counts), bits.shape[1]), dtype=np.uint16)  # a quarter of float64's memory traffic
    for n in range(counts.max(initial=0)):  # four times as fast as `np.add.reduceat`
        longer = np.flatnonzero(counts > n)
        sums[longer] += bits[starts[longer] + n]
    return sums / counts[:, None]


def _is_without_suffix(items: pd.DataFrame) -> bool:
    """Whether each prefix and number is one context, as for a causal model."""
    return not items.index.droplevel("suffix").duplicated().any()


def _over_suffixes(items: pd.DataFrame) -> pd.DataFrame:
    """Average scores over the suffixes of each prefix and number."""
    levels = [name for name in items.index.names if name != "suffix"]
    grouped = items.groupby(level=levels, sort=False)
    return grouped.first().assign(score=grouped["score"].mean())


def mw_of_forms(forms: TableSource, items: pd.DataFrame, lemmas: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return MW of contexts over some of the lemmas, (contexts,); NaN if their forms have probability 0.

    The log-probabilities are float32, so MW is exact up to about seven digits.

    Args:
        forms: the table that `--keep-forms` wrote, of gaps of one kind.
        items: the contexts, a column `context_id` and `number` in their index.
        lemmas: (lemmas,) booleans that select lemmas.
    """
    table = forms.select(KEPT_FORMS.names)
    rows = pd.Index(table["context_id"].to_numpy()).get_indexer(items["context_id"])
    masses = []
    for name in ("logprob_singular", "logprob_plural"):
        logprobs = table[name].combine_chunks().flatten().to_numpy().reshape(table.num_rows, -1)
        masses.append(np.exp(logprobs[:, lemmas].astype(np.float64)).sum(axis=1)[rows])
    is_singular = items.index.get_level_values("number") == "singular"
    correct, total = np.where(is_singular, *masses), masses[0] + masses[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rows >= 0, correct / total, np.nan)
