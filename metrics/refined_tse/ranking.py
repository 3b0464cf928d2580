"""Where listed forms stand in a model's distribution over the vocabulary at the gap, word for word.

The ranking is by probability; equal probabilities are ranked by vocabulary id, the lower id first from the top,
and the ranking from the bottom is the exact reverse. `form_statistics` sorts the vocabulary of each context and
gives what the definitions speak of: log-probability, mass ranked above, mass ranked below. Where only scores are
wanted there is a much shorter way, `boundaries.logit_scores`.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

# About so many logits are a thread's piece: with more contexts at a time, what is done once for a piece costs less
# of each; with fewer, its arrays stay small.
PIECE_LOGITS = 1 << 22


class FormStatistics(NamedTuple):
    """What a cut-off needs to know of each form; float64 arrays of shape (contexts, forms).

    All three are NaN in a context whose logits hold a NaN or +inf, or are all -inf.

    Attributes:
        logprob: natural log of the form's probability, at most 0; -inf for probability 0.
        mass_above: probability mass of all that is ranked strictly above the form, in [0, 1].
        mass_below: the same strictly below, summed from the small end, so that it keeps its relative precision
            where it is far smaller than 1e-6.
    """

    logprob: Any
    mass_above: Any
    mass_below: Any


def form_statistics(logits: Any, form_ids: Any) -> FormStatistics:
    """Return log-probability and mass above and below of the listed forms in each context.

    Args:
        logits: (contexts, vocabulary), logits or log-probabilities of any floating dtype, a numpy array or a
            torch tensor on any device. Exponentials and sums are in float64.
        form_ids: vocabulary ids, (forms,) for all contexts alike or (contexts, forms). Repeats are allowed.

    Returns:
        Arrays of shape (contexts, forms), of the kind and on the device of `logits` (on the CPU for a device
        that has no float64).

    Raises:
        TypeError: `logits` are not of a floating dtype, or `form_ids` not integers.
        ValueError: wrong shapes, no context, or an id outside of the vocabulary.

    >>> forms = form_statistics(np.log([[0.6, 0.05, 0.1, 0.25]]), [0, 2])
    >>> forms.mass_above.round(6).tolist(), forms.mass_below.round(6).tolist()
    ([[0.0, 0.85]], [[0.4, 0.05]])
    """
    logits, form_ids = checked(logits, form_ids)
    xp = array_api_compat.array_namespace(logits)
    values, _, finite = distributions(logits)
    order = xp.argsort(values, axis=1, descending=True, stable=True)  # of equal values the lower id first
    place = xp.take_along_axis(xp.argsort(order, axis=1), form_ids, axis=1)
    ranked = xp.astype(xp.take_along_axis(values, order, axis=1), xp.float64)
    peak = ranked[:, :1]
    weights = xp.exp(ranked - peak)
    nothing = xp.zeros_like(peak)
    above = xp.concat([nothing, xp.cumulative_sum(weights, axis=1)], axis=1)
    below = xp.concat([nothing, xp.cumulative_sum(xp.flip(weights, axis=1), axis=1)], axis=1)
    total = below[:, -1:]  # summed from the small end
    parts = (
        xp.take_along_axis(ranked, place, axis=1) - (peak + xp.log(total)),
        xp.take_along_axis(above, place, axis=1) / total,
        xp.take_along_axis(below, values.shape[1] - 1 - place, axis=1) / total,
    )
    return FormStatistics(*(xp.where(finite, part, xp.nan) for part in parts))


def form_logprobs(logits: Any, form_ids: Any, log_normalizer: Any = None) -> Any:
    """Return the log-probabilities alone, (contexts, forms), float64; all as in `form_statistics`.

    Args:
        logits: as in `form_statistics`.
        form_ids: as in `form_statistics`.
        log_normalizer: logarithm of the sum of the exponentials of the logits, (contexts,), where it is known:
            `logit_scores` returns it. None: it is computed.

    >>> form_logprobs(np.log([[0.5, 0.25, 0.25]]), [1]).round(6).tolist()
    [[-1.386294]]
    """
    logits, form_ids = checked(logits, form_ids)
    if log_normalizer is not None:
        xp = array_api_compat.array_namespace(logits)
        return xp.astype(xp.take_along_axis(logits, form_ids, axis=1), xp.float64) - log_normalizer[:, None]
    if array_api_compat.is_torch_array(logits) and logits.device.type == "cpu":
        # numpy is the faster of the two there, and shares the memory
        logits = logits if logits.dtype.itemsize >= 4 else logits.float()
        parts = map_chunks(lambda rows: _logprobs(logits[rows].numpy(), form_ids[rows].numpy()), logits)
        return array_api_compat.array_namespace(logits).from_numpy(np.concatenate(parts))
    return _logprobs(logits, form_ids)


def _logprobs(logits: Any, form_ids: Any) -> Any:
    xp = array_api_compat.array_namespace(logits)
    values, peak, finite = distributions(logits)
    peak = xp.astype(peak, xp.float64)
    total = xp.sum(xp.exp(xp.astype(values, xp.float64) - peak), axis=1, keepdims=True)
    logprob = xp.astype(xp.take_along_axis(values, form_ids, axis=1), xp.float64) - (peak + xp.log(total))
    return xp.where(finite, logprob, xp.nan)


def pair_statistics(
    logits: Any, correct_ids: Any, incorrect_ids: Any, swapped: Any = None
) -> tuple[FormStatistics, FormStatistics]:
    """Return the statistics of the correct and of the incorrect form of each lemma.

    Args:
        logits: (contexts, vocabulary), as in `form_statistics`.
        correct_ids: ids of l+, (lemmas,) for all contexts alike or (contexts, lemmas).
        incorrect_ids: ids of l-, of the same shape.
        swapped: (contexts,) booleans, true where the two lists change roles: with plurals as `correct_ids`,
            the contexts that need a singular. None: nowhere.

    Returns:
        Two `FormStatistics`, correct and incorrect, of shape (contexts, lemmas).

    Raises:
        TypeError: as `form_statistics`.
        ValueError: as `form_statistics`, or the two id arrays differ in shape.
    """
    logits, ids = checked_pairs(logits, correct_ids, incorrect_ids, swapped)
    xp, n_lemmas = array_api_compat.array_namespace(logits), ids.shape[2]
    both = form_statistics(logits, xp.concat([ids[0, ...], ids[1, ...]], axis=1))
    return FormStatistics(*(x[:, :n_lemmas] for x in both)), FormStatistics(*(x[:, n_lemmas:] for x in both))


def map_chunks(function: Callable[[slice], Any], logits: Any) -> list[Any]:
    """Return `function` of consecutive slices of the contexts, in as many threads as torch uses.

    numpy, which works in one thread, lets several of them run at a time. `logits` are a tensor.
    """
    n_contexts, vocabulary = logits.shape
    threads = array_api_compat.array_namespace(logits).get_num_threads()
    rounds = math.ceil(n_contexts * vocabulary / (threads * PIECE_LOGITS))
    step = math.ceil(n_contexts / (threads * rounds))
    pieces = [slice(start, start + step) for start in range(0, n_contexts, step)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, pieces))


def checked(logits: Any, form_ids: Any) -> tuple[Any, Any]:
    """Return logits and ids as arrays of one kind on one device that has float64; ids as (contexts, forms).

    Raises:
        TypeError: as `form_statistics`.
        ValueError: as `form_statistics`.
    """
    logits, form_ids = _alike(logits, form_ids)
    xp = array_api_compat.array_namespace(logits)
    if not xp.isdtype(logits.dtype, "real floating") or not xp.isdtype(form_ids.dtype, "integral"):
        raise TypeError(
            f"The logits' dtype is {logits.dtype} and the ids' {form_ids.dtype}. Give the model's logits or "
            "log-probabilities in a floating dtype, as they come from it, and vocabulary ids as integers."
        )
    if logits.ndim != 2 or 0 in logits.shape:
        raise ValueError(
            f"The logits have shape {tuple(logits.shape)} where (contexts, vocabulary) is needed, with at least "
            "one context. Select the gap's position first: logits[:, position]."
        )
    n_contexts, vocabulary = logits.shape
    if form_ids.ndim == 0 or form_ids.shape[-1] == 0 or tuple(form_ids.shape[:-1]) not in ((), (n_contexts,)):
        raise ValueError(
            f"The ids have shape {tuple(form_ids.shape)}; one list for all contexts or one for each of the "
            f"{n_contexts} contexts is needed, with at least one id."
        )
    least, most = int(xp.min(form_ids)), int(xp.max(form_ids))
    if least < 0 or most >= vocabulary:
        raise ValueError(
            f"The ids run from {least} to {most}, but the logits have {vocabulary} columns. Ids and logits must "
            "come from the same vocabulary."
        )
    form_ids = xp.astype(form_ids, xp.int64)
    return logits, form_ids if form_ids.ndim == 2 else xp.repeat(form_ids[None, :], n_contexts, axis=0)


def checked_pairs(logits: Any, correct_ids: Any, incorrect_ids: Any, swapped: Any = None) -> tuple[Any, Any]:
    """Return the logits and the ids of l+ and l-, (2, contexts, lemmas), as `checked` does.

    Raises:
        TypeError: as `pair_statistics`.
        ValueError: as `pair_statistics`.
    """
    logits, correct_ids, incorrect_ids = _alike(logits, correct_ids, incorrect_ids)
    if tuple(correct_ids.shape) != tuple(incorrect_ids.shape):
        raise ValueError(
            f"correct_ids have shape {tuple(correct_ids.shape)}, incorrect_ids {tuple(incorrect_ids.shape)}. "
            "Each lemma needs one id of either form: give two arrays of the same shape."
        )
    logits, correct_ids = checked(logits, correct_ids)
    logits, incorrect_ids = checked(logits, incorrect_ids)
    xp = array_api_compat.array_namespace(logits)
    if swapped is None:
        return logits, xp.stack([correct_ids, incorrect_ids])
    _, swapped = _alike(logits, swapped)
    if tuple(swapped.shape) != (logits.shape[0],) or not xp.isdtype(swapped.dtype, "bool"):
        raise ValueError(
            f"swapped has shape {tuple(swapped.shape)} and dtype {swapped.dtype}; one boolean for each of the "
            f"{logits.shape[0]} contexts is needed, true where correct and incorrect change roles."
        )
    swapped = swapped[:, None]
    both = [xp.where(swapped, incorrect_ids, correct_ids), xp.where(swapped, correct_ids, incorrect_ids)]
    return logits, xp.stack(both)


def distributions(logits: Any) -> tuple[Any, Any, Any]:
    """Return the logits in at least float32, the largest of each context, and which contexts have a distribution.

    A distribution has no NaN, a largest logit that is finite, and so a probability for every token. Contexts that
    have none get logits of 0.
    """
    xp = array_api_compat.array_namespace(logits)
    values = logits if logits.dtype in (xp.float32, xp.float64) else xp.astype(logits, xp.float32)
    peak = xp.max(values, axis=1, keepdims=True)  # NaN if any is
    finite = xp.isfinite(peak)
    if not bool(xp.all(finite)):
        values, peak = xp.where(finite, values, 0.0), xp.where(finite, peak, 0.0)
    return values, peak, finite


def _alike(logits: Any, *others: Any) -> tuple[Any, ...]:
    """Return all as numpy arrays, or as tensors on the logits' device if the logits are a tensor."""
    if not array_api_compat.is_torch_array(logits):
        return tuple(np.asarray(array) for array in (logits, *others))
    xp = array_api_compat.array_namespace(logits)  # torch's own functions, without importing it here
    logits = logits.detach()
    if logits.device.type == "mps":  # has no float64
        logits = logits.cpu()
    return (logits, *(xp.asarray(array, device=logits.device) for array in others))
