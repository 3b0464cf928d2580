"""Averages of a suite of regions: accuracy per criterion, mean surprisal per region, 2 x 2 interactions.

| metric | group | score |
|---|---|---|
| `criterion_accuracy` | `all` | mean of the suites' accuracies |
| `criterion_accuracy` | `suite:NAME` | mean of its criteria's accuracies |
| `criterion_accuracy` | `criterion:NAME/CRITERION` | share of items that fulfil it |
| `region_surprisal` | `region:NAME/CONDITION/NUMBER REGION` | mean over items, bits |
| `region_interaction` | `interaction:NAME/NUMBER REGION` | mean over items, bits; see `factors` |
"""

from collections.abc import Iterator

import pandas as pd

from ...io.result_row import ResultRow
from ...statistics import Units
from ..items import Group
from .factors import interaction, two_factors
from .units import mean_in_bits


def grouped(criteria: pd.DataFrame) -> Iterator[Group]:
    """Yield each group of criteria, whose items are rows (items by criteria)."""
    yield Group("all", "", criteria, _items(criteria))
    for suite, of_suite in criteria.groupby("suite", sort=False):
        yield Group("suite", str(suite), of_suite, _items(of_suite))
        for name, of_criterion in of_suite.groupby("criterion", sort=False):
            yield Group("criterion", f"{suite}/{name}", of_criterion, _items(of_criterion))


def _items(criteria: pd.DataFrame) -> Units:
    """Items are the units; suites are fixed and count the same, whatever their size."""
    items = criteria["suite"].str.cat(criteria["item"], sep="/").to_numpy()
    if criteria["suite"].nunique() < 2:
        return Units(items, "items")
    return Units(items, "items (these suites)", strata=criteria["suite"].to_numpy(), weighting="strata")


def surprisal_rows(suite: str, regions: pd.DataFrame) -> Iterator[ResultRow]:
    """Yield the mean surprisal of each condition's regions, and each region's interaction in a 2 x 2 design."""
    for (condition, number), inside in regions.groupby(["condition", "region_number"], sort=False):
        value = f"{suite}/{condition}/{_label(number, inside)}"
        columns = mean_in_bits(inside["surprisal_bits"])
        yield ResultRow(level="region", value=value, metric="region_surprisal", n_ties=0, **columns)
    factors = two_factors(list(regions["condition"]))
    if factors is None:
        return
    for number, inside in regions.groupby("region_number", sort=True):
        wide = inside.pivot(index="item", columns="condition", values="surprisal_bits")
        if wide.shape[1] == 4:  # otherwise the region is missing from a condition
            value = f"{suite}/{_label(number, inside)}"
            columns = mean_in_bits(interaction(wide, factors))
            yield ResultRow(
                level="interaction", value=value, metric="region_interaction", n_ties=0, **columns
            )


def _label(number: object, regions: pd.DataFrame) -> str:
    """Name a region by its number and, if all its rows have the same, its name."""
    names = regions["region"].unique()
    return f"{number} {names[0]}" if len(names) == 1 and names[0] != str(number) else str(number)
