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
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import stats

VERSION = "1.0.0"
_MEASURES: dict[str, tuple[Callable[..., Any], Callable[..., float]]] = {  # for all items, and for a resample
    "pearson": (stats.pearsonr, lambda x, y: np.corrcoef(x, y)[0, 1]),
    "spearman": (stats.spearmanr, lambda x, y: np.corrcoef(stats.rankdata([x, y], axis=1))[0, 1]),
    "kendall": (stats.kendalltau, lambda x, y: stats.kendalltau(x, y).statistic),
}
_CHUNK_VALUES = 1_000_000  # of resamples; limits memory


def check_values(*sides: Any) -> list[np.ndarray]:
    """Return predictions and references as float64, (items,), None as NaN; raises ValueError for anything else."""
    arrays = []
    for name, values in zip(("predictions", "references"), sides, strict=True):
        values = np.asarray(values) if hasattr(values, "__array__") else values
        try:
            arrays.append(pa.array(values, pa.float64(), from_pandas=True).to_numpy(zero_copy_only=False))
        except (pa.ArrowException, TypeError) as error:
            raise ValueError(f"{name} are not a list of numbers: {error}. Give one for each item.") from error
    if len(arrays[0]) != len(arrays[1]):
        raise ValueError(
            f"There are {len(arrays[0])} predictions and {len(arrays[1])} references. Give both for each item."
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

    >>> result = correlations([1, 2, 3, 5], [1, 3, 2, 4], n_resamples=0)
    >>> [round(result[name], 3) for name in ("pearson", "spearman", "kendall")]
    [0.832, 0.8, 0.667]
    """
    model, human = check_values(predictions, references)
    usable = np.isfinite(model) & np.isfinite(human)
    if usable.sum() < 3:
        raise ValueError(
            f"{usable.sum()} of {len(model)} items have a finite value on both sides; expected at least 3."
        )
    model, human = model[usable], human[usable]
    result: dict[str, Any] = {"n": len(model), "n_excluded": int((~usable).sum()), "undefined": None}
    constant = [name for name, side in (("predictions", model), ("references", human)) if np.ptp(side) == 0]
    if constant:
        result["undefined"] = f"{' and '.join(constant)} are constant, so the correlation is undefined"
    for name, (correlation, of_resample) in _MEASURES.items():
        value, pvalue = (np.nan, np.nan) if constant else correlation(model, human)
        bounds = [np.nan, np.nan] if n_resamples else None
        if n_resamples and not constant:
            bounds = _interval(of_resample, (model, human), confidence_level, n_resamples, seed)
        result |= {name: float(value), f"{name}_pvalue": float(pvalue), f"{name}_interval": bounds}
    return result


def _interval(
    statistic: Callable[..., float], sides: Sequence[np.ndarray], level: float, n_resamples: int, seed: int
) -> list[float]:
    """Return the percentile interval; resamples with a constant side have no correlation and are excluded."""
    options = {"batch": max(1, _CHUNK_VALUES // len(sides[0])), "random_state": np.random.default_rng(seed)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns for each constant resample
        result = stats.bootstrap(
            sides, statistic, paired=True, n_resamples=n_resamples, method="percentile", **options
        )
    return list(np.nanquantile(result.bootstrap_distribution, [(1 - level) / 2, (1 + level) / 2]).tolist())
