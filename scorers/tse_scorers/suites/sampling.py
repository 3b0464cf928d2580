"""Representative subsamples of a suite: spread evenly over its groups, the same at every call."""

from typing import Any

import pandas as pd


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


def share(items: "pd.Series[Any]", number: int, of: int) -> "pd.Series[bool]":
    """Mark the rows whose item, counted in order of appearance, falls into one of `of` equal stretches."""
    codes = pd.factorize(items)[0]
    return pd.Series(codes * of // (codes.max() + 1) == number - 1, index=items.index)
