"""A mean with its standard error and 95 % interval, continuous up to the ends of the range.

Near 0 and 1 the variance V between units says too little: a sample without an error has V = 0, as if other units could
not have one. So one more item of each kind is assumed (Agresti and Min 2005), with the weight

    κ = √φ / (n₀ + 2),   n₀ = n / (1 + ρ (n/G - 1))

n is the number of items and G the effective number of units (`clustered.py`). ρ is a least correlation of the items of
a unit, 0.2 for scores and 0.05 for differences: an assumption, because data without errors cannot show it. φ is 1 for
items that are 0 or 1 and for systems without a difference, and smaller for items of less variance (`clustered.py`).

A score p in [0, 1] moves to p̃ = p + κ (1 - 2p), and has the interval of Clopper and Pearson for p n* correct of n*
items (Korn and Graubard 1998), with t = t(0.975, df) and

    n* = p̃ (1 - p̃) / (V + (p̃ - p)²) · (1.96 / t)²

with κ² for V + (p̃ - p)² where all units have the same score, such as 0.5 (V = 0).

A difference has mean ± t √(V + κ²). So 54 of 54 and 53 of 54 have similar intervals, and two equal models differ by 0
with p = 1 and the width that their items allow.

Sources: Korn and Graubard (1998), Confidence intervals for proportions with small expected number of positive counts
estimated from survey data; Agresti and Min (2005), Simple improved confidence intervals for comparing matched
proportions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt
import scipy  # whose parts are imported when they are used

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
Range = tuple[float, float]
"""Least and greatest value that a score can have."""

ACCURACY: Range = (0.0, 1.0)
DIFFERENCE: Range = (-1.0, 1.0)
MIN_RELIABLE_UNITS = 4
"""With fewer effective units (fewer than 3 degrees of freedom), an interval says little: see the simulations."""
LEAST_CORRELATION = {ACCURACY: 0.2, DIFFERENCE: 0.05}
"""ρ: the least correlation that is assumed between items of a unit, where data near 0 or 1 cannot show it."""
_ROUNDING = 1e-9
_FLOAT_NOISE = 1e-14
"""How far sums of weighted items may be from a mean of exactly 0 or 1."""
_MOST_ITEMS = 1e9


@dataclass(frozen=True)
class Estimate:
    """A mean over items and its precision, or another score, such as a correlation with a bootstrap interval.

    Attributes:
        mean: the score, in the unit of the items; NaN without items.
        se: standard error; NaN with fewer than two units. For a score √V, 0 where all items score the same; for a
            difference √(V + κ²), see the module.
        ci_low: lower end of the 95 % interval.
        ci_high: upper end.
        df: degrees of freedom of the t distribution; for other intervals `n_effective` - 1. With fewer than 3, results
            call the interval unreliable.
        unit: what varies, for instance "subject nouns x lemmas".
        n_units: number of units; for two crossed kinds, that of the first.
        n_items: items that have a score.
        n_crossed: number of units of the second kind; None if there is only one kind.
        n_effective: how many units of equal size give the same precision, the smaller number of two crossed kinds.
        variance: V, between units.
        least_weight: κ, see the module.
    """

    mean: float
    se: float
    ci_low: float
    ci_high: float
    df: float
    unit: str
    n_units: int
    n_items: int
    n_crossed: int | None = None
    n_effective: float = math.nan
    variance: float = math.nan
    least_weight: float = 0.0

    def columns(self) -> dict[str, Any]:
        """Return the precision for a row of results, from `se` to `reliable`."""
        precision = {"se": self.se, "ci_low": self.ci_low, "ci_high": self.ci_high, "unit": self.unit}
        return precision | {
            "n_units": self.n_units,
            "n_units_effective": self.n_effective,
            "reliable": self.reliable,
        }

    @property
    def reliable(self) -> bool:
        """Whether there is an interval, over at least 4 effective units of each kind: 3 degrees of freedom."""
        return not (math.isnan(self.mean) or math.isnan(self.se)) and enough_units(self.df + 1)


class Stratum(NamedTuple):
    """The estimate of a fixed group: a row of results."""

    mean: float
    se: float
    n_units: float
    n_effective: float
    n_items: float


@overload
def enough_units(n_effective: float) -> bool: ...
@overload
def enough_units(n_effective: "pd.Series[float]") -> "pd.Series[bool]": ...
def enough_units(n_effective: "float | pd.Series[float]") -> "bool | pd.Series[bool]":
    """Whether an interval over this effective number of units, or each of several, is reliable; not for NaN."""
    return n_effective >= MIN_RELIABLE_UNITS - _ROUNDING


def make_estimate(
    mean: float,
    variance: float,
    df: float,
    counts: Sequence[int],
    score_range: Range,
    unit: str,
    n_items: int,
    n_effective: float = math.nan,
    least_weight: float = 0.0,
) -> Estimate:
    """Put an interval around a mean.

    Args:
        mean: mean of the items.
        variance: V, between units; NaN if it cannot be estimated.
        df: degrees of freedom.
        counts: how many units there are, one number per kind of unit.
        score_range: `ACCURACY` or `DIFFERENCE`.
        unit: what varies.
        n_items: number of items in the mean.
        n_effective: effective number of units.
        least_weight: κ.
    """
    means, variances, least = (np.array([number]) for number in (mean, variance, least_weight))
    return make_estimates(means, variances, df, counts, score_range, [unit], n_items, n_effective, least)[0]


def make_estimates(
    means: Floats,
    variances: Floats,
    df: npt.ArrayLike,
    counts: Sequence[npt.ArrayLike],
    score_range: Range,
    units: Sequence[str],
    n_items: npt.ArrayLike,
    n_effective: npt.ArrayLike,
    least: Floats,
) -> list[Estimate]:
    """Put an interval around each of several means, (..., groups), one after the other; see `make_estimate`.

    Args:
        means: of groups of items; before the groups may come an axis of several scores.
        variances: V, as `means`.
        df: degrees of freedom, (groups,) or a number, as are the next ones.
        counts: how many units there are, for each kind of unit.
        score_range: `ACCURACY` or `DIFFERENCE`.
        units: what varies, (groups,).
        n_items: number of items in the mean.
        n_effective: effective number of units.
        least: κ, as `means`.
    """
    at_end = means
    for end in score_range:
        at_end = np.where(np.abs(means - end) <= _ROUNDING, end, at_end)
    means = np.where(np.abs(means - at_end) <= _FLOAT_NOISE, at_end, means)  # a share of 1e-11 is not 0
    variances = np.where(np.abs(variances) <= _ROUNDING**2, 0.0, variances)
    low, high = interval(at_end, variances, df, score_range, least)
    se = np.sqrt(variances + least**2 * (score_range == DIFFERENCE))
    has_variance = np.isfinite(variances) & (np.asarray(df) >= 1)
    se, low, high = (np.where(has_variance, numbers, math.nan) for numbers in (se, low, high))
    crossed = counts[1] if len(counts) > 1 else np.array(None)
    by_group = (np.maximum(df, 0), units, counts[0], n_items, crossed, n_effective)
    columns = map(np.asarray, (means, se, low, high, *by_group, variances, least))
    rows = zip(*(np.broadcast_to(column, means.shape).ravel().tolist() for column in columns), strict=True)
    return list(starmap(Estimate, rows))


def interval(
    mean: npt.ArrayLike, variance: npt.ArrayLike, df: npt.ArrayLike, score_range: Range, least: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Return the ends of 95 % intervals; see the module.

    Args:
        mean: means, any shape.
        variance: their V, of the same shape.
        df: degrees of freedom, of the same shape or a number.
        score_range: `ACCURACY` or `DIFFERENCE`; the interval lies within.
        least: κ.

    >>> [round(float(end), 3) for end in interval(1.0, 0.0, 19, ACCURACY, least_weight(20, 20, ACCURACY))]
    [0.818, 1.0]
    """
    p, least = np.asarray(mean, dtype=float), np.asarray(least, dtype=float)
    between, t = np.asarray(variance, dtype=float), t_quantile(0.975, df)
    low, high = score_range
    if score_range != ACCURACY:
        margin = t * np.sqrt(between + least**2)
        return np.maximum(low, p - margin), np.minimum(high, p + margin)
    moved = p + least * (1 - 2 * p)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(between > 0, between + (moved - p) ** 2, least**2)
        n = moved * (1 - moved) / spread * (scipy.special.ndtri(0.975) / t) ** 2
        n = np.minimum(n, _MOST_ITEMS)  # a constant score of 0.5
        right, wrong = n * p, n * (1 - p)
        ends = (
            np.where(right > _ROUNDING, scipy.special.betaincinv(right, wrong + 1, 0.025), 0.0),
            np.where(wrong > _ROUNDING, scipy.special.betaincinv(right + 1, wrong, 0.975), 1.0),
        )
    return ends


def least_weight(
    n_items: npt.ArrayLike, n_effective: npt.ArrayLike, score_range: Range, spread: npt.ArrayLike = 1.0
) -> Any:
    """Return κ.

    Args:
        n_items: number of items (of unequal weights, the effective number).
        n_effective: effective number of units.
        score_range: `ACCURACY` or `DIFFERENCE`.
        spread: φ; see the module.
    """
    items = np.asarray(n_items, dtype=float)
    n = items / (1 + LEAST_CORRELATION[score_range] * (items / np.asarray(n_effective) - 1))
    return np.sqrt(spread) / (n + 2)


def mean_of_strata(strata: Sequence[Stratum], unit: str, minus: int = 0) -> Estimate:
    """Estimate the mean of the means of fixed strata from the estimate of each, as `clustered_mean` does from items.

        V = Σ_s se_s² / S²

    Args:
        strata: the S strata; no cluster is in two.
        unit: what varies.
        minus: how many of the last strata are subtracted: the result is the mean of the first ones minus theirs.

    Raises:
        ValueError: there are no strata, or all of them are subtracted.

    >>> found = mean_of_strata([Stratum(0.9, 0.03, 20, 20, 40), Stratum(0.7, 0.04, 20, 20, 40)], "critical words")
    >>> round(found.mean, 3), round(found.se, 3), found.df
    (0.8, 0.025, 38.0)
    """
    n_kept = len(strata) - minus
    if n_kept < 1:
        raise ValueError(f"{len(strata)} strata with {minus} to subtract leave none; expected one or more.")
    weights = np.array([1 / n_kept] * n_kept + [-1 / minus] * minus if minus else [1 / n_kept] * n_kept)
    mean, se, n_units, n_effective, n_items = np.array(strata, dtype=float).T
    total, score_range = float(weights @ mean), DIFFERENCE if minus else ACCURACY
    if not np.isfinite([*se, *n_units, *n_effective, *n_items]).all():
        return make_estimate(total, math.nan, 0, [0], score_range, unit, 0)
    shares = weights**2 / n_effective
    least = least_weight(1 / float((weights**2 / n_items).sum()), 1 / float(shares.sum()), score_range)
    return make_estimate(
        total,
        float((weights**2) @ se**2),
        satterthwaite(shares, n_effective - 1),
        [int(n_units.sum())],
        score_range,
        unit,
        len(strata),
        1 / float(shares.sum()),
        float(least),
    )


def satterthwaite(variances: Floats, df: Floats) -> float:
    """Return the degrees of freedom of a sum of variances, each with its own, at least 1."""
    return float(variances.sum() ** 2 / (variances**2 / np.maximum(df, 1)).sum())


def t_quantile(probability: float, df: npt.ArrayLike) -> Any:
    """Quantile of Student's t distribution; NaN without degrees of freedom."""
    at_least_one = np.where(np.asarray(df) >= 1, df, math.nan)
    quantiles = scipy.special.stdtrit(at_least_one, probability)
    return quantiles if np.ndim(df) else float(quantiles)


def two_sided_p(estimate: Estimate) -> float:
    """Return the p-value of "the difference is 0", by Student's t; NaN without a standard error."""
    if not estimate.se > 0:  # NaN, or the score of a condition whose items are alike
        return math.nan
    return float(2 * scipy.special.stdtr(estimate.df, -abs(estimate.mean) / estimate.se))
