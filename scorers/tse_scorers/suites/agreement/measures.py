"""The measures of agreement: TSE, EW and MW, the last two over the whole distribution or at a cut-off."""

from functools import partial

import pandas as pd

from ...report.measure import Measure

WHOLE = {"cutoff_side": "top", "cutoff": 1.0}
"""The cut-off columns of results over the whole distribution. TSE has no cut-off."""
_over_lemmas = partial(
    Measure,
    at=WHOLE,
    default=WHOLE,
    table="contexts",
    over_lemmas=True,
    counted="contexts",
    why_excluded="no lemma has two single-token forms there",
)
MEASURES = (
    Measure(
        "tse",
        "TSE",
        "targeted syntactic evaluation, how often the right form of the sentence's own word is the more probable one, "
        "here “{good}” and not “{bad}”",
        table="pairs",
        live_key="tse/tse",
        right_or_wrong=True,
        counted="pairs",
        why_excluded="a form is not a single token",
    ),
    _over_lemmas(
        "ew",
        "EW",
        "equally weighted, the same question about every word of a long list in this place, each counting the same",
        live_key="tse/ew",
    ),
    _over_lemmas(
        "mw",
        "MW",
        "model weighted, of the probability that the model gives to the words of the list, the share on right forms",
        live_key="tse/mw",
    ),
)


def without_cutoff(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the results over the whole distribution: those without a cut-off and those of top 1.0."""
    is_whole = (rows[list(WHOLE)] == pd.Series(WHOLE)).all(axis=1)
    return rows[rows["cutoff"].isna() | is_whole]
