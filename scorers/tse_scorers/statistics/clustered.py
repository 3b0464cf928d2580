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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
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
    make_estimates,
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

    def of(self, items: npt.NDArray[np.bool_] | Codes) -> "Units":
        """Return the units of some items, given by place or as bool, (items,)."""
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
    """Estimate the mean of each of several scores of the same items; see `means_of_groups`.

    Args:
        values: (scores, items); NaN where an item has no score.
        units: the units of the items.
        score_range: the least and greatest possible value of each score.
    """
    return means_of_groups([values], [units], score_range)[0]


def means_of_groups(
    values: Sequence[npt.ArrayLike], units: Sequence[Units], score_range: Range = ACCURACY
) -> list[list[Estimate]]:
    """Estimate the means of groups of items, at once for all groups and for scores that the same items have.

    Args:
        values: for each group, one or several scores of its items, (scores, items); NaN where an item has no score.
        units: for each group, the units of its items.
        score_range: the least and greatest possible value of each score.

    Returns:
        For each group, the estimate of each score.

    Raises:
        ValueError: as `clustered_mean`.
    """
    estimates: list[list[Estimate]] = []
    together: dict[tuple[tuple[int, ...], bool], list[tuple[int, Floats, Units]]] = {}
    for group, (group_values, of_group) in enumerate(zip(values, units, strict=True)):
        scores = np.asarray(group_values, dtype=float)
        _check(scores.shape[1], of_group)
        estimates.append([_nothing(of_group)] * len(scores))
        scored = np.isfinite(scores)
        patterns: dict[bytes, list[int]] = {}
        for place, items in enumerate(scored):
            patterns.setdefault(items.tobytes(), []).append(place)
        for places in patterns.values():
            items = scored[places[0]]
            if items.any():
                of_items = of_group if items.all() else of_group.of(items)
                part = group, scores[np.ix_(places, items)], of_items
                together.setdefault((tuple(places), of_group.crossed is not None), []).append(part)
    for (score_places, _), parts in together.items():
        numbers, scores_of_groups, units_of_groups = zip(*parts, strict=True)
        means = _means(np.concatenate(scores_of_groups, axis=1), units_of_groups, score_range)
        for (place, group), estimate in zip(product(score_places, numbers), means, strict=True):
            estimates[group][place] = estimate
    return estimates


def _nothing(units: Units) -> Estimate:
    """Return the estimate over no items."""
    n_crossed = None if units.crossed is None else 0
    return Estimate(math.nan, math.nan, math.nan, math.nan, 0, units.name, 0, 0, n_crossed)


def _means(scores: Floats, units: Sequence[Units], score_range: Range) -> list[Estimate]:
    """Estimate the means of scores that all items have, (scores, items), in each group; those of a score together.

    Args:
        scores: the items of one group after the other.
        units: of each group, all with one kind of unit or all with two.
        score_range: the least and greatest possible value.
    """
    design = Design.of(units)
    groups, weights, kinds = design.groups, design.weights, design.kinds
    sums = sums_by(design.cells, weights * scores)
    by_stratum = sums_by(design.strata, sums)
    residuals = [sums - design.cell_weights * kind.centres(by_stratum)[:, design.strata] for kind in kinds]
    variances = [
        kind.variance(sums_by(codes, measure_residuals))
        for kind, codes, measure_residuals in zip(kinds, design.dimensions, residuals, strict=True)
    ]
    if len(kinds) == 2:
        one, other = (sums_by(design.pairs, measure_residuals) for measure_residuals in residuals)
        both = sums_of_groups(design.of_pairs, one * other)
        variances = [crossed_variance(variances[0], variances[1], both)]
    # Weights are applied to sums, so that 41,200 right answers are 1, not 0.99999999999989.
    means_of_parts = sums_by(design.parts, scores) / np.bincount(design.parts)
    means = sums_of_groups(design.of_parts, means_of_parts) / np.bincount(design.of_parts)
    n_effective, df = (
        np.minimum.reduce([getattr(kind, name) for kind in kinds]) for name in ("n_effective", "df")
    )
    n_items = 1 / sums_of_groups(groups, weights**2)
    least = least_weight(n_items, n_effective, score_range)
    squares, sizes = (sums_of_groups(groups, weights * numbers) for numbers in (scores**2, np.abs(scores)))
    least = least_weight(n_items, n_effective, score_range, spread(squares, sizes, means, least))
    names, n = [of_group.name for of_group in units], np.bincount(groups)
    return make_estimates(means, variances[0], df, design.counts, score_range, names, n, n_effective, least)


def spread(squares: Floats, sizes: Floats, means: Floats, least: Floats) -> Any:
    """Return φ of `estimate.py`.

    Args:
        squares: means of the squared scores.
        sizes: means of the scores without their signs.
        means: means of the scores.
        least: ε.
    """
    centre = means**2
    return np.clip((squares - centre + least) / (sizes - centre + least), 0, 1)


def sums_by(codes: Codes, values: Floats, n: int = 0) -> Floats:
    """Add the values of each code, (..., items) to (..., codes), of which there are at least `n`."""
    rows = values.reshape(-1, len(codes))
    return np.array([np.bincount(codes, row, n) for row in rows]).reshape(*values.shape[:-1], -1)


def sums_of_groups(groups: Codes, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Add the values of each group, (..., items) to (..., groups); the items of a group stand together."""
    return np.add.reduceat(values, np.flatnonzero(np.diff(groups, prepend=-1)), axis=-1)


def codes_of(labels: npt.ArrayLike) -> Codes:
    """Number the distinct labels from 0; missing ones get -1."""
    return pd.factorize(np.asarray(labels))[0].astype(np.intp)


def _first_of(codes: Codes) -> Codes:
    """Return the place where each code is first."""
    first = np.zeros(count(codes), dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first


class Design(NamedTuple):
    """The units of the items of groups, as numbers: no two groups have the same unit or stratum.

    A cell is what has the same units and stratum, a part the items that have the same weight: of a group, stratum or
    cluster, as `Units.weighting` says.

    Attributes:
        groups: the group of each item, (items,).
        weights: of the items, with the sum 1 in each group, (items,).
        parts: the part of each item, (items,).
        of_parts: the group of each part, (parts,).
        cells: the cell of each item, (items,).
        cell_weights: sum of the weights of each cell, (cells,).
        dimensions: the unit of each cell, (cells,), of one kind or two.
        counts: how many units of each kind a group has, (groups,).
        strata: the stratum of each cell, (cells,).
        pairs: the pair of units of each cell, (cells,); of one kind, its unit.
        of_pairs: the group of each pair, (pairs,).
        kinds: see `Kind`.
    """

    groups: Codes
    weights: Floats
    parts: Codes
    of_parts: Codes
    cells: Codes
    cell_weights: Floats
    dimensions: Sequence[Codes]
    counts: Sequence[Codes]
    strata: Codes
    pairs: Codes
    of_pairs: Codes
    kinds: "Sequence[Kind]"

    @classmethod
    def of(cls, units: Sequence[Units]) -> "Design":
        """Number the units of items."""
        n_items = [len(np.asarray(of_group.clusters)) for of_group in units]
        groups = np.repeat(np.arange(len(units)), n_items)

        def numbered(labels: Iterable[npt.ArrayLike]) -> Codes:
            codes = codes_of(np.concatenate([np.asarray(of_group) for of_group in labels]))
            return codes_of(groups * count(codes) + codes)

        dimensions = [numbered(of_group.clusters for of_group in units)]
        if units[0].crossed is not None:
            dimensions.append(numbered(np.asarray(of_group.crossed) for of_group in units))
        strata = numbered(
            np.zeros(n) if of_group.strata is None else of_group.strata
            for of_group, n in zip(units, n_items, strict=True)
        )
        by_stratum, by_cluster = (
            np.array([of_group.weighting == weighting for of_group in units])
            for weighting in ("strata", "clusters")
        )
        parts = np.select([by_stratum[groups], by_cluster[groups]], [strata, dimensions[0]])
        parts = codes_of(groups * count(parts) + parts)
        of_parts = groups[_first_of(parts)]
        weights = 1 / (np.bincount(parts)[parts] * np.bincount(of_parts)[groups])
        of_units = [groups[_first_of(codes)] for codes in dimensions]
        pairs = dimensions[0]
        if len(dimensions) == 2:
            pairs = codes_of(dimensions[0] * count(dimensions[1]) + dimensions[1])
        cells = codes_of(pairs * count(strata) + strata)
        cell_weights, first = sums_by(cells, weights), _first_of(cells)
        of_strata = groups[_first_of(strata)]
        strata, of_pairs = strata[first], groups[_first_of(pairs)]
        dimensions = [codes[first] for codes in dimensions]
        kinds = [
            Kind.of_cells(strata, codes, cell_weights, of_strata, of_unit, by_stratum)
            for codes, of_unit in zip(dimensions, of_units, strict=True)
        ]
        counts = [np.bincount(of_unit) for of_unit in of_units]
        return cls(
            groups, weights, parts, of_parts, cells, cell_weights, dimensions, counts, strata, pairs[first],
            of_pairs, kinds,
        )  # fmt: skip


class Kind(NamedTuple):
    """A kind of unit: how the items of groups become residuals, and residuals a variance.

    Attributes:
        factors: c of each unit, (units,).
        df: degrees of freedom in each group, (groups,), 0 with fewer than two units; a number for one group.
        n_effective: effective number of units in each group, (groups,); a number for one group.
        weights: of each stratum, (strata,).
        merged: a stratum for each stratum, (strata,): those of a group with a single unit become one.
        lonely: whether a stratum has a single unit although it was merged, (strata,).
        of_strata: the group of each stratum, (strata,).
        of_units: the group of each unit, (units,).
    """

    factors: Floats
    df: Any
    n_effective: Any
    weights: Floats
    merged: Codes
    lonely: npt.NDArray[np.bool_]
    of_strata: Codes
    of_units: Codes

    @classmethod
    def of(cls, shares: Floats, equal_strata: bool = False) -> "Kind":
        """Compute it from the weight of each unit in each stratum of one group, (strata, units), with the sum 1.

        Args:
            shares: the weights.
            equal_strata: whether strata count the same, so that one with few units decides.

        >>> Kind.of(np.array([[0.25, 0.25, 0.5]]))[1:3]
        (1.6666666666666665, 2.6666666666666665)
        """
        strata, units = np.nonzero(shares > 0)
        of_strata, of_units = (np.zeros(n, dtype=np.intp) for n in shares.shape)
        equal = np.array([equal_strata])
        kind = cls.of_cells(strata, units, shares[strata, units], of_strata, of_units, equal)
        return kind._replace(df=float(kind.df[0]), n_effective=float(kind.n_effective[0]))

    @classmethod
    def of_cells(
        cls,
        strata: Codes,
        units: Codes,
        weights: Floats,
        of_strata: Codes,
        of_units: Codes,
        equal_strata: npt.NDArray[np.bool_],
    ) -> "Kind":
        """Compute it from the weights of cells; several may have the same stratum and unit.

        Args:
            strata: the stratum of each cell.
            units: the unit of each cell.
            weights: of the cells, with the sum 1 in each group.
            of_strata: the group of each stratum.
            of_units: the group of each unit.
            equal_strata: for each group, whether strata count the same, so that one with few units decides.
        """
        n_groups, n_strata, n_units = len(equal_strata), len(of_strata), len(of_units)
        weights_before = sums_by(strata, weights, n_strata)
        strata, units, weights = _put_together(strata, units, weights)
        is_single = np.bincount(strata, minlength=n_strata) == 1
        lonely = is_single & (sums_of_groups(of_strata, is_single.astype(float)) == 1)[of_strata]
        merged, single = np.arange(n_strata), np.flatnonzero(is_single)
        first = np.zeros(n_groups, dtype=np.intp)
        first[of_strata[single[::-1]]] = single[::-1]
        merged[single] = first[of_strata[single]]
        strata, units, weights = _put_together(merged[strata], units, weights)

        stratum_weights = np.bincount(strata, weights, n_strata)
        unit_weights = np.bincount(units, weights, n_units)
        squares = sums_of_groups(of_units, unit_weights**2)
        within = weights / stratum_weights[strata]
        second, third = (np.bincount(strata, within**power, n_strata) for power in (2, 3))
        has_one = np.bincount(strata, minlength=n_strata) == 1
        with np.errstate(divide="ignore", invalid="ignore"):  # strata that were merged into others
            factors_of_strata = second / np.where(has_one, second, second - 2 * third + second**2)
            shares, df_of_strata = stratum_weights**2 * second, np.maximum(1 / second - 1, 1)
        df = sums_of_groups(of_strata, shares) ** 2 / sums_of_groups(of_strata, shares**2 / df_of_strata)
        factors = np.full(n_units, np.nan)
        factors[units] = factors_of_strata[strata]

        is_crossing = sums_of_groups(of_units, np.bincount(units, minlength=n_units) > 1)
        if is_crossing.any():  # units of these groups are in several strata
            scaled = weights**2 / stratum_weights[strata]
            norms = squares - 2 * sums_of_groups(of_strata[strata], unit_weights[units] * scaled)
            norm = np.where(is_crossing, norms, 1.0)
            for group in np.flatnonzero(is_crossing):
                inside = of_strata[strata] == group
                rows, columns = codes_of(strata[inside]), codes_of(units[inside])
                table = np.zeros((count(rows), count(columns)))
                table[rows, columns] = weights[inside] / np.sqrt(stratum_weights[strata[inside]])
                norm[group] += ((table @ table.T) ** 2).sum()
            df_of_units = np.where(equal_strata, np.minimum(1 / squares - 1, df), 1 / squares - 1)
            df = np.where(is_crossing, np.maximum(df_of_units, 1), df)
            factors = np.where(is_crossing[of_units], (squares / norm)[of_units], factors)
        is_alone = np.bincount(of_units) < 2
        factors = np.where(is_alone[of_units], np.nan, factors)
        df = np.where(is_alone, 0, df)
        return cls(factors, df, 1 / squares, weights_before, merged, lonely, of_strata, of_units)

    def centres(self, sums: npt.NDArray[Any]) -> Floats:
        """Return what is subtracted for residuals, (..., strata), from weighted sums of scores, (..., strata)."""
        n = len(self.merged)
        means = (
            sums_by(self.merged, sums, n)[..., self.merged]
            / np.bincount(self.merged, self.weights, n)[self.merged]
        )
        of_groups = sums_of_groups(self.of_strata, sums) / sums_of_groups(self.of_strata, self.weights)
        return np.where(self.lonely, of_groups[..., self.of_strata], means)

    def variance(self, sums: npt.NDArray[Any]) -> Any:
        """Return V of each group from the sums of weighted residuals of units, (..., units)."""
        squares = self.factors * sums**2
        return sums_of_groups(self.of_units, squares) if np.ndim(self.df) else squares.sum(axis=-1)


def _put_together(strata: Codes, units: Codes, weights: Floats) -> tuple[Codes, Codes, Floats]:
    """Add the weights of cells with the same stratum and unit."""
    cells = codes_of(strata * count(units) + units)
    first = _first_of(cells)
    return strata[first], units[first], sums_by(cells, weights)


def crossed_variance(first: npt.ArrayLike, second: npt.ArrayLike, both: npt.ArrayLike) -> Any:
    """Return V over two crossed kinds of units.

    Args:
        first: V over the first kind.
        second: V over the second kind.
        both: sum over pairs of units of the products of their residuals, centred for the one and for the other kind.
    """
    largest = np.maximum(first, second)
    return np.maximum(largest, np.asarray(first) + np.asarray(second) - np.asarray(both))


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
    for labels in filter(lambda values: values is not None, (units.clusters, units.crossed, units.strata)):
        missing = pd.isna(np.asarray(labels))
        if len(missing) != n_items:
            raise ValueError(
                f"{n_items} scores came with {len(missing)} labels of units ({units.name}): give one per score."
            )
        if missing.any():
            raise ValueError(
                f"{int(missing.sum())} of {len(missing)} items have no unit ({units.name}): label each item."
            )
