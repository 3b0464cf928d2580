"""Published numbers that stand beside ours, from the project's data set `published_results`.

A report is worth having without them, so that a missing data set gives an empty frame, never an error.
"""

from functools import cache

import pandas as pd

from ..bundle import load_data


@cache
def published(config: str) -> pd.DataFrame:
    """Return one table of published results as a frame; empty where the data set is not there."""
    try:
        return load_data("published_results", config).to_pandas()
    except ValueError:
        return pd.DataFrame()
