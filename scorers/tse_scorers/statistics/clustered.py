"""Means over items that share units, with cluster-robust standard errors.

Let w_g be the share of unit g in the mean (the sum of its items' weights w_i; see `Units.weighting`), and s_g the sum
of w_i r_i over its items, with r_i = y_i - mean. The effective number of units and the variance of the mean are

    G = 1 / Σ w_g²,   V = c Σ s_g²,   c = Σ w_g² / (Σ w_g² - 2 Σ w_g³ + (Σ w_g²)²)

and the interval has G - 1 degrees of freedom. c makes V unbiased if units have effects of equal variance. For G units
of equal size it is G/(G - 1), the factor CR1.

With strata (fixed groups, which another sample would contain again), r_i is y_i minus the stratum's mean.

- Units nested in strata: each stratum S has its own c and G from shares of w_S, its weight. Degrees of freedom are
  Satterthwaite's, for equal variances of units: (Σ a)² / Σ (a² / (G - 1)) over strata, with a = Σ w_g² in the stratum.
- Units in several strata: c = Σ w_g² / |D - M|², where D has the w_g on its diagonal, M = Σ_S w_S p_S p_S', and p_S are
  the shares of units in stratum S: a unit that dominates its strata hardly differs from their means. If strata
  count the same, there are at most the degrees of freedom of nested units: a stratum with few units decides.
- A stratum with one unit has no variance of its own. All of these form one stratum. If it is a single one, its
  residual is the difference from the overall mean, as R's `survey` does with `survey.lonely.psu = "adjust"`.

Two crossed kinds of units (Cameron, Gelbach and Miller 2011, eq. 2.8) have V₁ and V₂ by themselves, and

    V = max(V₁, V₂, V₁ + V₂ - Σ_cells s²)

with the smaller of their effective numbers and degrees of freedom. (By chance the sum can be below V₁ or V₂.)

φ of `estimate.py` is (Σ w y² - m² + ε) / (Σ w |y| - m² + ε), with the mean m and ε = 1 / (n₀ + 2): 1 for items that are
0 or 1 or their differences, less for items between, such as AUCs of templates that hardly differ.

Sources: Cameron and Miller (2015), A practitioner's guide to cluster-robust inference; Carter, Schnepel and Steigerwald
(2017), Asymptotic behavior of a t-test robust to cluster heterogeneity (the effective number of clusters); Miller
(2024), Adding error bars to evals.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from .estimate import (
    ACCURACY,
    Estimate,
    Floats,
    Range,
    least_weight,
    make_estimate,
    make_estimates,
    satterthwaite,
)

Codes = npt.NDArray[np.intp]
Weighting = Literal["items", "strata", "clusters"]


@dataclass(frozen=True)
class Units:
    """The units of the items in a table.

    Attributes:
        clusters: the unit of each item, any labels, (items,).
        name: name of the units, for instance "verbs x subject nouns".
        crossed: the second unit of each item; None if there is only one kind of unit.
        strata: the fixed group of each item; None without groups.
        weighting: how items are weighted in the mean. "items": each item counts the same (the definition of TSE, EW,
            MW, and accuracy within a paradigm). "strata": the mean of the strata's means (a phenomenon is the
            mean of its paradigms). "clusters": the mean of the clusters' means (BLiMP overall, from pairs).
    """

    clusters: npt.ArrayLike
    name: str
    crossed: npt.ArrayLike | None = None
    strata: npt.ArrayLike | None = None
    weighting: Weighting = "items"

    def of(self, items: npt.NDArray[np.bool_]) -> "Units":
        """Return the units of selected items; `items` is bool, (items,)."""
        crossed, strata = (
            None if labels is None else np.asarray(labels)[items] for labels in (self.crossed, self.strata)
        )
        return Units(np.asarray(self.clusters)[items], self.name, crossed, strata, self.weighting)


def clustered_mean(values: npt.ArrayLike, units: Units, score_range: Range = ACCURACY) -> Estimate:
    """Estimate the mean of items and its precision over their units.

    Args:
        values: score of each item, (items,); NaN for none.
        units: the units of the items, of the same length.
        score_range: the least and greatest possible value; the interval is cut there.

    Raises:
        ValueError: lengths differ, an item has no unit, or `weighting` needs strata and there are none.

    >>> clustered_mean([1, 1, 0, 1], Units(["a", "a", "b", "b"], "nouns")).se
    0.25
    """
    return clustered_means(np.asarray(values, dtype=float)[None], units, score_range)[0]


def clustered_means(values: npt.ArrayLike, units: Units, score_range: Range = ACCURACY) -> list[Estimate]:
    """Estimate the mean of each of several scores of the same items: at once for scores that the same items have.

    Args:
        values: (scores, items); NaN where an item has no score.
        units: the units of the items.
        score_range: the least and greatest possible value of each score.

    Raises:
        ValueError: as `clustered_mean`.
    """
    scores = np.asarray(values, dtype=float)
    _check(scores.shape[1], units)
    scored = np.isfinite(scores)
    together: dict[bytes, list[int]] = {}
    for number, items in enumerate(scored):
        together.setdefault(items.tobytes(), []).append(number)
    estimates: dict[int, Estimate] = {}
    for numbers in together.values():
        items = scored[numbers[0]]
        if not items.any():
            no_units = [0] * (1 if units.crossed is None else 2)
            nothing = make_estimate(math.nan, math.nan, 0, no_units, score_range, units.name, 0)
            estimates |= dict.fromkeys(numbers, nothing)
            continue
        found = _means(scores[np.ix_(numbers, items)], units if items.all() else units.of(items), score_range)
        estimates |= dict(zip(numbers, found, strict=True))
    return [estimates[number] for number in range(len(scores))]


def _means(scores: Floats, units: Units, score_range: Range) -> list[Estimate]:
    """Estimate the means of scores that all items have, (scores, items)."""
    design = Design.of(units)
    weights, kinds = design.weights, design.kinds
    weighted = weights * scores
    sums = sums_by(design.cells, weighted)
    by_stratum = sums_by(design.strata, sums)
    residuals = [sums - design.cell_weights * kind.centres(by_stratum)[:, design.strata] for kind in kinds]
    variances = [
        kind.variance(sums_by(codes, own))
        for kind, codes, own in zip(kinds, design.dimensions, residuals, strict=True)
    ]
    if len(kinds) == 2:
        variances = [crossed_variance(*variances, *(sums_by(design.pairs, own) for own in residuals))]
    # Weights sum to 1 but for their rounding: 41,200 right answers are 1, not 0.99999999999989.
    total = math.fsum(weights)
    means = np.array([math.fsum(row) / total for row in weighted])
    n_effective = min(kind.n_effective for kind in kinds)
    n_items = 1 / float((weights**2).sum())
    least = least_weight(n_items, n_effective, score_range)
    least = least_weight(n_items, n_effective, score_range, spread(scores, weights, least))
    df = min(kind.df for kind in kinds)
    return make_estimates(
        means, variances[0], df, design.counts, score_range, units.name, scores.shape[1], n_effective, least
    )


def spread(scores: Floats, weights: Floats, least: float) -> Any:
    """Return φ of `estimate.py`.

    Args:
        scores: (..., items).
        weights: of the items, with the sum 1.
        least: ε.
    """
    squares, sizes = (scores**2) @ weights, np.abs(scores) @ weights
    centre = (scores @ weights) ** 2
    return np.clip((squares - centre + least) / (sizes - centre + least), 0, 1)


def sums_by(codes: Codes, values: Floats) -> Floats:
    """Add the values of each code, (..., items) to (..., codes)."""
    return np.array([np.bincount(codes, row) for row in values])


def codes_of(labels: npt.ArrayLike) -> Codes:
    """Number the distinct labels from 0; missing ones get -1."""
    return pd.factorize(np.asarray(labels))[0].astype(np.intp)


class Design(NamedTuple):
    """The units of items, as numbers. A cell is what has the same units and stratum.

    Attributes:
        weights: of the items, with the sum 1, (items,).
        cells: the cell of each item, (items,).
        cell_weights: sum of the weights of each cell, (cells,).
        dimensions: the unit of each cell, (cells,), of one kind or two.
        counts: how many units each kind has.
        strata: the stratum of each cell, (cells,).
        pairs: the pair of units of each cell, (cells,); of one kind, its unit.
        kinds: see `Kind`.
    """

    weights: Floats
    cells: Codes
    cell_weights: Floats
    dimensions: Sequence[Codes]
    counts: Sequence[int]
    strata: Codes
    pairs: Codes
    kinds: "Sequence[Kind]"

    @classmethod
    def of(cls, units: Units) -> "Design":
        """Number the units of items."""
        labels = [units.clusters] if units.crossed is None else [units.clusters, units.crossed]
        dimensions = [codes_of(label) for label in labels]
        counts = [count(codes) for codes in dimensions]
        n_items = len(dimensions[0])
        strata = codes_of(np.zeros(n_items) if units.strata is None else units.strata)
        equal = units.weighting == "strata"
        groups = strata if equal else dimensions[0]
        weights = 1 / (np.bincount(groups)[groups] * count(groups))
        if units.weighting == "items":
            weights = np.full(n_items, 1 / n_items)
        pairs = dimensions[0] if len(counts) == 1 else codes_of(dimensions[0] * counts[1] + dimensions[1])
        cells = codes_of(pairs * count(strata) + strata)
        cell_weights = np.bincount(cells, weights).astype(float)
        first = np.zeros(len(cell_weights), dtype=np.intp)
        first[cells[::-1]] = np.arange(n_items)[::-1]
        strata, dimensions = strata[first], [codes[first] for codes in dimensions]
        kinds = [Kind.of(table_of(strata, codes, cell_weights), equal) for codes in dimensions]
        return cls(weights, cells, cell_weights, dimensions, counts, strata, pairs[first], kinds)


class Kind(NamedTuple):
    """A kind of unit: how items become residuals, and residuals a variance.

    Attributes:
        factors: c of each unit, (units,).
        df: degrees of freedom; 0 with fewer than two units.
        n_effective: effective number of units.
        weights: of each stratum, (strata,).
        merged: a stratum for each stratum, (strata,): those with a single unit become one.
        lonely: whether a stratum has a single unit although it was merged, (strata,).
    """

    factors: Floats
    df: float
    n_effective: float
    weights: Floats
    merged: Codes
    lonely: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, shares: Floats, equal_strata: bool = False) -> "Kind":
        """Compute it from the weight of each unit in each stratum, (strata, units), with the sum 1.

        Args:
            shares: the weights.
            equal_strata: whether strata count the same, so that one with few units decides.

        >>> Kind.of(np.array([[0.25, 0.25, 0.5]]))[1:3]
        (1.6666666666666665, 2.6666666666666665)
        """
        n_units = (shares > 0).sum(axis=1)
        merged = np.arange(len(shares))
        merged[n_units == 1] = (n_units == 1).argmax()
        lonely = (n_units == 1) & ((n_units == 1).sum() == 1)
        table = np.zeros_like(shares)
        np.add.at(table, merged, shares)
        strata = shares.sum(axis=1), merged, lonely
        table = table[table.sum(axis=1) > 0]
        w, of_stratum = table.sum(axis=0), table.sum(axis=1)
        squares = float((w**2).sum())
        if len(w) < 2:
            return cls(np.full(len(w), np.nan), 0, 1 / squares, *strata)
        if ((table > 0).sum(axis=0) > 1).any():  # units are in several strata
            scaled = table / np.sqrt(of_stratum)[:, None]
            norm = squares - 2 * float(w @ (scaled**2).sum(axis=0)) + float(((scaled @ scaled.T) ** 2).sum())
            df = 1 / squares - 1
            if equal_strata:
                alone = (scaled**2).sum(axis=1) / of_stratum  # 1 / effective number of units of each stratum
                df = min(df, satterthwaite(of_stratum**2 * alone, 1 / alone - 1))
            return cls(np.full(len(w), squares / norm), max(df, 1), 1 / squares, *strata)
        stratum = table.argmax(axis=0)
        within = w / of_stratum[stratum]
        second, third = (np.bincount(stratum, within**power) for power in (2, 3))
        factors = second / np.where(np.bincount(stratum) == 1, second, second - 2 * third + second**2)
        df = satterthwaite(of_stratum**2 * second, 1 / second - 1)
        return cls(factors[stratum], df, 1 / squares, *strata)

    def centres(self, sums: npt.NDArray[Any]) -> Floats:
        """Return what is subtracted for residuals, (..., strata), from weighted sums of scores, (..., strata)."""
        together = (self.merged[:, None] == self.merged).astype(float)
        means = (sums @ together) / (self.weights @ together)
        overall = sums.sum(axis=-1, keepdims=True) / self.weights.sum()
        return np.asarray(np.where(self.lonely, overall, means))

    def variance(self, sums: npt.NDArray[Any]) -> Any:
        """Return V from the sums of weighted residuals of units, (..., units)."""
        return (self.factors * sums**2).sum(axis=-1)


def crossed_variance(
    first: npt.ArrayLike, second: npt.ArrayLike, cells: npt.NDArray[Any], other: npt.NDArray[Any]
) -> Any:
    """Return V over two crossed kinds of units.

    Args:
        first: V over the first kind.
        second: V over the second kind.
        cells: sums of residuals in each pair of units, (..., pairs), as centred for the first kind.
        other: the same, as centred for the second kind.
    """
    largest = np.maximum(first, second)
    return np.maximum(largest, np.asarray(first) + np.asarray(second) - (cells * other).sum(axis=-1))


def table_of(strata: Codes, units: Codes, weights: Floats) -> Floats:
    """Return the sum of weights of each unit in each stratum, (strata, units)."""
    shape = count(strata), count(units)
    flat = np.bincount(strata * shape[1] + units, weights, shape[0] * shape[1])
    return np.asarray(flat, dtype=float).reshape(shape)


def count(codes: Codes) -> int:
    """Return how many labels there are."""
    return int(codes.max()) + 1 if len(codes) else 0


def _check(n_items: int, units: Units) -> None:
    if units.weighting == "strata" and units.strata is None:
        raise ValueError(
            'weighting="strata" averages the means of strata, but no strata were given: give strata.'
        )
    for labels in filter(lambda given: given is not None, (units.clusters, units.crossed, units.strata)):
        missing = pd.isna(np.asarray(labels))
        if len(missing) != n_items:
            raise ValueError(
                f"{n_items} scores came with {len(missing)} labels of units ({units.name}): give one per score."
            )
        if missing.any():
            raise ValueError(
                f"{int(missing.sum())} of {len(missing)} items have no unit ({units.name}): label each item."
            )
