"""Means over items with their intervals; items are the units, because other items could have been written."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ...statistics import Units, enough_units, mean


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
    n_infinite, units = int(np.isinf(scored).sum()), Units(np.arange(len(scored)))
    found = mean(scored if not n_infinite else np.zeros(len(scored)), units, bounded=False)
    if n_infinite:
        with np.errstate(invalid="ignore"):  # infinite in both directions
            found = found._replace(mean=float(scored.mean()), se=math.nan)
    counts = {"n": len(scored), "n_excluded": len(scores) - len(scored), "n_infinite": n_infinite}
    return {"score": found.mean, **counts, **found.columns(), "reliable": enough_units(len(scored))}
