"""Published and human numbers that stand next to ours: data sets that the package carries.

A report is worth having without them, so that a missing data set gives an empty frame, never an error.
"""

from functools import cache

import pandas as pd

from ..io.bundle import shipped_table


@cache
def published(config: str) -> pd.DataFrame:
    """Return one table of the data set `published_results`; empty where it is not there."""
    return shipped("published_results", config)


@cache
def shipped(name: str, config: str) -> pd.DataFrame:
    """Return one shipped data set as a frame; empty where it is not there."""
    try:
        return shipped_table(name, config).to_pandas()
    except ValueError:
        return pd.DataFrame()
