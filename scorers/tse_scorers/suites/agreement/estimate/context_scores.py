"""EW or MW of contexts with the outcomes of their lemmas, so that two systems are compared on the lemmas of both."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....statistics import Estimate, difference, mean
from ...items import Group, GroupDifference, ItemScores
from ...measure import Measure
from .intervals import cells_of, groups_of
from .measures import EW, WHOLE
from .outcomes import Outcomes

Outcomes01 = NDArray[np.uint8] | NDArray[np.float64]
"""Outcomes of contexts x lemmas: 0 or 1, or means of these over suffixes."""
KEY = ("group", "prefix", "suffix", "number")
"""What makes two contexts the same in two runs."""
OTHER_LEMMAS = (
    "the models score different lemmas, since their vocabularies differ, and only EW is stored for each one; to "
    "compare it, run all models again with a list of lemmas that they share (tse run --lemmas)"
)
"""Why MW is not compared."""


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
        chosen: the lemmas that the scores are over; None: all.
    """

    measure: Measure = field(kw_only=True)
    outcomes: Outcomes | None = None
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
        """Yield the difference from a reference on each group, of EW over the lemmas that both have.

        There is none of MW where the lemmas of the two differ.

        Raises:
            ValueError: the lemmas of the two differ, for scores at a cut-off.
        """
        is_whole = self.measure.at == WHOLE
        if not isinstance(reference, ContextScores) or self.outcomes is None or reference.outcomes is None:
            if not is_whole:
                raise self._of_other_lemmas("several lists of them")
            yield from super().differences(reference)
            return
        if self.measure == EW:
            yield from self._crossed(reference, self.lemmas[self.lemmas.isin(reference.lemmas)])
        elif set(self.lemmas) == set(reference.lemmas):
            for found in super().differences(reference):
                yield found._replace(n_lemmas=len(self.lemmas))
        elif not is_whole:
            raise self._of_other_lemmas("different ones")

    def why_not_compared(self, reference: ItemScores) -> str:
        """Say that MW is not compared where the lemmas of the two differ."""
        if not isinstance(reference, ContextScores) or self.outcomes is None or reference.outcomes is None:
            return ""
        return "" if self.measure == EW or set(self.lemmas) == set(reference.lemmas) else OTHER_LEMMAS

    def _of_other_lemmas(self, lists: str) -> ValueError:
        return ValueError(
            f"{self.measure.label} cannot be compared: a cut-off is over all lemmas of a model, and the two models "
            f"score {lists}. Run both again over one list of lemmas that both score, with --lemmas FILE."
        )

    def over_common(self, systems: Mapping[str, ItemScores]) -> ItemScores | None:
        """Return EW over the lemmas of all systems with stored outcomes, and MW as it is; at a cut-off, None.

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
        common = reduce(lambda shared, lemmas: shared.intersection(lemmas, sort=False), lists.values())
        if not len(common):
            raise ValueError(
                f"The models {', '.join(lists)} score no lemma in common. Run them with --forms all, or with a list of "
                "lemmas that all can score (--lemmas FILE)."
            )
        return self.over(common) if self.measure == EW else self

    def over(self, lemmas: pd.MultiIndex) -> "ContextScores":
        """Return EW over some of the lemmas."""
        is_chosen = self.lemmas.isin(lemmas)
        if is_chosen.all():
            return self
        assert self.outcomes is not None and self.chosen is None, "what is restricted is not restricted again"
        scores, places = self.items["score"].to_numpy(), self.outcomes.places(self.items)
        over_lemmas = self.outcomes.n_correct(places, is_chosen) / is_chosen.sum()
        items = self.items.assign(score=np.where(np.isnan(scores) | (places < 0), np.nan, over_lemmas))
        return replace(self, items=items, chosen=self.lemmas[is_chosen])

    def estimates(self) -> Iterator[tuple[Group, Estimate]]:
        """Yield the score of each group, of EW with lemmas as units."""
        if self.measure != EW or self.outcomes is None:
            yield from super().estimates()
            return
        lemmas = np.flatnonzero(self.outcomes.lemmas.isin(self.lemmas))
        for group in self.groups(self.items.dropna(subset=["score"])):
            packed = self.outcomes.packed[self.outcomes.places(group.items)]
            units, (cells,) = cells_of(group.items, [packed], len(self.outcomes.lemmas), lemmas)
            yield group, mean(cells, units)._replace(n_items=group.n_items)

    def _crossed(self, reference: "ContextScores", lemmas: pd.MultiIndex) -> Iterator[GroupDifference]:
        """Compare EW lemma by lemma."""
        shared = self.joined(reference).dropna(subset=["score", "reference_score"])
        if shared.empty or not len(lemmas):
            return
        matrices = [scores._matrix(shared, lemmas) for scores in (self, reference)]
        items = shared.assign(place=np.arange(len(shared)))
        for group in context_groups(items):
            rows = group.values("place")
            units, (cells, others) = cells_of(group.items, [matrix[rows] for matrix in matrices])
            found = difference(cells, others, units)
            n_ties = int((group.values("score") == group.values("reference_score")).sum())
            yield GroupDifference(*group.place, found, len(rows), n_ties, found.n_crossed)

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
