"""Which forms are inside a cut-off, the most (top) or least (bottom) probable part of a distribution.

Let q be a form's probability and m the mass ranked strictly above it (top) or below it (bottom). At cut-off p
one token b of the vocabulary spans the boundary, m_b < p <= m_b + q_b. A form is inside *before* b if
m + q < p and *after* b if m < p; a score is interpolated between the two with alpha = (p - m_b) / q_b. They
differ only where b is a listed form (Newman et al. 2021, footnote 3, made exact).

A form that is inside one cut-off is inside every larger one. So all that is kept of it is the first cut-off
that it is inside, and the sums for all cut-offs are one histogram and its cumulative sum.
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


class Place(NamedTuple):
    """The place of each form in ascending cut-offs; indices of shape (2, contexts, lemmas), l+ and l- in front.

    Attributes:
        before: index of the first cut-off that the form is inside before the boundary token; the number of
            cut-offs if none.
        after: the same after the boundary token, at most `before`.
        alpha: share of the boundary token that is inside, (contexts, cut-offs), in [0, 1]. Of no effect where
            that token is no listed form, so that before and after are the same.
    """

    before: Any
    after: Any
    alpha: Any


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


def place_by_mass(beyond: Any, mass: Any, cutoffs: Sequence[float]) -> Place:
    """Place every form by the mass that is ranked before it.

    Args:
        beyond: m, mass ranked above (top) or below (bottom) each form, (2, contexts, lemmas), float64.
        mass: q, probability of each form, of the same shape.
        cutoffs: ascending, below 1.
    """
    xp = array_api_compat.array_namespace(beyond, mass)
    limits = xp.asarray(cutoffs, dtype=xp.float64, device=array_api_compat.device(beyond))
    after = xp.searchsorted(limits * (1 - ROUNDING), beyond, side="right")
    before = xp.maximum(after, xp.searchsorted(limits, beyond + mass, side="right"))
    weight = xp.where(mass > 0, mass, 1.0)
    alpha = [
        xp.max(xp.where((after <= index) & (index < before), (cutoff - beyond) / weight, 0.0), axis=(0, 2))
        for index, cutoff in enumerate(cutoffs)
    ]
    return Place(before, after, xp.clip(xp.stack(alpha, axis=1), 0.0, 1.0))


def sum_inside(first: Any, values: Any, n_cutoffs: int) -> Any:
    """Sum values over what is inside each cut-off.

    Args:
        first: index of the first cut-off that each item is inside, (contexts, items), `n_cutoffs` if none.
        values: what is summed, (contexts, items), float64.
        n_cutoffs: number of cut-offs.

    Returns:
        (contexts, cut-offs), float64.

    >>> sum_inside(np.asarray([[0, 1, 2]]), np.asarray([[0.5, 0.25, 0.25]]), 2).tolist()
    [[0.5, 0.75]]
    """
    xp = array_api_compat.array_namespace(first)
    return xp.cumulative_sum(histogram(by_row(first, n_cutoffs + 1), values, n_cutoffs + 1)[:, :-1], axis=1)


def by_row(bins: Any, n_bins: int) -> Any:
    """Number the bins of all rows through: bin b of row r becomes r * n_bins + b."""
    xp = array_api_compat.array_namespace(bins)
    return bins + n_bins * xp.arange(bins.shape[0], device=array_api_compat.device(bins))[:, None]


def histogram(numbered: Any, values: Any, n_bins: int) -> Any:
    """Sum each row's values by bin, float64, (rows, n_bins); the bins are numbered by `by_row`."""
    size = numbered.shape[0] * n_bins
    if array_api_compat.is_torch_array(numbered):
        flat = values.new_zeros(size).scatter_add_(0, numbered.reshape(-1), values.reshape(-1))
    else:
        flat = np.bincount(numbered.reshape(-1), values.reshape(-1), size)
    return flat.reshape(-1, n_bins)
