"""TSE, EW and MW, over the whole distribution and over its most or least probable part.

Notation: context c, lemma l with correct inflection l+ and incorrect inflection l-, P = P_M(. | c).

    TSE (one lemma)   1[P(l+) > P(l-)]                           Newman et al. (2021), equation 1
    EW                mean over lemmas of 1[P(l+) > P(l-)]
    MW                sum of P(l+) / sum of (P(l+) + P(l-))      equation 2

At a cut-off (see `cutoffs` for the forms that are inside it) the sums run over a part of the lemmas:

    top       EW counts a lemma if either form is inside; MW adds each form that is inside
    bottom    EW counts a lemma if both forms are inside; MW adds both forms of those lemmas
    covered   mass of both forms of the lemmas that EW counts; a form of two lemmas counts once

Each is computed before and after the boundary token, and interpolated. If only one of the two has an eligible lemma, EW
and MW are not interpolated, and the covered mass of the other is 0. If neither has one, EW and MW are NaN.

Everything takes numpy arrays or torch tensors on any device that has float64. Reference: Newman, Ang, Gong
and Hewitt (2021), Refining Targeted Syntactic Evaluation of Language Models, NAACL.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import array_api_compat

from .arrays import Array
from .cutoffs import (
    BOTTOM_CUTOFFS,
    TOP_CUTOFFS,
    RankSegments,
    below_one,
    check_cutoffs,
    segments_by_mass,
    sum_inside,
)

VERSION = "1.1.0"  # changes whenever a number can change; part of every result's signature


class Forms(Protocol):
    """The statistics of one form of each lemma, float64, (contexts, lemmas): see `ranking.FormStatistics`."""

    @property
    def logprob(self) -> Array:
        """Natural log-probability, at most 0."""

    @property
    def mass_above(self) -> Array | None:
        """Probability mass ranked strictly above the form; None without cut-offs from the top."""

    @property
    def mass_below(self) -> Array | None:
        """Probability mass ranked strictly below the form; None without cut-offs from the bottom."""


class GivenForms(NamedTuple):
    """The statistics of one form of each lemma, with the masses that are known."""

    logprob: Array
    mass_above: Array | None = None
    mass_below: Array | None = None


class SideScores(NamedTuple):
    """Scores at the cut-offs of one side, top or bottom; float64, (contexts, cut-offs).

    Attributes:
        ew: equally weighted score in [0, 1]; NaN if no lemma is eligible.
        mw: model-weighted score in [0, 1]; NaN if no form with a probability above 0 is eligible.
        covered_mass: probability of both forms of the eligible lemmas; 0 if there is none.
    """

    ew: Array
    mw: Array
    covered_mass: Array


class ContextScores(NamedTuple):
    """The scores of each context.

    Attributes:
        top: scores at `cutoffs_top`.
        bottom: scores at `cutoffs_bottom`.
        n_lemmas: lemmas scored, (contexts,), int64.
        n_ties: lemmas with P(l+) = P(l-), (contexts,), int64.
        n_nonfinite: lemmas with a NaN log-probability, (contexts,), int64. If there is one, such lemmas count
            as incorrect in the EW of the whole distribution, and all other scores are NaN.
        cutoffs_top: cut-offs of the columns of `top`.
        cutoffs_bottom: cut-offs of the columns of `bottom`.
        log_normalizer: logarithm of the sum of the exponentials of the logits, (contexts,), float64, NaN if they
            are not a distribution; a token's log-probability is its logit minus this. None without logits.
    """

    top: SideScores
    bottom: SideScores
    n_lemmas: Array
    n_ties: Array
    n_nonfinite: Array
    cutoffs_top: tuple[float, ...]
    cutoffs_bottom: tuple[float, ...]
    log_normalizer: Array | None = None


def is_correct(correct_logprob: Array, incorrect_logprob: Array) -> Array:
    """Return for each pair whether P(l+) > P(l-) (equation 1). Ties and NaN are not correct.

    Args:
        correct_logprob: log-probabilities of the correct forms, any shape.
        incorrect_logprob: log-probabilities of the incorrect forms, the same shape.

    Returns:
        Boolean array of that shape.

    >>> import numpy as np
    >>> is_correct(np.asarray([-1.0, -2.0, np.nan]), np.asarray([-2.0, -2.0, np.nan])).tolist()
    [True, False, False]
    """
    return correct_logprob > incorrect_logprob


def context_scores(
    correct: Forms,
    incorrect: Forms,
    cutoffs_top: Sequence[float] = TOP_CUTOFFS,
    cutoffs_bottom: Sequence[float] = BOTTOM_CUTOFFS,
    ids: Array | None = None,
) -> ContextScores:
    """Return EW, MW and the covered mass of each context at each cut-off.

    Args:
        correct: the correct form of each lemma, arrays of shape (contexts, lemmas).
        incorrect: the incorrect form of each lemma, of the same shape. The masses above (below) may be None
            in both if the top (bottom) has no cut-off below 1.
        cutoffs_top: cut-offs in (0, 1], in any order.
        cutoffs_bottom: cut-offs in (0, 1], in any order.
        ids: numbers of the forms, (2, contexts, lemmas), equal for equal forms. None: all forms differ.

    Returns:
        The scores, columns in the order of the cut-offs.

    Raises:
        ValueError: a cut-off is outside (0, 1], shapes differ, there is no lemma, or masses are missing.

    >>> import numpy as np
    >>> from collections import namedtuple
    >>> forms = namedtuple("forms", "logprob mass_above mass_below")
    >>> plural = forms(np.log([[0.6, 0.1]]), np.asarray([[0.0, 0.85]]), None)  # are, exist
    >>> singular = forms(np.log([[0.05, 0.25]]), np.asarray([[0.95, 0.6]]), None)  # is, exists
    >>> scores = context_scores(plural, singular, cutoffs_top=(0.6, 1.0), cutoffs_bottom=())
    >>> scores.top.ew.round(6).tolist(), scores.top.mw.round(6).tolist()
    ([[1.0, 0.5]], [[1.0, 0.7]])
    """
    cutoffs_top, cutoffs_bottom = check_cutoffs(cutoffs_top), check_cutoffs(cutoffs_bottom)
    _check_shapes([correct.logprob, incorrect.logprob])
    xp = array_api_compat.array_namespace(correct.logprob, incorrect.logprob)
    logprob = xp.stack([correct.logprob, incorrect.logprob])
    if ids is not None:
        ids = xp.asarray(ids, device=array_api_compat.device(logprob))
    sides: list[RankSegments | None] = []
    for cutoffs, before in (
        (below_one(cutoffs_top), [correct.mass_above, incorrect.mass_above]),
        (below_one(cutoffs_bottom), [correct.mass_below, incorrect.mass_below]),
    ):
        if cutoffs:
            _check_shapes([correct.logprob, *before])
        sides.append(segments_by_mass(xp.stack(before), xp.exp(logprob), cutoffs) if cutoffs else None)
    return scores_at(logprob, sides[0], sides[1], cutoffs_top, cutoffs_bottom, ids)


def scores_at(
    logprob: Array,
    top: RankSegments | None,
    bottom: RankSegments | None,
    cutoffs_top: tuple[float, ...],
    cutoffs_bottom: tuple[float, ...],
    ids: Array | None = None,
) -> ContextScores:
    """Return the scores of contexts from the segments of their forms.

    Args:
        logprob: log-probabilities of l+ and l-, (2, contexts, lemmas), float64.
        top: segments for the cut-offs of the top that are below 1, ascending; not used if there are none.
        bottom: the same for the bottom.
        cutoffs_top: all cut-offs of the top, in the order of the scores' columns.
        cutoffs_bottom: all cut-offs of the bottom.
        ids: numbers of the forms, (2, contexts, lemmas); None if no form belongs to two lemmas, which is faster.
    """
    xp = array_api_compat.array_namespace(logprob)
    correct = xp.astype(is_correct(logprob[0, ...], logprob[1, ...]), xp.float64)
    forms = _Forms(correct, xp.exp(logprob), ids)
    return ContextScores(
        top=_side_scores(forms, top, cutoffs_top, _sums_top),
        bottom=_side_scores(forms, bottom, cutoffs_bottom, _sums_bottom),
        n_lemmas=xp.zeros_like(correct[:, 0], dtype=xp.int64) + correct.shape[1],
        n_ties=_count(xp.equal(logprob[0, ...], logprob[1, ...])),
        n_nonfinite=_count(xp.any(xp.isnan(logprob), axis=0)),
        cutoffs_top=cutoffs_top,
        cutoffs_bottom=cutoffs_bottom,
    )


def _check_shapes(arrays: Sequence[Array | None]) -> None:
    shapes = [None if array is None else tuple(array.shape) for array in arrays]
    if len(set(shapes)) > 1 or shapes[0] is None or len(shapes[0]) != 2 or shapes[0][1] == 0:
        raise ValueError(
            f"The forms' arrays have the shapes {shapes}; expected the same shape (contexts, lemmas) for all, with at "
            "least one lemma. Without masses (None), use only the cut-off 1."
        )


def _count(flags: Array) -> Array:
    xp = array_api_compat.array_namespace(flags)
    return xp.sum(xp.astype(flags, xp.int64), axis=1)


class _Forms(NamedTuple):
    """The forms of the lemmas of each context."""

    is_right: Array  # 1 if P(l+) > P(l-), (contexts, lemmas)
    mass: Array  # of l+ and l-, (2, contexts, lemmas)
    ids: Array | None  # their numbers, of the same shape; None if all differ

    def once(self, lemma_segment: Array) -> tuple[Array, Array]:
        """Return segments and masses, (contexts, forms): a form of two lemmas has its mass in the first segment only.

        Args:
            lemma_segment: from which segment on a lemma counts, (contexts, lemmas).
        """
        assert self.ids is not None, "callers check this"
        xp = array_api_compat.array_namespace(self.mass)
        segment = xp.concat([lemma_segment] * 2, axis=1)
        ids, mass = (xp.concat([array[0, ...], array[1, ...]], axis=1) for array in (self.ids, self.mass))
        order = xp.argsort(ids * (xp.max(segment) + 1) + segment, axis=1)
        ids, segment, mass = (xp.take_along_axis(array, order, axis=1) for array in (ids, segment, mass))
        again = xp.concat(
            [xp.zeros_like(ids[:, :1]), xp.astype(ids[:, 1:] == ids[:, :-1], ids.dtype)], axis=1
        )
        return segment, xp.where(again > 0, 0.0, mass)


class _Sums(NamedTuple):
    """The sums whose ratios are the scores; float64, (..., contexts, cut-offs)."""

    n_correct: Array  # eligible lemmas with P(l+) > P(l-)
    n_eligible: Array  # eligible lemmas
    mass_correct: Array  # P(l+) of the forms that MW adds
    mass_both: Array  # P(l+) and P(l-) of the forms that MW adds
    mass_covered: Array  # of the different forms of the eligible lemmas


def _side_scores(
    forms: _Forms,
    segments: RankSegments | None,
    cutoffs: tuple[float, ...],
    sums_inside: Callable[[RankSegments, _Forms], _Sums],
) -> SideScores:
    """Score one side."""
    xp = array_api_compat.array_namespace(forms.mass)
    uncut = _sums_uncut(forms)
    scores = [_ratios(uncut)]
    if segments is not None and below_one(cutoffs):
        unknown = xp.isnan(uncut.mass_both)  # where the mass of any form is
        inside = _ratios(sums_inside(segments, forms))
        scores.insert(0, _interpolate(inside, xp.where(unknown, xp.nan, segments.alpha)))
    columns = [(*below_one(cutoffs), 1.0).index(cutoff) for cutoff in cutoffs]
    return SideScores(*(xp.concat(parts, axis=1)[:, columns] for parts in zip(*scores, strict=True)))


def _sums_uncut(forms: _Forms) -> _Sums:
    """Sum over all lemmas: the cut-off 1."""
    is_right, mass, ids = forms
    xp = array_api_compat.array_namespace(mass)
    n_correct = xp.sum(is_right, axis=1, keepdims=True)
    mass_correct, mass_incorrect = (xp.sum(mass[form, ...], axis=1, keepdims=True) for form in (0, 1))
    both = covered = mass_correct + mass_incorrect
    if ids is not None:
        covered = xp.sum(forms.once(xp.zeros_like(ids[0, ...]))[1], axis=1, keepdims=True)
    return _Sums(n_correct, xp.full_like(n_correct, is_right.shape[1]), mass_correct, both, covered)


def _sums_top(segments: RankSegments, forms: _Forms) -> _Sums:
    """Sum over the top: a lemma is eligible if either form is inside; MW adds each form that is inside."""
    is_right, mass, _ = forms
    xp = array_api_compat.array_namespace(mass)
    correct, incorrect = (segments.segment[form, ...] for form in (0, 1))
    either = xp.minimum(correct, incorrect)
    n_correct, n_eligible = sum_inside(segments, either, [is_right, None])
    covered = _covered(segments, forms, either)
    [mass_correct] = sum_inside(segments, correct, [mass[0, ...]])
    [mass_incorrect] = sum_inside(segments, incorrect, [mass[1, ...]])
    return _Sums(n_correct, n_eligible, mass_correct, mass_correct + mass_incorrect, covered)


def _sums_bottom(segments: RankSegments, forms: _Forms) -> _Sums:
    """Sum over the bottom: a lemma is eligible if both forms are inside; MW adds both."""
    is_right, mass, ids = forms
    xp = array_api_compat.array_namespace(mass)
    both = xp.maximum(segments.segment[0, ...], segments.segment[1, ...])
    counts = [is_right, None, mass[0, ...], mass[0, ...] + mass[1, ...]]
    n_correct, n_eligible, mass_correct, mass_both = sum_inside(segments, both, counts)
    covered = mass_both if ids is None else _covered(segments, forms, both)
    return _Sums(n_correct, n_eligible, mass_correct, mass_both, covered)


def _covered(segments: RankSegments, forms: _Forms, lemma_segment: Array) -> Array:
    """Sum the mass of the different forms of eligible lemmas."""
    if forms.ids is None:
        [covered] = sum_inside(segments, lemma_segment, [forms.mass[0, ...] + forms.mass[1, ...]])
    else:
        segment, mass = forms.once(lemma_segment)
        [covered] = sum_inside(segments, segment, [mass])
    return covered


def _ratios(sums: _Sums) -> SideScores:
    return SideScores(
        ew=_ratio(sums.n_correct, sums.n_eligible),
        mw=_ratio(sums.mass_correct, sums.mass_both),
        covered_mass=sums.mass_covered,
    )


def _ratio(part: Array, total: Array) -> Array:
    xp = array_api_compat.array_namespace(part)
    empty = total == 0
    return xp.where(empty, xp.nan, part / xp.where(empty, 1.0, total))


def _interpolate(inside: SideScores, alpha: Array) -> SideScores:
    """Interpolate between before and after the boundary token; a score that only exists after it is not changed."""
    xp = array_api_compat.array_namespace(alpha)
    scores = []
    for score in inside:
        before, after = score[0, ...], score[1, ...]
        only_after = xp.isnan(before)  # what is inside before is inside after as well
        scores.append(xp.where(only_after, after + 0 * alpha, (1 - alpha) * before + alpha * after))
    return SideScores(*scores)
