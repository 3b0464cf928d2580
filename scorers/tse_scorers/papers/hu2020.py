"""The numbers of Hu et al. (2020), the share of right items of each suite, for `tse reproduce`."""

import pandas as pd

from .numbers import PaperNumbers


def _published(frame: pd.DataFrame, table: str | None) -> pd.DataFrame:
    """Return the share of right items of each suite."""
    shares = frame.groupby(["model", "suite"], sort=False)["correct"].mean().reset_index()
    shares = shares.rename(columns={"model": "system", "suite": "group", "correct": "published"})
    return shares.assign(metric="criterion_accuracy")


def _selected(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the first criterion of each suite, which is the one that was published."""
    rows = rows[rows["level"].eq("criterion") & rows["value"].str.endswith("/1")]
    return rows.assign(group=rows["value"].str.removesuffix("/1"))


def _summarized(suites: pd.DataFrame) -> pd.DataFrame:
    """Add the mean over the suites that were run, published and ours, of each system and model."""
    by = suites.groupby(["system", "model", "metric"], sort=False)
    means = by.agg(published=("published", "mean"), ours=("ours", "mean"), n=("n", "sum"))
    return pd.concat([suites, means.reset_index().assign(group="all")])


NUMBERS = PaperNumbers(_published, _selected, summarized=_summarized)
