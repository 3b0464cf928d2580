"""Differences of two systems on the items that both scored, with the units of the scores themselves.

The difference of two means over the same items is the mean of the items' differences, so the formulas of
`clustered.py` and `cells.py` apply. p is from Student's t.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .cells import CellSums, crossed_mean
from .clustered import Units, clustered_mean, clustered_means
from .estimate import DIFFERENCE, Estimate, Floats, t_quantile, two_sided_p

T_TEST = "cluster-robust t test"


@dataclass(frozen=True)
class Difference:
    """A system's score minus a reference's, on the items that both scored.

    Attributes:
        score: mean of the system.
        reference_score: mean of the reference.
        estimate: the difference, with its interval and units.
        p: two-sided p-value of "the systems do not differ"; NaN without a standard error.
        n_excluded: items that only one of the two scored.
    """

    score: float
    reference_score: float
    estimate: Estimate
    p: float
    n_excluded: int = 0

    @property
    def minimum_detectable(self) -> float:
        """The smallest true difference that such data detect with 80 % power at the 5 % level."""
        return minimum_detectable_difference(self.estimate.se, self.estimate.df)


def paired_difference(scores: npt.ArrayLike, reference: npt.ArrayLike, units: Units) -> Difference:
    """Compare two systems on the items that both scored.

    Args:
        scores: scores of the system, (items,); NaN if an item has no score.
        reference: scores of the reference, for the same items in the same order.
        units: the units of the items.
    """
    one, other = np.asarray(scores, dtype=float), np.asarray(reference, dtype=float)
    both = np.isfinite(one) & np.isfinite(other)
    either = np.isfinite(one) | np.isfinite(other)
    shared = units.of(both)
    score, reference_score = (mean.mean for mean in clustered_means(np.stack([one, other])[:, both], shared))
    estimate = clustered_mean((one - other)[both], shared, DIFFERENCE)
    return Difference(score, reference_score, estimate, two_sided_p(estimate), int(either.sum() - both.sum()))


def crossed_difference(
    cells: CellSums,
    reference: CellSums,
    name: str,
    strata: npt.ArrayLike | None = None,
    units: npt.ArrayLike | None = None,
) -> Difference:
    """Compare two systems by their matrices contexts x lemmas, over the same contexts and lemmas.

    Args:
        cells: the system's sums.
        reference: the reference's sums, with the same clusters and lemmas (see `CellSums.of_lemmas`).
        name: name of the units.
        strata: fixed group of each cluster, (clusters,).
        units: unit of each cluster; see `crossed_mean`.

    Raises:
        ValueError: the systems have outcomes in different cells.
    """
    estimate = crossed_mean(cells.minus(reference), name, strata, DIFFERENCE, units)
    score, reference_score = (
        crossed_mean(cells_of_one, name, strata).mean for cells_of_one in (cells, reference)
    )
    return Difference(score, reference_score, estimate, two_sided_p(estimate))


def minimum_detectable_difference(se: float, df: float) -> float:
    """(t_0.975 + t_0.8) · se: the true difference that is significant at 5 % in 80 % of samples.

    Source: Bloom (1995), Minimum detectable effects.
    """
    return (t_quantile(0.975, df) + t_quantile(0.8, df)) * se


def holm(p_values: npt.ArrayLike) -> Floats:
    """Return Holm's adjusted p-values, which limit the probability of any false finding among them.

    NaN stays NaN and does not count as a test. Source: Holm (1979), A simple sequentially rejective multiple test
    procedure.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else steps
    return adjusted
