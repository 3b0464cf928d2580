"""Where the listed forms stand in a model's distribution at the gap.

A cut-off asks three things of a form: its log-probability, and how much probability mass is ranked
strictly above and strictly below it. The ranking is by probability; equal probabilities are ranked by
vocabulary id, the lower id first in the descending order (the ascending order is its exact reverse).

No token's rank is written down for its own sake. On the CPU each row's values are sorted (values alone sort
several times faster than an argsort) and the forms are found in them by binary search. On an accelerator
not even that: the forms are sorted, and the vocabulary falls into the gaps between them.
"""

from typing import Any, NamedTuple

import array_api_compat
import numpy as np

# Rows are taken in chunks of this many values on an accelerator; each needs about 40 bytes of scratch.
CHUNK_VALUES = 1 << 24


class FormStatistics(NamedTuple):
    """What a cut-off needs to know of each listed form in each context; arrays of shape (contexts, forms).

    Attributes:
        logprob: natural log of the form's probability, float64, at most 0; NaN in a context whose logits
            hold a NaN or +inf, or are all -inf.
        mass_above: probability mass of all that is ranked strictly above the form, float64 in [0, 1].
        mass_below: the same strictly below, summed from the small end, so that cut-offs of 1e-6 and smaller
            keep their relative precision.
    """

    logprob: Any
    mass_above: Any
    mass_below: Any


def form_statistics(logits: Any, form_ids: Any) -> FormStatistics:
    """Return log-probability and mass above and below of the listed forms in each context.

    Args:
        logits: (contexts, vocabulary), numpy array or torch tensor on any device, logits or
            log-probabilities of any floating dtype. Half precision is widened to float32; exponentials and
            sums are in float64.
        form_ids: vocabulary ids, (forms,) for all contexts alike or (contexts, forms). Repeats are allowed.

    Returns:
        Arrays of shape (contexts, forms), float64, of the kind and on the device of `logits` (on the CPU for
        a device that has no float64).

    Raises:
        TypeError: `logits` is no floating array, or `form_ids` are no integers.
        ValueError: wrong shapes, or an id outside of the vocabulary.

    >>> import numpy as np
    >>> forms = form_statistics(np.log([[0.6, 0.05, 0.1, 0.25]]), [0, 2])
    >>> forms.mass_above.round(6).tolist(), forms.mass_below.round(6).tolist()
    ([[0.0, 0.85]], [[0.4, 0.05]])
    """
    if not array_api_compat.is_torch_array(logits):
        return FormStatistics(*_statistics_by_row(_check_logits(np.asarray(logits)), form_ids))
    logits = _check_logits(logits.detach())
    if logits.device.type in ("cpu", "mps") or str(logits.dtype) == "torch.float64":
        import torch  # only where the caller has brought it

        if logits.dtype in (torch.float16, torch.bfloat16):
            logits = logits.float()
        if array_api_compat.is_torch_array(form_ids):
            form_ids = form_ids.cpu().numpy()
        rows = _statistics_by_row(logits.cpu().numpy(), form_ids)
        home = "cpu" if logits.device.type == "mps" else logits.device
        return FormStatistics(*(torch.from_numpy(part).to(home) for part in rows))
    return FormStatistics(*_statistics_in_chunks(logits, form_ids))


def pair_statistics(
    logits: Any, correct_ids: Any, incorrect_ids: Any
) -> tuple[FormStatistics, FormStatistics]:
    """Return the statistics of the correct and of the incorrect form of each lemma.

    Args:
        logits: (contexts, vocabulary), as in `form_statistics`.
        correct_ids: ids of l+, (lemmas,) or, where the correct number differs by context, (contexts, lemmas).
        incorrect_ids: ids of l-, of the same shape.

    Returns:
        Two `FormStatistics` of shape (contexts, lemmas).

    Raises:
        TypeError: as `form_statistics`.
        ValueError: as `form_statistics`, or the two id arrays differ in shape.
    """
    xp = array_api_compat.array_namespace(correct_ids) if _is_array(correct_ids) else np
    correct_ids, incorrect_ids = xp.asarray(correct_ids), xp.asarray(incorrect_ids)
    if correct_ids.shape != incorrect_ids.shape:
        raise ValueError(
            f"correct_ids has shape {tuple(correct_ids.shape)} and incorrect_ids {tuple(incorrect_ids.shape)}. "
            "Each lemma needs one id of either form: pass two arrays of the same shape."
        )
    n_lemmas = correct_ids.shape[-1] if correct_ids.ndim else 0
    both = form_statistics(logits, xp.concat([correct_ids, incorrect_ids], axis=-1))
    return (
        FormStatistics(*(part[:, :n_lemmas] for part in both)),
        FormStatistics(*(part[:, n_lemmas:] for part in both)),
    )


def _is_array(value: Any) -> bool:
    return array_api_compat.is_numpy_array(value) or array_api_compat.is_torch_array(value)


def _check_logits(logits: Any) -> Any:
    xp = array_api_compat.array_namespace(logits)
    if not xp.isdtype(logits.dtype, "real floating"):
        raise TypeError(
            f"logits have dtype {logits.dtype}, which is not a floating type. "
            "Pass the model's logits or log-probabilities at the gap as float16, bfloat16, float32 or float64."
        )
    if logits.ndim != 2 or logits.shape[1] == 0:
        raise ValueError(
            f"logits have shape {tuple(logits.shape)}; (contexts, vocabulary) is needed. "
            "Select the gap's position first: logits[:, position, :]."
        )
    return logits


def _check_ids(xp: Any, form_ids: Any, n_contexts: int, vocabulary: int) -> Any:
    if not xp.isdtype(form_ids.dtype, "integral"):
        raise TypeError(f"form_ids have dtype {form_ids.dtype}; vocabulary ids are integers.")
    if (
        form_ids.ndim not in (1, 2)
        or form_ids.shape[-1] == 0
        or form_ids.shape[:-1] not in ((), (n_contexts,))
    ):
        raise ValueError(
            f"form_ids have shape {tuple(form_ids.shape)}; with {n_contexts} contexts, (forms,) or "
            f"({n_contexts}, forms) with at least one form is needed."
        )
    if n_contexts and not (0 <= int(xp.min(form_ids)) and int(xp.max(form_ids)) < vocabulary):
        raise ValueError(
            f"form_ids run from {int(xp.min(form_ids))} to {int(xp.max(form_ids))}, but the logits have "
            f"{vocabulary} columns. Ids and logits must come from the same vocabulary."
        )
    return xp.broadcast_to(form_ids, (n_contexts, form_ids.shape[-1]))


def _statistics_by_row(logits: np.ndarray, form_ids: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort each row's values and find the forms in them by binary search."""
    if logits.dtype == np.float16:
        logits = logits.astype(np.float32)
    n_contexts, vocabulary = logits.shape
    form_ids = _check_ids(np, np.asarray(form_ids), n_contexts, vocabulary)
    logprob, above, below = np.full((3, *form_ids.shape), np.nan)
    ordered = np.empty(
        vocabulary, dtype=logits.dtype
    )  # scratch for every row: fresh pages cost as much as exp
    weights = np.empty(vocabulary)
    cumulative = np.zeros(vocabulary + 1)  # mass of the k least probable tokens, times the normalizer
    for row, (values, ids) in enumerate(zip(logits, form_ids, strict=True)):
        ordered[:] = values
        ordered.sort()  # ascending; a NaN would be last
        peak = np.float64(ordered[-1])
        if not np.isfinite(peak):
            continue
        np.subtract(ordered, peak, out=weights)
        np.exp(weights, out=weights)
        np.cumsum(weights, out=cumulative[1:])  # from the small end
        total = cumulative[-1]
        position = _position(ordered, values, ids)
        logprob[row] = values[ids] - (peak + np.log(total))
        below[row] = cumulative[position] / total
        above[row] = (total - cumulative[position + 1]) / total
    return logprob, above, below


def _position(ordered: np.ndarray, values: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return each form's place in the ascending ranking, 0 for the least probable token."""
    form_values = values[ids]
    position = np.searchsorted(ordered, form_values)  # first place of the block of equal values
    following = ordered[np.minimum(position + 1, ordered.size - 1)]
    tied = (following == form_values) & (position + 1 < ordered.size)
    for value in np.unique(form_values[tied]):
        block = np.flatnonzero(values == value)  # ids, ascending: the ranking within the block is the reverse
        members = np.flatnonzero(form_values == value)
        position[members] += block.size - 1 - np.searchsorted(block, ids[members])
    return position


def _statistics_in_chunks(logits: Any, form_ids: Any) -> tuple[Any, Any, Any]:
    """Run `_statistics_by_gap` over as many rows at once as fit the scratch memory."""
    import torch

    n_contexts, vocabulary = logits.shape
    form_ids = torch.as_tensor(form_ids, device=logits.device)
    xp = array_api_compat.array_namespace(logits)
    form_ids = _check_ids(xp, form_ids, n_contexts, vocabulary).to(torch.int64)
    rows = max(1, CHUNK_VALUES // vocabulary)
    chunks = [
        _statistics_by_gap(logits[start : start + rows].float(), form_ids[start : start + rows])
        for start in range(0, max(n_contexts, 1), rows)
    ]
    return tuple(torch.cat(parts) for parts in zip(*chunks, strict=True))  # type: ignore[return-value]


def _statistics_by_gap(values: Any, ids: Any) -> tuple[Any, Any, Any]:
    """Sort the forms and sum the vocabulary's mass in each gap between two neighbours; float32 tensors."""
    import torch

    peak = values.amax(dim=1, keepdim=True).double()
    weights = torch.exp(values.double() - peak)
    total = weights.sum(dim=1, keepdim=True)
    logprob = values.gather(1, ids).double() - (peak + torch.log(total))

    keys = _ranking_keys(values)
    form_keys = keys.gather(1, ids)
    ordered, order = form_keys.sort(dim=1)
    own = weights.gather(1, ids).gather(1, order)
    own[:, 1:].masked_fill_(ordered[:, 1:] == ordered[:, :-1], 0.0)  # a form that is listed twice counts once

    gap = torch.searchsorted(ordered, keys)  # number of forms ranked below the token
    others = weights.scatter(1, ids, 0.0)
    mass = weights.new_zeros((ids.shape[0], ids.shape[1] + 1)).scatter_add_(1, gap, others)
    below, above = mass[:, :-1].clone(), mass[:, 1:].clone()
    below[:, 1:] += own[:, :-1]
    above[:, :-1] += own[:, 1:]
    below = below.cumsum(dim=1)
    above = above.flip(1).cumsum(dim=1).flip(1)

    place = torch.searchsorted(ordered, form_keys)
    masses = (part.gather(1, place) / total for part in (above, below))
    return (logprob, *(part.masked_fill(torch.isnan(total), torch.nan) for part in masses))


def _ranking_keys(values: Any) -> Any:
    """Return int64 keys, all different, whose order is the ranking: by value, then the lower id higher."""
    import torch

    bits = (values + 0.0).view(torch.int32)  # -0.0 becomes 0.0, its equal
    rising = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # as integers in the order of the floats
    ids = torch.arange(values.shape[1] - 1, -1, -1, device=values.device)
    return (rising.to(torch.int64) << 32) + ids
