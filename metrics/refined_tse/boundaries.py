"""The tokens in which the cut-offs of a distribution end, found without sorting the vocabulary.

At cut-off p one token b spans the boundary: m_b < p <= m_b + q_b, with q its probability and m the mass ranked
strictly before it. A form that is ranked before b is inside, and b itself is inside by the share alpha. So all
cut-offs of a distribution are known from one token each, whatever forms are listed.

The vocabulary goes into bins of equal width in the logit, whose order is the ranking's; the sums of their
masses tell in which bin a boundary falls, and only the tokens of those few bins are ranked one by one. It is
one walk along the ranking from the top and one from the bottom, each summed in float64 from its own end.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

from .cutoffs import ROUNDING, Place, by_row, histogram
from .ranking import distributions

# About so many tokens share a bin, up to a number of bins that costs as much to add up as it saves.
TOKENS_PER_BIN = 8
MOST_BINS = 4096
# Logits so far below the largest share the last bin; of a million tokens that is 1e-20 of the probability.
RANGE = 60.0

# So many logits are looked at at once: what fits a processor's cache, or what keeps an accelerator busy within
# about a gigabyte of scratch.
CPU_LOGITS = 1 << 18
ACCELERATOR_LOGITS = 1 << 24


class BoundaryTokens(NamedTuple):
    """The token in which each cut-off of one side ends; arrays of shape (contexts, cut-offs).

    Attributes:
        value: its logit.
        token: its vocabulary id.
        alpha: the share of its probability that is inside, in [0, 1].
    """

    value: Any
    token: Any
    alpha: Any


class _Near(NamedTuple):
    """The tokens that share a bin with a boundary, in the order of a walk; (contexts, tokens), padded."""

    bin: Any  # of the walk, ascending; padding is outside of all
    value: Any
    token: Any
    weight: Any  # 0 for padding


def boundary_tokens(
    logits: Any, cutoffs_top: Sequence[float], cutoffs_bottom: Sequence[float]
) -> tuple[Any, BoundaryTokens, BoundaryTokens]:
    """Find the boundary tokens of the top and of the bottom.

    Args:
        logits: (contexts, vocabulary), of any floating dtype.
        cutoffs_top: ascending, below 1.
        cutoffs_bottom: ascending, below 1.

    Returns:
        The logarithm of the sum of the exponentials, (contexts, 1), float64, NaN in contexts that have no
        distribution (NaN or +inf among the logits, or nothing but -inf); the boundary tokens of the top; those
        of the bottom.

    >>> _, top, bottom = boundary_tokens(np.log([[0.5, 0.125, 0.375]]), [0.25, 0.75], [0.25])
    >>> top.token.tolist(), top.alpha.round(3).tolist(), bottom.token.tolist(), bottom.alpha.round(3).tolist()
    ([[0, 2]], [[0.5, 0.667]], [[2]], [[0.333]])
    """
    xp = array_api_compat.array_namespace(logits)
    chunk = CPU_LOGITS if str(array_api_compat.device(logits)) == "cpu" else ACCELERATOR_LOGITS
    step = max(1, chunk // logits.shape[1])
    parts = []
    for start in range(0, logits.shape[0], step):
        values, finite = distributions(logits[start : start + step, :])
        log_normalizer, top, bottom = _boundary_tokens(values, cutoffs_top, cutoffs_bottom)
        parts.append((xp.where(finite, log_normalizer, xp.nan), *top, *bottom))
    log_normalizer, *ends = (xp.concat(part) for part in zip(*parts, strict=True))
    return log_normalizer, BoundaryTokens(*ends[:3]), BoundaryTokens(*ends[3:])


def _boundary_tokens(
    logits: Any, cutoffs_top: Sequence[float], cutoffs_bottom: Sequence[float]
) -> tuple[Any, BoundaryTokens, BoundaryTokens]:
    """Do so for contexts that all have a distribution, float32 or float64."""
    xp = array_api_compat.array_namespace(logits)
    peak = xp.max(logits, axis=1, keepdims=True)
    weights = xp.exp(xp.astype(logits, xp.float64) - xp.astype(peak, xp.float64))
    n_bins = max(2, min(MOST_BINS, logits.shape[1] // TOKENS_PER_BIN))
    numbered = by_row(_bins(logits, peak, n_bins), n_bins)
    rising = histogram(numbered, weights, n_bins)
    falling = xp.flip(rising, axis=1)
    total = xp.sum(rising, axis=1, keepdims=True)
    targets_top, targets_bottom = (
        total * xp.asarray([cutoffs], dtype=xp.float64, device=array_api_compat.device(logits))
        for cutoffs in (cutoffs_top, cutoffs_bottom)
    )
    ends_top, ends_bottom = _end_bins(falling, targets_top), _end_bins(rising, targets_bottom)
    end_bins = xp.concat([n_bins - 1 - ends_top, ends_bottom], axis=1)
    near = _near_tokens(logits, weights, numbered, end_bins, n_bins)
    near_rising = _Near(*(xp.flip(part, axis=1) for part in near))
    near_falling = near._replace(bin=n_bins - 1 - near.bin)
    return (
        xp.astype(peak, xp.float64) + xp.log(total),
        _walk(falling, ends_top, near_falling, targets_top),
        _walk(rising, ends_bottom, near_rising, targets_bottom),
    )


def place_by_rank(values: Any, tokens: Any, ends: BoundaryTokens, from_top: bool) -> Place:
    """Place every form by its rank beside the boundary tokens'.

    Args:
        values: the forms' logits, (2, contexts, lemmas).
        tokens: their vocabulary ids, of the same shape.
        ends: the boundary tokens of ascending cut-offs.
        from_top: which way the ranking is walked. Of equal values the lower id is nearer to the top.
    """
    xp = array_api_compat.array_namespace(values)
    end_value, end_token = _cutoffs_first(ends.value), _cutoffs_first(ends.token)
    if from_top:
        beyond = (values < end_value) | ((values == end_value) & (tokens > end_token))
    else:
        beyond = (values > end_value) | ((values == end_value) & (tokens < end_token))
    after = xp.sum(beyond, axis=0, dtype=xp.int64)
    # Without a distribution (NaN) a form may seem to be a boundary token and beyond it at once.
    before = xp.clip(after + xp.sum(tokens == end_token, axis=0, dtype=xp.int64), 0, len(end_value))
    return Place(before, after, ends.alpha)


def _cutoffs_first(part: Any) -> Any:
    """Return (contexts, cut-offs) as (cut-offs, 1, contexts, 1), in memory as well: sums run along that axis."""
    xp = array_api_compat.array_namespace(part)
    return xp.stack([part[:, index] for index in range(part.shape[1])])[:, None, :, None]


def _bins(logits: Any, peak: Any, n_bins: int) -> Any:
    """Return each token's bin, int64, ascending with the logit."""
    xp = array_api_compat.array_namespace(logits)
    low = xp.maximum(xp.min(logits, axis=1, keepdims=True), peak - RANGE)
    scale = xp.where(peak > low, (n_bins - 1) / xp.where(peak > low, peak - low, 1.0), 0.0)
    return xp.astype((xp.maximum(logits, low) - low) * xp.astype(scale, logits.dtype), xp.int64)


def _end_bins(mass: Any, targets: Any) -> Any:
    """Return the bin in which each boundary falls, (contexts, cut-offs), for bins in the order of the walk."""
    xp = array_api_compat.array_namespace(mass)
    return xp.clip(_n_below(xp.cumulative_sum(mass, axis=1), targets * (1 - ROUNDING)), 0, mass.shape[1] - 1)


def _near_tokens(logits: Any, weights: Any, numbered: Any, end_bins: Any, n_bins: int) -> _Near:
    """Pick the tokens of the bins in which boundaries fall and rank them, the most probable first."""
    xp = array_api_compat.array_namespace(logits)
    device = array_api_compat.device(logits)
    n_contexts, vocabulary = logits.shape
    chosen = xp.zeros((n_contexts * n_bins,), dtype=xp.bool, device=device)
    chosen[xp.reshape(by_row(end_bins, n_bins), (-1,))] = True
    flat = xp.nonzero(xp.reshape(chosen[numbered], (-1,)))[0]  # by context, then by vocabulary id
    starts = xp.searchsorted(flat, vocabulary * xp.arange(n_contexts + 1, device=device))
    place = starts[:-1, None] + xp.arange(int(xp.max(starts[1:] - starts[:-1])), device=device)[None, :]
    padding = place >= starts[1:, None]
    flat = flat[xp.where(padding, 0, place)]

    value = xp.where(padding, -xp.inf, xp.reshape(logits, (-1,))[flat])
    order = xp.argsort(value, axis=1, descending=True, stable=True)  # of equal values the lower id first
    bins = xp.where(padding, -1, xp.reshape(numbered, (-1,))[flat] % n_bins)
    weight = xp.where(padding, 0.0, xp.reshape(weights, (-1,))[flat])
    return _Near(
        *(xp.take_along_axis(part, order, axis=1) for part in (bins, value, flat % vocabulary, weight))
    )


def _walk(mass: Any, end_bins: Any, near: _Near, targets: Any) -> BoundaryTokens:
    """Go along the ranking, bin by bin and within the end bins token by token, up to each target mass."""
    xp = array_api_compat.array_namespace(mass)
    begin = xp.zeros_like(mass[:, :1])
    by_bin = xp.concat([begin, xp.cumulative_sum(mass, axis=1)], axis=1)
    by_token = xp.concat([begin, xp.cumulative_sum(near.weight, axis=1)], axis=1)  # over near tokens only
    first, stop = _n_below(near.bin, end_bins), _n_below(near.bin, end_bins + 1)
    passed = xp.take_along_axis(by_bin, end_bins, axis=1)  # mass of the bins before the end bin
    offset = xp.take_along_axis(by_token, first, axis=1)
    last = _n_below(by_token[:, 1:], targets * (1 - ROUNDING) - passed + offset)
    last = xp.minimum(xp.maximum(last, first), stop - 1)
    beyond = passed + (xp.take_along_axis(by_token, last, axis=1) - offset)
    weight = xp.take_along_axis(near.weight, last, axis=1)
    alpha = xp.where(weight > 0, (targets - beyond) / xp.where(weight > 0, weight, 1.0), 0.0)
    value, token = (xp.take_along_axis(part, last, axis=1) for part in (near.value, near.token))
    return BoundaryTokens(value, token, xp.clip(alpha, 0.0, 1.0))


def _n_below(ascending: Any, limits: Any) -> Any:
    """Count, in each row, the ascending entries below each of the row's limits."""
    if array_api_compat.is_torch_array(ascending):
        return array_api_compat.array_namespace(ascending).searchsorted(
            ascending.contiguous(), limits.contiguous()
        )
    return np.stack([np.searchsorted(row, limit) for row, limit in zip(ascending, limits, strict=True)])
