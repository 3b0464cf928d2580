"""A mean with its standard error and 95 % interval: mean ± t(0.975, df) · se.

If all items score the same, se is 0 and the t interval has no width, as if other units could not score differently.
Instead, the interval is Clopper and Pearson's for 0 successes in n units. n is the number of units (the smaller one
for two crossed kinds). With 97.5 % confidence, at most a share u = 1 - 0.025^(1/n) of units scores differently, and
in the worst case these score at an end of the range. For an accuracy of 1 from 20 units this is
[0.83, 1]; the "rule of three" is the same bound at 95 %, one-sided, for large n.

Source: Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import scipy  # whose parts are imported when they are used

Range = tuple[float, float]
"""Least and greatest value that a score can have."""

ACCURACY: Range = (0.0, 1.0)
DIFFERENCE: Range = (-1.0, 1.0)
MIN_RELIABLE_UNITS = 10
"""With fewer units, cluster-robust standard errors are too small too often (Cameron, Gelbach and Miller 2008)."""
_NO_VARIANCE = 1e-12
"""A standard error below this share of the range is rounding."""


@dataclass(frozen=True)
class Estimate:
    """A mean over items and its precision.

    Attributes:
        mean: the score, in the unit of the items; NaN without items.
        se: standard error over the units; NaN with fewer than two units; 0 where all items score the same.
        ci_low: lower end of the 95 % interval, cut at the least possible score.
        ci_high: upper end, cut at the greatest possible score. The uncut ends are mean ± `margin`.
        df: degrees of freedom of the t distribution.
        unit: what varies, for instance "subject nouns x lemmas".
        n_units: number of units; for two crossed kinds, that of the first.
        n_items: items that have a score.
        n_crossed: number of units of the second kind; None if there is only one kind.
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

    @property
    def margin(self) -> float:
        """Half the width of the interval before it is cut: t(0.975, df) · se."""
        return t_quantile(0.975, self.df) * self.se

    def columns(self) -> dict[str, Any]:
        """Return the precision for a row of results: `se`, `ci_low`, `ci_high`, `unit`, `n_units`, `reliable`."""
        precision = {"se": self.se, "ci_low": self.ci_low, "ci_high": self.ci_high}
        return precision | {"unit": self.unit, "n_units": self.n_units, "reliable": self.reliable}

    @property
    def reliable(self) -> bool:
        """Whether each kind has at least 10 units; with fewer, the interval is often too short."""
        return (
            min(self.n_units, self.n_units if self.n_crossed is None else self.n_crossed)
            >= MIN_RELIABLE_UNITS
        )


def make_estimate(
    mean: float,
    variance: float,
    df: float,
    counts: Sequence[int],
    score_range: Range,
    unit: str,
    n_items: int,
) -> Estimate:
    """Put an interval around a mean.

    Args:
        mean: mean of the items.
        variance: variance of the mean; NaN if it cannot be estimated.
        df: degrees of freedom.
        counts: how many units there are, one number per kind of unit.
        score_range: the interval is cut at these.
        unit: what varies.
        n_items: number of items in the mean.
    """
    low, high = score_range
    if df < 1 or not math.isfinite(variance):
        se, ends = math.nan, (math.nan, math.nan)
    elif math.sqrt(max(variance, 0.0)) <= _NO_VARIANCE * (high - low):
        mean = next((end for end in score_range if abs(mean - end) <= _NO_VARIANCE * (high - low)), mean)
        se, ends = 0.0, constant_interval(mean, min(counts), score_range)
    else:
        se = math.sqrt(variance)
        margin = t_quantile(0.975, df) * se
        ends = max(low, mean - margin), min(high, mean + margin)
    crossed = counts[1] if len(counts) > 1 else None
    return Estimate(mean, se, *ends, max(df, 0), unit, counts[0], n_items, crossed)


def mean_of_strata(strata: Sequence[tuple[float, float, float]], unit: str, minus: int = 0) -> Estimate:
    """Estimate the mean of the means of fixed strata from the estimate of each, as `clustered_mean` does from items.

        V = Σ_s se_s² / S²,   df = Σ_s (G_s - 1)

    Args:
        strata: (mean, standard error, number of clusters) of each of the S strata; no cluster is in two.
        unit: what varies.
        minus: how many of the last strata are subtracted: the result is the mean of the first ones minus theirs.

    Raises:
        ValueError: there are no strata, or all of them are subtracted.

    >>> found = mean_of_strata([(0.9, 0.03, 20), (0.7, 0.04, 20)], "critical words")
    >>> round(found.mean, 3), round(found.se, 3), found.df
    (0.8, 0.025, 38)
    """
    kept = len(strata) - minus
    if kept < 1:
        raise ValueError(f"{len(strata)} strata with {minus} to subtract leave none; expected one or more.")
    weights = [1 / kept] * kept + [-1 / minus] * minus if minus else [1 / kept] * kept
    mean = sum(weight * own for weight, (own, _, _) in zip(weights, strata, strict=True))
    variance = sum((weight * se) ** 2 for weight, (_, se, _) in zip(weights, strata, strict=True))
    n_units = sum(n for _, _, n in strata)
    if not math.isfinite(n_units):
        return make_estimate(mean, math.nan, 0, [0], ACCURACY, unit, 0)
    score_range = DIFFERENCE if minus else ACCURACY
    return make_estimate(
        mean, variance, n_units - len(strata), [int(n_units)], score_range, unit, len(strata)
    )


def constant_interval(mean: float, n_units: int, score_range: Range) -> tuple[float, float]:
    """Return the 95 % interval if all items score the same; see the module.

    >>> [round(end, 3) for end in constant_interval(1.0, 20, (0.0, 1.0))]
    [0.832, 1.0]
    """
    share = 1 - 0.025 ** (1 / n_units)
    low, high = score_range
    return mean - share * max(mean - low, 0.0), mean + share * max(high - mean, 0.0)


def t_quantile(probability: float, df: float) -> float:
    """Quantile of Student's t distribution; NaN without degrees of freedom."""
    return float(scipy.special.stdtrit(df, probability)) if df >= 1 else math.nan


def two_sided_p(estimate: Estimate) -> float:
    """Return the p-value of "the mean is 0", by Student's t; NaN without a standard error.

    If all items score the same, it is 1 for a score of 0, and otherwise the sign-flip test's 2 / 2^n with n units.
    """
    if math.isnan(estimate.se):
        return math.nan
    if estimate.se == 0:
        fewest = min(estimate.n_units, estimate.n_crossed or estimate.n_units)
        return 1.0 if abs(estimate.mean) <= _NO_VARIANCE else 2.0 ** (1 - fewest)
    return float(2 * scipy.special.stdtr(estimate.df, -abs(estimate.mean) / estimate.se))
