"""The rows that a suite asks about, and representative samples: spread evenly over groups, the same at every call."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .checks import Finding


@dataclass(frozen=True)
class Items:
    """The rows that a suite asks about. Limits, samples and chunks belong to the runner.

    Attributes:
        frame: the rows, with the user's own columns.
        dataset: the data's name in results; by default the option `data`, or the suite's name.
        config: the data's configuration; by default as the option `data`, or the suite's name.
        own_columns: names of the user's own columns in `frame`, for a suite whose `ask` does not return its rows.
        item_by: columns of rows that are one item, which nothing parts; () for each row by itself.
        shard_by: columns of rows that no chunk parts (a template, a context); by default `item_by`.
        sample_by: columns of rows that no limit and no sample parts; by default `item_by`.
        spread: column over whose values limits and samples are even; by default the first of the suite's levels.
        pairs_each: pairs of a budget that the rows of one `sample_by` use.
        findings: warnings about unusual data.
    """

    frame: pd.DataFrame
    dataset: str = ""
    config: str = ""
    own_columns: tuple[str, ...] = ()
    item_by: tuple[str, ...] = ()
    shard_by: tuple[str, ...] = ()
    sample_by: tuple[str, ...] = ()
    spread: str = ""
    pairs_each: int = 1
    findings: tuple[Finding, ...] = ()

    @property
    def n_items(self) -> int:
        """The number of items."""
        return int(self.together(()).max(initial=-1)) + 1

    def together(self, columns: Sequence[str]) -> NDArray[np.intp]:
        """Return the number of what each row belongs to, from 0, in order of appearance, (rows,)."""
        if not (columns := columns or self.item_by):
            return np.arange(len(self.frame))
        return self.frame.groupby(list(columns), sort=False, dropna=False).ngroup().to_numpy()

    def of(self, is_marked: NDArray[np.bool_]) -> "Items":
        """Return the marked rows, (rows,)."""
        return replace(self, frame=self.frame[is_marked])

    def limited(self, limit: int | None) -> "Items":
        """Return at most so many of each value of `spread`, the same at every call."""
        belongs = self.together(self.sample_by)
        chosen = limited(self._spread(belongs), "spread", limit)["belongs"]
        return replace(self, frame=self.frame[np.isin(belongs, chosen)].reset_index(drop=True))

    def sampled(self, budget: int, seed: int) -> "Items":
        """Return a sample that uses at most so many pairs, spread evenly; ValueError where that leaves nothing."""
        check_budget(budget, smallest=self.pairs_each)
        belongs = self.together(self.sample_by)
        units = self._spread(belongs)
        chosen = units.loc[stratified_sample(units["spread"], budget // self.pairs_each, seed), "belongs"]
        return self.of(np.isin(belongs, chosen))

    def _spread(self, belongs: NDArray[np.intp]) -> pd.DataFrame:
        values = self.frame[self.spread].to_numpy() if self.spread else ""
        units = pd.DataFrame({"belongs": belongs, "spread": values}).drop_duplicates("belongs")
        return units.reset_index(drop=True)


def stratified_sample(groups: "pd.Series[Any]", at_most: int, seed: int) -> "pd.Index[Any]":
    """Return the index, in its order, of at most so many rows, as many from each group as there are.

    A group with fewer rows than its share leaves the rest to the others. The sample of a smaller size is part of
    that of a larger one with the same seed.

    Args:
        groups: the group of each row.
        at_most: rows in the sample; fewer only where there are no more.
        seed: decides which rows.

    >>> groups = pd.Series(["small", "large", "large", "large", "large"])
    >>> groups[stratified_sample(groups, 4, seed=0)].tolist()
    ['small', 'large', 'large', 'large']
    """
    shuffled = groups.sample(frac=1.0, random_state=seed)
    turn = shuffled.groupby(shuffled).cumcount()  # first all groups' first rows, then their second ones, …
    return turn.sort_values(kind="stable").index[:at_most].sort_values()


def check_budget(budget: int, smallest: int = 1) -> None:
    """Raise ValueError where a budget of pairs is less than the smallest part that can be scored."""
    if budget < smallest:
        raise ValueError(
            f"A budget of {budget} pairs leaves nothing to score: the smallest part that can be scored by itself "
            f"has {smallest}. Increase the budget, or remove the suite."
        )


def limited(frame: pd.DataFrame, group: str, limit: int | None) -> pd.DataFrame:
    """Return at most `limit` rows of each group, the same at every call; all where the limit is None.

    Args:
        frame: the whole.
        group: the column that tells the groups.
        limit: 1 or more.
    """
    if limit is not None:
        chosen = frame.sample(frac=1.0, random_state=0).groupby(group).head(limit)
        frame = frame.loc[chosen.index.sort_values()]
    return frame.reset_index(drop=True)
