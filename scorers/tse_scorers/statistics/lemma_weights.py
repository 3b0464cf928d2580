"""How many lemmas decide MW: it weights each lemma by its probability, so a few frequent lemmas may decide it."""

import math

import numpy as np
import numpy.typing as npt

from .clustered import Floats

_BLOCK_VALUES = 2**22


def lemma_weights(mass_correct: npt.NDArray[np.floating], mass_incorrect: npt.NDArray[np.floating]) -> Floats:
    """Return each lemma's share of the probability of all listed forms, averaged over contexts.

    Contexts have equal weight, as in MW. Contexts without probability on listed forms are excluded.

    Args:
        mass_correct: probability of each lemma's correct form, contexts x lemmas; NaN counts as 0.
        mass_incorrect: probability of each lemma's incorrect form.

    Returns:
        (lemmas,), with the sum 1; NaN if no context has probability on listed forms.
    """
    n_contexts, n_lemmas = mass_correct.shape
    total, n_used = np.zeros(n_lemmas), 0
    size = max(1, _BLOCK_VALUES // max(n_lemmas, 1))
    for start in range(0, n_contexts, size):
        rows = slice(start, start + size)
        # float16 masses of 1,000 lemmas would lose digits in their sum
        mass = np.nan_to_num(mass_correct[rows].astype(np.float64)) + np.nan_to_num(
            mass_incorrect[rows].astype(np.float64)
        )
        listed = mass.sum(axis=1)
        used = listed > 0
        total += (mass[used] / listed[used, None]).sum(axis=0)
        n_used += int(used.sum())
    return total / n_used if n_used else np.full(n_lemmas, math.nan)


def effective_number(weights: npt.ArrayLike) -> float:
    """Return the number of equally weighted lemmas with the same variance of the mean: (Σ w)² / Σ w².

    It is n for n equal weights, and 1 if one lemma has all the weight. Source: Kish (1965), Survey sampling, for the
    weights of a mean; also known as the inverse Simpson index.

    >>> effective_number([0.5, 0.25, 0.25])
    2.6666666666666665
    """
    shares = np.asarray(weights, dtype=float)
    squares = float((shares**2).sum())
    return float(shares.sum()) ** 2 / squares if squares > 0 else math.nan
