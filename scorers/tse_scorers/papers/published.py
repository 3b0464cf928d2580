"""Published numbers, which stand next to ours."""

from functools import cache

import pandas as pd

from ..report.published import shipped


@cache
def published(config: str) -> pd.DataFrame:
    """Return one table of the data set `published_results`; empty where it is not there."""
    return shipped("published_results", config)
