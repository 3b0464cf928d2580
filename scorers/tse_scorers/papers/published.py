"""Published numbers, which stand next to ours."""

from functools import cache

import pandas as pd

from ..io.bundle import shipped_table


@cache
def published(config: str) -> pd.DataFrame:
    """Return one table of the data set `published_results`, which is part of the package."""
    return shipped_table("published_results", config).to_pandas()
