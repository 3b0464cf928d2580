"""Forms of one or several tokens under nucleus sampling, a cut-off from the top that needs no rank in the vocabulary.

At *sampler top p*, each step keeps its nucleus N, the smallest set of most probable tokens that together hold at least
the share p, and divides by their sum (Holtzman et al. 2020, The curious case of neural text degeneration, equation 2):

    P_p(t | s)     =  P(t | s) / sum of P(. | s) over N     if t is in N, else 0
    P_p(form | c)  =  product over its tokens of P_p(t_i | c, t_1 ... t_i-1)

A form is inside if each of its tokens is in its step's nucleus. Where the end of the word counts, its step has the
share of the tokens in N that do not continue the word. EW and MW are those of P_p over the lemmas with a form inside.
For a form of one token this is not the paper's cut-off, which is interpolated at the boundary token.
"""

from collections.abc import Sequence
from typing import NamedTuple

import array_api_compat

from .arrays import Array, cumulative, distributions, n_below
from .cutoffs import ROUNDING, TOP_CUTOFFS, below_one, check_cutoffs

SAMPLER_TOP = tuple(below_one(TOP_CUTOFFS))
"""Sampler top 1 samples from the whole distribution."""
AT_ONCE = 1 << 22
"""Logits that are sorted together."""


class SamplerScores(NamedTuple):
    """Scores of each context at each cut-off, (contexts, cut-offs), float64.

    Attributes:
        ew: in [0, 1]; NaN if no form is inside, or the probability of one is unknown.
        mw: in [0, 1]; NaN where `ew` is.
        n_lemmas: lemmas with a form inside.
        covered_mass: probability that the sampler gives to the listed forms, in [0, 1]; NaN if one is unknown.
    """

    ew: Array
    mw: Array
    n_lemmas: Array
    covered_mass: Array


def nucleus_logprobs(
    logits: Array, tokens: Array, cutoffs: Sequence[float] = SAMPLER_TOP, group: Array | None = None
) -> Array:
    """Return log P_p of one token of each distribution at each cut-off, (rows, cut-offs), float64; -inf outside.

    Args:
        logits: (rows, vocabulary), logits or log-probabilities; a numpy array or a torch tensor on any device.
        tokens: (rows,) vocabulary ids; -1 stands for all tokens of `group` together.
        cutoffs: shares of the probability in (0, 1].
        group: (vocabulary,) booleans, for instance the tokens that end a word.

    Raises:
        ValueError: a cut-off is outside (0, 1].

    >>> import numpy as np
    >>> nucleus_logprobs(np.log([[0.5, 0.25, 0.25]]), np.asarray([1]), (0.5, 0.6)).round(4).tolist()
    [[-inf, -1.0986]]
    """
    cutoffs = check_cutoffs(cutoffs)
    xp = array_api_compat.array_namespace(logits)
    step = max(1, AT_ONCE // logits.shape[1])
    parts = [
        _of_rows(logits[start : start + step, :], tokens[start : start + step], cutoffs, group)
        for start in range(0, logits.shape[0], step)
    ]
    return xp.concat(parts, axis=0)


def _of_rows(logits: Array, tokens: Array, cutoffs: tuple[float, ...], group: Array | None) -> Array:
    xp = array_api_compat.array_namespace(logits)
    values, peak, finite = distributions(logits)
    order = xp.argsort(values, axis=1, descending=True, stable=True)  # among equal values, the lower id first
    weights = xp.exp(xp.astype(xp.take_along_axis(values, order, axis=1), xp.float64) - peak)
    above = cumulative(weights)
    limits = xp.asarray(cutoffs, dtype=xp.float64, device=array_api_compat.device(weights)) * (1 - ROUNDING)
    n_inside = n_below(above[:, :-1], above[:, -1:] * limits[None, :])
    n_inside = xp.where(limits[None, :] >= 1 - ROUNDING, weights.shape[1], n_inside)
    is_token = order == tokens[:, None]
    if group is not None:
        is_token = is_token | ((tokens < 0)[:, None] & group.take(order))
    inside = xp.take_along_axis(cumulative(xp.where(is_token, weights, 0.0)), n_inside, axis=1)
    share = inside / xp.take_along_axis(above, n_inside, axis=1)
    logprob = xp.where(share > 0, xp.log(xp.where(share > 0, share, 1.0)), -xp.inf)
    return xp.where(finite, logprob, xp.nan)


def sampler_scores(correct: Array, incorrect: Array, ids: Array | None = None) -> SamplerScores:
    """Return EW, MW and covered mass from log P_p of the two forms of each lemma.

    Args:
        correct: log P_p of the correct forms, (cut-offs, contexts, lemmas), -inf outside.
        incorrect: the same of the incorrect forms.
        ids: numbers of the forms, (2, contexts, lemmas), equal for equal forms. None: all forms differ.

    >>> import numpy as np
    >>> scores = sampler_scores(np.log([[[0.5, 0.25]]]), np.asarray([[[-np.inf, np.log(0.25)]]]))
    >>> scores.ew.tolist(), scores.mw.tolist(), scores.n_lemmas.tolist(), scores.covered_mass.tolist()
    ([[0.5]], [[0.75]], [[2]], [[1.0]])
    """
    xp = array_api_compat.array_namespace(correct, incorrect)
    plus, minus = xp.exp(correct), xp.exp(incorrect)
    n_lemmas = xp.sum(xp.astype((plus > 0) | (minus > 0), xp.int64), axis=2)
    n_right = xp.sum(xp.astype(correct > incorrect, xp.float64), axis=2)
    mass = xp.sum(plus + minus, axis=2)
    none = (n_lemmas == 0) | xp.isnan(mass)
    ew = xp.where(none, xp.nan, n_right / xp.where(none, 1, n_lemmas))
    mw = xp.where(none, xp.nan, xp.sum(plus, axis=2) / xp.where(none, 1.0, mass))
    covered = mass if ids is None else _once(xp.concat([plus, minus], axis=2), ids)
    return SamplerScores(ew.T, mw.T, n_lemmas.T, covered.T)


def _once(mass: Array, ids: Array) -> Array:
    """Sum the masses of different forms, (cut-offs, contexts); a form of two lemmas counts once."""
    xp = array_api_compat.array_namespace(mass)
    numbers = xp.concat([ids[0, ...], ids[1, ...]], axis=1)
    order = xp.argsort(numbers, axis=1, stable=True)
    numbers = xp.take_along_axis(numbers, order, axis=1)
    first = xp.concat([xp.ones_like(numbers[:, :1]), numbers[:, 1:] - numbers[:, :-1]], axis=1) > 0
    ordered = xp.take_along_axis(mass, xp.broadcast_to(order[None, ...], mass.shape), axis=2)
    return xp.sum(xp.where(first[None, ...], ordered, 0.0), axis=2)
