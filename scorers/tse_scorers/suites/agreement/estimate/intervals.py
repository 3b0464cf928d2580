"""The groups of agreement scores, and the units of their intervals.

| measure | units |
|---|---|
| EW over the whole distribution | subject nouns x lemmas |
| TSE | subject nouns x verbs |
| MW, covered mass, EW at cut-offs | subject nouns; the lemmas are fixed |

A noun is one unit in all constructions, in the singular and in the plural. Constructions are fixed (strata): an
interval over several says what other nouns and lemmas would give *in these constructions*.

Data with other constructions than Marvin & Linzen's have other units: what a column `cluster` or `item` says
(`own_units`); else, for the score over all groups, the groups (`group`) where there are at least 10 of them; else
the left contexts.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....statistics import Units
from ...items import MIN_GROUPS, Group, own_units, rows_by
from ..subjects import SUBJECT_RULES, subject_clusters, verb_lemmas


def with_units(contexts: pd.DataFrame) -> pd.DataFrame:
    """Add the columns `noun` (the unit) and `stratum` (the construction), numbered from 0, and `unit`, its name.

    Args:
        contexts: columns `prefix`, `number`, and `construction` or `group`; `cluster` or `item` if units are given.
    """
    contexts = with_construction(contexts)
    is_marvin_linzen = contexts["construction"].isin(list(SUBJECT_RULES)).all()
    user_units = own_units(contexts, "prefix")
    name = (
        user_units[0] if user_units is not None else "subject nouns" if is_marvin_linzen else "left contexts"
    )
    return contexts.assign(
        noun=pd.factorize(subject_clusters(contexts))[0],
        stratum=pd.factorize(contexts["construction"])[0],
        unit=name,
    )


def with_construction(contexts: pd.DataFrame) -> pd.DataFrame:
    """Add the column `construction` where it is missing: the group."""
    if "construction" in contexts:
        return contexts
    return contexts.assign(construction=contexts["group"] if "group" in contexts else "")


def with_overall_units(items: pd.DataFrame) -> pd.DataFrame:
    """Take groups as units for the score over all of them, where the items are left contexts of enough groups.

    Args:
        items: all contexts or pairs, with the columns of `with_units`.
    """
    is_grouped = "group" in items and items["group"].nunique() >= MIN_GROUPS
    if not is_grouped or not items["unit"].eq("left contexts").all():
        return items
    return items.assign(noun=pd.factorize(items["group"])[0], stratum=0, unit="groups")


def units_of(items: pd.DataFrame, crossed: str | None = None, fixed: str = "") -> Units:
    """Return the units of contexts or pairs that have the columns of `with_units`.

    Args:
        items: contexts or pairs.
        crossed: the column of a second kind of unit, which is also its name in the plural without the s.
        fixed: other things that are fixed besides the constructions.
    """
    second = None if crossed is None else items[crossed].to_numpy()
    return Units(
        items["noun"].to_numpy(), unit_name(items, crossed, fixed), second, items["stratum"].to_numpy()
    )


def unit_name(items: pd.DataFrame, crossed: str | None = None, fixed: str = "") -> str:
    """Name what varies and what is fixed.

    >>> unit_name(pd.DataFrame({"unit": ["subject nouns"] * 2, "stratum": [0, 1]}), "lemma")
    'subject nouns x lemmas (these constructions)'
    """
    name = str(items["unit"].iloc[0]) if len(items) else "units"
    several = ["constructions"] if items["stratum"].nunique() > 1 else []
    held = [*several, *([fixed] if fixed else [])]
    return name + (f" x {crossed}s" if crossed else "") + (f" (these {' and '.join(held)})" if held else "")


def with_pair_units(pairs: pd.DataFrame, contexts: pd.DataFrame) -> pd.DataFrame:
    """Add the columns of `with_units` and `verb` to pairs, from the table of their contexts."""
    of_context = contexts.drop_duplicates("context_id")
    # A context as a causal model sees it may belong to pairs of several constructions or units: theirs are in `pairs`.
    of_pairs = {"cluster", "item"} & set(pairs)
    columns = [
        c for c in ("context_id", "prefix", "number", "cluster", "item") if c in {*contexts} - of_pairs
    ]
    pairs = pairs.drop(columns=["prefix", "number"], errors="ignore")
    pairs = with_units(pairs.merge(of_context[columns], on="context_id", how="left"))
    return pairs.assign(verb=pd.factorize(verb_lemmas(pairs))[0])


def groups_of(
    items: pd.DataFrame, crossed: str | None = None, once_per: Sequence[str] = ("context_id",)
) -> Iterator[Group]:
    """Yield `all` and each table row: the one enumeration of results, intervals and comparisons.

    Args:
        items: contexts or pairs, with the columns of `with_units`.
        crossed: see `units_of`. Without it, these are contexts, whose lemmas are fixed.
        once_per: the columns that make it the same context, which counts once in `all`; of pairs, each counts.
    """
    fixed = "lemmas" if crossed is None else ""
    all_items = with_overall_units(items.drop_duplicates([*once_per]) if crossed is None else items)
    yield Group("all", "", all_items, units_of(all_items, crossed, fixed))
    if "group" in items and items["group"].ne("").any():
        for group, rows in rows_by(items["group"]):
            yield Group("group", str(group), items, units_of(items.iloc[rows], crossed, fixed), rows)


def cells_of(
    items: pd.DataFrame,
    outcomes: Sequence[NDArray[np.generic]],
    n_lemmas: int | None = None,
    lemmas: NDArray[np.intp] | None = None,
) -> tuple[Units, list[NDArray[np.float64]]]:
    """Average outcomes by noun within construction and by lemma.

    A context counts the same for every lemma, so cells with their numbers of contexts as weights have the mean and the
    units of all outcomes, and are far fewer.

    Args:
        items: contexts, with the columns of `with_units`.
        outcomes: of one or several models, contexts x lemmas each, or packed if `n_lemmas` is given.
        n_lemmas: number of lemmas of packed outcomes.
        lemmas: those of the cells; None for all.

    Returns:
        The units of the cells, and of each model the cells' means, (cells,).
    """
    width = outcomes[0].shape[1] if n_lemmas is None else n_lemmas
    n_strata = int(items["stratum"].max()) + 1
    codes, fine = pd.factorize(items["noun"].to_numpy() * n_strata + items["stratum"].to_numpy())
    counts = np.bincount(codes)
    rows_of = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    found = []
    for matrix in outcomes:
        means = np.empty((len(fine), width))
        for cell, rows in enumerate(rows_of):
            block = matrix[rows] if n_lemmas is None else np.unpackbits(matrix[rows], axis=1, count=n_lemmas)  # type: ignore[arg-type]
            means[cell] = block.sum(axis=0, dtype=np.float64) / len(rows)
        found.append((means if lemmas is None else means[:, lemmas]).ravel())
    width = width if lemmas is None else len(lemmas)
    noun, stratum, weights = (np.repeat(of, width) for of in (fine // n_strata, fine % n_strata, counts))
    lemma = np.tile(np.arange(width), len(fine))
    return Units(noun, unit_name(items, "lemma"), lemma, stratum, weights=weights), found
