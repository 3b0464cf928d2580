"""Where forms stand among the boundary tokens of all cut-offs, found without sorting the vocabulary.

At cut-off p one token b spans the boundary: m_b < p <= m_b + q_b, with q its probability and m the mass ranked
strictly before it. The boundary tokens of the top's and of the bottom's cut-offs lie along one ranking and cut it
into segments (`cutoffs.RankSegments`). The segment of every token is found in three steps:

1. The vocabulary goes into bins of equal width in the logit, whose order is the ranking's. The sums of their
   masses tell in which bins the boundary tokens are.
2. Only the tokens of those few bins are ranked one by one, which gives the boundary tokens and the segments there.
3. Every other token is in the segment of its bin.

There is one walk along the ranking from the top and one from the bottom, each summed in float64 from its own end.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

from .cutoffs import (
    BOTTOM_CUTOFFS,
    ROUNDING,
    TOP_CUTOFFS,
    RankSegments,
    below_one,
    by_row,
    check_cutoffs,
    cumulative,
    histogram,
)
from .ranking import checked_pairs, distributions, map_chunks
from .scores import ContextScores, SideScores, scores_at

# About so many tokens share a bin, up to a number of bins that costs as much to add up as it saves.
TOKENS_PER_BIN = 16
MOST_BINS = 4096
# Logits so far below the largest share the last bin; of a million tokens that is 1e-20 of the probability.
RANGE = 60.0

# So many logits are looked at at once: what fits a processor's cache, or what keeps an accelerator busy within
# about a gigabyte of scratch.
CPU_LOGITS = 1 << 18
ACCELERATOR_LOGITS = 1 << 24


class _Walk(NamedTuple):
    """How far the walk along the bins comes for each cut-off; (contexts, cut-offs)."""

    target: Any  # the mass at which the cut-off is
    bin: Any  # in which that mass is reached, counted along the walk
    passed: Any  # mass of the bins before


class _Near(NamedTuple):
    """The tokens that share a bin with a boundary token, most probable first; (contexts, tokens), padded behind."""

    at: Any  # number of the token among those of all contexts
    bin: Any  # from the top; of padding beyond all bins
    weight: Any  # 0 for padding


def locate_forms(
    logits: Any, ids: Any, cutoffs_top: Sequence[float], cutoffs_bottom: Sequence[float]
) -> tuple[Any, Any, RankSegments, RankSegments]:
    """Find log-probability and place of each form.

    Args:
        logits: (contexts, vocabulary), of any floating dtype.
        ids: vocabulary ids of the forms, (2, contexts, lemmas).
        cutoffs_top: ascending, below 1.
        cutoffs_bottom: ascending, below 1.

    Returns:
        The logarithm of the sum of the exponentials of the logits, (contexts, 1), float64, NaN in contexts that
        have no distribution (NaN or +inf among the logits, or nothing but -inf); the forms' log-probabilities,
        (2, contexts, lemmas), float64; their place in the top; their place in the bottom.

    >>> logits, ids = np.log([[0.5, 0.125, 0.375]]), np.asarray([[[0]], [[2]]])
    >>> _, _, top, bottom = locate_forms(logits, ids, [0.25, 0.75], [0.25])
    >>> top.segment.tolist(), top.end.tolist(), top.alpha.round(3).tolist()
    ([[[1]], [[4]]], [[1, 4]], [[0.5, 0.667]])
    >>> bottom.segment.tolist(), bottom.end.tolist(), bottom.alpha.round(3).tolist()
    ([[[5]], [[2]]], [[2]], [[0.333]])
    """
    xp = array_api_compat.array_namespace(logits)
    chunk = CPU_LOGITS if str(array_api_compat.device(logits)) == "cpu" else ACCELERATOR_LOGITS
    step = max(1, chunk // logits.shape[1])
    parts = []
    for start in range(0, logits.shape[0], step):
        rows = slice(start, start + step)
        parts.append(_locate_forms(logits[rows, :], ids[:, rows, :], cutoffs_top, cutoffs_bottom))
    joined = (xp.concat(part, axis=-2) for part in zip(*parts, strict=True))
    log_normalizer, logprob, segment, end, alpha = joined
    n_top, last = len(cutoffs_top), 2 * (len(cutoffs_top) + len(cutoffs_bottom))
    top = RankSegments(segment, end[:, :n_top], alpha[:, :n_top], last + 1)
    bottom = RankSegments(last - segment, last - end[:, n_top:], alpha[:, n_top:], last + 1)
    return log_normalizer, logprob, top, bottom


def _locate_forms(
    logits: Any, ids: Any, cutoffs_top: Sequence[float], cutoffs_bottom: Sequence[float]
) -> tuple[Any, Any, Any, Any, Any]:
    """Return normalizer and log-probabilities; and from the top segments of forms, ends and alphas of all cut-offs."""
    xp = array_api_compat.array_namespace(logits)
    logits, peak, finite = distributions(logits)
    weights = xp.astype(logits, xp.float64)
    weights -= peak
    weights = xp.exp(weights)
    n_bins = max(2, min(MOST_BINS, logits.shape[1] // TOKENS_PER_BIN))
    bins = by_row(_bins(logits, peak, n_bins), n_bins)
    falling = histogram(bins, weights, n_bins)
    rising = xp.flip(falling, axis=1)

    top, bottom = _walk(falling, cutoffs_top), _walk(rising, cutoffs_bottom)
    of_bin, is_end = _segments(xp.concat([top.bin, n_bins - 1 - bottom.bin], axis=1), n_bins)
    # `take`, of numpy and of torch, counts through all rows.
    segment = xp.where(is_end, -1, of_bin).take(xp.reshape(bins, (-1,)))
    near = _near_tokens(logits, weights, bins, segment, n_bins)
    boundary, alpha = _boundary_tokens(near, top, bottom, n_bins)
    of_near, _ = _segments(boundary, near.bin.shape[1])
    real = near.bin < n_bins
    segment[near.at[real]] = of_near[real]

    total = xp.sum(rising, axis=1, keepdims=True)
    log_normalizer = xp.where(finite, xp.astype(peak, xp.float64) + xp.log(total), xp.nan)
    forms = by_row(ids, logits.shape[1])
    logprob = logits.take(forms) - log_normalizer
    return log_normalizer, logprob, segment.take(forms), xp.take_along_axis(of_near, boundary, axis=1), alpha


def _bins(logits: Any, peak: Any, n_bins: int) -> Any:
    """Return each token's bin, int32, from the top."""
    xp = array_api_compat.array_namespace(logits)
    width = xp.minimum(peak - xp.min(logits, axis=1, keepdims=True), xp.full_like(peak, RANGE))
    bins = peak - logits
    bins *= xp.where(width > 0, (n_bins - 1) / xp.where(width > 0, width, 1.0), 0.0)
    return xp.astype(bins.clip(0, n_bins - 1), xp.int32)  # several times faster than to int64


def _walk(mass: Any, cutoffs: Sequence[float]) -> _Walk:
    """Go along the bins up to each cut-off; `mass` is theirs in the order of the walk, (contexts, bins)."""
    xp = array_api_compat.array_namespace(mass)
    passed = cumulative(mass)
    targets = passed[:, -1:] * xp.asarray([cutoffs], dtype=xp.float64, device=array_api_compat.device(mass))
    bins = _n_below(passed[:, 1:], targets * (1 - ROUNDING))
    return _Walk(targets, bins, xp.take_along_axis(passed, bins, axis=1))


def _segments(ends: Any, n: int) -> tuple[Any, Any]:
    """Return the segment of each of n things in a row, given where the cut-offs end, and whether any ends there."""
    xp = array_api_compat.array_namespace(ends)
    ends_here = histogram(by_row(ends, n), None, n)
    segment = 2 * xp.cumulative_sum(ends_here, axis=1) - ends_here  # ends before it, plus ends not after it
    return xp.astype(segment, xp.int32), ends_here > 0


def _near_tokens(logits: Any, weights: Any, bins: Any, segment: Any, n_bins: int) -> _Near:
    """Pick the tokens whose segment is not yet known, -1, and rank them."""
    xp = array_api_compat.array_namespace(logits)
    device = array_api_compat.device(logits)
    n_contexts, vocabulary = logits.shape
    flat = xp.nonzero(segment < 0)[0]  # by context, then by vocabulary id
    starts = xp.searchsorted(flat, vocabulary * xp.arange(n_contexts + 1, device=device))
    place = starts[:-1, None] + xp.arange(int(xp.max(starts[1:] - starts[:-1])), device=device)[None, :]
    padding = place >= starts[1:, None]
    flat = flat[xp.where(padding, 0, place)]
    value = xp.where(padding, -xp.inf, logits.take(flat))
    order = xp.argsort(value, axis=1, descending=True, stable=True)  # of equal values the lower id first
    at = xp.take_along_axis(flat, order, axis=1)
    return _Near(
        at,
        bin=xp.where(padding, n_bins, bins.take(at) % n_bins),
        weight=xp.where(padding, 0.0, weights.take(at)),
    )


def _boundary_tokens(near: _Near, top: _Walk, bottom: _Walk, n_bins: int) -> tuple[Any, Any]:
    """Return which of the near tokens are boundary tokens, and what share of them is inside; (contexts, cut-offs)."""
    xp = array_api_compat.array_namespace(near.weight)
    at_top, alpha_top = _walk_on(top, near.bin, near.weight)
    at_bottom, alpha_bottom = _walk_on(
        bottom, n_bins - 1 - xp.flip(near.bin, axis=1), xp.flip(near.weight, axis=1)
    )
    at = xp.concat([at_top, near.bin.shape[1] - 1 - at_bottom], axis=1)
    return at, xp.concat([alpha_top, alpha_bottom], axis=1)


def _walk_on(walk: _Walk, bins: Any, weights: Any) -> tuple[Any, Any]:
    """Go on token by token where a walk along the bins ends; bins and weights are in its order."""
    xp = array_api_compat.array_namespace(weights)
    by_token = cumulative(weights)
    first, stop = _n_below(bins, walk.bin), _n_below(bins, walk.bin + 1)
    passed = walk.passed - xp.take_along_axis(by_token, first, axis=1)
    at = _n_below(by_token[:, 1:], walk.target * (1 - ROUNDING) - passed)
    at = xp.minimum(xp.maximum(at, first), stop - 1)
    beyond = passed + xp.take_along_axis(by_token, at, axis=1)
    weight = xp.take_along_axis(weights, at, axis=1)
    alpha = xp.where(weight > 0, (walk.target - beyond) / xp.where(weight > 0, weight, 1.0), 0.0)
    return at, alpha.clip(0.0, 1.0)


def _n_below(ascending: Any, limits: Any) -> Any:
    """Count, in each row, the ascending entries below each of the row's limits."""
    if array_api_compat.is_torch_array(ascending):
        return array_api_compat.array_namespace(ascending).searchsorted(
            ascending.contiguous(), limits.contiguous()
        )
    return np.asarray([row.searchsorted(limit) for row, limit in zip(ascending, limits, strict=True)])


def logit_scores(
    logits: Any,
    correct_ids: Any,
    incorrect_ids: Any,
    swapped: Any = None,
    cutoffs_top: Sequence[float] = TOP_CUTOFFS,
    cutoffs_bottom: Sequence[float] = BOTTOM_CUTOFFS,
) -> ContextScores:
    """Return EW, MW and the covered mass of each context at each cut-off.

    Equal to `context_scores(*pair_statistics(...))`, without a sort of the vocabulary: at a cut-off it only
    matters on which side of the boundary token a form is ranked.

    Args:
        logits: (contexts, vocabulary), logits or log-probabilities of any floating dtype, a numpy array or a
            torch tensor on any device. Exponentials and sums are in float64.
        correct_ids: vocabulary ids of l+, (lemmas,) for all contexts alike or (contexts, lemmas).
        incorrect_ids: ids of l-, of the same shape.
        swapped: (contexts,) booleans, true where the two lists change roles: with plurals as `correct_ids`,
            the contexts that need a singular. None: nowhere.
        cutoffs_top: cut-offs in (0, 1], in any order.
        cutoffs_bottom: cut-offs in (0, 1], in any order.

    Returns:
        The scores, of the kind and on the device of `logits` (on the CPU for a device that has no float64).

    Raises:
        TypeError: `logits` are not of a floating dtype, or ids not integers.
        ValueError: wrong shapes, no context, an id outside of the vocabulary, or a cut-off outside of (0, 1].

    >>> import numpy as np
    >>> scores = logit_scores(np.log([[0.6, 0.05, 0.1, 0.25]]), [0, 2], [1, 3], cutoffs_top=(0.5, 1.0))
    >>> scores.top.ew.round(6).tolist(), scores.top.mw.round(6).tolist()
    ([[1.0, 0.5]], [[1.0, 0.7]])
    """
    cutoffs_top, cutoffs_bottom = check_cutoffs(cutoffs_top), check_cutoffs(cutoffs_bottom)
    logits, ids = checked_pairs(logits, correct_ids, incorrect_ids, swapped)
    if array_api_compat.is_torch_array(logits) and logits.device.type == "cpu":
        # numpy is the faster of the two there, and shares the memory
        logits = logits if logits.dtype.itemsize >= 4 else logits.float()
        parts = map_chunks(
            lambda rows: _scores(logits[rows].numpy(), ids[:, rows].numpy(), cutoffs_top, cutoffs_bottom),
            logits,
        )
        return _joined(parts, array_api_compat.array_namespace(logits))
    return _scores(logits, ids, cutoffs_top, cutoffs_bottom)


def _scores(
    logits: Any, ids: Any, cutoffs_top: tuple[float, ...], cutoffs_bottom: tuple[float, ...]
) -> ContextScores:
    inner = below_one(cutoffs_top), below_one(cutoffs_bottom)
    log_normalizer, logprob, *places = locate_forms(logits, ids, *inner)
    scores = scores_at(logprob, *places, cutoffs_top, cutoffs_bottom)
    return scores._replace(log_normalizer=log_normalizer[:, 0])


def _joined(parts: Sequence[ContextScores], torch: Any) -> ContextScores:
    """Put the scores of consecutive contexts together, as tensors."""

    def together(arrays: Sequence[Any]) -> Any:
        return torch.from_numpy(np.concatenate(arrays))

    return parts[0]._replace(
        top=SideScores(*map(together, zip(*(part.top for part in parts), strict=True))),
        bottom=SideScores(*map(together, zip(*(part.bottom for part in parts), strict=True))),
        n_lemmas=together([part.n_lemmas for part in parts]),
        n_ties=together([part.n_ties for part in parts]),
        n_nonfinite=together([part.n_nonfinite for part in parts]),
        log_normalizer=together([part.log_normalizer for part in parts]),
    )
