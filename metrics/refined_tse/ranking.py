"""Where listed forms stand in a model's distribution over the vocabulary at the gap.

A cut-off asks three things of a form: its log-probability, and how much probability mass is ranked strictly
above and strictly below it. The ranking is by probability; equal probabilities are ranked by vocabulary id,
the lower id first in the descending order, and the ascending order is its exact reverse.

No token's rank is worked out that is not asked for. On the CPU the values of each row are sorted (values alone
sort four times faster than an argsort) and the forms are found in them by binary search. On an accelerator
not even that: only the forms are sorted, and the vocabulary falls into the gaps between them.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import array_api_compat
import array_api_compat.numpy as xnp
import numpy as np

# Rows are taken in chunks of this many values on an accelerator; each value needs about 40 bytes of scratch.
CHUNK_VALUES = 1 << 24

# With more different tied values than this among the forms (as in half precision), sorting the row once more,
# ids included, is cheaper than a scan of the row for each value.
MANY_TIES = 64


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
            torch tensor on any device. Exponentials and sums are in float64. A tensor on the CPU is worked on
            by as many threads as torch has.
        form_ids: vocabulary ids, (forms,) for all contexts alike or (contexts, forms). Repeats are allowed.

    Returns:
        Arrays of shape (contexts, forms), of the kind and on the device of `logits` (on the CPU for a device
        that has no float64).

    Raises:
        TypeError: `logits` are not of a floating dtype, or `form_ids` not integers.
        ValueError: wrong shapes, or an id outside of the vocabulary.

    >>> forms = form_statistics(np.log([[0.6, 0.05, 0.1, 0.25]]), [0, 2])
    >>> forms.mass_above.round(6).tolist(), forms.mass_below.round(6).tolist()
    ([[0.0, 0.85]], [[0.4, 0.05]])
    """
    if not array_api_compat.is_torch_array(logits):
        logits = np.asarray(logits)
        form_ids = _check(xnp, logits, np.asarray(form_ids))
        return FormStatistics(*_statistics_by_row(logits, form_ids))
    xp = array_api_compat.array_namespace(logits)  # torch's own functions, without importing it here
    logits, form_ids = logits.detach(), xp.asarray(form_ids, device=logits.device)
    form_ids = _check(xp, logits, form_ids)
    if logits.device.type in ("cpu", "mps") or logits.dtype == xp.float64:
        logits = logits if logits.dtype in (xp.float32, xp.float64) else logits.float()
        rows = _statistics_by_row(logits.cpu().numpy(), form_ids.cpu().numpy(), xp.get_num_threads())
        device = "cpu" if logits.device.type == "mps" else logits.device
        return FormStatistics(*(xp.from_numpy(part).to(device) for part in rows))
    step = max(1, CHUNK_VALUES // logits.shape[1])
    starts = range(0, max(1, logits.shape[0]), step)
    chunks = [_statistics_by_gap(logits[s : s + step].float(), form_ids[s : s + step].long()) for s in starts]
    return FormStatistics(*(xp.concat(parts) for parts in zip(*chunks, strict=True)))


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
    if array_api_compat.is_torch_array(logits):
        xp, place = array_api_compat.array_namespace(logits), {"device": logits.device}
    else:
        xp, place, logits = xnp, {}, np.asarray(logits)
    correct_ids, incorrect_ids = xp.asarray(correct_ids, **place), xp.asarray(incorrect_ids, **place)
    if correct_ids.shape != incorrect_ids.shape or correct_ids.ndim == 0:
        raise ValueError(
            f"correct_ids have shape {tuple(correct_ids.shape)}, incorrect_ids {tuple(incorrect_ids.shape)}. "
            "Each lemma needs one id of either form: give two arrays of the same shape."
        )
    if swapped is not None:
        swapped = xp.asarray(swapped, **place)
        if tuple(swapped.shape) != (logits.shape[0],) or not xp.isdtype(swapped.dtype, "bool"):
            raise ValueError(
                f"swapped has shape {tuple(swapped.shape)} and dtype {swapped.dtype}; one boolean for each of "
                f"the {logits.shape[0]} contexts is needed, true where correct and incorrect change roles."
            )
        correct_ids, incorrect_ids = (
            xp.where(swapped[:, None], incorrect_ids, correct_ids),
            xp.where(swapped[:, None], correct_ids, incorrect_ids),
        )
    n_lemmas = correct_ids.shape[-1]
    both = form_statistics(logits, xp.concat([correct_ids, incorrect_ids], axis=-1))
    return FormStatistics(*(x[:, :n_lemmas] for x in both)), FormStatistics(*(x[:, n_lemmas:] for x in both))


def _check(xp: Any, logits: Any, form_ids: Any) -> Any:
    """Check both and return the ids as (contexts, forms)."""
    if not xp.isdtype(logits.dtype, "real floating"):
        raise TypeError(
            f"The logits' dtype is {logits.dtype}. Give the model's logits or log-probabilities at the gap in a "
            "floating dtype, as they come from it."
        )
    if not xp.isdtype(form_ids.dtype, "integral"):
        raise TypeError(f"The form ids' dtype is {form_ids.dtype}; vocabulary ids are integers.")
    if logits.ndim != 2 or logits.shape[1] == 0:
        raise ValueError(
            f"The logits have shape {tuple(logits.shape)} where (contexts, vocabulary) is needed. Select the "
            "gap's position first: logits[:, position]."
        )
    n_contexts, vocabulary = logits.shape
    if tuple(form_ids.shape[:-1]) not in ((), (n_contexts,)) or form_ids.ndim == 0 or form_ids.shape[-1] == 0:
        raise ValueError(
            f"The form ids have shape {tuple(form_ids.shape)}; (forms,) or ({n_contexts}, forms) is needed, with "
            "at least one form."
        )
    if n_contexts and not (0 <= int(xp.min(form_ids)) and int(xp.max(form_ids)) < vocabulary):
        raise ValueError(
            f"The form ids run from {int(xp.min(form_ids))} to {int(xp.max(form_ids))}, but the logits have "
            f"{vocabulary} columns. Ids and logits must come from the same vocabulary."
        )
    return xp.broadcast_to(form_ids, (n_contexts, form_ids.shape[-1]))


def _statistics_by_row(
    logits: np.ndarray, form_ids: np.ndarray, threads: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort each row's values and find the forms in them by binary search."""
    if logits.dtype == np.float16:
        logits = logits.astype(np.float32)
    logprob, above, below = np.full((3, *form_ids.shape), np.nan)

    def fill(rows: np.ndarray) -> None:
        ordered = np.empty(logits.shape[1], logits.dtype)  # the scratch is reused: fresh pages cost time
        weights = np.empty(logits.shape[1])
        cumulative = np.zeros(
            logits.shape[1] + 1
        )  # mass of the k least probable tokens, times the normalizer
        for row in rows:
            ordered[:] = logits[row]
            ordered.sort()  # ascending; a NaN would be last
            peak = np.float64(ordered[-1])
            if not np.isfinite(peak):
                continue
            np.subtract(ordered, peak, out=weights)
            np.exp(weights, out=weights)
            np.cumsum(weights, out=cumulative[1:])  # from the small end
            total = cumulative[-1]
            position = _position(ordered, logits[row], form_ids[row])
            logprob[row] = logits[row, form_ids[row]] - (peak + np.log(total))
            below[row] = cumulative[position] / total
            above[row] = (total - cumulative[position + 1]) / total

    blocks = np.array_split(np.arange(logits.shape[0]), threads)
    if threads == 1:
        fill(blocks[0])
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, blocks))
    return logprob, above, below


def _position(ordered: np.ndarray, values: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return each form's place in the ascending ranking, 0 for the least probable token."""
    form_values = values[ids]
    rising = np.argsort(form_values)  # neighbours in a search share most of their path
    position = np.empty(ids.size, np.int64)
    position[rising] = np.searchsorted(ordered, form_values[rising])  # first place of a block of equal values
    following = ordered[np.minimum(position + 1, ordered.size - 1)]
    tied_values = np.unique(form_values[(following == form_values) & (position + 1 < ordered.size)])
    if tied_values.size > MANY_TIES and values.dtype == np.float32:
        keys = _ranking_keys(values)
        return np.searchsorted(np.sort(keys), keys[ids])
    for value in tied_values:
        block = np.flatnonzero(values == value)  # ids, ascending; the ranking of the block is the reverse
        members = np.flatnonzero(form_values == value)
        position[members] += block.size - 1 - np.searchsorted(block, ids[members])
    return position


def _statistics_by_gap(values: Any, ids: Any) -> tuple[Any, Any, Any]:
    """Sort the forms and sum the vocabulary's mass in each gap between two neighbours; float32 tensors."""
    xp = array_api_compat.array_namespace(values)
    peak = values.amax(dim=1, keepdim=True).double()
    weights = xp.exp(values.double() - peak)
    total = weights.sum(dim=1, keepdim=True)
    logprob = values.gather(1, ids).double() - (peak + xp.log(total))

    keys = _ranking_keys(values)
    form_keys = keys.gather(1, ids)
    ordered, order = form_keys.sort(dim=1)
    own = weights.gather(1, ids).gather(1, order)
    own[:, 1:].masked_fill_(ordered[:, 1:] == ordered[:, :-1], 0.0)  # a form that is listed twice counts once

    gap = xp.searchsorted(ordered, keys)  # number of forms ranked below the token
    others = weights.scatter(1, ids, 0.0)
    mass = weights.new_zeros((ids.shape[0], ids.shape[1] + 1)).scatter_add_(1, gap, others)
    below, above = mass[:, :-1].clone(), mass[:, 1:].clone()
    below[:, 1:] += own[:, :-1]
    above[:, :-1] += own[:, 1:]
    below = below.cumsum(dim=1)
    above = above.flip(1).cumsum(dim=1).flip(1)

    place = xp.searchsorted(ordered, form_keys)
    masses = (part.gather(1, place) / total for part in (above, below))
    return (logprob, *(part.masked_fill(xp.isnan(total), xp.nan) for part in masses))


def _ranking_keys(values: Any) -> Any:
    """Return int64 keys for float32 values, all different along the last axis, whose order is the ranking."""
    xp = array_api_compat.array_namespace(values)
    bits = (values + 0.0).view(xp.int32)  # -0.0 becomes 0.0, its equal
    rising = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # integers in the order of the floats
    ids = xp.arange(
        values.shape[-1] - 1, -1, -1, device=array_api_compat.device(values)
    )  # the lower the higher
    return (xp.astype(rising, xp.int64) << 32) + ids
