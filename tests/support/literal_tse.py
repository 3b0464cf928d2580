"""The definitions of EW, MW and their cut-offs, taken at their word: slow, one rank after the other.

From the text of Newman et al. (2021), sections 2 and 3 with footnote 3, and the definitions in the metric's
card; shares no code with `metrics/refined_tse`. Probabilities are float64; sums of them are exact (fractions),
so that this side of a comparison has no rounding of its own.
"""

import math
from fractions import Fraction


def softmax(logits):
    """Return the probability of each token of the vocabulary."""
    peak = max(logits)
    powers = [math.exp(logit - peak) for logit in logits]
    total = math.fsum(powers)
    return [power / total for power in powers]


def ranking(probabilities):
    """Return the vocabulary's ids, most probable first; of equal probabilities the lower id is first."""
    return sorted(range(len(probabilities)), key=lambda token: (-probabilities[token], token))


def score(probabilities, lemmas, inside, either):
    """Score the lemmas with only the tokens `inside`: (EW or None, MW or None, covered mass)."""
    judgments, correct_mass, incorrect_mass, covered = [], Fraction(0), Fraction(0), set()
    for correct, incorrect in lemmas:
        plus, minus = probabilities[correct], probabilities[incorrect]
        plus_inside, minus_inside = correct in inside, incorrect in inside
        counts = (plus_inside or minus_inside) if either else (plus_inside and minus_inside)
        if not counts:
            continue
        judgments.append(1 if plus > minus else 0)
        covered |= {correct, incorrect}  # a form of two lemmas counts once
        if plus_inside:  # from the bottom both are
            correct_mass += Fraction(plus)
        if minus_inside:
            incorrect_mass += Fraction(minus)
    weight = correct_mass + incorrect_mass
    return (
        float(Fraction(sum(judgments), len(judgments))) if judgments else None,
        float(correct_mass / weight) if weight else None,
        float(sum(Fraction(probabilities[form]) for form in covered)),
    )


def cutoff_scores(probabilities, lemmas, cutoff, side):
    """Return (EW or NaN, MW or NaN, covered mass) of one context at a cut-off from the top or the bottom."""
    either = side == "top"
    if cutoff == 1:
        return tuple(
            math.nan if value is None else value
            for value in score(probabilities, lemmas, set(range(len(probabilities))), either)
        )
    order = ranking(probabilities)
    if side == "bottom":
        order.reverse()
    inside, mass = set(), Fraction(0)
    for token in order:
        if mass + Fraction(probabilities[token]) >= Fraction(cutoff):
            break
        inside.add(token)
        mass += Fraction(probabilities[token])
    before = score(probabilities, lemmas, inside, either)
    after = score(probabilities, lemmas, inside | {token}, either)
    alpha = float((Fraction(cutoff) - mass) / Fraction(probabilities[token]))
    return (
        interpolate(before[0], after[0], alpha),
        interpolate(before[1], after[1], alpha),
        (1 - alpha) * before[2] + alpha * after[2],
    )


def interpolate(before, after, alpha):
    """Interpolate a score that may be missing on one side (the other stands alone) or on both (NaN)."""
    if before is None and after is None:
        return math.nan
    if before is None:
        return after
    if after is None:
        return before
    return (1 - alpha) * before + alpha * after
