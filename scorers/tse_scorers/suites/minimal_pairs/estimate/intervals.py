"""The units of accuracies on minimal pairs, and their intervals.

| accuracy of | units |
|---|---|
| all paradigms together | paradigms |
| a phenomenon, a field, a language | critical words of these paradigms |
| a paradigm | critical words |

A word is one unit in all paradigms, since a model does much the same with it there. With a single paradigm, the overall
accuracy has the units of that paradigm. Own paradigms are the units where there are at least 10 of them; where there
are fewer, the overall accuracy has critical words of these paradigms. The user's own units (`own_units`: a column
`cluster`, or an `item` that occurs in several rows) are the units everywhere.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....engine.plan import Indices
from ....io.bundle import metric_modules
from ....statistics import Units
from ...items import MIN_GROUPS, Group, own_units, rows_by
from ..critical_words import critical_words

CRITICAL_WORDS = "critical words"


def with_units(pairs: pd.DataFrame) -> pd.DataFrame:
    """Add the columns `word` (the unit), `unit` (its name) and `stratum` (the paradigm); the numbers count from 0.

    Args:
        pairs: columns `paradigm`, `sentence_good`, `sentence_bad`; `cluster` or `item` where units are given; a
            pair without one is a unit by itself.
    """
    name, labels = unit_labels(pairs)
    numbers = {"word": pd.factorize(labels)[0], "stratum": pd.factorize(pairs["paradigm"])[0]}
    return pairs.assign(unit=name, **numbers)


def unit_labels(pairs: pd.DataFrame) -> "tuple[str, pd.Series[str]]":
    """Return what the units of pairs are called, in the plural, and the unit of each pair."""
    return own_units(pairs, "sentence_good") or (CRITICAL_WORDS, critical_words(pairs))


def grouped(pairs: pd.DataFrame) -> Iterator[Group]:
    """Yield each group of results, with its pairs and their units.

    Args:
        pairs: with the columns of `with_units`, and `score`, NaN for none; `phenomenon`, `field` and `language` may be
            missing.
    """
    is_scored = pairs["score"].notna().to_numpy()
    words, strata = pairs["word"].to_numpy(), pairs["stratum"].to_numpy()
    name = str(pairs["unit"].iloc[0]) if len(pairs) else CRITICAL_WORDS
    units = _words(words, strata, is_scored, name)
    if _paradigms_are_units(pairs[is_scored]):
        units = Units(strata, "paradigms", weighting="units")
    yield Group("all", "", pairs, units)
    for level in ("language", "field", "phenomenon", "paradigm"):
        if level in pairs and (level != "language" or has_languages(pairs)):
            for value, rows in rows_by(pairs[level], sort=True):
                units = _words(words[rows], strata[rows], is_scored[rows], name)
                yield Group(level, str(value), pairs, units, rows)


def has_languages(pairs: pd.DataFrame) -> bool:
    """Whether the column `language` groups the pairs: each has one, and a paradigm has one language only."""
    languages = pairs["language"]
    is_text = pd.api.types.infer_dtype(languages) == "string"
    return bool(is_text and pairs.groupby("paradigm")["language"].nunique().max() == 1)


def _paradigms_are_units(pairs: pd.DataFrame) -> bool:
    """Whether the overall accuracy has paradigms as units: BLiMP's, or enough of the user's own."""
    if not pairs["unit"].eq(CRITICAL_WORDS).all():
        return False
    blimp_paradigms = metric_modules("minimal_pair_accuracy").definitions.BLIMP_PARADIGMS
    n_paradigms = pairs["stratum"].nunique()
    return n_paradigms >= MIN_GROUPS or (
        n_paradigms > 1 and bool(pairs["paradigm"].isin(blimp_paradigms).all())
    )


def _words(words: Indices, strata: Indices, is_scored: NDArray[np.bool_], name: str) -> Units:
    """Return critical words as units of pairs, within their paradigms where pairs of several have a score."""
    scored = strata[is_scored]
    if (scored == scored[:1]).all():
        return Units(words, name)
    return Units(words, f"{name} (these paradigms)", strata=strata, weighting="strata")
