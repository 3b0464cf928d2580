"""Cells of tables with one column per system: our scores, and published ones as columns behind them."""

import pandas as pd

CELLS = [
    "label", "system", "score", "n", "n_excluded", "n_ties", "ci_low", "ci_high", "reliable", "config", "group",
]  # fmt: skip
"""Columns of `SideBySide.cells`."""


def cells_of(wide: pd.DataFrame) -> pd.DataFrame:
    """Turn a table (labels down, systems across) into one row per cell, without counts.

    >>> cells_of(pd.DataFrame({"humans": [0.9]}, index=["Simple"]))[["label", "system", "score"]]
        label  system  score
    0  Simple  humans    0.9
    """
    stacked = wide.rename_axis(index="label", columns="system").stack().rename("score")
    return stacked.reset_index().reindex(columns=CELLS)


def with_published(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Append published cells to ours, for the labels that we have.

    Args:
        ours: columns `CELLS`.
        theirs: the same, or empty.
    """
    kept = theirs.reindex(columns=CELLS)
    ours = ours.reindex(columns=CELLS)
    kept = kept[kept["label"].isin(ours["label"])]
    return pd.concat([ours, kept.astype(ours.dtypes)], ignore_index=True) if len(kept) else ours
