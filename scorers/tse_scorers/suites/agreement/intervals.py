"""The units of agreement scores, and the intervals of their averages.

| measure | units |
|---|---|
| EW over the whole distribution | subject nouns x lemmas |
| TSE | subject nouns x verbs |
| MW, covered mass, EW at cut-offs | subject nouns; the lemmas are fixed |

A noun is one unit in all constructions, in the singular and in the plural. Constructions are fixed (strata): an
interval over several says what other nouns and lemmas would give *in these constructions*.

Data with other constructions than Marvin & Linzen's have other units: what a column `cluster` or `item` says
(`own_units`); else, for the score over all groups, the groups (`table_row`) where there are at least 10 of them; else
the left contexts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...io.results import Row
from ...statistics.cells import CellSums, cell_sums, crossed_mean
from ...statistics.clustered import Units, clustered_mean
from ...statistics.estimate import Estimate
from ...statistics.lemma_weights import effective_number
from ...statistics.units import MIN_GROUPS, SUBJECT_RULES, own_units, subject_clusters, verb_lemmas
from .cutoffs import WHOLE
from .lemma_sample import over_sampled_lemmas, unsampled_share
from .outcomes import Outcomes, read_outcomes


def with_units(contexts: pd.DataFrame) -> pd.DataFrame:
    """Add the columns `noun` (the unit) and `stratum` (the construction), numbered from 0, and `unit`, its name.

    Args:
        contexts: columns `prefix`, `number`, and `construction` or `table_row`; `cluster` or `item` if units are given.
    """
    contexts = with_construction(contexts)
    known = contexts["construction"].isin(list(SUBJECT_RULES)).all()
    own = own_units(contexts, "prefix")
    name = own[0] if own is not None else "subject nouns" if known else "left contexts"
    return contexts.assign(
        noun=pd.factorize(subject_clusters(contexts, within_construction=False))[0],
        stratum=pd.factorize(contexts["construction"])[0],
        unit=name,
    )


def with_construction(contexts: pd.DataFrame) -> pd.DataFrame:
    """Add the column `construction` where it is missing: the group."""
    if "construction" in contexts:
        return contexts
    return contexts.assign(construction=contexts["table_row"] if "table_row" in contexts else "")


def with_overall_units(items: pd.DataFrame) -> pd.DataFrame:
    """Take groups as units for the score over all of them, where the items are left contexts of enough groups.

    Args:
        items: all contexts or pairs, with the columns of `with_units`.
    """
    is_grouped = "table_row" in items and items["table_row"].nunique() >= MIN_GROUPS
    if not is_grouped or not items["unit"].eq("left contexts").all():
        return items
    return items.assign(noun=pd.factorize(items["table_row"])[0], stratum=0, unit="groups (table_row)")


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
    joined = [c for c in ("context_id", "prefix", "number", "cluster", "item") if c in {*contexts} - of_pairs]
    known = pairs.drop(columns=["prefix", "number"], errors="ignore")
    found = with_units(known.merge(of_context[joined], on="context_id", how="left"))
    return found.assign(verb=pd.factorize(verb_lemmas(found))[0])


@dataclass(frozen=True)
class Cells:
    """Outcomes of contexts x lemmas, summed by noun within construction, with the arguments of `crossed_mean`."""

    sums: CellSums
    units: NDArray[Any]
    strata: NDArray[Any]
    name: str

    def mean(self) -> Estimate:
        """Estimate the mean over contexts and lemmas."""
        return crossed_mean(self.sums, self.name, self.strata, units=self.units)


def cells_of(items: pd.DataFrame, outcomes: NDArray[Any], n_lemmas: int | None = None) -> Cells:
    """Sum outcomes by noun within construction.

    Args:
        items: contexts, with the columns of `with_units`.
        outcomes: contexts x lemmas, or packed if `n_lemmas` is given.
        n_lemmas: number of lemmas of packed outcomes.
    """
    n_strata = int(items["stratum"].max()) + 1
    sums = cell_sums(outcomes, items["noun"].to_numpy() * n_strata + items["stratum"].to_numpy(), n_lemmas)
    fine = sums.clusters.astype(np.int64)
    return Cells(sums, fine // n_strata, fine % n_strata, unit_name(items, "lemma"))


def with_intervals(
    rows: list[Row],
    contexts: pd.DataFrame,
    pairs: pd.DataFrame,
    outcomes: pa.Table | None,
    lemmas: pa.Table | None,
    listed: pa.Table | None = None,
) -> list[Row]:
    """Add `se`, `ci_low`, `ci_high`, `unit`, `n_units` and `n_lemmas` to rows of results; NaN without an interval.

    `n_lemmas` is the number of lemmas in a score (for TSE, the number of verbs). For MW over the whole distribution,
    `n_lemmas_effective` is the number of equally weighted lemmas with the same variance. If only a sample of the list
    was scored (`listed` says so), MW's interval is for the whole list (`lemma_sample`).
    """
    contexts, pairs = with_units(contexts), with_pair_units(pairs, contexts)
    known = [] if outcomes is None or lemmas is None else list(read_outcomes(outcomes, lemmas))
    groups: dict[str, dict[str, Any]] = {}
    for group, items in groups_of(contexts):
        own = with_overall_units(pairs) if group == "all" else pairs[pairs["table_row"] == group]
        groups[group] = {"items": items, "pairs": own, "units": units_of(items, fixed="lemmas")}
    nothing = {"n_lemmas": None, "n_lemmas_effective": None}
    unsampled = unsampled_share(listed)
    return [row | nothing | _interval(row, groups[str(row["group"])], known, unsampled) for row in rows]


def groups_of(contexts: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield `all` and each table row with its contexts, which have the columns of `with_units`."""
    yield "all", with_overall_units(contexts.drop_duplicates("context_id"))
    for group, items in contexts.groupby("table_row", sort=False):
        yield str(group), items


def _interval(
    row: Row, group: Mapping[str, Any], outcomes: list[Outcomes], unsampled: float
) -> dict[str, Any]:
    if row["metric"] == "tse":
        pairs = group["pairs"]
        found = clustered_mean(pairs["tse"].astype(float), units_of(pairs, "verb"))
        return found.columns() | {"n_lemmas": found.n_crossed}
    items = group["items"]
    outcomes = [own for own in outcomes if own.group is None or row["group"] in (own.group, "all")]
    at_whole = all(row[key] == value for key, value in WHOLE.items())
    if row["metric"] == "ew" and at_whole and len(outcomes) == 1:
        known = items[items["ew_top_1"].notna() & items["context_id"].isin(outcomes[0].context_id)]
        if len(known) == row["n"] and len(known):
            places = pd.Index(outcomes[0].context_id).get_indexer(known["context_id"])
            found = cells_of(known, outcomes[0].packed[places], len(outcomes[0].lemmas)).mean()
            return found.columns() | {"n_lemmas": found.n_crossed}
    found = clustered_mean(_values(row, items), group["units"])
    n_lemmas = int(items["n_lemmas"].max()) if "n_lemmas" in items and len(items) else None
    if row["metric"] == "mw" and at_whole and unsampled and len(outcomes) == 1:
        found = over_sampled_lemmas(found, outcomes[0], items, unsampled)
    about = found.columns() | {"n_lemmas": n_lemmas}
    if row["metric"] == "mw" and at_whole:
        effective = [_effective(of_kind, items) for of_kind in outcomes]
        about["n_lemmas_effective"] = effective[0] if len(effective) == 1 else None
    return about


def _values(row: Row, items: pd.DataFrame) -> NDArray[np.float64]:
    """Return the values that a row averages; NaN for excluded contexts."""
    measure = "ew" if row["metric"] == "share_without_lemmas" else row["metric"]
    values = items[f"{measure}_{row['cutoff_side']}_{row['cutoff']:g}"].to_numpy(dtype=float)
    if row["metric"] == "share_without_lemmas":
        return np.where(items["n_nonfinite"].to_numpy() > 0, np.nan, np.isnan(values))
    return values


def _effective(outcomes: Outcomes, items: pd.DataFrame) -> float:
    places = pd.Index(outcomes.context_id).get_indexer(items["context_id"])
    return effective_number(outcomes.weights(places[places >= 0]))
