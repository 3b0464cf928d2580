"""Means over items with their intervals; items are the units, because other items could have been written."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ...statistics.estimate import enough_units, t_quantile


def mean_in_bits(values: npt.ArrayLike) -> dict[str, Any]:
    """Return the mean of items and its precision, as columns of a row of results.

    A surprisal has no greatest value. So where all items have the same value, nothing says how much others could
    differ: `se` is 0 and there is no interval. (Regions before the first difference between the conditions have an
    interaction of exactly 0 by design.)

    A text of probability 0 has an infinite surprisal. It is a value, so the mean over it is infinite as well, without
    an interval; `n_infinite` counts such items, because results have null for an infinite score.

    Args:
        values: bits, (items,); NaN for items without a value.

    >>> found = mean_in_bits([1.0, 3.0])
    >>> found["score"], found["se"], round(found["ci_high"], 2), found["n"]
    (2.0, 1.0, 14.71, 2)
    >>> found = mean_in_bits([1.0, math.inf, math.nan])
    >>> found["score"], found["se"], found["n"], found["n_excluded"], found["n_infinite"]
    (inf, nan, 2, 1, 1)
    """
    scores = np.asarray(values, dtype=float)
    scored = scores[~np.isnan(scores)]
    n, n_infinite = len(scored), int(np.isinf(scored).sum())
    mean = _mean(scored)
    se = float(scored.std(ddof=1)) / math.sqrt(n) if n > 1 and not n_infinite else math.nan
    margin = t_quantile(0.975, n - 1) * se if n > 1 and se > 1e-12 * max(1.0, abs(mean)) else math.nan
    return {
        "score": mean,
        "n": n,
        "n_excluded": len(scores) - n,
        "n_infinite": n_infinite,
        "se": se,
        "ci_low": mean - margin,
        "ci_high": mean + margin,
        "unit": "items",
        "n_units": n,
        "n_units_effective": float(n),
        "reliable": enough_units(n),
    }


def _mean(scored: npt.NDArray[np.float64]) -> float:
    """Return the mean; NaN of nothing, and of interactions that are infinite in both directions."""
    with np.errstate(invalid="ignore"):
        return float(scored.mean()) if len(scored) else math.nan
