"""The units of accuracies on minimal pairs, and their intervals.

| accuracy of | units |
|---|---|
| all paradigms together | paradigms |
| a phenomenon, a field | critical words of these paradigms |
| a paradigm | critical words |

With a single paradigm, the overall accuracy has the units of that paradigm. If pairs have a column `cluster`, clusters
replace critical words.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ...statistics.clustered import Units
from ...statistics.critical_words import critical_words

_SENTENCES = ["sentence_good", "sentence_bad"]
_GROUPS = {"field": "field:", "phenomenon": "phenomenon:", "paradigm": ""}


def with_units(pairs: pd.DataFrame) -> pd.DataFrame:
    """Add the columns `word` (the unit within a paradigm) and `stratum` (the paradigm), numbered from 0.

    Args:
        pairs: columns `paradigm`, `sentence_good`, `sentence_bad`; `cluster` if units are given.
    """
    if "cluster" in pairs:
        words = pairs["cluster"].astype(str)
    else:
        unique = pairs[_SENTENCES].drop_duplicates()
        keys = pd.MultiIndex.from_frame(unique)
        found = pd.Series(critical_words(unique).to_numpy(), index=keys)
        words = found.reindex(pd.MultiIndex.from_frame(pairs[_SENTENCES]))
    codes, paradigms = pd.factorize(words.to_numpy())[0], pd.factorize(pairs["paradigm"])[0]
    return pairs.assign(word=codes * (paradigms.max(initial=0) + 1) + paradigms, stratum=paradigms)


def grouped(pairs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, Units]]:
    """Yield each group of results: its name, its pairs and their units.

    Args:
        pairs: with the columns of `with_units`; `phenomenon` and `field` may be missing.
    """
    if pairs["stratum"].nunique() > 1:
        yield "all", pairs, Units(pairs["stratum"].to_numpy(), "paradigms", weighting="clusters")
    else:
        yield "all", pairs, _words(pairs)
    for column, prefix in _GROUPS.items():
        if column in pairs:
            for name, own in pairs.groupby(column, sort=False):
                yield f"{prefix}{name}", own, _words(own)


def _words(pairs: pd.DataFrame) -> Units:
    name = "clusters" if "cluster" in pairs else "critical words"
    words, strata = pairs["word"].to_numpy(), pairs["stratum"].to_numpy()
    if len(np.unique(strata)) < 2:
        return Units(words, name)
    return Units(words, f"{name} (these paradigms)", strata=strata, weighting="strata")
