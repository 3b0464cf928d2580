"""The numbers of Tables 3 and 4 of Warstadt et al. (2020), for `tse reproduce`."""

import pandas as pd

from ...io.result_row import group_name
from ..numbers import PaperNumbers


def _published(frame: pd.DataFrame, table: str | None) -> pd.DataFrame:
    """Return accuracies by paradigm (Table 4), and their means by phenomenon and over all (Table 3)."""
    paradigms = frame.rename(columns={"model": "system", "paradigm": "group", "accuracy": "published"})
    overall = paradigms.assign(group="all")
    phenomena = paradigms.assign(group=[group_name("phenomenon", name) for name in paradigms["phenomenon"]])
    means = (
        pd.concat([overall, phenomena])
        .groupby(["system", "group"], sort=False)["published"]
        .mean()
        .reset_index()
    )
    tables = {"3": [means], "4": [paradigms]}.get(table or "", [means, paradigms])
    return pd.concat(tables).assign(metric="accuracy")[["system", "group", "metric", "published"]]


def _selected(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies on whole sentences."""
    return rows[rows["method"] == "full"]


NUMBERS = PaperNumbers(_published, _selected)
