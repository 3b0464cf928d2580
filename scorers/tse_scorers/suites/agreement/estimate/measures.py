"""The measures of agreement: TSE, EW and MW, the last two over the whole distribution or at a cut-off."""

from collections.abc import Collection, Iterator
from functools import partial

import pandas as pd

from ...measure import Measure
from ..tables import POINT, sides_in

WHOLE = {"cutoff_side": "top", "cutoff": 1.0}
"""The cut-off columns of results over the whole distribution. TSE has no cut-off."""
_at_cutoffs = partial(Measure, at=WHOLE, default=WHOLE, table="contexts", counted="contexts")
_over_lemmas = partial(
    _at_cutoffs, over_lemmas=True, why_excluded="no lemma has two single-token forms there"
)
TSE = Measure(
    "tse",
    "TSE",
    "the usual test: as EW, over the few verbs of the data",
    table="pairs",
    live_key="tse/tse",
    right_or_wrong=True,
    counted="pairs",
    why_excluded="a form is not a single token",
)
EW = _over_lemmas(
    "ew",
    "EW",
    "share of listed verbs whose right form is the more probable one",
    column=f"ew{POINT}",
    leads=True,
    live_key="tse/ew",
)
MW = _over_lemmas(
    "mw",
    "MW",
    "share of listed verbs' probability that is on right forms",
    column=f"mw{POINT}",
    live_key="tse/mw",
)
MEASURES = (TSE, EW, MW)
COVERED_MASS = _at_cutoffs("covered_mass", column=f"covered_mass{POINT}")
WITHOUT_LEMMAS = _at_cutoffs("share_without_lemmas", column=f"without_lemmas{POINT}")
"""Whether a context has no lemma inside a cut-off, which follows from EW: no column of the table of contexts."""


def measures_in(columns: Collection[str]) -> Iterator[Measure]:
    """Yield the measures of a table of contexts, at all their points, in the order of results."""
    for side, cutoffs in sides_in(columns):
        for cutoff in cutoffs:
            for measure in (EW, MW, COVERED_MASS, WITHOUT_LEMMAS):
                yield measure.moved({"cutoff_side": side, "cutoff": cutoff})


def without_cutoff(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the results over the whole distribution: those without a cut-off and those of top 1.0."""
    is_whole = (rows[list(WHOLE)] == pd.Series(WHOLE)).all(axis=1)
    return rows[rows["cutoff"].isna() | is_whole]
