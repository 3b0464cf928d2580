"""EW or MW of contexts with the outcomes of their lemmas, so that two systems are compared on the lemmas of both."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....report.inputs import ScoreFile
from ....report.measure import Measure
from ....statistics.differences import crossed_difference
from ....statistics.power import components_of
from ...items import Group, GroupDifference, ItemScores
from ..ask.outcomes import Outcomes
from ..measures import WHOLE
from .intervals import cells_of, groups_of
from .kept_forms import KeptForms

KEY = ["group", "prefix", "suffix", "number"]
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
        forms: the file with the log-probabilities of all lemmas, if the run kept them; it may be large.
        chosen: the lemmas that the scores are over; None: all.
        approximate: whether the scores are estimated, because the log-probabilities of all lemmas were not kept.
    """

    measure: Measure = field(kw_only=True)
    outcomes: Outcomes | None = None
    forms: ScoreFile | None = None
    chosen: pd.MultiIndex | None = None
    approximate: bool = False

    @property
    def lemmas(self) -> pd.MultiIndex:
        """The lemmas that the scores are over, as (singular, plural)."""
        assert self.outcomes is not None
        return self.outcomes.lemmas if self.chosen is None else self.chosen

    def joined(self, reference: ItemScores) -> pd.DataFrame:
        """Return the shared contexts; see `tse_scorers.suites.agreement.estimate.items` for those without suffixes."""
        return ItemScores.joined(*self._alike(reference))

    def n_excluded(self, reference: ItemScores) -> int:
        """Count the contexts that only one of the two systems has a score for."""
        return ItemScores.n_excluded(*self._alike(reference))

    def _alike(self, reference: ItemScores) -> tuple[ItemScores, ItemScores]:
        """Return both systems' scores, averaged over suffixes if one of the systems does not see them."""
        if not any(_is_without_suffix(own.items) for own in (self, reference)):
            return self, reference
        one, other = (ItemScores(_over_suffixes(own.items), self.groups) for own in (self, reference))
        return one, other

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
            for found in super().differences(reference):
                yield found._replace(n_lemmas=len(self.lemmas))
            return
        common = self.lemmas[self.lemmas.isin(reference.lemmas)]
        if self.measure.name == "ew":
            yield from self._crossed(reference, common)
            return
        one, other = self.over(common), reference.over(common)
        for found in ItemScores.differences(one, other):
            yield found._replace(n_lemmas=len(common), approximate=one.approximate or other.approximate)

    def _of_other_lemmas(self, lists: str) -> ValueError:
        return ValueError(
            f"{self.measure.label} cannot be compared: a cut-off is over all lemmas of a model, and the two models "
            f"score {lists}. Run both again over the lemmas that both score, with --lemmas common:FOLDER,FOLDER."
        )

    def over(self, names: pd.MultiIndex) -> "ContextScores":
        """Return the scores over some of the lemmas; exact for EW, see `Outcomes.mw` and `KeptForms` for MW."""
        chosen = self.lemmas.isin(names)
        if chosen.all():
            return self
        assert self.outcomes is not None and self.chosen is None, "what is restricted is not restricted again"
        scores, places = self.items["score"].to_numpy(), self.outcomes.places(self.items)
        approximate = self.measure.name == "mw" and self.forms is None
        if self.measure.name == "ew":
            over = self.outcomes.correct(places, np.flatnonzero(chosen)).mean(axis=1)
        elif self.forms is not None:
            over = KeptForms.read(self.forms.read_table()).mw(self.items, chosen)
        else:
            over = self.outcomes.mw(places, scores, chosen)
        known = np.where(np.isnan(scores) | (places < 0), np.nan, over)
        items = self.items.assign(score=known)
        return replace(self, items=items, chosen=self.lemmas[chosen], approximate=approximate)

    def _crossed(self, reference: "ContextScores", names: pd.MultiIndex) -> Iterator[GroupDifference]:
        """Compare EW lemma by lemma."""
        shared = self.joined(reference).dropna(subset=["score", "reference_score"])
        if shared.empty or not len(names):
            return
        matrices = [own._matrix(shared, names) for own in (self, reference)]
        items = shared.assign(place=np.arange(len(shared)))
        for group in context_groups(items):
            rows = group.items["place"].to_numpy()
            one, other = (cells_of(group.items, matrix[rows]) for matrix in matrices)
            found = crossed_difference(one.sums, other.sums, one.name, one.strata, one.units)
            ties = int((group.items["score"] == group.items["reference_score"]).sum())
            components = components_of(one.sums.minus(other.sums), one.strata, one.units)
            yield GroupDifference(*group.place, found, len(rows), ties, found.estimate.n_crossed, components)

    def _matrix(self, shared: pd.DataFrame, names: Any) -> NDArray[Any]:
        """Return the outcomes of shared contexts and named lemmas, averaged over suffixes for causal models."""
        assert self.outcomes is not None
        lemmas = self.outcomes.lemmas.get_indexer(names)
        if "suffix" in shared.index.names:
            return self.outcomes.correct(self.outcomes.places(self.items.loc[shared.index]), lemmas)
        own = self.items.index.droplevel("suffix")
        place = shared.index.get_indexer(own)
        order = np.argsort(place, kind="stable")
        order = order[(place[order] >= 0) & self.items["score"].notna().to_numpy()[order]]
        counts = np.bincount(place[order], minlength=len(shared))
        bits = self.outcomes.correct(self.outcomes.places(self.items.iloc[order]), lemmas)
        return _mean_of_runs(bits, counts)


def _mean_of_runs(bits: NDArray[np.uint8], counts: NDArray[np.intp]) -> NDArray[Any]:
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
    kept = grouped.first()
    return kept.assign(score=grouped["score"].mean())
