"""Selects results over the whole distribution, without cut-offs."""

import pandas as pd

WHOLE = {"cutoff_side": "top", "cutoff": 1.0}
"""The cut-off columns of results over the whole distribution. TSE has no cut-off."""


def without_cutoff(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the results over the whole distribution: those without a cut-off and those of top 1.0."""
    is_whole = (rows[list(WHOLE)] == pd.Series(WHOLE)).all(axis=1)
    return rows[rows["cutoff"].isna() | is_whole]
