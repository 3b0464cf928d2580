"""Log-probability and rank of forms in a model's distribution over the vocabulary at the gap.

The vocabulary is ranked by probability, and by id among equal probabilities: from the top, the lower id comes first;
the ranking from the bottom is the exact reverse. `form_statistics` sorts the vocabulary of each context and returns the
quantities of the definitions: log-probability, mass ranked above, mass ranked below. `boundaries.logit_scores` computes
the same scores faster, without them.
"""

from typing import NamedTuple

import array_api_compat
import numpy as np

from .arrays import Array, Ids, checked, checked_pairs, cumulative, distributions, is_cpu_tensor, map_chunks


class FormStatistics(NamedTuple):
    """What a cut-off needs of each form; float64 arrays of shape (contexts, forms).

    All three are NaN in a context whose logits hold a NaN or +inf, or are all -inf.

    Attributes:
        logprob: natural log of the form's probability, at most 0; -inf for probability 0.
        mass_above: probability mass of all tokens ranked strictly above the form, in [0, 1].
        mass_below: the same strictly below. It is summed from the least probable token, so that its relative
            precision is kept where it is far below 1e-6.
    """

    logprob: Array
    mass_above: Array
    mass_below: Array


def form_statistics(logits: Array, form_ids: Ids) -> FormStatistics:
    """Return log-probability, mass above and mass below of the forms in each context.

    Args:
        logits: (contexts, vocabulary), logits or log-probabilities of any floating dtype, a numpy array or a
            torch tensor on any device. Exponentials and sums are in float64.
        form_ids: vocabulary ids, (forms,) for all contexts or (contexts, forms). Repeats are allowed.

    Returns:
        Arrays of shape (contexts, forms), of the kind and on the device of `logits` (on the CPU if the device has
        no float64).

    Raises:
        TypeError: `logits` do not have a floating dtype, or `form_ids` are not integers.
        ValueError: wrong shapes, no context, or an id outside the vocabulary.

    >>> forms = form_statistics(np.log([[0.6, 0.05, 0.1, 0.25]]), [0, 2])
    >>> forms.mass_above.round(6).tolist(), forms.mass_below.round(6).tolist()
    ([[0.0, 0.85]], [[0.4, 0.05]])
    """
    logits, form_ids = checked(logits, form_ids)
    xp = array_api_compat.array_namespace(logits)
    values, _, finite = distributions(logits)
    order = xp.argsort(values, axis=1, descending=True, stable=True)  # among equal values, the lower id first
    rank = xp.take_along_axis(xp.argsort(order, axis=1), form_ids, axis=1)
    ranked = xp.astype(xp.take_along_axis(values, order, axis=1), xp.float64)
    peak = ranked[:, :1]
    weights = xp.exp(ranked - peak)
    above = cumulative(weights)
    below = cumulative(xp.flip(weights, axis=1))
    total = below[:, -1:]  # summed from the least probable token
    parts = (
        xp.take_along_axis(ranked, rank, axis=1) - (peak + xp.log(total)),
        xp.take_along_axis(above, rank, axis=1) / total,
        xp.take_along_axis(below, values.shape[1] - 1 - rank, axis=1) / total,
    )
    return FormStatistics(*(xp.where(finite, part, xp.nan) for part in parts))


def form_logprobs(logits: Array, form_ids: Ids, log_normalizer: Array | None = None) -> Array:
    """Return only the log-probabilities of `form_statistics`, (contexts, forms), float64.

    Args:
        logits: as in `form_statistics`.
        form_ids: as in `form_statistics`.
        log_normalizer: logarithm of the sum of the exponentials of the logits, (contexts,), as `logit_scores`
            returns it. None: it is computed.

    >>> form_logprobs(np.log([[0.5, 0.25, 0.25]]), [1]).round(6).tolist()
    [[-1.386294]]
    """
    logits, form_ids = checked(logits, form_ids)
    if log_normalizer is not None:
        xp = array_api_compat.array_namespace(logits)
        return xp.astype(xp.take_along_axis(logits, form_ids, axis=1), xp.float64) - log_normalizer[:, None]
    if is_cpu_tensor(logits):
        parts = map_chunks(_logprobs, logits, form_ids)
        return array_api_compat.array_namespace(logits).from_numpy(np.concatenate(parts))
    return _logprobs(logits, form_ids)


def _logprobs(logits: Array, form_ids: Ids) -> Array:
    xp = array_api_compat.array_namespace(logits)
    values, peak, finite = distributions(logits)
    peak = xp.astype(peak, xp.float64)
    total = xp.sum(xp.exp(xp.astype(values, xp.float64) - peak), axis=1, keepdims=True)
    logprob = xp.astype(xp.take_along_axis(values, form_ids, axis=1), xp.float64) - (peak + xp.log(total))
    return xp.where(finite, logprob, xp.nan)


def pair_statistics(
    logits: Array, correct_ids: Ids, incorrect_ids: Ids, swapped: Array | None = None
) -> tuple[FormStatistics, FormStatistics]:
    """Return the statistics of the correct and the incorrect form of each lemma.

    Args:
        logits: (contexts, vocabulary), as in `form_statistics`.
        correct_ids: ids of l+, (lemmas,) for all contexts or (contexts, lemmas).
        incorrect_ids: ids of l-, of the same shape.
        swapped: (contexts,) booleans, true where `correct_ids` are the incorrect forms: if they are plurals,
            the contexts with a singular subject. None: nowhere.

    Returns:
        Two `FormStatistics`, correct and incorrect, of shape (contexts, lemmas).

    Raises:
        TypeError: see `form_statistics`.
        ValueError: see `form_statistics`; or the two id arrays differ in shape.
    """
    logits, ids = checked_pairs(logits, correct_ids, incorrect_ids, swapped)
    xp, n_lemmas = array_api_compat.array_namespace(logits), ids.shape[2]
    both = form_statistics(logits, xp.concat([ids[0, ...], ids[1, ...]], axis=1))
    return FormStatistics(*(x[:, :n_lemmas] for x in both)), FormStatistics(*(x[:, n_lemmas:] for x in both))
