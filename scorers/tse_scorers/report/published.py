"""Published and human numbers that stand beside ours: data sets that the package carries.

A report is worth having without them, so that a missing data set gives an empty frame, never an error.
"""

from functools import cache

import pandas as pd

from ..io.bundle import shipped_table


@cache
def shipped(name: str, config: str) -> pd.DataFrame:
    """Return one shipped data set as a frame; empty where it is not there."""
    try:
        return shipped_table(name, config).to_pandas()
    except ValueError:
        return pd.DataFrame()


def is_reference(name: object) -> bool:
    """Whether a system is there for comparison: people, or a published model.

    >>> is_reference("humans (individual)"), is_reference("LSTM (published)"), is_reference("gpt2")
    (True, True, False)
    """
    return str(name).startswith("humans") or str(name).endswith(("(published)", "(released summary)"))
