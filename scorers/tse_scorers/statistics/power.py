"""How many templates and lemmas are needed to detect a difference: power from variance components.

A difference of two systems in cluster g and lemma l is d + a_g + b_l + e_gl. Its mean over G clusters and L lemmas has

    se² = σ_a²/G + σ_b²/L + σ_e²/(G·L)

and the test is a t test with min(G, L) - 1 degrees of freedom. The components come from a two-way analysis of variance
(method of moments): σ_a² = (MS_a - MS_e)/L, σ_b² = (MS_b - MS_e)/G, σ_e² = MS_e, and at least 0.

Sources: Searle, Casella and McCulloch (1992), Variance components, ch. 4; Westfall, Kenny and Judd (2014), Statistical
power and optimal design in experiments in which samples of participants respond to samples of stimuli.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy  # whose parts are imported when they are used: scipy.stats takes half a second

from .cells import CellSums, sum_rows
from .clustered import Kind, Units, codes_of
from .estimate import Estimate

MOST_CLUSTERS = 100_000
"""Numbers of clusters above this are not tried."""


class Components(NamedTuple):
    """Variances between clusters of contexts, between lemmas, and of their interaction."""

    clusters: float
    lemmas: float
    cells: float

    def se(self, n_clusters: int, n_lemmas: int | None = None) -> float:
        """Return the standard error of a mean over these numbers of clusters and lemmas.

        Without lemmas (None), clusters are the only kind of unit: BLiMP's paradigms, German templates.
        """
        if n_lemmas is None:
            return math.sqrt(self.clusters / n_clusters)
        variance = self.clusters / n_clusters + self.lemmas / n_lemmas + self.cells / (n_clusters * n_lemmas)
        return math.sqrt(variance)


def variance_components(means: npt.ArrayLike) -> Components:
    """Estimate the components from a matrix clusters x lemmas of cell means.

    Args:
        means: (clusters, lemmas), for instance of the differences of two systems; either the rows or the columns
            with a missing cell (NaN) are excluded, whichever loses fewer cells.

    Raises:
        ValueError: fewer than two complete rows or columns.
    """
    cells = _complete(np.asarray(means, dtype=float))
    n_rows, n_columns = cells.shape
    if n_rows < 2 or n_columns < 2:
        raise ValueError(
            f"Variance components need 2 clusters and 2 lemmas without missing cells; the matrix has {n_rows} x "
            f"{n_columns}. Give more data, or only the lemmas that all clusters have."
        )
    rows, columns, mean = cells.mean(axis=1), cells.mean(axis=0), cells.mean()
    residuals = cells - rows[:, None] - columns[None, :] + mean
    of_cells = float((residuals**2).sum() / ((n_rows - 1) * (n_columns - 1)))
    of_rows = max(0.0, float(rows.var(ddof=1)) - of_cells / n_columns)
    of_columns = max(0.0, float(columns.var(ddof=1)) - of_cells / n_rows)
    return Components(of_rows, of_columns, of_cells)


def components_of(
    cells: CellSums, strata: npt.ArrayLike | None = None, units: npt.ArrayLike | None = None
) -> Components | None:
    """Estimate the components from the cell sums of a matrix (for a difference: `cells.minus(reference)`).

    Args:
        cells: the sums.
        strata: fixed group of each cluster, whose mean is not a variance; see `crossed_mean`.
        units: unit of each cluster; see `crossed_mean`.

    Returns:
        None with fewer than two units or lemmas.
    """
    n = len(cells.sums)
    groups = codes_of(np.zeros(n) if strata is None else strata)
    unit = codes_of(np.arange(n) if units is None else units)
    totals, weights = (np.bincount(groups, of_cells.sum(axis=1)) for of_cells in (cells.sums, cells.weights))
    with np.errstate(divide="ignore", invalid="ignore"):
        centred = cells.sums - cells.weights * (totals / weights)[groups, None]
    residuals, weight = sum_rows(centred, unit), sum_rows(cells.weights, unit)
    filled = weight > 0
    if min(filled.any(axis=1).sum(), filled.any(axis=0).sum()) < 2:
        return None
    if filled.all():
        return variance_components(residuals / weight)
    by_unit = np.zeros((groups.max() + 1, len(weight)))
    np.add.at(by_unit, (groups, unit), cells.weights.sum(axis=1))
    tables = by_unit, sum_rows(cells.weights, groups)
    return _unbalanced(residuals, weight, [Kind.of(table / table.sum()) for table in tables])


def _unbalanced(
    residuals: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], kinds: Sequence[Kind]
) -> Components:
    """Estimate the components from weighted sums of residuals where cells are missing, (clusters, lemmas).

    The squares of the sums by cluster, by lemma and by cell have expectations that are linear in the components
    (Searle, Casella and McCulloch 1992, ch. 5: the method of moments for unbalanced data).
    """
    total = weights.sum()
    sums, shares = residuals / total, weights / total
    in_cells, of_cells = float((sums**2).sum()), float((shares**2).sum())
    components = []
    for axis, kind in zip((1, 0), kinds, strict=True):
        totals, share = sums.sum(axis=axis), shares.sum(axis=axis)
        between = float(kind.variance(totals)) - in_cells
        remaining = float((share**2).sum()) - of_cells
        components.append(max(0.0, between / remaining) if remaining > 0 else 0.0)
    return Components(components[0], components[1], max(0.0, in_cells / of_cells - sum(components)))


def components_of_items(values: npt.ArrayLike, units: Units, estimate: Estimate) -> Components | None:
    """Estimate the components from items.

    Args:
        values: score of each item, (items,).
        units: of the items. Of one kind of unit, the variance between clusters follows from that of the mean.
        estimate: the mean of the items.
    """
    clusters = codes_of(units.clusters)
    if units.crossed is None:
        has_se = not math.isnan(estimate.se)
        return Components(estimate.variance * estimate.n_effective, 0.0, 0.0) if has_se else None
    crossed = codes_of(units.crossed)
    strata = codes_of(np.zeros(len(clusters)) if units.strata is None else units.strata)
    row = codes_of(clusters * (strata.max() + 1) + strata)
    sums, weights = (np.zeros((row.max() + 1, crossed.max() + 1)) for _ in range(2))
    np.add.at(sums, (row, crossed), np.asarray(values, dtype=float))
    np.add.at(weights, (row, crossed), 1.0)
    of_row = np.zeros((2, len(sums)), dtype=np.intp)
    of_row[:, row] = strata, clusters
    cells = CellSums(sums, weights, np.arange(len(sums)).astype(object), len(row))
    return components_of(cells, *of_row)


def power_of_t(difference: float, se: float, df: float) -> float:
    """Return the probability that a two-sided t test at 5 % detects a true difference (noncentral t distribution)."""
    if se == 0:
        return float(difference != 0)
    critical = scipy.special.stdtrit(df, 0.975)
    shifted = scipy.stats.nct(df, abs(difference) / se)
    power = float(shifted.sf(critical) + shifted.cdf(-critical))
    return power if math.isfinite(power) else 1.0  # scipy's noncentral t is NaN in the far tail: power 1


def power(difference: float, components: Components, n_clusters: int, n_lemmas: int | None) -> float:
    """Return the probability of detecting a true difference with these numbers of clusters and lemmas."""
    fewest = n_clusters if n_lemmas is None else min(n_clusters, n_lemmas)
    return power_of_t(difference, components.se(n_clusters, n_lemmas), fewest - 1)


def fewest_clusters(
    difference: float, components: Components, n_lemmas: int | None, target: float = 0.8
) -> int | None:
    """Return the least number of clusters (templates) that detects a difference.

    Args:
        difference: the true difference to detect.
        components: variance components of the difference between the systems.
        n_lemmas: number of lemmas; None for one kind of unit.
        target: the required power.

    Returns:
        None where no number up to `MOST_CLUSTERS` has that power.
    """
    low, high = 2, MOST_CLUSTERS  # power grows with the number of clusters
    if (n_lemmas is not None and n_lemmas < 2) or power(difference, components, high, n_lemmas) < target:
        return None
    while low < high:
        middle = (low + high) // 2
        if power(difference, components, middle, n_lemmas) >= target:
            high = middle
        else:
            low = middle + 1
    return low


def _complete(cells: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    cells = cells[np.isfinite(cells).any(axis=1)][:, np.isfinite(cells).any(axis=0)]
    rows, columns = np.isfinite(cells).all(axis=1), np.isfinite(cells).all(axis=0)
    by_row = int(rows.sum()) * cells.shape[1] >= int(columns.sum()) * cells.shape[0]
    return cells[rows] if by_row else cells[:, columns]
