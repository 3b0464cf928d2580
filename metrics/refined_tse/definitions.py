"""TSE, EW, MW and covered mass at one gap, over the whole distribution and at cut-offs (Newman et al. 2021, section 3).

    TSE       1[P(l+) > P(l-)] of one lemma (equation 1)
    EW        share of lemmas with P(l+) > P(l-)
    MW        sum of P(l+) / sum of (P(l+) + P(l-)) (equation 2)
    top p     EW counts a lemma with either form inside, MW each form that is inside
    bottom p  EW counts a lemma with both forms inside, MW both forms of those lemmas
    covered   mass of the different forms of the lemmas that EW counts

At cut-off p one token b spans the boundary of the ranked vocabulary: m_b < p <= m_b + q_b, with q its probability and m
the mass ranked strictly before it. A form is inside *before* b if m + q < p and *after* b if m < p; the two differ only
where b is a listed form (footnote 3, made exact). Scores are interpolated between them with alpha = (p - m_b) / q_b; a
score that only exists after b stands alone, and without any lemma inside EW and MW are NaN. From logits, the values
are sorted once, cumulative sums find the boundary tokens, and all forms are compared with these.

Ties: of equally probable tokens, the one with the lower id ranks higher; the ranking from the bottom is the exact
reverse. This matters only where a listed form is as probable as a boundary token; such contexts are ranked again, by
value and id. A tie between l+ and l- is not correct.

One code for numpy arrays and torch tensors.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

VERSION = "1.1.0"  # changes whenever a number can change; part of every result's signature
Array = Any
"""A numpy array or a torch tensor."""
TOP_CUTOFFS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 1.0)
BOTTOM_CUTOFFS = (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
"""Cut-offs of the paper, section 3. Top 1 is the whole distribution."""
Cutoffs = tuple[tuple[str, float], ...]
CUTOFFS: Cutoffs = (*(("top", p) for p in TOP_CUTOFFS), *(("bottom", p) for p in BOTTOM_CUTOFFS))
"""Sides and shares, in the order of the columns of scores."""
ROUNDING = 1e-13
"""Masses are sums of many thousand floats: those that reach a cut-off up to this share have reached it."""
AT_ONCE = 1 << 18
"""Logits that are ranked together on a CPU: they fit its cache."""


class GapScores(NamedTuple):
    """The scores of contexts."""

    ew: Array  # (contexts, cut-offs) in [0, 1]; NaN where no lemma is eligible
    mw: Array  # (contexts, cut-offs) in [0, 1]; NaN where no form with a probability is inside
    covered_mass: Array  # (contexts, cut-offs) in [0, 1]
    logprob: Array  # (contexts, 2, lemmas) natural logs of the correct and the incorrect forms
    log_normalizer: Array | None = None  # (contexts, 1) from logits: a logit minus it is a log-probability


def is_correct(correct: Array, incorrect: Array) -> Array:
    """TSE (equation 1): whether P(l+) > P(l-); ties and NaN are not correct.

    >>> is_correct(np.array([-1.0, -2.0, np.nan]), np.array([-2.0, -2.0, np.nan])).tolist()
    [True, False, False]
    """
    return correct > incorrect


Repeated = Sequence[tuple[Sequence[int], Sequence[int]]]


def repeated_forms(ids: np.ndarray) -> Repeated:
    """Return the places of each form that several lemmas have: which form (0 or 1) of which lemma.

    >>> repeated_forms(np.array([[5, 6, 7], [8, 5, 9]]))
    [([0, 1], [0, 1])]
    """
    places: dict[int, list[int]] = {}
    for place, form in enumerate(ids.ravel().tolist()):
        places.setdefault(form, []).append(place)
    several = [np.divmod(of_form, ids.shape[1]) for of_form in places.values() if len(of_form) > 1]
    return [(forms.tolist(), lemmas.tolist()) for forms, lemmas in several]


def gap_scores(
    logits: Array,
    ids: Array,
    is_first: Array,
    repeated: Repeated = (),
    cutoffs: Cutoffs = CUTOFFS,
    threads: int = 1,
) -> GapScores:
    """Return EW, MW and covered mass of each context at all cut-offs.

    Args:
        logits: (contexts, vocabulary) floats without NaN and plus infinity, on any device.
        ids: (2, lemmas) vocabulary ids of the first and the second form of each lemma.
        is_first: (contexts,) whether the first form is the correct one.
        repeated: `repeated_forms(ids)`; their mass is covered once.
        cutoffs: sides and shares; ("top", 1.0) is the whole distribution.
        threads: that work on a CPU.

    >>> scores = gap_scores(
    ...     np.log([[0.6, 0.05, 0.1, 0.25]]), np.array([[0, 2], [1, 3]]), np.array([True]),
    ...     cutoffs=(("top", 0.5), ("top", 1.0)),
    ... )
    >>> scores.ew.round(6).tolist(), scores.mw.round(6).tolist()
    ([[1.0, 0.5]], [[1.0, 0.7]])
    """
    if logits.dtype.itemsize < 4:
        xp = array_api_compat.array_namespace(logits)
        logits = xp.astype(logits, xp.float32)
    if array_api_compat.is_torch_array(logits) and logits.device.type in ("cpu", "mps"):
        logits = logits.cpu().numpy()  # it sorts much faster on a CPU, and mps has no float64
    xp, device = array_api_compat.array_namespace(logits), array_api_compat.device(logits)
    ids, is_first = xp.asarray(ids, device=device), xp.asarray(is_first, device=device)
    if not array_api_compat.is_numpy_array(logits):
        return _gap_scores(xp, logits, ids, is_first, repeated, cutoffs)
    step = max(1, AT_ONCE // max(logits.shape[1], ids.size * len(cutoffs)))

    def scored(start: int) -> GapScores:
        some = slice(start, start + step)
        return _gap_scores(xp, logits[some], ids, is_first[some], repeated, cutoffs)

    with ThreadPoolExecutor(threads) as pool:  # numpy uses one thread for each call
        parts = list(pool.map(scored, range(0, len(logits), step)))
    return parts[0] if len(parts) == 1 else GapScores(*map(np.concatenate, zip(*parts, strict=True)))


def whole_scores(logprob: Array, is_first: Array, repeated: Repeated = ()) -> GapScores:
    """Return EW, MW (equation 2) and covered mass of each context over all forms, without cut-offs, (contexts, 1) each.

    Args:
        logprob: (contexts, 2, lemmas) of the first and the second forms; NaN is not correct, and makes MW NaN.
        is_first: (contexts,) whether the first form is the correct one.
        repeated: `repeated_forms` of numbers of the forms; their mass is covered once.

    >>> toy = np.log([[[0.6, 0.1], [0.05, 0.25]]])  # are, exist; is, exists (the paper's Table 1)
    >>> scores = whole_scores(toy, np.array([True]))
    >>> scores.ew.tolist(), scores.mw.round(6).tolist()
    ([[0.5]], [[0.7]])
    """
    xp = array_api_compat.array_namespace(logprob)
    mass, logprob = xp.exp(logprob), _by_correctness(xp, logprob, is_first)
    right = xp.astype(is_correct(logprob[:, 0], logprob[:, 1]), xp.float64)
    ew = _ratio(xp.sum(right, axis=1), xp.sum(xp.ones_like(right), axis=1))
    correct, incorrect = (xp.sum(xp.exp(logprob[:, form]), axis=1) for form in (0, 1))
    mw = _ratio(correct, correct + incorrect)  # a sum in this order makes no score above 1
    covered = xp.sum(mass, axis=(1, 2))
    for forms, lemmas in repeated:
        covered = covered - (len(lemmas) - 1) * mass[:, forms[0], lemmas[0]]
    return GapScores(ew[:, None], mw[:, None], covered[:, None], logprob)


def _gap_scores(
    xp: Any, logits: Array, ids: Array, is_first: Array, repeated: Repeated, cutoffs: Cutoffs
) -> GapScores:
    top, bottom = ([p for of_side, p in cutoffs if of_side == side and p < 1] for side in ("top", "bottom"))
    ranked = xp.sort(logits, axis=1, stable=False)
    peak = ranked[:, -1:]
    weight = xp.exp(ranked - peak)
    up_to = xp.cumulative_sum(weight, axis=1, dtype=xp.float64)  # from the least probable token
    boundary, alpha = _boundaries(xp, weight, up_to, top, bottom)
    values = xp.reshape(xp.take(logits, xp.reshape(ids, (-1,)), axis=1), (len(logits), *ids.shape))
    keys, thresholds = _rank_keys(xp, logits, ranked, ids, values, boundary)
    log_normalizer = xp.astype(peak, xp.float64) + xp.log(up_to[:, -1:])
    logprob = xp.astype(values, xp.float64) - log_normalizer[:, :, None]
    mass, whole = xp.exp(logprob), whole_scores(logprob, is_first, repeated)

    keys, masses = (_by_correctness(xp, forms, is_first) for forms in (keys, mass))
    better = xp.max(keys, axis=1)  # if it is inside the top, so is one form; if inside the bottom, both
    right = is_correct(whole.logprob[:, 0], whole.logprob[:, 1])
    counts = xp.astype(xp.stack([right, xp.ones_like(right)], axis=1), xp.float64)
    of_lemmas, n_top = xp.matrix_transpose(xp.concat([counts, masses], axis=1)), len(top)
    in_top, in_bottom = thresholds[:, :n_top, None], thresholds[:, n_top:, None]
    before_after = []
    for above, below in ((xp.greater, xp.less), (xp.greater_equal, xp.less_equal)):  # before, after
        lemmas = [above(better[:, None], in_top), below(better[:, None], in_bottom)]
        inside = xp.astype(xp.concat(lemmas, axis=1), xp.float64)  # (contexts, cut-offs, lemmas)
        n_right, n, correct, incorrect = xp.unstack(xp.matmul(inside, of_lemmas), axis=2)
        covered = correct + incorrect
        for form, lemmas_with_it in repeated:
            more = xp.clip(xp.sum(inside[:, :, lemmas_with_it], axis=2) - 1, 0.0, None)
            covered = covered - more * mass[:, form[0], lemmas_with_it[0]][:, None]
        # MW adds each form that is inside the top by itself, and both forms of lemmas inside the bottom.
        forms_in_top = xp.astype(above(keys[:, :, None], in_top[:, None]), xp.float64)
        of_top = xp.matmul(forms_in_top, masses[..., None])[..., 0]
        part = xp.concat([of_top[:, 0], correct[:, n_top:]], axis=1)
        rest = xp.concat([of_top[:, 1], incorrect[:, n_top:]], axis=1)
        before_after.append((_ratio(n_right, n), _ratio(part, part + rest), covered))
    places = [("top", p) for p in top] + [("bottom", p) for p in bottom] + [("top", 1.0), ("bottom", 1.0)]
    order = [places.index(cutoff) for cutoff in cutoffs]
    ew, mw, covered = (
        xp.concat([_between(xp, before, after, alpha), uncut, uncut], axis=1)[:, order]
        for before, after, uncut in zip(*before_after, whole[:3], strict=True)
    )
    return GapScores(ew, mw, covered, whole.logprob, log_normalizer)


def _between(xp: Any, before: Array, after: Array, alpha: Array) -> Array:
    """Interpolate; a score that only exists after the boundary token stands alone. 1 and 1 give exactly 1."""
    return xp.where(xp.isnan(before), after, before + alpha * (after - before))


def _boundaries(
    xp: Any, weight: Array, up_to: Array, tops: Sequence[float], bottoms: Sequence[float]
) -> tuple[Array, Array]:
    """Return the place of each boundary token in the ascending order, and the share of it that is inside.

    Args:
        xp: the namespace of the arrays.
        weight: (contexts, vocabulary) of the tokens, ascending.
        up_to: their cumulative sums, float64.
        tops: cut-offs of the top below 1.
        bottoms: those of the bottom.
    """
    total, device = up_to[:, -1:], array_api_compat.device(weight)
    top, bottom = (total * xp.asarray([part], dtype=xp.float64, device=device) for part in (tops, bottoms))
    targets = xp.concat([total - top * (1 - ROUNDING), bottom * (1 - ROUNDING)], axis=1)
    if array_api_compat.is_torch_array(up_to):
        n_below = xp.searchsorted(up_to, targets)
    else:
        n_below = np.stack([np.searchsorted(*row) for row in zip(up_to, targets, strict=True)])
    place = xp.clip(n_below, 0, weight.shape[1] - 1)
    own = xp.astype(xp.take_along_axis(weight, place, axis=1), xp.float64)
    reached = xp.take_along_axis(up_to, place, axis=1)
    n = len(tops)
    inside = xp.concat([top - (total - reached[:, :n]), bottom - (reached[:, n:] - own[:, n:])], axis=1)
    return place, xp.clip(inside / own, 0.0, 1.0)


def _rank_keys(
    xp: Any, logits: Array, ranked: Array, ids: Array, values: Array, boundary: Array
) -> tuple[Array, Array]:
    """Return numbers by which forms, (contexts, 2, lemmas), and boundary tokens, (contexts, cut-offs), are compared.

    These are their logits; where a form has the logit of a boundary token that is not alone, their exact ranks.
    """
    thresholds = xp.take_along_axis(ranked, boundary, axis=1)
    last = ranked.shape[1] - 1
    neighbours = (xp.clip(boundary + step, 0, last) for step in (-1, 1))
    below, above = (xp.take_along_axis(ranked, place, axis=1) == thresholds for place in neighbours)
    tied = (below & (boundary > 0)) | (above & (boundary < last))
    (rows,) = xp.nonzero(xp.any(tied, axis=1))
    if len(rows):
        listed = values[rows][:, :, :, None] == thresholds[rows][:, None, None, :]
        rows = rows[xp.any(listed & tied[rows][:, None, None, :], axis=(1, 2, 3))]
    if len(rows):
        order = xp.argsort(logits[rows], axis=1, descending=True, stable=True)
        ranks = last - xp.argsort(order, axis=1)
        keys, thresholds = xp.astype(values, xp.float64), xp.astype(thresholds, xp.float64)
        of_forms = xp.take(ranks, xp.reshape(ids, (-1,)), axis=1)
        keys[rows] = xp.astype(xp.reshape(of_forms, (len(rows), *ids.shape)), xp.float64)
        thresholds[rows] = xp.astype(boundary[rows], xp.float64)
        return keys, thresholds
    return values, thresholds


def _by_correctness(xp: Any, forms: Array, is_first: Array) -> Array:
    """Return (contexts, 2, lemmas) of first and second forms as those of correct and incorrect ones."""
    return xp.where(is_first[:, None, None], forms, xp.flip(forms, axis=1))


def _ratio(part: Array, total: Array) -> Array:
    """Return part / total, NaN where the total is 0."""
    xp, empty = array_api_compat.array_namespace(part), total == 0
    return xp.where(empty, xp.nan, part / xp.where(empty, 1.0, total))
