"""Means over items that share units, with cluster-robust standard errors.

One kind of unit, clusters g (a CR1 "sandwich" of an intercept-only regression):

    V = G/(G-1) · Σ_g (Σ_{i in g} w_i r_i)²

Two crossed kinds of units, g and l (Cameron, Gelbach and Miller 2011, eq. 2.8), with t on min(G, L) - 1 degrees of
freedom:

    V = G/(G-1) · Σ_g (Σ_{i in g} w_i r_i)² + L/(L-1) · Σ_l (Σ_{i in l} w_i r_i)² - Σ_{g,l} (Σ_{i in g,l} w_i r_i)²

V is at least the larger of the first two terms, because by chance the result can be smaller, even negative.

w_i is the item's weight in the mean (1/N, or see `Units.weighting`), and r_i = y_i - mean. With strata (fixed groups,
which another sample would contain again), r_i is y_i minus the stratum's mean. If clusters are nested in strata,
each stratum has its own factor G_s/(G_s-1), and df = G - S. A stratum of one cluster has no variance of its own; its
residual is the difference from the overall mean, as R's `survey` does with `survey.lonely.psu = "adjust"`.

Sources: Cameron and Miller (2015), A practitioner's guide to cluster-robust inference; Miller (2024), Adding error
bars to evals.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from .estimate import ACCURACY, Estimate, Range, make_estimate

Floats = npt.NDArray[np.float64]
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
        chosen = (None if labels is None else np.asarray(labels)[items] for labels in self._labels)
        clusters, crossed, strata = chosen
        assert clusters is not None
        return Units(clusters, self.name, crossed, strata, self.weighting)

    @property
    def _labels(self) -> tuple[npt.ArrayLike | None, ...]:
        return self.clusters, self.crossed, self.strata


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
    scores = np.asarray(values, dtype=float)
    scored = np.isfinite(scores)
    _check(scores, units)
    units, scores = units.of(scored), scores[scored]
    labels = [units.clusters] if units.crossed is None else [units.clusters, units.crossed]
    dimensions = [codes_of(label) for label in labels]
    counts = [_count(codes) for codes in dimensions]
    if not len(scores):
        return make_estimate(math.nan, math.nan, 0, counts, score_range, units.name, 0)
    strata = codes_of(np.zeros(len(scores)) if units.strata is None else units.strata)
    weights = _weights(strata if units.weighting == "strata" else dimensions[0], units.weighting)
    residuals = _residuals(scores, weights, strata, dimensions[0])
    terms = [cluster_term(_sums(codes, residuals), strata_of(codes, strata)) for codes in dimensions]
    variance, df = terms[0]
    if len(terms) == 2:
        cells = _sums(codes_of(dimensions[0] * counts[1] + dimensions[1]), residuals)
        variance, df = crossed_variance(terms[0], terms[1], cells)
    return make_estimate(float(weights @ scores), variance, df, counts, score_range, units.name, len(scores))


def codes_of(labels: npt.ArrayLike) -> Codes:
    """Number the distinct labels from 0; missing ones get -1."""
    return pd.factorize(np.asarray(labels))[0].astype(np.intp)


def cluster_term(sums: Floats, strata: Codes | None) -> tuple[float, float]:
    """Variance over one kind of unit, and its degrees of freedom.

    Args:
        sums: sum of weighted residuals of each cluster, (clusters,).
        strata: stratum of each cluster if clusters are nested in strata, else None.
    """
    n_clusters = len(sums)
    if n_clusters < 2:
        return math.nan, 0
    if strata is None:
        return float(n_clusters / (n_clusters - 1) * (sums**2).sum()), n_clusters - 1
    sizes = np.bincount(strata)[strata]
    factors = np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 1.0)
    return float((factors * sums**2).sum()), max(n_clusters - _count(strata), 1)


def crossed_variance(
    first: tuple[float, float], second: tuple[float, float], cells: npt.NDArray[Any]
) -> tuple[float, float]:
    """Variance over two crossed kinds of units, from the term of each kind and the sums of cells."""
    variances = (first[0], second[0])
    both = sum(variances) - float((cells**2).sum())
    return max(both, *variances) if math.isfinite(both) else math.nan, min(first[1], second[1])


def strata_of(clusters: Codes, strata: Codes) -> Codes | None:
    """Return the stratum of each cluster, (clusters,); None with one stratum, or if a cluster is in several."""
    if _count(strata) < 2:
        return None
    of_cluster = np.empty(_count(clusters), dtype=np.intp)
    of_cluster[clusters] = strata
    return of_cluster if np.array_equal(of_cluster[clusters], strata) else None


def _weights(groups: Codes, weighting: Weighting) -> Floats:
    if weighting == "items":
        return np.full(len(groups), 1 / len(groups))
    return 1 / (np.bincount(groups)[groups] * _count(groups))


def _residuals(scores: Floats, weights: Floats, strata: Codes, clusters: Codes) -> Floats:
    """Return weighted differences from the stratum's mean, or from the overall mean in strata of one cluster."""
    means = np.bincount(strata, weights * scores) / np.bincount(strata, weights)
    n_clusters = _count(clusters)
    alone = np.bincount(np.unique(strata * n_clusters + clusters) // n_clusters) == 1
    residuals: Floats = weights * (scores - np.where(alone, weights @ scores, means)[strata])
    return residuals


def _sums(codes: Codes, values: Floats) -> Floats:
    return np.bincount(codes, values).astype(np.float64)


def _count(codes: Codes) -> int:
    return int(codes.max()) + 1 if len(codes) else 0


def _check(scores: Floats, units: Units) -> None:
    if units.weighting == "strata" and units.strata is None:
        raise ValueError(
            'weighting="strata" averages the means of strata, but no strata were given: give strata.'
        )
    for labels in filter(lambda given: given is not None, (units.clusters, units.crossed, units.strata)):
        missing = pd.isna(np.asarray(labels))
        if len(missing) != len(scores):
            raise ValueError(
                f"{len(scores)} scores came with {len(missing)} labels of units ({units.name}): give one per score."
            )
        if missing.any():
            raise ValueError(
                f"{int(missing.sum())} of {len(missing)} items have no unit ({units.name}): label each item."
            )
