"""The two factors of a 2 x 2 design, and their interaction.

Four conditions cross two factors where their names do: `no-obj_no-comma`, `obj_no-comma`, `no-obj_comma`, `obj_comma`.
With a1, a2 and b1, b2 in the order in which they first occur, the interaction in one item and region is

    (S(a1_b1) - S(a1_b2)) - (S(a2_b1) - S(a2_b2)),   S in bits.

In the garden path of the example it is how much more a comma helps where the verb has no object.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd


class Factors(NamedTuple):
    """The levels of two crossed factors; a condition is named by one level of each, joined by `_`."""

    first: tuple[str, str]
    second: tuple[str, str]


def two_factors(conditions: Sequence[str]) -> Factors | None:
    """Return the factors that four conditions cross, or None.

    >>> two_factors(["match_sing", "mismatch_sing", "match_plural", "mismatch_plural"])
    Factors(first=('match', 'mismatch'), second=('sing', 'plural'))
    >>> two_factors(["plaus", "implaus"]) is None
    True
    """
    names = list(dict.fromkeys(conditions))
    if len(names) != 4:
        return None
    for place in range(1, min(name.count("_") for name in names) + 1):
        parts = [name.split("_") for name in names]
        pairs = [("_".join(part[:place]), "_".join(part[place:])) for part in parts]
        first, second = (tuple(dict.fromkeys(side)) for side in zip(*pairs, strict=True))
        if len(first) == len(second) == 2:
            return Factors((first[0], first[1]), (second[0], second[1]))
    return None


def interaction(surprisals: pd.DataFrame, factors: Factors) -> "pd.Series[float]":
    """Return the interaction of each row, (rows,) bits; NaN where a condition has no surprisal.

    Args:
        surprisals: one column per condition, bits; one row per item (and region).
        factors: what `two_factors` returns.
    """
    (a1, a2), (b1, b2) = factors
    effects = (surprisals[f"{a}_{b1}"] - surprisals[f"{a}_{b2}"] for a in (a1, a2))
    return next(effects) - next(effects)
