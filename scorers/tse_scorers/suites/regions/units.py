"""Means over items with their intervals; items are the units, because other items could have been written."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ...statistics.estimate import MIN_RELIABLE_UNITS, t_quantile


def mean_in_bits(values: npt.ArrayLike) -> dict[str, Any]:
    """Return the mean of items and its precision, as columns of a row of results.

    A surprisal has no greatest value. So where all items have the same value, nothing says how much others could
    differ: `se` is 0 and there is no interval. (Regions before the first difference between the conditions have an
    interaction of exactly 0 by design.)

    Args:
        values: bits, (items,); NaN for items without a value.

    >>> found = mean_in_bits([1.0, 3.0])
    >>> found["score"], found["se"], round(found["ci_high"], 2), found["n"]
    (2.0, 1.0, 14.71, 2)
    """
    scores = np.asarray(values, dtype=float)
    scored = scores[np.isfinite(scores)]
    n = len(scored)
    mean = float(scored.mean()) if n else math.nan
    se = float(scored.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    margin = t_quantile(0.975, n - 1) * se if n > 1 and se > 1e-12 * max(1.0, abs(mean)) else math.nan
    return {
        "score": mean,
        "n": n,
        "n_excluded": len(scores) - n,
        "se": se,
        "ci_low": mean - margin,
        "ci_high": mean + margin,
        "unit": "items",
        "n_units": n,
        "reliable": n >= MIN_RELIABLE_UNITS,
    }
