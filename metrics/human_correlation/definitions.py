"""Agreement of a model with humans: correlation of their values for the same items, cells or paradigms.

    pearson    covariance over the product of the standard deviations (linear agreement)
    spearman   Pearson's r of the ranks, ties have their mean rank (monotone agreement)
    kendall    tau-b: concordant minus discordant pairs, corrected for ties

Intervals are percentiles of a paired bootstrap: items are drawn with replacement, each with both values.
Point values and p-values come from scipy. Pearson's r is the measure of Rochereau et al. (2020, Table 5, over
the 36 cells) and of Warstadt et al. (2020, Figure 1, over the 67 paradigms).
"""

import warnings
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import stats

VERSION = "1.0.0"
# More resamples take minutes and gigabytes, and do not change the interval's second digit.
MOST_RESAMPLES = 1_000_000
# Values in one chunk of resamples; limits memory.
_CHUNK_VALUES = 1_000_000


def check_values(*sides: Sequence[float] | None) -> list[np.ndarray]:
    """Return predictions and references as float64, (items,), None as NaN; raises ValueError for anything else."""
    arrays = []
    for name, values in zip(("predictions", "references"), sides, strict=True):
        if values is None:
            raise ValueError(f"{name} are missing. Give one number per item on both sides.")
        is_number = getattr(getattr(values, "dtype", None), "kind", "") in ("i", "u", "f")
        for value in () if is_number else np.asarray(values, dtype=object).flat:
            if value is not None and (isinstance(value, bool | np.bool_) or not isinstance(value, Real)):
                raise ValueError(
                    f"{name} hold something that is not a number ({str(value)!r:.60} is of the type "
                    f"{type(value).__name__}). Expected one number per item."
                )
        try:
            array = np.asarray(values, dtype=np.float64)
        except OverflowError as error:
            raise ValueError(f"{name} hold a number that is too large for a float.") from error
        if array.ndim != 1:
            raise ValueError(f"{name} have shape {array.shape}; expected one number per item.")
        arrays.append(array)
    if len(arrays[0]) != len(arrays[1]):
        raise ValueError(
            f"Mismatched lengths: {len(arrays[0])} predictions and {len(arrays[1])} references. Give both values of "
            "each item, in the same order."
        )
    return arrays


def correlations(
    predictions: Sequence[float],
    references: Sequence[float],
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """Correlate a model's values with human ones.

    Args:
        predictions: the model's values, (items,), any unit.
        references: the human values for the same items, in the same order.
        confidence_level: of the intervals, between 0 and 1.
        n_resamples: bootstrap samples; 0 means no intervals (None).
        seed: of the resampling; the same seed gives the same intervals.

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
            raise ValueError(f"{option} is {value!r:.60}; expected a whole number from 0 to {most:,}.")
    usable = np.isfinite(model) & np.isfinite(human)
    if usable.sum() < 3:
        raise ValueError(
            f"{int(usable.sum())} of {len(model)} items have a finite value on both sides; a correlation needs at "
            "least 3. Check why values are missing."
        )
    model, human = model[usable], human[usable]
    result: dict[str, Any] = {"n": len(model), "n_excluded": int((~usable).sum()), "undefined": None}
    constant = [name for name, side in (("predictions", model), ("references", human)) if np.ptp(side) == 0]
    if constant:
        result["undefined"] = f"{' and '.join(constant)} are constant, so the correlation is undefined"
    for name, (point, statistic) in _MEASURES.items():
        value, pvalue = (np.nan, np.nan) if constant else point(model, human)
        bounds = [np.nan, np.nan] if n_resamples else None
        if n_resamples and not constant:
            bounds = _interval(statistic, (model, human), confidence_level, n_resamples, seed)
        result |= {name: float(value), f"{name}_pvalue": float(pvalue), f"{name}_interval": bounds}
    return result


def _pearson(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return Pearson's r along an axis, NaN if a side is constant (a resample may hold only one item)."""
    x = x - x.mean(axis=axis, keepdims=True)
    y = y - y.mean(axis=axis, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (x * y).sum(axis) / np.sqrt((x * x).sum(axis) * (y * y).sum(axis))


def _spearman(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
    return _pearson(stats.rankdata(x, axis=axis), stats.rankdata(y, axis=axis), axis)


# Functions for the value and its p-value, and for the resampled statistic.
_MEASURES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "pearson": (stats.pearsonr, _pearson),
    "spearman": (stats.spearmanr, _spearman),
    "kendall": (stats.kendalltau, lambda x, y: stats.kendalltau(x, y).statistic),
}


def _interval(
    statistic: Callable[..., Any], sides: Sequence[np.ndarray], level: float, n_resamples: int, seed: int
) -> list[float]:
    """Return the percentile interval; resamples with a constant side have no correlation and are excluded."""
    chunk = max(1, _CHUNK_VALUES // len(sides[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns for each constant resample
        options = {"paired": True, "n_resamples": n_resamples, "batch": chunk, "method": "percentile"}
        result = stats.bootstrap(sides, statistic, random_state=np.random.default_rng(seed), **options)
    drawn = np.clip(result.bootstrap_distribution, -1, 1)  # rounding errors may exceed 1
    bounds: list[float] = np.nanquantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return bounds
