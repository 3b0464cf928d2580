"""Arrays that the other files share: checked logits and ids, threads, and sums along the rows of a matrix.

Everything takes numpy arrays or torch tensors on any device that has float64.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeGuard, TypeVar, Union

import array_api_compat
import numpy as np

if TYPE_CHECKING:
    import torch

Array = Union[np.ndarray, "torch.Tensor"]
"""What the formulas take and return: arrays or tensors, all of one kind and on one device."""
Ids = Array | Sequence[int] | Sequence[Sequence[int]]
"""Ids of a vocabulary as a user may give them."""
Result = TypeVar("Result")

# Each thread works on about this many logits at a time: with more, the fixed costs of a chunk matter less; with fewer,
# its arrays stay small.
CHUNK_LOGITS = 1 << 22


def checked(logits: Array, given_ids: Ids) -> tuple[Array, Array]:
    """Check logits and ids; return both on one device that has float64, and the ids as (contexts, forms).

    Raises:
        TypeError: see `ranking.form_statistics`.
        ValueError: see `ranking.form_statistics`.
    """
    logits, form_ids = _same_kind(logits, given_ids)
    xp = array_api_compat.array_namespace(logits)
    if not xp.isdtype(logits.dtype, "real floating") or not xp.isdtype(form_ids.dtype, "integral"):
        raise TypeError(
            f"The logits have dtype {logits.dtype} and the ids {form_ids.dtype}. Expected the model's logits or "
            "log-probabilities in a floating dtype, and vocabulary ids as integers."
        )
    if logits.ndim != 2 or 0 in logits.shape:
        raise ValueError(
            f"The logits have shape {tuple(logits.shape)}; expected (contexts, vocabulary) with at least one context. "
            "Select the gap's position first: logits[:, position]."
        )
    n_contexts, vocabulary = logits.shape
    if form_ids.ndim == 0 or form_ids.shape[-1] == 0 or tuple(form_ids.shape[:-1]) not in ((), (n_contexts,)):
        raise ValueError(
            f"The ids have shape {tuple(form_ids.shape)}; expected one list for all contexts, or one for each of the "
            f"{n_contexts} contexts, with at least one id."
        )
    if not array_api_compat.is_torch_array(given_ids):  # nothing waits for a GPU then
        given_ids = np.asarray(given_ids)
    lowest, highest = int(given_ids.min()), int(given_ids.max())
    if lowest < 0 or highest >= vocabulary:
        raise ValueError(
            f"The ids are between {lowest} and {highest}, but the logits have {vocabulary} columns. Ids and logits "
            "must belong to the same vocabulary."
        )
    form_ids = xp.astype(form_ids, xp.int64)
    return logits, form_ids if form_ids.ndim == 2 else xp.repeat(form_ids[None, :], n_contexts, axis=0)


def checked_pairs(
    logits: Array, correct_ids: Ids, incorrect_ids: Ids, swapped: Array | None = None
) -> tuple[Array, Array]:
    """Check logits and the ids of l+ and l- as `checked` does; return the ids as (2, contexts, lemmas).

    Raises:
        TypeError: see `ranking.pair_statistics`.
        ValueError: see `ranking.pair_statistics`.
    """
    if np.shape(correct_ids) != np.shape(incorrect_ids):
        raise ValueError(
            f"correct_ids have shape {tuple(np.shape(correct_ids))}, incorrect_ids {tuple(np.shape(incorrect_ids))}. "
            "Each lemma needs one id for each of its two forms: give two arrays of the same shape."
        )
    logits, correct_ids = checked(logits, correct_ids)
    logits, incorrect_ids = checked(logits, incorrect_ids)
    xp = array_api_compat.array_namespace(logits)
    if swapped is None:
        return logits, xp.stack([correct_ids, incorrect_ids])
    _, swapped = _same_kind(logits, swapped)
    if tuple(swapped.shape) != (logits.shape[0],) or not xp.isdtype(swapped.dtype, "bool"):
        raise ValueError(
            f"swapped has shape {tuple(swapped.shape)} and dtype {swapped.dtype}; expected one boolean for each of the "
            f"{logits.shape[0]} contexts, true where correct_ids are the incorrect forms."
        )
    swapped = swapped[:, None]
    correct = xp.where(swapped, incorrect_ids, correct_ids)
    incorrect = xp.where(swapped, correct_ids, incorrect_ids)
    return logits, xp.stack([correct, incorrect])


def with_float64(logits: Array) -> Array:
    """Return logits on a device that has float64: their own, or the CPU where they are on MPS."""
    if array_api_compat.is_torch_array(logits) and logits.device.type == "mps":
        return logits.cpu()
    return logits


def on_host(values: Array | Sequence[float]) -> np.ndarray | Sequence[float]:
    """Return a tensor on any device as an array of a type that numpy has; anything else as it is."""
    if not array_api_compat.is_torch_array(values):
        return values
    values = values.detach().cpu()
    return values.double().numpy() if values.is_floating_point() else values.numpy()


def forms_repeat(ids: Array) -> bool:
    """Return whether a form belongs to two lemmas of a context; `ids` are (2, contexts, lemmas)."""
    xp = array_api_compat.array_namespace(ids)
    ordered = xp.sort(xp.concat([ids[0, ...], ids[1, ...]], axis=1), axis=1)
    return bool(xp.any(ordered[:, 1:] == ordered[:, :-1]))


def distributions(logits: Array) -> tuple[Array, Array, Array]:
    """Return the logits in at least float32, the largest of each context, and which contexts have a distribution.

    A context has a distribution if no logit is NaN and the largest is finite. Otherwise its logits are set to 0.
    """
    xp = array_api_compat.array_namespace(logits)
    values = logits if logits.dtype in (xp.float32, xp.float64) else xp.astype(logits, xp.float32)
    peak = xp.max(values, axis=1, keepdims=True)  # NaN if any logit is NaN
    finite = xp.isfinite(peak)
    if not bool(xp.all(finite)):
        values, peak = xp.where(finite, values, 0.0), xp.where(finite, peak, 0.0)
    return values, peak, finite


def is_cpu_tensor(logits: Array) -> "TypeGuard[torch.Tensor]":
    """Return whether these are a torch tensor on the CPU, where numpy is the faster of the two: see `map_chunks`."""
    return array_api_compat.is_torch_array(logits) and logits.device.type == "cpu"


def map_chunks(
    function: Callable[[np.ndarray, np.ndarray], Result], logits: "torch.Tensor", ids: Array
) -> list[Result]:
    """Return `function` of consecutive chunks of contexts, in as many threads as torch uses.

    Args:
        function: called with the logits and the ids of a chunk, as numpy arrays that share the tensors' memory.
        logits: (contexts, vocabulary), a tensor on the CPU; half precision is converted to float32.
        ids: (..., contexts, any), a tensor on the CPU.
    """
    logits = logits if logits.dtype.itemsize >= 4 else logits.float()
    n_contexts, vocabulary = logits.shape
    threads = array_api_compat.array_namespace(logits).get_num_threads()
    rounds = math.ceil(n_contexts * vocabulary / (threads * CHUNK_LOGITS))
    step = math.ceil(n_contexts / (threads * rounds))
    chunks = [slice(start, start + step) for start in range(0, n_contexts, step)]
    with ThreadPoolExecutor(threads) as pool:  # numpy uses one thread for each call
        return list(
            pool.map(lambda rows: function(logits[rows].numpy(), np.asarray(ids[..., rows, :])), chunks)
        )


def flat_index(columns: Array, width: int) -> Array:
    """Return the flat index of each entry of a matrix: row * width + column; `columns` are (..., rows, any)."""
    xp = array_api_compat.array_namespace(columns)
    flat = xp.astype(columns, xp.int64)
    flat += width * xp.arange(columns.shape[-2], device=array_api_compat.device(columns))[:, None]
    return flat


def pick(array: Array, columns: Array) -> Array:
    """Return some columns of each row: `array` is (rows, width), `columns` and the result are (..., rows, any)."""
    index = flat_index(columns, array.shape[1])
    return array.take(index)  # type: ignore[arg-type]  # of one kind; `take` of both kinds uses flat indices


def cumulative(values: Array) -> Array:
    """Return the cumulative sums of each row, with a leading 0: (rows, columns + 1)."""
    xp = array_api_compat.array_namespace(values)
    return xp.cumulative_sum(values, axis=1, include_initial=True)


def histogram(bins: Array, values: Array | None, n_bins: int) -> Array:
    """Return the sum of each row's values by bin, or their counts if `values` are None, (rows, n_bins).

    `bins` are flat indices (`flat_index`) into the result.
    """
    size = bins.shape[0] * n_bins
    if array_api_compat.is_torch_array(bins):
        values = bins.new_ones(bins.shape) if values is None else values
        assert array_api_compat.is_torch_array(values), "of the same kind as the bins"
        sums = values.new_zeros(size).scatter_add_(0, bins.reshape(-1), values.reshape(-1))
        return sums.reshape(bins.shape[0], n_bins)
    flat = np.bincount(bins.reshape(-1), None if values is None else values.reshape(-1), size)
    return flat.reshape(bins.shape[0], n_bins)


def n_below(ascending: Array, limits: Array) -> Array:
    """Return, for each row of ascending entries, how many are below each of the row's limits; (rows, limits)."""
    if array_api_compat.is_torch_array(ascending):
        assert array_api_compat.is_torch_array(limits), "of the same kind as the entries"
        return array_api_compat.array_namespace(ascending).searchsorted(
            ascending.contiguous(), limits.contiguous()
        )
    return np.asarray([row.searchsorted(limit) for row, limit in zip(ascending, limits, strict=True)])


def _same_kind(logits: Array, *others: Ids) -> tuple[Array, ...]:
    """Return all as numpy arrays, or as tensors on the device of the logits if these are a tensor."""
    if not array_api_compat.is_torch_array(logits):
        return tuple(np.asarray(array) for array in (logits, *others))
    xp = array_api_compat.array_namespace(logits)  # torch's functions without importing torch
    logits = with_float64(logits.detach())
    return (logits, *(xp.asarray(array, device=logits.device) for array in others))
