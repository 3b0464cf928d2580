"""How many lemmas decide MW: it weights each lemma by its probability, so a few frequent lemmas may decide it."""

import math

import numpy as np
import numpy.typing as npt


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
