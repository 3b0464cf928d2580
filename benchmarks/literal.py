"""EW and MW of one context, computed by plain loops from their definitions, in float64, for comparison with ours.

`as_defined` handles each cut-off by itself: it ranks the vocabulary, walks down the ranks to the cut-off, and then
loops over the lemmas. `ranked_once` is a quick improvement of it: numpy ranks the vocabulary and sums it once for all
cut-offs, with a loop over the lemmas as before.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

Scores = list[tuple[float, float]]
"""(EW, MW) at each cut-off, those of the top first; NaN where no lemma counts."""
Loop = Callable[[np.ndarray, Sequence[tuple[int, int]], Sequence[float], Sequence[float]], Scores]
"""(probabilities, ids of each lemma's correct and incorrect form, cut-offs of the top, of the bottom) to scores."""


def as_defined(
    probabilities: np.ndarray,
    lemmas: Sequence[tuple[int, int]],
    tops: Sequence[float],
    bottoms: Sequence[float],
) -> Scores:
    """Score one context, rank after rank, lemma after lemma, at one cut-off after the other."""
    probability = probabilities.tolist()

    def rank_below(token: int) -> tuple[float, int]:
        return -probability[token], token

    scores = []
    for cutoff, top in [*((cutoff, True) for cutoff in tops), *((cutoff, False) for cutoff in bottoms)]:
        ranked = sorted(range(len(probability)), key=rank_below, reverse=not top)
        mass, inside, alpha = 0.0, set(), 0.0
        for token in ranked:
            if cutoff < 1.0 and mass + probability[token] >= cutoff:
                alpha = (cutoff - mass) / probability[token]
                break
            inside.add(token)
            mass += probability[token]
        before = _score(probability, lemmas, inside.__contains__, top)
        after = _score(probability, lemmas, (inside | {token}).__contains__, top)
        scores.append(_between(before, after, alpha))
    return scores


def ranked_once(
    probabilities: np.ndarray,
    lemmas: Sequence[tuple[int, int]],
    tops: Sequence[float],
    bottoms: Sequence[float],
) -> Scores:
    """Score one context with one ranking for all cut-offs."""
    descending = np.lexsort((np.arange(len(probabilities)), -probabilities))
    probability, scores = probabilities.tolist(), []
    for cutoffs, order, top in ((tops, descending, True), (bottoms, descending[::-1], False)):
        rank = np.argsort(order).tolist()
        mass = np.cumsum(probabilities[order])
        for cutoff in cutoffs:
            boundary = len(order) if cutoff == 1.0 else int(np.searchsorted(mass, cutoff))
            before = _score(probability, lemmas, lambda token, n=boundary, rank=rank: rank[token] < n, top)
            after = _score(probability, lemmas, lambda token, n=boundary, rank=rank: rank[token] <= n, top)
            beyond = mass[boundary - 1] if boundary else 0.0
            alpha = (cutoff - beyond) / (mass[boundary] - beyond) if boundary < len(order) else 0.0
            scores.append(_between(before, after, alpha))
    return scores


def _score(
    probability: list[float], lemmas: Sequence[tuple[int, int]], inside: Callable[[int], bool], top: bool
) -> tuple[float, float]:
    """(EW, MW) over the lemmas that count: with either form inside the top, with both inside the bottom."""
    right = counted = good = bad = 0.0
    for plus, minus in lemmas:
        plus_inside, minus_inside = inside(plus), inside(minus)
        if not ((plus_inside or minus_inside) if top else (plus_inside and minus_inside)):
            continue
        counted += 1
        right += probability[plus] > probability[minus]
        good += probability[plus] if plus_inside else 0.0
        bad += probability[minus] if minus_inside else 0.0
    return (right / counted, good / (good + bad)) if counted else (math.nan, math.nan)


def _between(before: tuple[float, float], after: tuple[float, float], alpha: float) -> tuple[float, float]:
    """Interpolate; a score of only one side of the boundary token stands alone."""
    ew, mw = (
        high if math.isnan(low) else low if math.isnan(high) else (1 - alpha) * low + alpha * high
        for low, high in zip(before, after, strict=True)
    )
    return ew, mw
