"""The published numbers that `tse reproduce` puts ours beside: which row of ours each one stands for."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..io.bundle import shipped_table
from ..io.result_row import group_name

KEYS = ("group", "variation_set", "metric")
"""What a number is about, in the terms of `results.json`."""


def published_numbers(paper: str, config: str, table: str | None) -> pd.DataFrame:
    """Return the published numbers with the columns `system`, `published` and those of `KEYS` that tell them apart.

    Args:
        paper: a key of `papers.PAPERS`.
        config: of the data set `published_results`.
        table: the number of one of its tables; None takes all that are known.
    """
    frame = shipped_table("published_results", config).to_pandas()
    if paper == "newman2021":
        keys = {"group": frame["construction"], "metric": frame["metric"].str.lower()}
        return pd.DataFrame({"system": frame["model"], **keys, "published": frame["score"]})
    if paper == "warstadt2020":
        return _blimp(frame, table)
    frame = frame[(frame["system"] != "human") & frame["repeats_table"].isna()]
    if table is not None:
        frame = frame[frame["paper_table"] == int(table)]
    cells = frame["case_order"] + "|" + frame["role_assignment"]
    groups = [group_name("cell", cell) for cell in cells]
    keys = {"group": groups, "variation_set": frame["variation_set"], "metric": "auc"}
    return pd.DataFrame({"system": frame["system"], **keys, "published": frame["auc"]})


def _blimp(frame: pd.DataFrame, table: str | None) -> pd.DataFrame:
    """Return accuracies by paradigm, and (Table 3) their means by phenomenon and over all."""
    paradigms = frame.rename(columns={"model": "system", "paradigm": "group", "accuracy": "published"})
    overall = paradigms.assign(group="all")
    phenomena = paradigms.assign(group=[group_name("phenomenon", name) for name in paradigms["phenomenon"]])
    means = (
        pd.concat([overall, phenomena])
        .groupby(["system", "group"], sort=False)["published"]
        .mean()
        .reset_index()
    )
    wanted = {"3": [means], "paradigms": [paradigms]}.get(table or "", [means, paradigms])
    return pd.concat(wanted).assign(metric="accuracy")[["system", "group", "metric", "published"]]


def beside(
    paper: str, published: pd.DataFrame, rows: Sequence[Mapping[str, Any]], systems: Mapping[str, str | None]
) -> pd.DataFrame:
    """Return our rows joined to the published numbers.

    Args:
        paper: a key of `papers.PAPERS`.
        published: as `published_numbers` returns them.
        rows: of results.
        systems: the system that each of our models is; one that is None is compared with all.
    """
    ours = pd.DataFrame(rows)
    if paper == "newman2021":
        ours = ours[ours["metric"].eq("tse") | (ours["cutoff_side"].eq("top") & ours["cutoff"].eq(1.0))]
    if paper == "warstadt2020":
        ours = ours[ours["method"] == "full"]
    keys = [key for key in KEYS if key in published]
    ours = ours[["model", *keys, "score", "n"]].rename(columns={"score": "ours"})
    joined = published.merge(ours, on=keys)
    meant = joined["model"].map(lambda model: systems.get(model))
    joined = joined[meant.isna() | (meant == joined["system"])]
    joined["difference"] = joined["ours"] - joined["published"]
    return joined[["model", "system", *keys, "published", "ours", "difference", "n"]].reset_index(drop=True)
