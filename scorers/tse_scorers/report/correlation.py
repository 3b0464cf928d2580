"""Correlations between systems, as `metrics/human_correlation` defines them."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..io.bundle import metric_modules


def correlate(
    one: ArrayLike, other: ArrayLike, n_resamples: int = 0, **options: Collection[str]
) -> dict[str, Any] | None:
    """Correlate two series of scores over the items that have both; None with fewer than three of them.

    Options and results are those of the metric, without resamples by default.
    """
    series = np.stack([np.asarray(one, dtype=float), np.asarray(other, dtype=float)])
    if np.isfinite(series).all(axis=0).sum() < 3:
        return None
    metric = metric_modules("human_correlation").correlation
    correlations: dict[str, Any] = metric.correlations(*series, n_resamples=n_resamples, **options)
    return correlations


def pearson(one: ArrayLike, other: ArrayLike) -> float:
    """Pearson's r over the items that have both scores; NaN with fewer than three, or where a side is constant."""
    correlations = correlate(one, other, measures=["pearson"])
    return float("nan") if correlations is None else float(correlations["pearson"])
