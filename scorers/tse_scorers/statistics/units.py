"""Means over items that share units: the one standard error and interval of every score.

Another sample would have other nouns, words or templates. So one unit g is left out at a time, with all of its items:

    V = Σ_g f_g (m_-g - m)²,   f_g = (G - 1) / G

m is the mean, m_-g the mean without g, G the number of units.

- **Strata** are fixed groups, which another sample would contain again. They keep their weights when a unit is left
  out, and a unit may be in several. A stratum with a single unit says nothing about other units: those strata
  are put together (a last one with the next).
- **Two crossed kinds** of units: V = max(V₁, V₂, V₁ + V₂ - V₁₂), V₁₂ over pairs of units (Cameron, Gelbach and Miller
  2011, eq. 2.8). Each kind has strata with a single unit put together for itself.
- **Degrees of freedom**: units of unequal weight w_g are as good as 1 / Σ w_g² equal ones, less one for each stratum;
  or Satterthwaite's over strata, where few units of one decide; the smaller number.
- **Near 0 and 1** data say too little: a sample without errors is not sure of it. One more item of each kind is
  assumed, among n₀ = n / (1 + ρ (n / G - 1)) items, ρ a least correlation of the items of a unit (`LEAST`). What it
  adds, κ, is smaller for items that are not 0 or 1 and hardly differ.
- **A score** in [0, 1] has the interval of Korn and Graubard (1998), which only ends at 0 or 1 if all items do.
- **A few units that fail** among many that do not make V itself uncertain. For the interval of a score, degrees of
  freedom (not below 2) are multiplied by 1 / (1 + (k - 3) / 2), k the kurtosis of the units' parts of V, weighted by
  how much of V units add to that of items.

Sources: Miller (2024), Adding error bars to evals; Cameron and Miller (2015), A practitioner's guide to cluster-robust
inference; Korn and Graubard (1998), Confidence intervals for proportions with small expected number of positive counts
estimated from survey data; Satterthwaite (1946). `benchmarks/intervals.py` simulates what the intervals contain.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
MIN_RELIABLE_UNITS = 4
"""Over fewer effective units (3 degrees of freedom), an interval says little."""
LEAST = {1: 0.1, 2: 0.02}
"""ρ, for one and for two kinds of units: see benchmarks/INTERVALS.md."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Units:
    """What varies from sample to sample, and how the items are averaged.

    Attributes:
        labels: the unit of each item, any labels, (items,).
        name: what the units are, in the plural, such as "subject nouns".
        crossed: the second unit of each item, where two kinds cross, (items,).
        strata: the fixed group of each item, (items,).
        weighting: what counts the same: each item (TSE, EW, MW, the accuracy of a paradigm), each stratum (a phenomenon
            is the mean of its paradigms), or each unit (BLiMP overall, from pairs).
        weights: of the items, where they do not count the same, (items,): what an item of a sample stands for.
    """

    labels: ArrayLike
    name: str = "items"
    crossed: ArrayLike | None = None
    strata: ArrayLike | None = None
    weighting: Literal["items", "strata", "units"] = "items"
    weights: ArrayLike | None = None

    def of(self, items: "NDArray[np.bool_] | Codes") -> "Units":
        """Return the units of some items, given by place or as bool, (items,)."""
        columns = (self.labels, self.crossed, self.strata, self.weights)
        labels, crossed, strata, weights = (None if of is None else np.asarray(of)[items] for of in columns)
        return Units(np.asarray(labels), self.name, crossed, strata, self.weighting, weights)

    def coded(self) -> "Units":
        """Return the same units with labels as numbers, of which parts are taken faster."""
        columns = (self.labels, self.crossed, self.strata)
        labels, crossed, strata = (None if of is None else _numbered(np.asarray(of))[0] for of in columns)
        assert labels is not None
        return replace(self, labels=labels, crossed=crossed, strata=strata)


class Estimate(NamedTuple):
    """A statistic with its 95 % interval.

    Attributes:
        mean: the statistic; NaN without items.
        se: the standard error that the interval is made from; NaN where there is none.
        low: lower end of the interval.
        high: upper end.
        df: degrees of freedom.
        unit: what varies.
        n_units: number of units, of the first kind.
        n_effective: how many equal units are as good, of the kind that has fewer.
        n_items: items with a score.
        n_crossed: number of units of the second kind; None without one.
        p: of "the difference is 0", the level at which the interval ends there; NaN for scores.
        scores: the two that a difference is between.
    """

    mean: float
    se: float
    low: float
    high: float
    df: float
    unit: str
    n_units: int
    n_effective: float
    n_items: int
    n_crossed: int | None = None
    p: float = np.nan
    scores: tuple[float, float] = (np.nan, np.nan)

    @property
    def reliable(self) -> bool:
        """Whether there is an interval, over at least `MIN_RELIABLE_UNITS` effective units."""
        return bool(np.isfinite(self.low) and enough_units(self.df + 1))

    @property
    def minimum_detectable(self) -> float:
        """The smallest true difference that such data find significant in 80 % of samples (Bloom 1995)."""
        return (t_quantile(0.975, self.df) + t_quantile(0.8, self.df)) * self.se

    def columns(self) -> dict[str, Any]:
        """Return the precision as columns of results."""
        return {
            "se": self.se, "ci_low": self.low, "ci_high": self.high, "unit": self.unit, "n_units": self.n_units,
            "n_units_effective": self.n_effective, "reliable": self.reliable,
        }  # fmt: skip


def mean(values: ArrayLike, units: Units, bounded: bool = True) -> Estimate:
    """Estimate the mean of items; see `means`.

    >>> found = mean([1, 1, 0, 1], Units(["a", "a", "b", "b"], "nouns"))
    >>> found.mean, found.n_units, found.reliable
    (0.75, 2, False)
    """
    return means([values], units, bounded)[0]


def means(scores: Sequence[ArrayLike] | Floats, units: Units, bounded: bool = True) -> list[Estimate]:
    """Estimate the means of several scores of the same items.

    Args:
        scores: (scores, items), 0 to 1; NaN where an item has no score.
        units: of the items.
        bounded: False for scores that are no shares, such as surprisals: they have Student's interval, and none where
            all are alike, since nothing says how much others could differ.

    Raises:
        ValueError: an item has no unit, or as many units as items were not given.
    """
    table = np.asarray(scores, dtype=float)
    designs: dict[bytes, tuple[NDArray[np.bool_], Design]] = {}
    found = []
    for values in table:
        scored = np.isfinite(values)
        pattern = np.packbits(scored).tobytes()
        if pattern not in designs:
            designs[pattern] = scored, Design(units if scored.all() else units.of(scored), int(scored.sum()))
        kept, design = designs[pattern]
        found.append(design.mean(values[kept], bounded) if design.n_items else nothing(units))
    return found


def correlation(scores: Floats, others: ArrayLike, name: str) -> Estimate:
    """Estimate Pearson's r between the means of cells and fixed numbers, over the units that the cells share.

    Noise in the cells pulls r towards 0. So the interval is around r without its bias, G r - (G - 1) mean(r_-g), with
    Student's t and the variance (G - 1) / G Σ (r_-g - mean)², r_-g being r without one of the G units (Quenouille 1956;
    Tukey 1958).

    Args:
        scores: of each unit in each cell, (units, cells); NaN where it has none.
        others: a number for each cell, (cells,).
        name: what the units are.

    Returns:
        `mean` is the plain r. Where its bias is more than a tenth of it, cells are mainly noise, and the interval
        misses the true r too often: `df` is 0, so that it is not `reliable`. There is none for fewer than three units,
        or where r is ±1 or has no value.
    """
    known, n = np.isfinite(scores), len(scores)
    sums, counts, people = np.where(known, scores, 0.0), known.astype(float), np.asarray(others, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        cells = np.vstack([sums.sum(0), sums.sum(0) - sums]) / np.vstack(
            [counts.sum(0), counts.sum(0) - counts]
        )
        apart, centred = cells - cells.mean(axis=1, keepdims=True), people - people.mean()
        r, *without = np.clip(
            apart @ centred / np.sqrt((apart**2).sum(axis=1) * (centred**2).sum()), -1, 1
        ).tolist()
    if n < 3 or not np.isfinite([r, *without]).all() or np.abs([r, *without]).max() > 1 - _ROUNDING:
        return nothing(Units([], name))._replace(
            mean=r, n_units=n, n_effective=float(n), n_items=scores.shape[1]
        )
    centre, se = n * r - (n - 1) * np.mean(without), float(np.std(without) * np.sqrt(n - 1))
    half, df = t_quantile(0.975, n - 1) * se, float(n - 1) * (abs(centre - r) <= 0.1 * abs(r))
    low, high = max(-1.0, min(r, centre - half)), min(1.0, max(r, centre + half))
    return Estimate(r, se, low, high, df, name, n, float(n), scores.shape[1])


def enough_units(n_effective: Any) -> Any:
    """Whether an interval over this effective number of units (a number, or a column of them) is reliable."""
    return n_effective >= MIN_RELIABLE_UNITS - _ROUNDING


def t_quantile(probability: float, df: float) -> float:
    """Return the quantile of Student's t distribution; NaN with less than one degree of freedom."""
    return float(special.stdtrit(df, probability)) if df >= 1 - _ROUNDING else np.nan


def nothing(units: Units) -> Estimate:
    """Return the estimate over no items."""
    n_crossed = None if units.crossed is None else 0
    return Estimate(np.nan, np.nan, np.nan, np.nan, 0.0, units.name, 0, 0.0, 0, n_crossed)


class Parts(NamedTuple):
    """What an interval is made of.

    Attributes:
        mean: the statistic.
        variance: V.
        least: κ.
        df: degrees of freedom.
        tails: what the kurtosis of the units leaves of them, 0 to 1.
    """

    mean: float
    variance: float
    least: float
    df: float
    tails: float

    @property
    def share_variance(self) -> float:
        """V of a share that one more item of each kind moves by κ (1 - 2 m); never that of a sample without errors."""
        return self.variance + (self.least * (1 - 2 * self.mean)) ** 2 if self.variance > 0 else self.least**2

    @property
    def df_of_interval(self) -> float:
        """The degrees of freedom that the kurtosis of the units leaves."""
        return max(self.df * self.tails, min(self.df, 2.0))

    def interval(self, alpha: float = 0.05) -> tuple[float, float]:
        """Return the interval of Korn and Graubard at a level: that of Clopper and Pearson over effective items."""
        p, t = self.mean, t_quantile(1 - alpha / 2, self.df_of_interval)
        if not np.isfinite(t):
            return np.nan, np.nan
        moved = p + self.least * (1 - 2 * p)
        n = moved * (1 - moved) / self.share_variance * (special.ndtri(1 - alpha / 2) / t) ** 2
        n = min(n, 1e9)  # a constant score of 0.5
        right, wrong = n * p, n * (1 - p)
        low = float(special.betaincinv(right, wrong + 1, alpha / 2)) if right > _ROUNDING else 0.0
        high = float(special.betaincinv(right + 1, wrong, 1 - alpha / 2)) if wrong > _ROUNDING else 1.0
        return min(low, p), max(high, p)


class Design:
    """The weights, strata and units of items: what is the same for all scores of these items.

    The statistic is Σ_c k_c m_c over conditions c, m_c the mean of the items of a condition. A mean has one condition,
    with k 1, and strata; conditions have none.
    """

    def __init__(
        self, units: Units, n_items: int, condition: Codes | None = None, k: ArrayLike = (1.0,)
    ) -> None:
        self.units, self.n_items, self.k = units, n_items, np.asarray(k, dtype=float)
        self.condition = np.zeros(n_items, np.intp) if condition is None else condition
        if not n_items:
            return
        labels = [self._coded(of) for of in (units.labels, units.crossed) if of is not None]
        strata = np.zeros(n_items, np.intp) if units.strata is None else self._coded(units.strata)
        share = np.ones(n_items) if units.weights is None else np.asarray(units.weights, dtype=float)
        if units.weighting != "items":
            same = _pairs(self.condition, strata if units.weighting == "strata" else labels[0])
            share = share / np.bincount(same, share)[same]
        self.share, self.total = share, np.bincount(self.condition, share)
        weights = self.k[self.condition] * share / self.total[self.condition]
        is_mean = len(self.k) == 1
        columns = [_put_together(strata, of) if is_mean else self.condition for of in labels]
        self.kinds = [Kind(*of, weights) for of in zip(labels, columns, strict=True)]
        self.pairs = _pairs(*labels) if len(labels) == 2 else None
        self.n_effective = min(kind.n_effective for kind in self.kinds)
        self.df = min(kind.df for kind in self.kinds)
        n = self.total**2 / np.bincount(self.condition, share**2)
        self.n0 = n / (1 + LEAST[len(labels)] * np.maximum(n / self.n_effective - 1, 0))

    def _coded(self, labels: ArrayLike) -> Codes:
        codes, _ = _numbered(np.asarray(labels))
        if len(codes) != self.n_items or (codes < 0).any():
            n, of = int((codes >= 0).sum()), self.units.name
            raise ValueError(f"{self.n_items} items have {n} labels of units ({of}): give each item one.")
        return codes

    def parts(self, values: Floats) -> Parts:
        """Return the statistic of scores of all items, and what its interval is made of."""
        # Two sums made alike: 1 on every item is exactly 1.
        m = self.k @ (np.bincount(self.condition, self.share * values) / self.total)
        found = [kind.leave_out(values) for kind in self.kinds]
        variance, tails = found[0][0], min(tails for _, tails, _ in found)
        if self.pairs is not None:
            both = np.prod([np.bincount(self.pairs, residuals) for _, _, residuals in found], axis=0).sum()
            one, other = (of for of, _, _ in found)
            variance = max(one, other, one + other - float(both))
        share = self.share / self.total[self.condition] / len(self.k)
        centre, least = float(share @ values) ** 2, 1 / (self.n0.min() + 2)
        spread = (share @ values**2 - centre + least) / (share @ np.abs(values) - centre + least)
        least = float(np.sqrt(np.clip(spread, 0, 1) * (self.k**2 / (self.n0 + 2) ** 2).sum()))
        return Parts(float(m), variance if variance > 1e-18 else 0.0, least, self.df, tails)

    def mean(self, values: Floats, bounded: bool = True) -> Estimate:
        """Estimate the mean of scores of all items; see `means`."""
        parts = self.parts(values)
        if bounded:
            return self.estimate(parts, np.sqrt(parts.share_variance), *parts.interval())
        se = float(np.sqrt(parts.variance))
        half = (
            t_quantile(0.975, parts.df_of_interval) * se if se > 1e-12 * max(1.0, abs(parts.mean)) else np.nan
        )
        return self.estimate(parts, se, parts.mean - half, parts.mean + half)

    def estimate(self, parts: Parts, se: float, low: float, high: float) -> Estimate:
        """Put an estimate together; without degrees of freedom it has no interval."""
        if parts.df < 1 - _ROUNDING:
            se = low = high = np.nan
        n_crossed = self.kinds[1].n_units if len(self.kinds) > 1 else None
        return Estimate(
            parts.mean, float(se), low, high, max(parts.df, 0.0), self.units.name, self.kinds[0].n_units,
            self.n_effective, self.n_items, n_crossed,
        )  # fmt: skip


class Kind:
    """A kind of unit: how leaving out each of them changes a statistic.

    Args:
        unit: of each item, numbered from 0.
        column: of each item, its stratum within its condition, numbered from 0.
        weights: of the items in the statistic, negative for a condition that is subtracted.
    """

    def __init__(self, unit: Codes, column: Codes, weights: Floats) -> None:
        self.column, self.weights, self.n_units = column, weights, int(unit.max()) + 1
        n_columns = int(column.max()) + 1
        self.cell, cells = _numbered(unit * n_columns + column)
        self.unit_of, self.column_of = np.divmod(cells, n_columns)
        self.columns, self.cells = np.bincount(column, weights), np.bincount(self.cell, weights)
        within = self.cells / self.columns[self.column_of]
        n_inside = np.bincount(self.column_of, minlength=n_columns)
        lonely = n_inside[self.column_of] < 2  # of a condition with a single unit
        self.rest = np.where(lonely, np.inf, self.columns[self.column_of] - self.cells)
        part, left = np.abs(self.cells), 1 - 1 / n_inside[self.column_of]
        total = np.bincount(self.unit_of, part)
        self.factor = np.bincount(self.unit_of, part * left) / total
        self.part = total / total.sum()
        self.n_effective = 1 / float((self.part**2).sum())
        squares = np.bincount(self.column_of, within**2)
        a = self.columns**2 * squares
        over_strata = a.sum() ** 2 / (a**2 / np.maximum(1 / squares - 1, 1)).sum()
        self.df = min(self.n_effective * float(self.part @ self.factor), float(over_strata)) * (
            not lonely.any()
        )

    def leave_out(self, values: Floats) -> tuple[float, float, Floats]:
        """Return V, `Parts.tails`, and the weighted residuals of the items."""
        sums = np.bincount(self.column, self.weights * values)
        centres = sums / self.columns
        residuals = self.weights * (values - centres[self.column])
        of_cells = np.bincount(self.cell, residuals)
        changes = np.bincount(self.unit_of, -of_cells * self.columns[self.column_of] / self.rest)
        squares = self.factor * changes**2
        variance, tails = float(squares.sum()), 1.0
        if variance > 1e-18:
            kurtosis = ((squares**2).sum() / (self.part**4).sum()) / (variance / (self.part**2).sum()) ** 2
            alone = float((residuals**2).sum()) / (1 - 1 / len(values))  # V if each item were a unit
            added = max(0.0, 1 - alone / variance)
            tails = 1 / (1 + added * max(kurtosis - 3, 0.0) / 2)
        return variance, tails, residuals


def _put_together(strata: Codes, unit: Codes) -> Codes:
    """Number the strata, those with a single unit put together, a last one with the next."""
    for _ in range(2):
        _, cells = _numbered(strata * (int(unit.max()) + 1) + unit)
        alone = (np.bincount(cells // (int(unit.max()) + 1)) < 2)[strata]
        if not alone.any() or strata.max() == 0:
            break
        is_single = strata[alone].min() == strata[alone].max()
        merged = np.where(alone, strata[~alone][0] if is_single else strata[alone][0], strata)
        strata = _numbered(merged)[0]
    return strata


def _pairs(one: Codes, other: Codes) -> Codes:
    """Number the pairs of two labels from 0."""
    return _numbered(one * (int(other.max(initial=0)) + 1) + other)[0]


def _numbered(labels: NDArray[Any]) -> "tuple[Codes, NDArray[Any]]":
    """Number labels from 0, -1 for missing ones; and return the labels of the numbers."""
    if labels.dtype.kind == "i" and len(labels) and labels.min() >= 0 and labels.max() < 8 * len(labels):
        present = np.bincount(labels) > 0  # several times as fast
        return (np.cumsum(present) - 1)[labels], np.flatnonzero(present)
    codes, known = pd.factorize(labels)
    return codes.astype(np.intp), np.asarray(known)
