"""Scores at all cut-offs from logits, without sorting the vocabulary.

At cut-off p one token b spans the boundary: m_b < p <= m_b + q_b, with q its probability and m the mass ranked
strictly before it. A score only depends on which side of the boundary tokens each form is ranked, so on the segments
into which the boundary tokens of all cut-offs (top and bottom) cut the ranking (`cutoffs.RankSegments`). `locate_forms`
finds the segment of every token in three steps:

1. The vocabulary is put into bins of equal width in the logit, in the order of the ranking. The cumulative sums of the
   bins' masses show which bins hold the boundary tokens.
2. Only the tokens of these few bins are ranked. This gives the boundary tokens, and the segments of these tokens.
3. Every other token has the segment of its bin.

Masses are summed in float64, for the top from the most probable token, for the bottom from the least probable one.
"""

from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import NamedTuple

import array_api_compat
import numpy as np

from .arrays import (
    Array,
    Ids,
    checked_pairs,
    cumulative,
    distributions,
    flat_index,
    forms_repeat,
    histogram,
    is_cpu_tensor,
    map_chunks,
    n_below,
)
from .cutoffs import BOTTOM_CUTOFFS, ROUNDING, TOP_CUTOFFS, RankSegments, below_one, check_cutoffs
from .scores import ContextScores, SideScores, scores_at

# Mean number of tokens in a bin, and the most bins: with more, summing the bins costs more than they save.
TOKENS_PER_BIN = 16
MOST_BINS = 4096
# Logits further below the largest are all in the last bin: for a million tokens, 1e-20 of the probability.
RANGE = 60.0

# Logits that are processed at once: they fit a processor's cache, or keep an accelerator busy within about a gigabyte
# of temporary memory.
CPU_LOGITS = 1 << 18
ACCELERATOR_LOGITS = 1 << 24


class _BoundaryBins(NamedTuple):
    """The bin that holds the boundary token of each cut-off of one side; (contexts, cut-offs)."""

    target: Array  # mass at the cut-off
    bin: Array  # the bin in which the cumulative mass reaches it, counted from this side
    before: Array  # mass of the bins before it


class _Candidates(NamedTuple):
    """The tokens that share a bin with a boundary token, most probable first; (contexts, tokens), padded at the end."""

    place: Array  # flat index of the token
    bin: Array  # from the top; padding is beyond all bins
    weight: Array  # 0 for padding


def locate_forms(
    logits: Array, ids: Array, cutoffs_top: Sequence[float], cutoffs_bottom: Sequence[float]
) -> tuple[Array, Array, RankSegments, RankSegments]:
    """Find the log-probability and the segments of each form.

    Args:
        logits: (contexts, vocabulary), of any floating dtype.
        ids: vocabulary ids of the forms, (2, contexts, lemmas).
        cutoffs_top: ascending, below 1.
        cutoffs_bottom: ascending, below 1.

    Returns:
        The logarithm of the sum of the exponentials of the logits, (contexts, 1), float64, NaN in contexts that
        have no distribution (NaN or +inf among the logits, or all -inf); the forms' log-probabilities,
        (2, contexts, lemmas), float64; their segments counted from the top; their segments from the bottom.

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
    logits: Array, ids: Array, cutoffs_top: Sequence[float], cutoffs_bottom: Sequence[float]
) -> tuple[Array, Array, Array, Array, Array]:
    """Return normalizer, log-probabilities, segments of forms (from the top), and ends and alphas of all cut-offs."""
    xp = array_api_compat.array_namespace(logits)
    logits, peak, finite = distributions(logits)
    if str(array_api_compat.device(logits)) == "cpu":
        weights = xp.astype(logits, xp.float64)
        weights -= peak
        weights = xp.exp(weights)
    else:
        # Most GPUs compute float64 at a 64th of the rate of float32. Its exponentials are as exact as the logits.
        weights = xp.astype(xp.exp(logits - peak), xp.float64)
    n_bins = max(2, min(MOST_BINS, logits.shape[1] // TOKENS_PER_BIN))
    bins = flat_index(_bins(logits, peak, n_bins), n_bins)
    from_top = histogram(bins, weights, n_bins)
    from_bottom = xp.flip(from_top, axis=1)

    top, bottom = _boundary_bins(from_top, cutoffs_top), _boundary_bins(from_bottom, cutoffs_bottom)
    of_bin, is_end = _segments(xp.concat([top.bin, n_bins - 1 - bottom.bin], axis=1), n_bins)
    # `take` of numpy and of torch uses flat indices. -1: not known yet.
    segment = xp.where(is_end, -1, of_bin).take(xp.reshape(bins, (-1,)))
    candidates = _rank_candidates(logits, weights, bins, segment, n_bins)
    boundary, alpha = _boundary_tokens(candidates, top, bottom, n_bins)
    of_candidate, _ = _segments(boundary, candidates.bin.shape[1])
    real = candidates.bin < n_bins
    segment[candidates.place[real]] = of_candidate[real]

    total = xp.sum(from_bottom, axis=1, keepdims=True)
    log_normalizer = xp.where(finite, xp.astype(peak, xp.float64) + xp.log(total), xp.nan)
    forms = flat_index(ids, logits.shape[1])
    logprob = logits.take(forms) - log_normalizer  # type: ignore[arg-type]  # of one kind
    return (
        log_normalizer,
        logprob,
        segment.take(forms),
        xp.take_along_axis(of_candidate, boundary, axis=1),
        alpha,
    )


def _bins(logits: Array, peak: Array, n_bins: int) -> Array:
    """Return the bin of each token, counted from the top, int32."""
    xp = array_api_compat.array_namespace(logits)
    width = xp.minimum(peak - xp.min(logits, axis=1, keepdims=True), xp.full_like(peak, RANGE))
    bins = peak - logits
    bins *= xp.where(width > 0, (n_bins - 1) / xp.where(width > 0, width, 1.0), 0.0)
    return xp.astype(bins.clip(0, n_bins - 1), xp.int32)  # several times faster than int64


def _boundary_bins(mass: Array, cutoffs: Sequence[float]) -> _BoundaryBins:
    """Find the bin of each boundary token; `mass` is that of the bins, counted from this side, (contexts, bins)."""
    xp = array_api_compat.array_namespace(mass)
    before = cumulative(mass)
    targets = before[:, -1:] * xp.asarray([cutoffs], dtype=xp.float64, device=array_api_compat.device(mass))
    bins = n_below(before[:, 1:], targets * (1 - ROUNDING))
    return _BoundaryBins(targets, bins, xp.take_along_axis(before, bins, axis=1))


def _segments(ends: Array, n: int) -> tuple[Array, Array]:
    """Return the segment of each of n items of a ranking, and whether it is an end, from the ranks of the ends."""
    xp = array_api_compat.array_namespace(ends)
    ends_here = histogram(flat_index(ends, n), None, n)
    segment = 2 * xp.cumulative_sum(ends_here, axis=1) - ends_here  # ends before it plus ends not after it
    return xp.astype(segment, xp.int32), ends_here > 0


def _rank_candidates(logits: Array, weights: Array, bins: Array, segment: Array, n_bins: int) -> _Candidates:
    """Rank the tokens whose segment is not known yet, -1."""
    xp = array_api_compat.array_namespace(logits)
    device = array_api_compat.device(logits)
    n_contexts, vocabulary = logits.shape
    flat = xp.nonzero(segment < 0)[0]  # by context, then by vocabulary id
    starts = xp.searchsorted(flat, vocabulary * xp.arange(n_contexts + 1, device=device))
    position = starts[:-1, None] + xp.arange(int(xp.max(starts[1:] - starts[:-1])), device=device)[None, :]
    padding = position >= starts[1:, None]
    flat = flat[xp.where(padding, 0, position)]
    value = xp.where(padding, -xp.inf, logits.take(flat))
    order = xp.argsort(value, axis=1, descending=True, stable=True)  # among equal values, the lower id first
    place = xp.take_along_axis(flat, order, axis=1)
    return _Candidates(
        place,
        bin=xp.where(padding, n_bins, bins.take(place) % n_bins),
        weight=xp.where(padding, 0.0, weights.take(place)),
    )


def _boundary_tokens(
    candidates: _Candidates, top: _BoundaryBins, bottom: _BoundaryBins, n_bins: int
) -> tuple[Array, Array]:
    """Return which candidates are the boundary tokens, and the share of each that is inside; (contexts, cut-offs)."""
    xp = array_api_compat.array_namespace(candidates.weight)
    rank_top, alpha_top = _boundary_ranks(top, candidates.bin, candidates.weight)
    rank_bottom, alpha_bottom = _boundary_ranks(
        bottom, n_bins - 1 - xp.flip(candidates.bin, axis=1), xp.flip(candidates.weight, axis=1)
    )
    rank = xp.concat([rank_top, candidates.bin.shape[1] - 1 - rank_bottom], axis=1)
    return rank, xp.concat([alpha_top, alpha_bottom], axis=1)


def _boundary_ranks(boundary: _BoundaryBins, bins: Array, weights: Array) -> tuple[Array, Array]:
    """Return the rank of each boundary token among the candidates, and its share inside; all counted from one side."""
    xp = array_api_compat.array_namespace(weights)
    by_token = cumulative(weights)
    first, stop = n_below(bins, boundary.bin), n_below(bins, boundary.bin + 1)
    offset = boundary.before - xp.take_along_axis(by_token, first, axis=1)
    rank = n_below(by_token[:, 1:], boundary.target * (1 - ROUNDING) - offset)
    rank = xp.minimum(xp.maximum(rank, first), stop - 1)
    before = offset + xp.take_along_axis(by_token, rank, axis=1)
    weight = xp.take_along_axis(weights, rank, axis=1)
    alpha = xp.where(weight > 0, (boundary.target - before) / xp.where(weight > 0, weight, 1.0), 0.0)
    return rank, alpha.clip(0.0, 1.0)


def logit_scores(
    logits: Array,
    correct_ids: Ids,
    incorrect_ids: Ids,
    swapped: Array | None = None,
    cutoffs_top: Sequence[float] = TOP_CUTOFFS,
    cutoffs_bottom: Sequence[float] = BOTTOM_CUTOFFS,
) -> ContextScores:
    """Return EW, MW and the covered mass of each context at each cut-off.

    The same as `context_scores(*pair_statistics(...))`, without sorting the vocabulary.

    Args:
        logits: (contexts, vocabulary), logits or log-probabilities of any floating dtype, a numpy array or a
            torch tensor on any device. Sums are in float64, exponentials on the CPU too, elsewhere in the dtype of
            the logits, at least float32.
        correct_ids: vocabulary ids of l+, (lemmas,) for all contexts or (contexts, lemmas).
        incorrect_ids: ids of l-, of the same shape.
        swapped: (contexts,) booleans, true where `correct_ids` are the incorrect forms: if they are plurals,
            the contexts with a singular subject. None: nowhere.
        cutoffs_top: cut-offs in (0, 1], in any order.
        cutoffs_bottom: cut-offs in (0, 1], in any order.

    Returns:
        The scores, of the kind and on the device of `logits` (on the CPU if the device has no float64).

    Raises:
        TypeError: `logits` do not have a floating dtype, or ids are not integers.
        ValueError: wrong shapes, no context, an id outside the vocabulary, or a cut-off outside (0, 1].

    >>> import numpy as np
    >>> scores = logit_scores(np.log([[0.6, 0.05, 0.1, 0.25]]), [0, 2], [1, 3], cutoffs_top=(0.5, 1.0))
    >>> scores.top.ew.round(6).tolist(), scores.top.mw.round(6).tolist()
    ([[1.0, 0.5]], [[1.0, 0.7]])
    """
    cutoffs_top, cutoffs_bottom = check_cutoffs(cutoffs_top), check_cutoffs(cutoffs_bottom)
    logits, ids = checked_pairs(logits, correct_ids, incorrect_ids, swapped)
    repeated = forms_repeat(_listed(correct_ids, incorrect_ids, ids))
    scored = partial(_scores, cutoffs_top=cutoffs_top, cutoffs_bottom=cutoffs_bottom, repeated=repeated)
    if is_cpu_tensor(logits):
        return _joined(map_chunks(scored, logits, ids), array_api_compat.array_namespace(logits))
    return scored(logits, ids)


def _listed(correct_ids: Ids, incorrect_ids: Ids, ids: Array) -> Array:
    """Return the ids as (2, contexts, lemmas), one context if all have the same; where they were given, if they can be.

    Looking at ids that a GPU has waits for it.
    """
    if np.ndim(correct_ids) > 1:
        return ids
    if array_api_compat.is_torch_array(correct_ids):
        return ids[:, :1, :]
    return np.asarray([correct_ids, incorrect_ids])[:, None]


def _scores(
    logits: Array,
    ids: Array,
    cutoffs_top: tuple[float, ...],
    cutoffs_bottom: tuple[float, ...],
    repeated: bool,
) -> ContextScores:
    inner = below_one(cutoffs_top), below_one(cutoffs_bottom)
    log_normalizer, logprob, top, bottom = locate_forms(logits, ids, *inner)
    scores = scores_at(logprob, top, bottom, cutoffs_top, cutoffs_bottom, ids if repeated else None)
    return scores._replace(log_normalizer=log_normalizer[:, 0])


def _joined(parts: Sequence[ContextScores], torch: ModuleType) -> ContextScores:
    """Concatenate the scores of consecutive contexts, as tensors."""

    def joined(arrays: Sequence[Array]) -> Array:
        return torch.from_numpy(np.concatenate(arrays))

    return parts[0]._replace(
        top=SideScores(*map(joined, zip(*(part.top for part in parts), strict=True))),
        bottom=SideScores(*map(joined, zip(*(part.bottom for part in parts), strict=True))),
        n_lemmas=joined([part.n_lemmas for part in parts]),
        n_ties=joined([part.n_ties for part in parts]),
        n_nonfinite=joined([part.n_nonfinite for part in parts]),
        log_normalizer=joined([part.log_normalizer for part in parts if part.log_normalizer is not None]),
    )
