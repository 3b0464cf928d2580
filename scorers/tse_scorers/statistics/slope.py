"""The slope of a regression line whose observations share units, with a cluster-robust interval.

    b = Σ_i (x_i - x̄)(y_i - ȳ) / S,   S = Σ_i (x_i - x̄)²
    V = n/(n-1) · (N-1)/(N-2) · Σ_g (Σ_{i in g} (x_i - x̄) e_i)² / S²

with residuals e, N observations and n clusters (CR1), and t on G - 1 degrees of freedom, where G = 1 / Σ_g w_g² is the
effective number of clusters and w_g = Σ_{i in g} (x_i - x̄)² / S the cluster's share of what decides the slope. Source:
Cameron and Miller (2015), A practitioner's guide to cluster-robust inference, equation 11.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .clustered import codes_of
from .estimate import t_quantile


@dataclass(frozen=True)
class Slope:
    """A regression line.

    Attributes:
        slope: change of y for one more x; NaN with fewer than three clusters or without variation in x.
        intercept: y at x = 0.
        se: standard error of the slope.
        ci_low: lower end of its 95 % interval.
        ci_high: upper end.
        n_units: number of clusters.
        n_effective: effective number of clusters.
    """

    slope: float
    intercept: float
    se: float
    ci_low: float
    ci_high: float
    n_units: int
    n_effective: float = math.nan


def clustered_slope(x: npt.ArrayLike, y: npt.ArrayLike, clusters: npt.ArrayLike) -> Slope:
    """Fit y = a + b x by least squares; observations with a missing x or y are excluded.

    Args:
        x: (observations,).
        y: (observations,).
        clusters: the unit of each observation, any labels.

    >>> found = clustered_slope([0, 1, 2, 3], [0, 2, 4, 6.5], ["a", "b", "c", "d"])
    >>> round(found.slope, 2), found.ci_low < 2 < found.ci_high
    (2.15, True)
    """
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    is_known = np.isfinite(xs) & np.isfinite(ys)
    xs, ys, units = xs[is_known], ys[is_known], codes_of(np.asarray(clusters)[is_known])
    n_units = len(np.unique(units))
    spread = float(((xs - xs.mean()) ** 2).sum()) if len(xs) else 0.0
    if n_units < 3 or spread == 0:
        return Slope(math.nan, math.nan, math.nan, math.nan, math.nan, n_units)
    centred = xs - xs.mean()
    slope = float(centred @ (ys - ys.mean())) / spread
    intercept = float(ys.mean() - slope * xs.mean())
    sums = np.bincount(units, centred * (ys - intercept - slope * xs))
    n = len(xs)
    factor = n_units / (n_units - 1) * (n - 1) / (n - 2)
    se = math.sqrt(factor * float((sums**2).sum())) / spread
    n_effective = spread**2 / float((np.bincount(units, centred**2) ** 2).sum())
    margin = t_quantile(0.975, max(n_effective - 1, 1)) * se
    return Slope(slope, intercept, se, slope - margin, slope + margin, n_units, n_effective)
