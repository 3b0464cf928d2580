"""Correlations between systems, as `metrics/human_correlation` defines them."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..io.bundle import metric_modules


def correlate(
    one: ArrayLike,
    other: ArrayLike,
    n_resamples: int = 0,
    intervals: Collection[str] | None = None,
    measures: Collection[str] | None = None,
) -> dict[str, Any] | None:
    """Correlate two series of scores over the items that have both; None with fewer than three of them.

    Args:
        one: scores, (items,); a missing one is NaN.
        other: scores of the same items.
        n_resamples: bootstrap samples for the intervals; 0 leaves them out.
        intervals: the measures that get one; None: all.
        measures: those that are wanted; None: all.

    Returns:
        What the metric returns: `pearson`, `spearman`, `kendall`, their intervals, `n`.
    """
    series = np.stack([np.asarray(one, dtype=float), np.asarray(other, dtype=float)])
    if np.isfinite(series).all(axis=0).sum() < 3:
        return None
    metric = metric_modules("human_correlation").correlation
    correlations: dict[str, Any] = metric.correlations(
        *series,
        n_resamples=n_resamples,
        intervals=metric.MEASURES if intervals is None else intervals,
        measures=metric.MEASURES if measures is None else measures,
    )
    return correlations


def pearson(one: ArrayLike, other: ArrayLike) -> float:
    """Pearson's r over the items that have both scores; NaN with fewer than three, or where a side is constant."""
    correlations = correlate(one, other, measures=["pearson"])
    return float("nan") if correlations is None else float(correlations["pearson"])
