"""Scores of items: their averages by group, and the differences of two systems on the items that both scored.

A suite says which items there are, what groups and units they have. The arithmetic is in `tse_scorers.statistics`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..io.result_row import ResultRow, Scalar, group_name
from ..statistics import Estimate, Units, difference, mean, means
from .measure import Measure

MIN_GROUPS = 10
"""A score over all groups of one's own data is about other groups if there are this many, else about these groups."""


class Group(NamedTuple):
    """A group of items, which results, intervals and comparisons are about.

    Attributes:
        level: what groups of this kind are: `all`, `paradigm`, `phenomenon`, …
        value: which of them it is; "" for `all`.
        table: its items, or a table that has them among others.
        units: of its items.
        rows: the places of its items in the table; None for all.
    """

    level: str
    value: str
    table: pd.DataFrame
    units: Units
    rows: NDArray[np.intp] | None = None

    @property
    def items(self) -> pd.DataFrame:
        """Its items, with all columns."""
        return self.table if self.rows is None else self.table.iloc[self.rows]

    @property
    def n_items(self) -> int:
        """How many items it has."""
        return len(self.table if self.rows is None else self.rows)

    def values(self, column: str) -> NDArray[Any]:
        """Return a column of its items, which is much quicker than from `items`."""
        values = self.table[column].to_numpy()
        return values if self.rows is None else values[self.rows]

    @property
    def name(self) -> str:
        """What it is called in results."""
        return group_name(self.level, self.value)

    @property
    def place(self) -> tuple[str, str, str]:
        """Its name, level and value."""
        return self.name, self.level, self.value

    def row(self, metric: str, estimate: Estimate, **columns: Any) -> ResultRow:
        """Return a row of results with an estimate over the items, and further columns of it."""
        counted = {
            "score": estimate.mean,
            "n": estimate.n_items,
            "n_excluded": self.n_items - estimate.n_items,
        }
        about = estimate.columns() | counted | columns
        return ResultRow(level=self.level, value=self.value, metric=metric, **about)


OWN_UNITS = {"cluster": "clusters", "item": "items"}
"""Column of a user's table -> what the units are that it names."""


def own_units(items: pd.DataFrame, otherwise: str) -> "tuple[str, pd.Series[str]] | None":
    """Return the units that a user's table names: their plural, and the unit of each row.

    A column `cluster` names them; else a column `item` does, where an item occurs in several rows: versions of one item
    in several conditions are not independent. A unit is the same in all groups of the data.

    Args:
        items: the rows.
        otherwise: the column that names the unit of a row without a value.

    Returns:
        None where the table names no units.

    >>> names, labels = own_units(pd.DataFrame({"item": [1, 1, None], "prefix": ["a", "b", "c"]}), "prefix")
    >>> names, labels.tolist()
    ('items', ['1.0', '1.0', 'c'])
    """
    for column, plural in OWN_UNITS.items():
        if column in items and (column == "cluster" or items[column].dropna().duplicated().any()):
            labels = items[column].astype(object)
            return plural, labels.where(labels.notna(), items[otherwise]).astype(str)
    return None


def only_all(items: pd.DataFrame) -> Iterator[Group]:
    """Yield one group of all items, each a unit by itself."""
    yield Group("all", "", items, Units(np.arange(len(items)), "items"))


def rows_by(labels: pd.Series, sort: bool = False) -> Iterator[tuple[Any, NDArray[np.intp]]]:
    """Yield each label with the places of its rows, in order of appearance or sorted; missing labels have none.

    >>> [(label, rows.tolist()) for label, rows in rows_by(pd.Series(["b", "a", None, "b"]))]
    [('b', [0, 3]), ('a', [1])]
    """
    codes, values = pd.factorize(labels, sort=sort)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(values)))
    yield from zip(values, np.split(order, starts)[1:], strict=True)


class GroupDifference(NamedTuple):
    """The difference of two systems on one group.

    Attributes:
        group: its name; `all` is everything.
        level: see `Group`.
        value: see `Group`.
        difference: with interval, p and both scores.
        n_items: items that both scored.
        n_ties: items of them that both score alike.
        n_lemmas: lemmas (for TSE verbs) that they are over; None where there are none.
    """

    group: str
    level: str
    value: str
    difference: Estimate
    n_items: int
    n_ties: int
    n_lemmas: int | None = None


@dataclass(frozen=True)
class ItemScores:
    """Scores of one measure, item by item.

    Attributes:
        items: one row per item. The index is what makes it the same item for two systems, without repetitions. The
            column `score` is from 0 to 1, NaN for none; other columns are what `groups` needs.
        groups: gives the groups of items that two systems share.
    """

    items: pd.DataFrame
    groups: Callable[[pd.DataFrame], Iterable[Group]] = only_all

    def joined(self, reference: "ItemScores") -> pd.DataFrame:
        """Return the items that both systems were asked, with a column `reference_score`."""
        theirs = reference.items["score"].rename("reference_score")
        return self.items.join(theirs, how="inner")

    def n_excluded(self, reference: "ItemScores") -> int:
        """Count the items that only one of the two systems has a score for."""
        scored = [scores.items.index[scores.items["score"].notna()] for scores in (self, reference)]
        return len(scored[0].symmetric_difference(scored[1]))

    def differences(self, reference: "ItemScores") -> Iterator[GroupDifference]:
        """Yield the difference from a reference on each group with shared items."""
        shared = self.joined(reference).dropna(subset=["score", "reference_score"])
        if shared.empty:
            return
        for group in self.groups(shared):
            scores, others = group.values("score"), group.values("reference_score")
            found = difference(scores, others, group.units)
            n_ties = int((scores == others).sum())
            yield GroupDifference(*group.place, found, len(scores), n_ties, found.n_crossed)

    @property
    def n_lemmas(self) -> int | None:
        """How many lemmas the scores are over; None where they are not over a list of lemmas, or it is unknown."""
        return None

    def why_not_compared(self, reference: "ItemScores") -> str:
        """Say why there are no differences from a reference; nothing where the two share no items."""
        return ""

    def over_common(self, systems: Mapping[str, "ItemScores"]) -> "ItemScores | None":
        """Return the items over the lemmas that all systems score; by default, scores are not over lemmas.

        Args:
            systems: the names of all systems -> their scores on this measure.

        Returns:
            None where that is not known.

        Raises:
            ValueError: there are no such lemmas.
        """
        return self

    def estimates(self) -> Iterator[tuple[Group, Estimate]]:
        """Yield the score of each group."""
        for group in self.groups(self.items.dropna(subset=["score"])):
            yield group, mean(group.values("score"), group.units)

    def most_different(self, reference: "ItemScores", n: int) -> pd.DataFrame:
        """Return the items whose scores differ most: columns `item`, `score`, `reference_score`, `difference`."""
        shared = self.joined(reference)
        shared = shared.assign(difference=shared["score"] - shared["reference_score"])
        order = shared["difference"].abs().sort_values(ascending=False, kind="stable").dropna()
        items = shared.loc[order[order > 0].index[:n], ["score", "reference_score", "difference"]]
        names = [" | ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in items.index]
        return items.reset_index(drop=True).assign(item=names)[["item", *items.columns]]


@dataclass(frozen=True)
class Scored:
    """Items with their scores on measures: what averages, intervals and comparisons are made of.

    Where scores are estimated in another way, or rows of results say more about them, a subclass overrides `estimates`,
    `counts` or `details`, which are functions of a group.

    Attributes:
        columns: measures, each at its point -> the column of `items` with its scores.
        items: one row each, with scores, NaN for none, and columns for `groups`; of `tie` and `nonfinite`, if there,
            rows of results have the sums.
        groups: gives the groups of all items, or of some of them, with their units.
        key: columns that make an item the same in two runs.
        about: further columns of the rows of results.
    """

    columns: Mapping[Measure, str]
    items: pd.DataFrame
    groups: Callable[[pd.DataFrame], Iterable[Group]]
    key: tuple[str, ...] = ()
    about: Mapping[str, Scalar] = field(default_factory=dict)

    def rows(self) -> Iterator[ResultRow]:
        """Yield a row of results for each group and measure."""
        for group in self.groups(self.items):
            scores = [np.asarray(group.values(column), dtype=float) for column in self.columns.values()]
            found = dict(zip(self.columns, means(scores, group.units), strict=True))
            of_group = {**self.about, **self.counts(group)}
            for measure, estimate in self.estimates(group, found).items():
                details = self.details(group, measure, estimate)
                yield group.row(measure.name, estimate, **of_group | details, **measure.at)

    def estimates(self, group: Group, found: Mapping[Measure, Estimate]) -> dict[Measure, Estimate]:
        """Return the estimate of each measure over a group of the items, of which `found` has the means."""
        return dict(found)

    def counts(self, group: Group) -> dict[str, Scalar]:
        """Return what all rows of a group count."""
        return {
            f"n_{kind}": int(group.values(column).sum())
            for kind, column in (("ties", "tie"), ("nonfinite", "nonfinite"))
            if column in group.table
        }

    def details(self, group: Group, measure: Measure, estimate: Estimate) -> dict[str, Scalar]:
        """Return what else the row of an estimate says."""
        return {}

    def item_scores(self, measure: Measure) -> ItemScores:
        """Return the items with their scores on one measure for comparisons, each once."""
        key = list(self.key)
        others = {"tie", "nonfinite", *self.columns.values()} - {self.columns[measure]}
        items = self.items.drop(columns=[*others], errors="ignore").drop_duplicates(key).set_index(key)
        return ItemScores(
            items.rename(columns={self.columns[measure]: "score"}),
            lambda shared: self.groups(shared.reset_index()),
        )
