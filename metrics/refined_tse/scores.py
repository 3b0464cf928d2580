"""TSE, EW and MW, over the whole distribution and over its most or least probable part.

Notation: context c, lemma l with correct inflection l+ and incorrect inflection l-, P = P_M(. | c).

    TSE (one lemma)   1[P(l+) > P(l-)]                           Newman et al. (2021), equation 1
    EW                mean over lemmas of 1[P(l+) > P(l-)]
    MW                sum of P(l+) / sum of (P(l+) + P(l-))      equation 2

At a cut-off (`cutoffs` says which forms are inside it) the sums run over a part of the lemmas only:

    top       EW counts a lemma if either form is inside; MW adds every form that is inside
    bottom    EW counts a lemma if both forms are inside; MW adds both forms of those lemmas
    covered   mass of both forms of the lemmas that EW counts

Each is computed before and after the token that spans the boundary, and interpolated. Where only one side of
it has an eligible lemma, EW and MW of that side stand alone, and the covered mass of the other is 0. Where
neither has one, EW and MW are NaN.

Everything takes numpy arrays or torch tensors on any device that has float64. Reference: Newman, Ang, Gong
and Hewitt (2021), Refining Targeted Syntactic Evaluation of Language Models, NAACL.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import array_api_compat

from .cutoffs import (
    BOTTOM_CUTOFFS,
    TOP_CUTOFFS,
    RankSegments,
    below_one,
    check_cutoffs,
    place_by_mass,
    sum_inside,
)

VERSION = "1.0.0"  # changes whenever a number can change; part of every result's signature


class Forms(Protocol):
    """What is known of one form of each lemma: float64, (contexts, lemmas), as `ranking` returns it."""

    logprob: Any  # natural log-probability, at most 0
    mass_above: Any  # probability mass ranked strictly above the form
    mass_below: Any  # probability mass ranked strictly below the form


class SideScores(NamedTuple):
    """Scores at the cut-offs of one side, top or bottom; float64, (contexts, cut-offs).

    Attributes:
        ew: equally weighted score in [0, 1]; NaN where no lemma is eligible.
        mw: model-weighted score in [0, 1]; NaN where no form with any probability is eligible.
        covered_mass: probability of both forms of the eligible lemmas; 0 where there is none.
    """

    ew: Any
    mw: Any
    covered_mass: Any


class ContextScores(NamedTuple):
    """The scores of each context, before any average.

    Attributes:
        top: scores at `cutoffs_top`.
        bottom: scores at `cutoffs_bottom`.
        n_lemmas: lemmas scored, (contexts,), int64.
        n_ties: lemmas with P(l+) = P(l-), (contexts,), int64.
        n_nonfinite: lemmas with a log-probability that is NaN, (contexts,), int64. Where there is one, such
            lemmas are not correct in the EW of the whole distribution, and all else is NaN.
        cutoffs_top: what the columns of `top` are.
        cutoffs_bottom: what the columns of `bottom` are.
        log_normalizer: logarithm of the sum of the exponentials of the logits, (contexts,), float64, NaN where they
            are no distribution; a token's log-probability is its logit less this. None if no logits were given.
    """

    top: SideScores
    bottom: SideScores
    n_lemmas: Any
    n_ties: Any
    n_nonfinite: Any
    cutoffs_top: tuple[float, ...]
    cutoffs_bottom: tuple[float, ...]
    log_normalizer: Any = None


def is_correct(correct_logprob: Any, incorrect_logprob: Any) -> Any:
    """Return for each pair whether P(l+) > P(l-) (equation 1). A tie is not correct, nor is a NaN.

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
) -> ContextScores:
    """Return EW, MW and the covered mass of each context at each cut-off.

    Args:
        correct: the correct form of each lemma, arrays of shape (contexts, lemmas).
        incorrect: the incorrect form of each lemma, of the same shape. A side's masses may be None in both
            where that side has no cut-off below 1.
        cutoffs_top: cut-offs in (0, 1], in any order.
        cutoffs_bottom: cut-offs in (0, 1], in any order.

    Returns:
        The scores, columns in the order of the cut-offs.

    Raises:
        ValueError: a cut-off is outside of (0, 1], shapes differ, there is no lemma, or masses are missing.

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
    places = []
    for cutoffs, beyond in (
        (below_one(cutoffs_top), [correct.mass_above, incorrect.mass_above]),
        (below_one(cutoffs_bottom), [correct.mass_below, incorrect.mass_below]),
    ):
        if cutoffs:
            _check_shapes([correct.logprob, *beyond])
        places.append(place_by_mass(xp.stack(beyond), xp.exp(logprob), cutoffs) if cutoffs else None)
    return scores_at(logprob, *places, cutoffs_top, cutoffs_bottom)


def scores_at(
    logprob: Any,
    place_top: RankSegments | None,
    place_bottom: RankSegments | None,
    cutoffs_top: tuple[float, ...],
    cutoffs_bottom: tuple[float, ...],
) -> ContextScores:
    """Return the scores of contexts whose forms' places in the cut-offs are known.

    Args:
        logprob: log-probabilities of l+ and l-, (2, contexts, lemmas), float64.
        place_top: the forms' places in those cut-offs of the top that are below 1, ascending; not looked at if
            there are none.
        place_bottom: the same of the bottom.
        cutoffs_top: all cut-offs of the top, in the order of the scores' columns.
        cutoffs_bottom: all cut-offs of the bottom.
    """
    xp = array_api_compat.array_namespace(logprob)
    right = xp.astype(is_correct(logprob[0, ...], logprob[1, ...]), xp.float64)
    mass = xp.exp(logprob)
    return ContextScores(
        top=_side_scores(right, mass, place_top, cutoffs_top, _sums_top),
        bottom=_side_scores(right, mass, place_bottom, cutoffs_bottom, _sums_bottom),
        n_lemmas=xp.zeros_like(right[:, 0], dtype=xp.int64) + right.shape[1],
        n_ties=_count(logprob[0, ...] == logprob[1, ...]),
        n_nonfinite=_count(xp.any(xp.isnan(logprob), axis=0)),
        cutoffs_top=cutoffs_top,
        cutoffs_bottom=cutoffs_bottom,
    )


def _check_shapes(arrays: Sequence[Any]) -> None:
    shapes = [None if array is None else tuple(array.shape) for array in arrays]
    if len(set(shapes)) > 1 or shapes[0] is None or len(shapes[0]) != 2 or shapes[0][1] == 0:
        raise ValueError(
            f"The forms' arrays have the shapes {shapes}; all need the one shape (contexts, lemmas) with at "
            "least one lemma. Where the masses are not known (None), ask for no cut-off below 1."
        )


def _count(flags: Any) -> Any:
    xp = array_api_compat.array_namespace(flags)
    return xp.sum(xp.astype(flags, xp.int64), axis=1)


class _Sums(NamedTuple):
    """What the scores are ratios of; float64, (..., contexts, cut-offs)."""

    n_correct: Any  # lemmas that count and have P(l+) > P(l-)
    n_counted: Any  # lemmas that count
    mass_correct: Any  # P(l+) of the forms that MW adds
    mass_weighed: Any  # P(l+) and P(l-) of the forms that MW adds
    mass_covered: Any  # P(l+) and P(l-) of the lemmas that count


def _side_scores(
    right: Any,
    mass: Any,
    place: RankSegments | None,
    cutoffs: tuple[float, ...],
    sums_inside: Callable[[RankSegments, Any, Any], _Sums],
) -> SideScores:
    """Score one side; `right` is 1 for P(l+) > P(l-), (contexts, lemmas), `mass` is (2, contexts, lemmas)."""
    xp = array_api_compat.array_namespace(mass)
    whole = _sums_whole(right, mass)
    scores = [_ratios(whole)]
    if below_one(cutoffs):
        unknown = xp.isnan(whole.mass_weighed)  # where any form's is
        inside = _ratios(sums_inside(place, right, mass))
        scores.insert(0, _interpolate(inside, xp.where(unknown, xp.nan, place.alpha)))
    columns = [(*below_one(cutoffs), 1.0).index(cutoff) for cutoff in cutoffs]
    return SideScores(*(xp.concat(parts, axis=1)[:, columns] for parts in zip(*scores, strict=True)))


def _sums_whole(right: Any, mass: Any) -> _Sums:
    """Sum over all lemmas, which is what a cut-off of 1 means."""
    xp = array_api_compat.array_namespace(mass)
    n_correct = xp.sum(right, axis=1, keepdims=True)
    mass_correct, mass_incorrect = (xp.sum(mass[form, ...], axis=1, keepdims=True) for form in (0, 1))
    covered = mass_correct + mass_incorrect
    return _Sums(n_correct, xp.full_like(n_correct, right.shape[1]), mass_correct, covered, covered)


def _sums_top(place: RankSegments, right: Any, mass: Any) -> _Sums:
    """Sum over the top: either form lets a lemma count, each form that is inside weighs by itself."""
    xp = array_api_compat.array_namespace(mass)
    correct, incorrect = (place.segment[form, ...] for form in (0, 1))
    counts = [right, None, mass[0, ...] + mass[1, ...]]
    n_correct, n_counted, covered = sum_inside(place, xp.minimum(correct, incorrect), counts)
    [mass_correct] = sum_inside(place, correct, [mass[0, ...]])
    [mass_incorrect] = sum_inside(place, incorrect, [mass[1, ...]])
    return _Sums(n_correct, n_counted, mass_correct, mass_correct + mass_incorrect, covered)


def _sums_bottom(place: RankSegments, right: Any, mass: Any) -> _Sums:
    """Sum over the bottom: only both forms let a lemma count, and then both weigh."""
    xp = array_api_compat.array_namespace(mass)
    both = xp.maximum(place.segment[0, ...], place.segment[1, ...])
    counts = [right, None, mass[0, ...], mass[0, ...] + mass[1, ...]]
    n_correct, n_counted, mass_correct, covered = sum_inside(place, both, counts)
    return _Sums(n_correct, n_counted, mass_correct, covered, covered)


def _ratios(sums: _Sums) -> SideScores:
    return SideScores(
        ew=_ratio(sums.n_correct, sums.n_counted),
        mw=_ratio(sums.mass_correct, sums.mass_weighed),
        covered_mass=sums.mass_covered,
    )


def _ratio(part: Any, total: Any) -> Any:
    xp = array_api_compat.array_namespace(part)
    nothing = total == 0
    return xp.where(nothing, xp.nan, part / xp.where(nothing, 1.0, total))


def _interpolate(inside: SideScores, alpha: Any) -> SideScores:
    """Move from before the boundary token to after it; a score of only one side stands alone."""
    xp = array_api_compat.array_namespace(alpha)
    scores = []
    for score in inside:
        before, after = score[0, ...], score[1, ...]
        alone = xp.isnan(before)  # then nothing more is inside before than after
        scores.append(xp.where(alone, after + 0 * alpha, (1 - alpha) * before + alpha * after))
    return SideScores(*scores)
