"""The items behind scores: their texts and the user's columns, with the score and the margin of a system."""

import numpy as np
import pandas as pd

from ..io.result_row import IDENTITY
from ..io.runs import ScoreFile
from ..suites.contract import Suite
from ..suites.measure import Measure

_SIDES = (
    ("score_good", "score_bad"), ("logprob_good", "logprob_bad"), ("logprob_correct", "logprob_incorrect"),
)  # fmt: skip
"""Columns with what is compared, the linked scores of texts first."""


def items_of(file: ScoreFile, suite: type[Suite], measure: Measure) -> pd.DataFrame | None:
    """Return the items of a system on one measure, or what is compared in them; None if the file has no items.

    Returns:
        `good` and `bad` (the texts, of pairs) or `sentence`, the other columns that are no scores, `score` (0 to 1),
        `margin` (log-probability of the good text minus that of the bad one; without two texts, log-probability, or
        score − 0.5), and of pairs `logprob_good` and `logprob_bad`.
    """
    frame = suite.shown.pairs(file)
    frame = suite.item_table(file) if frame is None else frame
    if frame is None:
        return None
    for axis, value in measure.at.items():
        frame = frame[frame[axis] == value] if axis in frame else frame
    score = next((frame[c] for c in (measure.score_column, "correct") if c in frame), np.nan)
    sides = next(([frame[c] for c in pair] for pair in _SIDES if set(pair) <= set(frame)), None)
    margin = frame["logprob"] if "logprob" in frame else score - 0.5
    found = {"score": score, "margin": margin if sides is None else sides[0] - sides[1]}
    for good, bad in _SIDES[1:]:
        if {good, bad} <= set(frame):
            found |= {"logprob_good": frame[good], "logprob_bad": frame[bad]}
    if {"sentence_good", "sentence_bad"} <= set(frame):
        frame = frame.drop(columns=["good", "bad"], errors="ignore")
        frame = frame.rename(columns={"sentence_good": "good", "sentence_bad": "bad"})
    numbers = set(frame.select_dtypes("number"))
    scores = numbers & {*suite.score_columns(file), measure.score_column, "logprob_good", "logprob_bad"}
    texts = frame.drop(columns=[*IDENTITY, *scores], errors="ignore")
    return texts.assign(**found).astype({"score": float})
