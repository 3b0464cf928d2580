"""Published numbers: the data set `published_results`, one row per number, named as rows of results are."""

from functools import cache

import pandas as pd

from ..io.bundle import shipped_table


@cache
def rows(paper: str) -> pd.DataFrame:
    """Return the published numbers of a paper, with the columns of `published_results`; do not change them."""
    every = shipped_table("published_results", "rows").to_pandas()
    return every[every["paper"] == paper].reset_index(drop=True)
