"""Which printed scores lie apart, where a page says so of many at once; all it needs is what is printed.

Two scores differ if their distance is greater than the square root of the sum of the squared arms of their 95 %
intervals that point at each other, as if they were independent (square-and-add: Newcombe 1998; Zou and Donner 2008). A
page that looks at m pairs would name some of them by chance, so each arm is first widened by Bonferroni's method:

    t(1 - 0.025 / m, df) / t(0.975, df),   df = effective units - 1, of the score that has fewer

Scores of the same items are mostly correlated, so this is careful; `compare` tests differences item by item.

A score is a row with `score`, `ci_low`, `ci_high`, `n_units_effective`. One without an interval, or with one that is
not `reliable`, is never apart from another one.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy  # whose parts are imported when they are used
from numpy.typing import ArrayLike, NDArray

_NUMBERS = ["score", "ci_low", "ci_high", "n_units_effective"]


def is_above(row: Mapping[str, Any], others: pd.DataFrame, n_tests: int) -> NDArray[np.bool_]:
    """Say of each of some other scores whether one score lies above it, (others,).

    >>> first = {"score": 0.9, "ci_low": 0.85, "ci_high": 0.94, "n_units_effective": 20, "reliable": True}
    >>> others = pd.DataFrame([first | {"score": 0.8, "ci_low": 0.74, "ci_high": 0.86}])
    >>> is_above(first, others, 1).tolist(), is_above(first, others, 10).tolist()
    ([True], [False])
    """
    score, low, _, n = (float(row[name]) for name in _NUMBERS)
    theirs, _, high, their_n = (others[name].to_numpy(dtype=float) for name in _NUMBERS)
    arms = np.hypot(score - low, high - theirs) * _widening(np.minimum(n, their_n), n_tests)
    both = others["reliable"].ne(False).to_numpy() & (row["reliable"] != False)  # noqa: E712 (NumPy's, too)
    return np.asarray(both & (score - theirs > arms))


def differs_from(row: Mapping[str, Any], value: float, n_tests: int) -> bool:
    """Say whether a score lies above or below a fixed value, such as that of guessing.

    >>> row = {"score": 0.9, "ci_low": 0.85, "ci_high": 0.94, "n_units_effective": 20, "reliable": True}
    >>> differs_from(row, 0.5, 10), differs_from(row, 0.83, 1), differs_from(row, 0.83, 10)
    (True, True, False)
    """
    score, low, high, n = (float(row[name]) for name in _NUMBERS)
    arm = score - low if score > value else high - score
    return bool(row["reliable"] != False and abs(score - value) > arm * _widening(n, n_tests))  # noqa: E712


def _widening(n_effective: ArrayLike, n_tests: int) -> Any:
    """Return by how much arms are longer for so many tests; NaN where there is no more than one unit."""
    df = np.asarray(n_effective, dtype=float) - 1
    df = np.where(df > 0, df, np.nan)
    return scipy.special.stdtrit(df, 1 - 0.025 / n_tests) / scipy.special.stdtrit(df, 0.975)
