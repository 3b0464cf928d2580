"""Regions and criteria of one suite or several, checked against each other before any model is loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from ..checks import require_group_names
from .formulas import WHOLE_SENTENCE, Formula, parse

KEYS = ["suite", "item", "condition"]
"""Columns that tell sentences apart."""
COLUMNS = [*KEYS, "region_number", "region", "text"]


@dataclass(frozen=True)
class Criterion:
    """A criterion of a suite.

    Attributes:
        suite: name of the suite.
        name: its name within the suite, "1", "2", … where it has none of its own.
        formula: what each item has to fulfil.
    """

    suite: str
    name: str
    formula: Formula


@dataclass(frozen=True)
class Design:
    """Suites of regions.

    Attributes:
        regions: one row per item, condition and region, `COLUMNS` and the user's own; `text` has no space at its ends
            and is "" for a region without words.
        criteria: of all suites.
    """

    regions: pd.DataFrame
    criteria: Sequence[Criterion]

    @property
    def suites(self) -> list[str]:
        """Names of the suites."""
        return list(dict.fromkeys(self.regions["suite"]))


def parse_criteria(suite: str, texts: Mapping[str, str]) -> list[Criterion]:
    """Parse the criteria of a suite by their names; raises ValueError where one is no formula."""
    return [Criterion(suite, name, parse(text)) for name, text in texts.items()]


def check_design(design: Design, data: str) -> None:
    """Check that every item has the regions that the criteria name, and that every sentence has words.

    Args:
        design: regions of all suites.
        data: name of the data for messages.

    Raises:
        ValueError: a condition, a region, or all words of a sentence are missing, a region occurs twice, or a name
            cannot be told apart in tables.
    """
    regions = design.regions
    for column in ("suite", "condition"):
        require_group_names(regions[column], column, data, forbidden="/")
    repeated = regions.duplicated([*KEYS, "region_number"])
    if repeated.any():
        row = regions[repeated].iloc[0]
        raise ValueError(
            f"{data} has region {row['region_number']} twice in item {row['item']}, condition {row['condition']} of "
            f"{row['suite']}. Number the regions of each sentence from 1, or give each sentence its own item and "
            "condition."
        )
    words = regions["text"].ne("").groupby([regions[name] for name in KEYS], sort=False).any()
    if not words.all():
        suite, item, condition = words.index[int((~words).to_numpy().argmax())]
        raise ValueError(
            f"{data} has no words in item {item}, condition {condition} of {suite}. Fill in or remove these rows."
        )
    for criterion in design.criteria:
        _check_criterion(criterion, regions[regions["suite"] == criterion.suite], data)


def region_columns(frame: pd.DataFrame, references: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return the surprisal of each region that a formula names: one row per item, one column per reference.

    Args:
        frame: scored regions of one suite: `item`, `condition`, `region_number`, `region`, `surprisal_bits`.
        references: of a formula.
    """
    items = pd.Index(frame["item"].unique())
    columns = {}
    for region, condition in references:
        in_condition = frame[frame["condition"] == condition]
        in_condition = (
            in_condition if region == WHOLE_SENTENCE else in_condition[_named(in_condition, region)]
        )
        sums = in_condition.groupby("item")["surprisal_bits"].agg(
            lambda values: float(values.sum(skipna=False))
        )
        columns[(region, condition)] = sums.reindex(items)
    return pd.DataFrame(columns, index=items)


def _named(frame: pd.DataFrame, region: str) -> "pd.Series[bool]":
    """Mark the rows of a region, called by its number or by its name."""
    if region.isdecimal():
        return frame["region_number"] == int(region)
    return frame["region"] == region


def _check_criterion(criterion: Criterion, regions: pd.DataFrame, data: str) -> None:
    items = regions["item"].nunique()
    for region, condition in criterion.formula.references:
        in_condition = regions[regions["condition"] == condition]
        if in_condition.empty:
            conditions = ", ".join(map(repr, regions["condition"].unique()))
            raise ValueError(
                f"{data}: criterion {criterion.name} of {criterion.suite} names the condition {condition!r}; its "
                f"conditions are {conditions}. Correct the criterion or the conditions."
            )
        in_region = in_condition if region == WHOLE_SENTENCE else in_condition[_named(in_condition, region)]
        per_item = in_region.groupby("item")["region_number"].nunique()
        if region != WHOLE_SENTENCE and (per_item > 1).any():
            raise ValueError(
                f"{data}: criterion {criterion.name} of {criterion.suite} names the region {region!r}, which item "
                f"{per_item[per_item > 1].index[0]} has several times. Call the region by its number."
            )
        if len(per_item) < items:
            missing = next(item for item in regions["item"].unique() if item not in per_item.index)
            raise ValueError(
                f"{data}: criterion {criterion.name} of {criterion.suite} needs region {region} in condition "
                f"{condition!r}; item {missing} does not have it. Add it, or remove the item."
            )
