"""From the logits at the gap to each context's scores, on the device that the logits are on."""

from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np

from .boundaries import place_forms
from .cutoffs import BOTTOM_CUTOFFS, TOP_CUTOFFS, below_one, check_cutoffs
from .ranking import by_pieces, checked_pairs
from .weighting import ContextScores, SideScores, scores_at


def logit_scores(
    logits: Any,
    correct_ids: Any,
    incorrect_ids: Any,
    swapped: Any = None,
    cutoffs_top: Sequence[float] = TOP_CUTOFFS,
    cutoffs_bottom: Sequence[float] = BOTTOM_CUTOFFS,
) -> ContextScores:
    """Return EW, MW and the covered mass of each context at each cut-off.

    Equal to `context_scores(*pair_statistics(...))`, without a sort of the vocabulary: at a cut-off it only
    matters on which side of the boundary token a form is ranked.

    Args:
        logits: (contexts, vocabulary), logits or log-probabilities of any floating dtype, a numpy array or a
            torch tensor on any device. Exponentials and sums are in float64.
        correct_ids: vocabulary ids of l+, (lemmas,) for all contexts alike or (contexts, lemmas).
        incorrect_ids: ids of l-, of the same shape.
        swapped: (contexts,) booleans, true where the two lists change roles: with plurals as `correct_ids`,
            the contexts that need a singular. None: nowhere.
        cutoffs_top: cut-offs in (0, 1], in any order.
        cutoffs_bottom: cut-offs in (0, 1], in any order.

    Returns:
        The scores, of the kind and on the device of `logits` (on the CPU for a device that has no float64).

    Raises:
        TypeError: `logits` are not of a floating dtype, or ids not integers.
        ValueError: wrong shapes, no context, an id outside of the vocabulary, or a cut-off outside of (0, 1].

    >>> import numpy as np
    >>> scores = logit_scores(np.log([[0.6, 0.05, 0.1, 0.25]]), [0, 2], [1, 3], cutoffs_top=(0.5, 1.0))
    >>> scores.top.ew.round(6).tolist(), scores.top.mw.round(6).tolist()
    ([[1.0, 0.5]], [[1.0, 0.7]])
    """
    cutoffs_top, cutoffs_bottom = check_cutoffs(cutoffs_top), check_cutoffs(cutoffs_bottom)
    logits, ids = checked_pairs(logits, correct_ids, incorrect_ids, swapped)
    if array_api_compat.is_torch_array(logits) and logits.device.type == "cpu":
        # numpy is the faster of the two there, and shares the memory
        logits = logits if logits.dtype.itemsize >= 4 else logits.float()
        parts = by_pieces(
            lambda rows: _scores(logits[rows].numpy(), ids[:, rows].numpy(), cutoffs_top, cutoffs_bottom),
            logits,
        )
        return _joined(parts, array_api_compat.array_namespace(logits))
    return _scores(logits, ids, cutoffs_top, cutoffs_bottom)


def _scores(
    logits: Any, ids: Any, cutoffs_top: tuple[float, ...], cutoffs_bottom: tuple[float, ...]
) -> ContextScores:
    inner = below_one(cutoffs_top), below_one(cutoffs_bottom)
    log_normalizer, logprob, *places = place_forms(logits, ids, *inner)
    scores = scores_at(logprob, *places, cutoffs_top, cutoffs_bottom)
    return scores._replace(log_normalizer=log_normalizer[:, 0])


def _joined(parts: Sequence[ContextScores], torch: Any) -> ContextScores:
    """Put the scores of consecutive contexts together, as tensors."""

    def together(arrays: Sequence[Any]) -> Any:
        return torch.from_numpy(np.concatenate(arrays))

    return parts[0]._replace(
        top=SideScores(*map(together, zip(*(part.top for part in parts), strict=True))),
        bottom=SideScores(*map(together, zip(*(part.bottom for part in parts), strict=True))),
        n_lemmas=together([part.n_lemmas for part in parts]),
        n_ties=together([part.n_ties for part in parts]),
        n_nonfinite=together([part.n_nonfinite for part in parts]),
        log_normalizer=together([part.log_normalizer for part in parts]),
    )
