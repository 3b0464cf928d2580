"""Agreement of a model with humans: correlation of their values for the same items, cells or paradigms.

    pearson    covariance over the product of the standard deviations (linear agreement)
    spearman   Pearson's r of the ranks, ties have their mean rank (monotone agreement)
    kendall    tau-b: concordant minus discordant pairs, corrected for ties

Intervals are percentiles of a paired bootstrap: items are drawn with replacement, each with both values.
Point values and p-values come from scipy. Pearson's r is the measure of Rochereau et al. (2020, Table 5, over
the 36 cells) and of Warstadt et al. (2020, Figure 1, over the 67 paradigms).
"""

import warnings
from collections.abc import Callable, Collection, Sequence
from numbers import Integral, Real

import numpy as np
from scipy import stats

from .values import as_numbers

VERSION = "1.0.0"
CONFIDENCE_LEVEL = 0.95
N_RESAMPLES = 1000
MOST_RESAMPLES = 1_000_000
"""They take minutes and gigabytes; more would not change the interval's second digit."""
Correlations = dict[str, float | str | list[float] | None]
"""Values, p-values, intervals and counts of `correlations` by name."""
Statistic = Callable[..., np.ndarray | float]
"""A correlation along an axis."""
MEASURES = ("pearson", "spearman", "kendall")
SEED = 0

# Values in one chunk of resamples; limits memory.
_CHUNK_VALUES = 1_000_000


def correlations(
    predictions: Sequence[float],
    references: Sequence[float],
    *,
    confidence_level: float = CONFIDENCE_LEVEL,
    n_resamples: int = N_RESAMPLES,
    seed: int = SEED,
    intervals: Collection[str] = MEASURES,
    measures: Collection[str] = MEASURES,
) -> Correlations:
    """Correlate a model's values with human ones.

    Args:
        predictions: the model's values, (items,), any unit.
        references: the human values for the same items, in the same order.
        confidence_level: of the intervals, between 0 and 1.
        n_resamples: bootstrap samples; 0 means no intervals (None).
        seed: of the resampling; the same seed gives the same intervals.
        intervals: the measures that get one; Kendall's takes nearly all of the time.
        measures: those that are computed.

    Returns:
        `pearson`, `spearman`, `kendall` in [-1, 1]; `<name>_pvalue` (two-sided, of no correlation) and
        `<name>_interval` ([low, high]) for each; `n` items used, `n_excluded` items excluded because a value is
        NaN or infinite; `undefined`: None, or the reason why all of the above are NaN (a constant side).

    Raises:
        ValueError: different lengths, values that are not numbers, fewer than three usable items, or an invalid option.

    >>> result = correlations([1, 2, 3, 5], [1, 3, 2, 4], n_resamples=0)
    >>> [round(result[name], 3) for name in ("pearson", "spearman", "kendall")]
    [0.832, 0.8, 0.667]
    """
    model, human = check_values(predictions, references)
    if not isinstance(confidence_level, Real) or not 0 < confidence_level < 1:
        raise ValueError(
            f"confidence_level is {confidence_level!r:.60}; expected a number between 0 and 1, such as 0.95."
        )
    for option, value, most in (("n_resamples", n_resamples, MOST_RESAMPLES), ("seed", seed, 2**63 - 1)):
        if isinstance(value, bool) or not isinstance(value, Integral) or not 0 <= value <= most:
            of_zero = " (no intervals)" if option == "n_resamples" else ""
            raise ValueError(
                f"{option} is {value!r:.60}; expected a whole number from 0{of_zero} to {most:,}. Change {option}."
            )
    usable = np.isfinite(model) & np.isfinite(human)
    if usable.sum() < 3:
        raise ValueError(
            f"{int(usable.sum())} of {len(model)} items have a finite value on both sides; a correlation needs at "
            "least 3. Check why values are missing."
        )
    model, human = model[usable], human[usable]
    result: Correlations = {"n": len(model), "n_excluded": int((~usable).sum()), "undefined": None}
    constant = [name for name, side in (("predictions", model), ("references", human)) if np.ptp(side) == 0]
    if constant:
        result["undefined"] = f"{' and '.join(constant)} are constant, so the correlation is undefined"
    for name in measures:
        point, resampled = _MEASURES[name]
        value, pvalue = (np.nan, np.nan) if constant else point(model, human)
        result[name], result[f"{name}_pvalue"] = float(value), float(pvalue)
        result[f"{name}_interval"] = None
        if n_resamples and name in intervals:
            result[f"{name}_interval"] = [float("nan")] * 2
            if not constant:
                bounds = _interval(resampled, model, human, confidence_level, n_resamples, seed)
                result[f"{name}_interval"] = [float(bound) for bound in bounds]
    return result


def check_values(
    predictions: Sequence[float] | None, references: Sequence[float] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return both sides as float64 arrays of the same length; raises ValueError if they are not numbers."""
    sides = []
    for name, values in (("predictions", predictions), ("references", references)):
        if values is None:
            raise ValueError(f"{name} are missing. Give one number per item on both sides.")
        side = as_numbers(values, f"{name} hold", "one number per item")
        if side.ndim != 1:
            raise ValueError(f"{name} have shape {side.shape}; expected one number per item.")
        sides.append(side)
    if len(sides[0]) != len(sides[1]):
        raise ValueError(
            f"Mismatched lengths: {len(sides[0])} predictions and {len(sides[1])} references. Give both values of "
            "each item, in the same order."
        )
    return sides[0], sides[1]


def _pearson(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return Pearson's r along an axis, NaN if a side is constant (a resample may hold only one item)."""
    x = x - x.mean(axis=axis, keepdims=True)
    y = y - y.mean(axis=axis, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (x * y).sum(axis) / np.sqrt((x * x).sum(axis) * (y * y).sum(axis))


def _spearman(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
    return _pearson(stats.rankdata(x, axis=axis), stats.rankdata(y, axis=axis), axis)


def _kendall(x: np.ndarray, y: np.ndarray) -> float:
    return float(stats.kendalltau(x, y).statistic)


# Functions for the value and its p-value, and for the resampled statistic.
_MEASURES: dict[str, tuple[Callable[[np.ndarray, np.ndarray], tuple[float, float]], Statistic]] = {
    "pearson": (stats.pearsonr, _pearson),
    "spearman": (stats.spearmanr, _spearman),
    "kendall": (stats.kendalltau, _kendall),
}


def _interval(
    statistic: Statistic,
    model: np.ndarray,
    human: np.ndarray,
    level: float,
    n_resamples: int,
    seed: int,
) -> np.ndarray:
    """Return the percentile interval; resamples with a constant side have no correlation and are excluded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns for each constant resample
        result = stats.bootstrap(
            (model, human),
            statistic,
            paired=True,
            n_resamples=n_resamples,
            batch=max(1, _CHUNK_VALUES // len(model)),
            method="percentile",
            random_state=np.random.default_rng(seed),
        )
    drawn = np.clip(result.bootstrap_distribution, -1, 1)  # rounding errors may exceed 1
    return np.nanquantile(drawn, [(1 - level) / 2, (1 + level) / 2])
