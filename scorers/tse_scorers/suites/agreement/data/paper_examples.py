"""The two sentences of Table 3 of Newman et al. (2021): where the data has them, their probable words are stored."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

TABLE_3 = (("The senators that the skater", "are young."), ("The pilots that the executive", "are tall."))
"""(prefix, suffix) of the two contexts"""


def positions(contexts: pd.DataFrame) -> NDArray[np.int64]:
    """Return the positions of the table's sentences: the same prefix, and the same suffix if any context has it.

    A causal model does not see the suffix: its context has the first suffix of the data.

    Args:
        contexts: columns `prefix` and `suffix`.
    """
    prefixes, suffixes = (contexts[side].fillna("").str.strip() for side in ("prefix", "suffix"))
    places = []
    for prefix, suffix in TABLE_3:
        same = np.flatnonzero(prefixes == prefix)
        exact = same[(suffixes.iloc[same] == suffix).to_numpy()]
        places += list(exact if len(exact) else same)[:1]
    return np.array(places, dtype=np.int64)


def with_paper_contexts(chosen: NDArray[np.int64], contexts: pd.DataFrame) -> NDArray[np.int64]:
    """Add the table's sentences to a sample of contexts, given by position, unless they are in it."""
    return np.concatenate([chosen, np.setdiff1d(positions(contexts), chosen)])
