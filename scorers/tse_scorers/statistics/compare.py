"""Differences of two scores, contrasts of conditions, and what is significant among many.

A symmetric interval of a difference contains the true one too rarely where one score is near 1 and units differ. So a
difference is put together from the intervals of both scores (square-and-add, MOVER: Newcombe 1998; Zou and Donner
2008): with lower and upper arms l and u of the scores a and b and their correlation r, it is

    a - b - √(l_a² + u_b² - 2 r l_a u_b)   to   a - b + √(u_a² + l_b² - 2 r u_a l_b)

r follows from the variances over units of both scores and of the difference. p is the level at which the interval ends
at 0, so that p and interval agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .units import Design, Estimate, Floats, Parts, Units, nothing, t_quantile


def difference(one: ArrayLike, other: ArrayLike, units: Units) -> Estimate:
    """Estimate the mean of one minus the mean of the other, over the items that both have.

    Args:
        one: scores, 0 to 1, (items,); NaN where an item has none.
        other: of the same items.
        units: of the items.

    >>> found = difference([1, 1, 0, 1], [1, 0, 0, 0], Units(["a", "b", "c", "d"]))
    >>> found.mean, found.scores, round(found.low, 2), round(found.p, 2)
    (0.5, (0.75, 0.25), -0.35, 0.44)
    """
    pair = np.stack([np.asarray(one, dtype=float), np.asarray(other, dtype=float)])
    both = np.isfinite(pair).all(axis=0)
    if not both.any():
        return nothing(units)
    pair, design = pair[:, both], Design(units if both.all() else units.of(both), int(both.sum()))
    sides = [design.parts(side) for side in pair]
    found = _between(design, design.parts(pair[0] - pair[1]), sides, reach=1.0)
    return found._replace(scores=(sides[0].mean, sides[1].mean))


def contrast(
    values: ArrayLike, units: Units, condition: ArrayLike, weights: Mapping[object, float]
) -> Estimate:
    """Estimate Σ_c k_c m_c over conditions c: a difference (1, -1), an interaction (1, -1, -1, 1), or a score (1).

    A unit that occurs in several conditions is compared with itself; units that occur in one only are independent.

    Args:
        values: scores, 0 to 1, (items,); NaN for none.
        units: of the items; each item of a condition counts the same, strata are not used.
        condition: of each item, (items,); items of conditions without a weight are not used.
        weights: condition -> k.

    Returns:
        Without an interval where a condition has a single unit.

    Raises:
        ValueError: a condition has no item with a score.

    >>> scores, items = [1, 0, 1, 1, 0, 0], ["a", "b", "c"] * 2
    >>> found = contrast(scores, Units(items), ["near"] * 3 + ["far"] * 3, {"near": 1, "far": -1})
    >>> round(found.mean, 3), found.n_units
    (0.333, 3)
    """
    scores, names = np.asarray(values, dtype=float), list(weights)
    of_items = pd.Index(names, tupleize_cols=False).get_indexer(
        pd.Index(np.asarray(condition, object), tupleize_cols=False)
    )
    used = np.isfinite(scores) & (of_items >= 0)
    scores, codes = scores[used], of_items[used]
    units = replace(units.of(used), weighting="items", strata=None)
    if missing := [name for place, name in enumerate(names) if not (codes == place).any()]:
        raise ValueError(f"No item with a score has the condition {missing[0]!r}; expected at least one.")
    if len(names) == 1:
        return Design(units, len(scores)).mean(scores)
    k = [weights[name] for name in names]
    design = Design(units, len(scores), codes, k)
    sides = [
        Design(units.of(codes == place), int((codes == place).sum())).parts(scores[codes == place])
        for place in (np.argsort(k)[::-1] if len(k) == 2 else ())
    ]
    return _between(design, design.parts(scores), sides, reach=float(np.abs(k).sum()) / 2)


def holm(p_values: ArrayLike) -> Floats:
    """Return Holm's adjusted p-values, which limit the probability of any false finding among them.

    NaN stays NaN and does not count as a test. Source: Holm (1979), A simple sequentially rejective multiple test
    procedure.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    if len(order):
        steps = p[order] * np.arange(len(order), 0, -1)
        adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def _between(design: Design, parts: Parts, sides: Sequence[Parts], reach: float) -> Estimate:
    """Put interval and p around a difference of two scores (`sides`), or around a contrast of more."""
    low, high = _interval(parts, sides, 0.05)
    se = (high - low) / 2 / t_quantile(0.975, parts.df)
    found = design.estimate(parts, se, max(low, -reach), min(high, reach))
    return found._replace(p=_p(parts, sides)) if np.isfinite(found.se) else found


def _interval(parts: Parts, sides: Sequence[Parts], alpha: float) -> tuple[float, float]:
    """Return the square-and-add interval; Student's for a contrast of more than two scores."""
    if not sides:
        half = t_quantile(1 - alpha / 2, parts.df) * float(np.hypot(np.sqrt(parts.variance), parts.least))
        return parts.mean - half, parts.mean + half
    one, other = (side._replace(df=min(side.df, parts.df)) for side in sides)
    (low, high), (other_low, other_high) = one.interval(alpha), other.interval(alpha)
    both = np.sqrt(one.variance * other.variance)
    r = np.clip((one.variance + other.variance - parts.variance) / (2 * both), -1, 1) if both > 0 else 0.0
    arms = np.array([[one.mean - low, other_high - other.mean], [high - one.mean, other.mean - other_low]])
    below, above = np.sqrt(np.maximum((arms**2).sum(axis=1) - 2 * r * arms.prod(axis=1), 0))
    return float(parts.mean - below), float(parts.mean + above)


def _p(parts: Parts, sides: Sequence[Parts]) -> float:
    """Return the level at which the interval ends at 0, at least 1e-12."""
    from scipy.optimize import brentq  # takes a while to import

    def distance(log_alpha: float) -> float:
        below, above = _interval(parts, sides, float(np.exp(log_alpha)))
        return below if parts.mean > 0 else -above

    least, most = np.log([1e-12, 1 - 1e-9])
    if parts.mean == 0 or distance(most) <= 0:
        return 1.0
    return float(np.exp(brentq(distance, least, most, xtol=1e-9))) if distance(least) < 0 else 1e-12
