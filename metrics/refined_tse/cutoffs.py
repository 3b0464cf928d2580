"""Which forms are inside a cut-off, the most (top) or least (bottom) probable part of a distribution.

Let q be a form's probability and m the mass ranked strictly above it (top) or below it (bottom). At cut-off p
one token b of the vocabulary spans the boundary, m_b < p <= m_b + q_b. A form is inside *before* b if
m + q < p and *after* b if m < p; a score is interpolated between the two with alpha = (p - m_b) / q_b. They
differ only where b is a listed form (Newman et al. 2021, footnote 3, made exact).

The boundary tokens of all cut-offs cut the ranking into segments. A token's segment is the number of boundary tokens
ranked before it, plus the number not ranked after it; with three of them, and dots for the other tokens:

    ranking    .  .  b1  .  b2  b3  .  .
    segment    0  0  1   2  3   5   6  6

So a form is inside before b if its segment is smaller than b's, and inside after b if it is not larger. The sums over
what is inside are one histogram over the segments and its cumulative sum, for all cut-offs at once.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

# Cut-offs of the paper, section 3. Top 1 is the whole distribution.
TOP_CUTOFFS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 1.0)
BOTTOM_CUTOFFS = (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)

# A mass is a sum of many thousand floats: m = p holds where the two agree to this relative precision.
ROUNDING = 1e-13


class RankSegments(NamedTuple):
    """Where forms stand among the boundary tokens of a ranking, which is walked from the top or the bottom.

    Attributes:
        segment: segment of the forms l+ and l-, (2, contexts, lemmas), counted along the walk.
        end: segment of each cut-off's boundary token, (contexts, cut-offs), cut-offs ascending.
        alpha: share of that token that is inside, (contexts, cut-offs), in [0, 1]. Of no effect where the token is
            no listed form.
        n_segments: number of segments; they are counted from 0.
    """

    segment: Any
    end: Any
    alpha: Any
    n_segments: int


def check_cutoffs(cutoffs: Sequence[float]) -> tuple[float, ...]:
    """Return the cut-offs as floats.

    Raises:
        ValueError: a cut-off is outside of (0, 1], listed twice or no number.

    >>> check_cutoffs([0.5, 1])
    (0.5, 1.0)
    """
    try:
        checked = tuple(float(cutoff) for cutoff in cutoffs)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The cut-offs {cutoffs!r} are no list of numbers. Give them as fractions in a list or tuple: (0.5, 0.97)."
        ) from error
    if not all(0 < cutoff <= 1 for cutoff in checked) or len(set(checked)) < len(checked):
        raise ValueError(
            f"The cut-offs {checked} are not all different shares of probability mass in (0, 1]. "
            "Give them as fractions: 0.97 for the paper's top 97 %."
        )
    return checked


def below_one(cutoffs: Sequence[float]) -> list[float]:
    """Return the cut-offs that leave something out, ascending; 1 is the whole distribution."""
    return sorted(cutoff for cutoff in cutoffs if cutoff < 1)


def place_by_mass(beyond: Any, mass: Any, cutoffs: Sequence[float]) -> RankSegments:
    """RankSegments every form by the mass that is ranked before it.

    Args:
        beyond: m, mass ranked above (top) or below (bottom) each form, (2, contexts, lemmas), float64.
        mass: q, probability of each form, of the same shape.
        cutoffs: ascending, below 1.
    """
    xp = array_api_compat.array_namespace(beyond, mass)
    limits = xp.asarray(cutoffs, dtype=xp.float64, device=array_api_compat.device(beyond))
    n_before = xp.searchsorted(limits * (1 - ROUNDING), beyond, side="right")
    n_reached = xp.maximum(n_before, xp.searchsorted(limits, beyond + mass, side="right"))
    segment = n_before + n_reached
    end, alpha = [], []
    for index, cutoff in enumerate(cutoffs):
        is_boundary = (n_before <= index) & (index < n_reached)
        own = xp.max(xp.where(is_boundary, segment, 0), axis=(0, 2))
        # The segments of forms inside are at most 2 * index, of forms outside at least 2 * index + 2.
        end.append(xp.where(own > 0, own, 2 * index + 1))
        share = (cutoff - beyond) / xp.where(is_boundary, mass, 1.0)
        alpha.append(xp.max(xp.where(is_boundary, share, 0.0), axis=(0, 2)))
    alpha = xp.clip(xp.stack(alpha, axis=1), 0.0, 1.0)
    return RankSegments(segment, xp.stack(end, axis=1), alpha, 2 * len(cutoffs) + 1)


def sum_inside(place: RankSegments, segment: Any, values: Sequence[Any]) -> list[Any]:
    """Sum values over what is inside each cut-off.

    Args:
        place: where the cut-offs end.
        segment: the segment of each item, (contexts, items).
        values: one or several arrays of what is summed, each (contexts, items), float64; None counts the items.

    Returns:
        The sums of each, (2, contexts, cut-offs), float64: before the boundary token, and after it.

    >>> place = RankSegments(None, np.asarray([[1, 3]]), None, 5)
    >>> [sums] = sum_inside(place, np.asarray([[0, 1, 2]]), [np.asarray([[0.5, 0.25, 0.25]])])
    >>> sums.tolist()
    [[[0.5, 1.0]], [[0.75, 1.0]]]
    """
    xp = array_api_compat.array_namespace(segment)
    numbered = by_row(segment, place.n_segments)
    ends = xp.stack([place.end, place.end + 1])
    return [pick(cumulative(histogram(numbered, array, place.n_segments)), ends) for array in values]


def by_row(columns: Any, width: int) -> Any:
    """Number the entries of a matrix through: column c of row r is r * width + c; columns are (..., rows, any)."""
    xp = array_api_compat.array_namespace(columns)
    numbered = xp.astype(columns, xp.int64)
    numbered += width * xp.arange(columns.shape[-2], device=array_api_compat.device(columns))[:, None]
    return numbered


def pick(array: Any, columns: Any) -> Any:
    """Pick columns of each row: `array` is (rows, width), `columns` and what is returned (..., rows, any)."""
    return array.take(by_row(columns, array.shape[1]))  # numpy's and torch's: counts through all rows


def cumulative(values: Any) -> Any:
    """Sum each row cumulatively, from a leading 0: (rows, columns + 1)."""
    xp = array_api_compat.array_namespace(values)
    return xp.cumulative_sum(values, axis=1, include_initial=True)


def histogram(numbered: Any, values: Any, n_bins: int) -> Any:
    """Sum each row's values by bin, or count if they are None: (rows, n_bins); bins are numbered by `by_row`."""
    size = numbered.shape[0] * n_bins
    if array_api_compat.is_torch_array(numbered):
        values = numbered.new_ones(numbered.shape) if values is None else values
        flat = values.new_zeros(size).scatter_add_(0, numbered.reshape(-1), values.reshape(-1))
    else:
        flat = np.bincount(numbered.reshape(-1), None if values is None else values.reshape(-1), size)
    return flat.reshape(numbered.shape[0], n_bins)
