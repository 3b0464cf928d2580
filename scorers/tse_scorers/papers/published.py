"""Published numbers: the data set `published_results`, one row per number, named as rows of results are."""

from functools import cache

import pandas as pd

from ..io.bundle import shipped_table


@cache
def rows(paper: str) -> pd.DataFrame:
    """Return the published numbers of a paper; do not change them.

    The columns are those of `published_results`, and `name`: the measure, as results call it (`ew`, `auc@1-2_dative`).
    """
    every = shipped_table("published_results", "rows").to_pandas()
    point = every["variation_set"].where(every["variation_set"] != "1-6")
    point = point.fillna(every["method"].where(every["method"] != "full"))
    name = every["metric"] + ("@" + point).fillna("")
    return every.assign(name=name)[every["paper"] == paper].reset_index(drop=True)
