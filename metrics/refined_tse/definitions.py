"""TSE, EW, MW and covered mass at one gap, over the whole distribution and at cut-offs (Newman et al. 2021, section 3).

    EW        share of lemmas with P(l+) > P(l-)
    MW        sum of P(l+) / sum of (P(l+) + P(l-))
    top p     EW counts a lemma with either form inside, MW each form that is inside
    bottom p  EW counts a lemma with both forms inside, MW both forms of those lemmas
    covered   mass of the different forms of the lemmas that EW counts

At cut-off p one token spans the boundary of the ranked vocabulary. A form is inside *before* it if it is ranked strictly
on the inner side of this token, and inside *after* it if it is that token too; scores are interpolated between the two
by the share of the token that is inside. So the vocabulary's values are sorted once, cumulative sums find the boundary
tokens, and all forms are compared with these.

Ties: of equally probable tokens, the one with the lower id ranks higher. This matters only where a listed form is as
probable as a boundary token; such contexts are ranked again, by value and id. A tie between l+ and l- is not correct.

One code for numpy and torch. Sorting is slow in torch on a CPU: give it numpy arrays there.
"""

from typing import Any, NamedTuple

import array_api_compat
import numpy as np

Array = Any
"""A numpy array or a torch tensor."""
VERSION = "1.1.0"
TOP = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97)
BOTTOM = (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
CUTOFFS = (*(("top", p) for p in TOP), ("top", 1.0), *(("bottom", p) for p in BOTTOM))
"""All cut-offs of the paper, in the order of the columns of scores."""
WHOLE = len(TOP)
"""The column of the whole distribution, top 1.0."""
ROUNDING = 1e-13
"""Sums that reach a cut-off up to this share have reached it."""
AT_ONCE = 1 << 18
"""Logits that are ranked together on a CPU: they fit its cache."""


class GapScores(NamedTuple):
    """The scores of contexts.

    Attributes:
        ew: (contexts, cut-offs) in [0, 1]; NaN where no lemma is eligible.
        mw: (contexts, cut-offs) in [0, 1]; NaN where no form with a probability is inside.
        covered_mass: (contexts, cut-offs) in [0, 1].
        logprob: (contexts, 2, lemmas) natural logs of the correct and the incorrect forms.
        log_normalizer: (contexts, 1) what is subtracted from a logit to get its log-probability.
    """

    ew: Array
    mw: Array
    covered_mass: Array
    logprob: Array
    log_normalizer: Array | None = None


def is_correct(correct: Array, incorrect: Array) -> Array:
    """Return for each pair whether P(l+) > P(l-); ties and NaN are not correct.

    >>> is_correct(np.array([-1.0, -2.0, np.nan]), np.array([-2.0, -2.0, np.nan])).tolist()
    [True, False, False]
    """
    return correct > incorrect


def repeated_forms(ids: np.ndarray) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the places of each form that several lemmas have: which form (0 or 1) of which lemma.

    >>> repeated_forms(np.array([[5, 6, 7], [8, 5, 9]]))
    [((0, 1), (0, 1))]
    """
    places: dict[int, list[int]] = {}
    for place, form in enumerate(ids.ravel().tolist()):
        places.setdefault(form, []).append(place)
    return [
        tuple(zip(*(divmod(place, ids.shape[1]) for place in of_form), strict=True))
        for of_form in places.values()
        if len(of_form) > 1
    ]


def gap_scores(logits: Array, ids: Array, is_first: Array, repeated: Any = ()) -> GapScores:
    """Return EW, MW and covered mass of each context at all cut-offs.

    Args:
        logits: (contexts, vocabulary) float32 or float64, without NaN and plus infinity.
        ids: (2, lemmas) vocabulary ids of the first and the second form of each lemma.
        is_first: (contexts,) whether the first form is the correct one.
        repeated: `repeated_forms(ids)`; their mass is covered once.

    >>> scores = gap_scores(np.log([[0.6, 0.05, 0.1, 0.25]]), np.array([[0, 2], [1, 3]]), np.array([True]))
    >>> scores.ew[0, [4, WHOLE]].round(6).tolist(), scores.mw[0, [4, WHOLE]].round(6).tolist()
    ([1.0, 0.5], [1.0, 0.7])
    """
    xp = array_api_compat.array_namespace(logits)
    step = max(1, AT_ONCE // logits.shape[1]) if array_api_compat.is_numpy_array(logits) else len(logits)
    parts = [
        _gap_scores(xp, logits[start : start + step], ids, is_first[start : start + step], repeated)
        for start in range(0, len(logits), step)
    ]
    return parts[0] if len(parts) == 1 else GapScores(*(xp.concat(part) for part in zip(*parts, strict=True)))


def whole_scores(logprob: Array, is_first: Array, repeated: Any = ()) -> GapScores:
    """Return the scores of whole words, (contexts, 1) each: over all forms, without cut-offs.

    Args:
        logprob: (contexts, 2, lemmas) of the first and the second forms.
        is_first: (contexts,) whether the first form is the correct one.
        repeated: `repeated_forms` of numbers of the forms.
    """
    xp = array_api_compat.array_namespace(logprob)
    mass, logprob = xp.exp(logprob), _by_correctness(xp, logprob, is_first)
    right, correct = is_correct(logprob[:, 0], logprob[:, 1]), _by_correctness(xp, mass, is_first)
    covered = xp.sum(mass, axis=(1, 2))
    for forms, lemmas in repeated:
        covered = covered - (len(lemmas) - 1) * mass[:, forms[0], lemmas[0]]
    right = xp.astype(right, xp.float64)
    ew = _ratio(xp, xp.sum(right, axis=1), xp.sum(xp.ones_like(right), axis=1))
    mw = _ratio(xp, xp.sum(correct[:, 0], axis=1), xp.sum(correct, axis=(1, 2)))
    return GapScores(ew[:, None], mw[:, None], covered[:, None], logprob)


def _gap_scores(xp: Any, logits: Array, ids: Array, is_first: Array, repeated: Any) -> GapScores:
    ranked = xp.sort(logits, axis=1, stable=False)
    peak = ranked[:, -1:]
    weight = xp.exp(ranked - peak)
    up_to = xp.cumulative_sum(weight, axis=1, dtype=xp.float64)  # from the least probable token
    boundary, alpha = _boundaries(xp, weight, up_to)
    values = xp.reshape(xp.take(logits, xp.reshape(ids, (-1,)), axis=1), (len(logits), *ids.shape))
    keys, thresholds = _rank_keys(xp, logits, ranked, ids, values, boundary)
    log_normalizer = xp.astype(peak, xp.float64) + xp.log(up_to[:, -1:])
    of_first = xp.astype(values, xp.float64) - log_normalizer[:, :, None]
    logprob, mass = _by_correctness(xp, of_first, is_first), xp.exp(of_first)
    correct_mass = _by_correctness(xp, mass, is_first)[:, 0]

    right = xp.astype(is_correct(logprob[:, 0], logprob[:, 1]), xp.float64)
    better = xp.max(keys, axis=1)  # if it is inside the top, so is one form; if inside the bottom, both
    lemmas = _inside(xp, better, [right, xp.ones_like(right), xp.sum(mass, axis=1), correct_mass], thresholds)
    is_correct_form = xp.stack([is_first, ~is_first], axis=1)[:, :, None]
    listed = [xp.where(is_correct_form, mass, 0.0), mass]
    forms = _inside(xp, _flat(xp, keys), [_flat(xp, masses) for masses in listed], thresholds)
    is_top = xp.arange(thresholds.shape[1], device=array_api_compat.device(logits)) < len(TOP)
    sides = []
    for side, (n_right, n, covered, correct), (listed_correct, listed_mass) in zip(
        ("before", "after"), lemmas, forms, strict=True
    ):
        numerator = xp.where(is_top, listed_correct, correct)
        denominator = xp.where(n > 0, xp.where(is_top, listed_mass, covered), 0.0)
        twice = _counted_twice(xp, mass, better, repeated, thresholds, side == "before", is_top)
        covered = xp.where(n > 0, covered - twice, 0.0)
        sides.append((_ratio(xp, n_right, n), _ratio(xp, numerator, denominator), covered))
    whole = whole_scores(of_first, is_first, repeated)
    scores = []
    for before, after, uncut in zip(*sides, whole[:3], strict=True):
        cut = xp.where(xp.isnan(before), after, before + alpha * (after - before))
        scores.append(xp.concat([cut[:, : len(TOP)], uncut, cut[:, len(TOP) :]], axis=1))
    return GapScores(*scores, logprob, log_normalizer)


def _boundaries(xp: Any, weight: Array, up_to: Array) -> tuple[Array, Array]:
    """Return the place of each boundary token in the ascending order, and the share of it that is inside.

    Args:
        weight: (contexts, vocabulary) of the tokens, ascending.
        up_to: their cumulative sums, float64.
    """
    total = up_to[:, -1:]
    device = array_api_compat.device(weight)
    top, bottom = (total * xp.asarray([part], dtype=xp.float64, device=device) for part in (TOP, BOTTOM))
    targets = xp.concat([total - top * (1 - ROUNDING), bottom * (1 - ROUNDING)], axis=1)
    place = xp.clip(_n_below(up_to, targets), 0, weight.shape[1] - 1)
    own = xp.astype(xp.take_along_axis(weight, place, axis=1), xp.float64)
    reached = xp.take_along_axis(up_to, place, axis=1)
    n = len(TOP)
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


def _inside(xp: Any, keys: Array, columns: list[Array], thresholds: Array) -> tuple[list[Array], list[Array]]:
    """Sum columns over the items that are inside before and after each boundary token.

    Args:
        keys: (contexts, items); an item is inside the top above a threshold, inside the bottom below it.
        columns: (contexts, items) each.
        thresholds: (contexts, cut-offs), those of the top first.

    Returns:
        The sums before, and those after, one (contexts, cut-offs) for each column.
    """
    order = xp.argsort(keys, axis=1, stable=False)
    ascending = xp.take_along_axis(keys, order, axis=1)
    n_below, n_up_to = (_n_below(ascending, thresholds, or_equal) for or_equal in (False, True))
    n, before, after = len(TOP), [], []
    for column in columns:
        sums = xp.cumulative_sum(xp.take_along_axis(column, order, axis=1), axis=1, include_initial=True)
        below, up_to = (xp.take_along_axis(sums, places, axis=1) for places in (n_below, n_up_to))
        before.append(xp.concat([sums[:, -1:] - up_to[:, :n], below[:, n:]], axis=1))
        after.append(xp.concat([sums[:, -1:] - below[:, :n], up_to[:, n:]], axis=1))
    return before, after


def _counted_twice(
    xp: Any, mass: Array, better: Array, repeated: Any, thresholds: Array, before: bool, is_top: Array
) -> Array:
    """Return the mass of forms that several eligible lemmas have, beyond the first, (contexts, cut-offs)."""
    twice = xp.zeros_like(thresholds, dtype=xp.float64)
    for forms, lemmas in repeated:
        keys = better[:, list(lemmas)][:, :, None]
        above, below = keys > thresholds[:, None, :], keys < thresholds[:, None, :]
        inside = xp.where(is_top, above if before else ~below, below if before else ~above)
        extra = xp.sum(xp.astype(inside, xp.float64), axis=1) - 1
        twice = twice + xp.clip(extra, 0.0, None) * mass[:, forms[0], lemmas[0]][:, None]
    return twice


def _by_correctness(xp: Any, forms: Array, is_first: Array) -> Array:
    """Return (contexts, 2, lemmas) of first and second forms as those of correct and incorrect ones."""
    return xp.where(is_first[:, None, None], forms, xp.flip(forms, axis=1))


def _flat(xp: Any, forms: Array) -> Array:
    return xp.reshape(forms, (len(forms), -1))


def _ratio(xp: Any, part: Array, total: Array) -> Array:
    """Return part / total, NaN where the total is 0."""
    empty = total == 0
    return xp.where(empty, xp.nan, part / xp.where(empty, 1.0, total))


def _n_below(ascending: Array, values: Array, or_equal: bool = False) -> Array:
    """Return how many entries of each row are below (or equal to) each of its values, (rows, values)."""
    if array_api_compat.is_torch_array(ascending):
        import torch

        return torch.searchsorted(ascending, values.contiguous(), right=or_equal)
    side = "right" if or_equal else "left"
    return np.stack([np.searchsorted(*row, side=side) for row in zip(ascending, values, strict=True)])
