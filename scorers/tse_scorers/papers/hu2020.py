"""Surprisals of regions, interactions and suites of Hu et al. (2020), SyntaxGym, on results of the suite regions."""

from collections.abc import Mapping, Sequence

import pandas as pd

from ..io.store import Record
from ..report.blocks import Block, Plot, Table
from ..report.scores import MOST_ACROSS, drawn
from ..suites.base import ALL
from .published import rows as published_rows

MOST_PANELS = 4
MOST_SUITES = 12
"""Suites whose surprisals are drawn; their numbers are in results.json for all."""
INTERACTION = (
    "2 x 2 interaction at each region, in bits: (a1 b1 − a1 b2) − (a2 b1 − a2 b2); how much more the second factor of "
    "the conditions' names changes the surprisal at the first level of the first factor than at its second level."
)


def parts(rows: pd.DataFrame, records: Mapping[str, Record]) -> dict[str, Sequence[Block]]:
    """Return the tables and figures of tidy rows on one data set, by heading."""
    return {
        "By suite and criterion": criteria(rows[rows["name"] == "criterion_accuracy"]),
        "Surprisal of regions": surprisals(rows[rows["name"] == "region_surprisal"]),
        "Interactions": interactions(rows[rows["name"] == "region_interaction"]),
    }


def published(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the share of right items of each suite that a run has, by its first criterion, and the mean of these."""
    ours = rows[rows["level"].eq("criterion") & rows["value"].str.endswith("/1")]
    items = published_rows("hu2020")
    items = items.assign(value=items["value"].str.rpartition("/")[0] + "/1")
    items = items.merge(ours[["value", "measure"]].drop_duplicates(), on="value")
    keys = ["source", "system", "suite", "name", "measure"]
    suites = items.groupby([*keys, "value"], sort=False)["score"].mean().reset_index()
    overall = suites.groupby(keys, sort=False)["score"].mean().reset_index()
    return pd.concat([suites.assign(level="criterion"), overall.assign(level=ALL, value="")])


def criteria(rows: pd.DataFrame) -> list[Block]:
    """Return the accuracies by criterion, and by suite where one has several."""
    of_criteria = rows.loc[rows["level"] == "criterion", "value"].drop_duplicates()
    n_criteria = of_criteria.str.rsplit("/", n=1).str[0].value_counts()
    is_repeated = rows["level"].eq("suite") & ~rows["value"].map(n_criteria).gt(1)
    shown = rows[~is_repeated].sort_values("level", key=lambda level: level.eq(ALL), kind="stable")
    title = "Accuracy by suite and criterion."
    if shown["system"].nunique() > MOST_ACROSS:  # systems down, published ones last
        shown = shown.sort_values("source", key=lambda source: source.ne("run"), kind="stable")
        return [Table("regions_criteria", title, shown, "system", ("label",), intervals=False)]
    return [Table("regions_criteria", title, shown, intervals=False)]


def surprisals(rows: pd.DataFrame) -> list[Block]:
    """Return the mean surprisal of each region of a suite: a line for each condition, a panel for each model."""
    if rows.empty:
        return []
    rows, which = drawn(rows, MOST_PANELS)
    keys = rows["value"].str.split("/", n=2, expand=True)
    rows = rows.assign(label=keys[1], region=keys[2], panel=rows["system"], y=rows["score"])
    blocks: list[Block] = []
    for place, suite in enumerate(keys[0].unique()[:MOST_SUITES]):
        of = rows[keys[0] == suite]
        regions = sorted(of["region"].unique(), key=lambda name: int(name.split()[0]))
        of = of.assign(x=of["region"].map(regions.index)).sort_values("x", kind="stable")
        title = f"{suite}: mean surprisal of each region by condition; band: 95 % interval over items.{which}"
        ticks = {float(at): region for at, region in enumerate(regions)}
        name = f"regions_{place + 1}"
        blocks.append(Plot(name, title, "lines", of, "region", "bits", None, folded=place > 0, ticks=ticks))
    return blocks


def interactions(rows: pd.DataFrame) -> list[Block]:
    """Return the 2 x 2 interaction at each region, in bits."""
    shown = rows.assign(label=rows["value"].str.replace("/", " · ", n=1), usable=False, digits=2)
    table = Table("regions_interactions", INTERACTION, shown, bars="")
    return [table] if len(rows) else []
