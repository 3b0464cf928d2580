"""Which forms are inside a cut-off: the most (top) or least (bottom) probable part of a distribution.

Let q be a form's probability and m the mass ranked strictly above it (top) or below it (bottom). At cut-off p
one token b of the vocabulary spans the boundary, m_b < p <= m_b + q_b. A form is inside *before* b if
m + q < p and *after* b if m < p; a score is interpolated between the two with alpha = (p - m_b) / q_b. They
differ only where b is a listed form (Newman et al. 2021, footnote 3, made exact).

The boundary tokens of all cut-offs cut the ranking into segments. A token's segment is the number of boundary tokens
ranked before it, plus the number of those not ranked after it. With three boundary tokens, and dots for other tokens:

    ranking    .  .  b1  .  b2  b3  .  .
    segment    0  0  1   2  3   5   6  6

So a form is inside before b if its segment is smaller than that of b, and inside after b if it is not larger. The sums
over the forms inside all cut-offs are the cumulative sums of one histogram over the segments.
"""

from collections.abc import Sequence
from typing import NamedTuple

import array_api_compat

from .arrays import Array, cumulative, flat_index, histogram, pick

# Cut-offs of the paper, section 3. Top 1 is the whole distribution.
TOP_CUTOFFS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 1.0)
BOTTOM_CUTOFFS = (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)

# Masses are sums of many thousand floats: m = p is decided up to this relative precision.
ROUNDING = 1e-13


class RankSegments(NamedTuple):
    """The segments of forms among the boundary tokens of a ranking, counted from the top or from the bottom.

    Attributes:
        segment: segment of the forms l+ and l-, (2, contexts, lemmas).
        end: segment of each cut-off's boundary token, (contexts, cut-offs), cut-offs ascending.
        alpha: share of that token that is inside, (contexts, cut-offs), in [0, 1]. It has no effect if the token is
            not a form.
        n_segments: number of segments; the first is 0.
    """

    segment: Array
    end: Array
    alpha: Array
    n_segments: int


def check_cutoffs(cutoffs: Sequence[float]) -> tuple[float, ...]:
    """Check cut-offs and return them as floats.

    Raises:
        ValueError: a cut-off is outside (0, 1], listed twice or not a number.

    >>> check_cutoffs([0.5, 1])
    (0.5, 1.0)
    """
    try:
        checked = tuple(float(cutoff) for cutoff in cutoffs)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"The cut-offs {cutoffs!r:.200} are not a list of numbers. Give a list or tuple of fractions: (0.5, 0.97)."
        ) from error
    if not all(0 < cutoff <= 1 for cutoff in checked) or len(set(checked)) < len(checked):
        raise ValueError(
            f"The cut-offs are {checked}; expected different shares of probability mass in (0, 1]. Give them as "
            "fractions: 0.97 for the paper's top 97 %."
        )
    return checked


def below_one(cutoffs: Sequence[float]) -> list[float]:
    """Return the cut-offs below 1 (the whole distribution), ascending."""
    return sorted(cutoff for cutoff in cutoffs if cutoff < 1)


def segments_by_mass(before: Array, mass: Array, cutoffs: Sequence[float]) -> RankSegments:
    """Return the segments of forms from the mass that is ranked before each.

    Args:
        before: m, mass ranked above (top) or below (bottom) each form, (2, contexts, lemmas), float64.
        mass: q, probability of each form, of the same shape.
        cutoffs: ascending, below 1.
    """
    xp = array_api_compat.array_namespace(before, mass)
    limits = xp.asarray(cutoffs, dtype=xp.float64, device=array_api_compat.device(before))
    n_before = xp.searchsorted(limits * (1 - ROUNDING), before, side="right")
    n_reached = xp.maximum(n_before, xp.searchsorted(limits, before + mass, side="right"))
    segment = n_before + n_reached
    end, alpha = [], []
    for index, cutoff in enumerate(cutoffs):
        is_boundary = (n_before <= index) & (index < n_reached)
        boundary = xp.max(xp.where(is_boundary, segment, 0), axis=(0, 2))
        # The segments of forms inside are at most 2 * index, of forms outside at least 2 * index + 2.
        end.append(xp.where(boundary > 0, boundary, 2 * index + 1))
        share = (cutoff - before) / xp.where(is_boundary, mass, 1.0)
        alpha.append(xp.max(xp.where(is_boundary, share, 0.0), axis=(0, 2)))
    alpha = xp.clip(xp.stack(alpha, axis=1), 0.0, 1.0)
    return RankSegments(segment, xp.stack(end, axis=1), alpha, 2 * len(cutoffs) + 1)


def sum_inside(places: RankSegments, segment: Array, values: Sequence[Array | None]) -> list[Array]:
    """Sum values over the items that are inside each cut-off.

    Args:
        places: segments at which the cut-offs end.
        segment: the segment of each item, (contexts, items).
        values: arrays to sum, each (contexts, items), float64; None counts the items.

    Returns:
        For each array the sums, (2, contexts, cut-offs), float64: before the boundary token and after it.

    >>> import numpy as np
    >>> places = RankSegments(None, np.asarray([[1, 3]]), None, 5)
    >>> [sums] = sum_inside(places, np.asarray([[0, 1, 2]]), [np.asarray([[0.5, 0.25, 0.25]])])
    >>> sums.tolist()
    [[[0.5, 1.0]], [[0.75, 1.0]]]
    """
    xp = array_api_compat.array_namespace(segment)
    bins = flat_index(segment, places.n_segments)
    ends = xp.stack([places.end, places.end + 1])
    return [pick(cumulative(histogram(bins, array, places.n_segments)), ends) for array in values]
