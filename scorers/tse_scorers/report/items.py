"""The items behind scores: their texts and the user's columns, with the score and the margin of a system."""

import numpy as np
import pandas as pd

from ..suites.base import Measure, Suite, Tables

_SIDES = (
    ("score_good", "score_bad"),
    ("logprob_good", "logprob_bad"),
    ("logprob_correct", "logprob_incorrect"),
)
"""Columns with what is compared, the linked scores of texts first."""


def items_of(tables: Tables, suite: type[Suite], measure: Measure) -> pd.DataFrame:
    """Return the items of a system on one measure, or what is compared in them.

    Returns:
        `good` and `bad` (the texts, of pairs) or others, the other columns, `score` (0 to 1), `margin`
        (log-probability of the good text minus that of the bad one; without two texts, log-probability, or
        score − 0.5), and of pairs `logprob_good` and `logprob_bad`.
    """
    if suite.name == "german":
        from ..suites.german import comparisons

        frame = comparisons(tables)
    else:
        frame = suite.items_of(tables, measure.table)
    score = frame[measure.column].astype(float)
    sides = next(([frame[c] for c in pair] for pair in _SIDES if set(pair) <= set(frame)), None)
    margin = frame["logprob"] if "logprob" in frame else score - 0.5
    found = {"score": score, "margin": margin if sides is None else sides[0] - sides[1]}
    for good, bad in _SIDES[1:]:
        if {good, bad} <= set(frame):
            found |= {"logprob_good": frame[good], "logprob_bad": frame[bad]}
    return frame.assign(**found).dropna(subset=["score"]).replace({np.nan: np.nan})
