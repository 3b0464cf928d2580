"""`tse compare`: what differs between systems on the same items, and whether that may be chance.

A suite says what its items are, which groups they have, and which units they share (nouns, lemmas, templates, …). The
difference of two systems is tested over these units, by t with cluster-robust standard errors. p-values are adjusted
by Holm's method within a family: all tests of one measure against one reference that stand under one heading, which are
the systems x the groups of one level (the paradigms, the phenomena, …, or `all`). Differences between data, lemma lists
and options are found by the signatures of the scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ..report.inputs import read_runs
from ..statistics.differences import holm
from ..suites.items import GroupDifference
from .conditions import conditions
from .not_compared import not_compared
from .paired_scores import Paired, paired

COLUMNS = (
    "suite", "dataset", "config", "measure", "group", "system", "reference", "score", "reference_score", "difference",
    "se", "ci_low", "ci_high", "p", "p_adjusted", "unit", "n_units", "n_items", "n_lemmas", "test",
    "minimum_detectable", "n_ties", "n_excluded", "different", "reliable", "approximate",
    "n_units_effective", "level", "value", "family", "n_family",
)  # fmt: skip
ITEM_COLUMNS = (
    "suite", "dataset", "config", "measure", "system", "reference", "item", "score", "reference_score", "difference",
)  # fmt: skip
N_ITEMS = 10
"""Items that are named for each comparison."""


@dataclass(frozen=True)
class Comparison:
    """What differs between systems.

    Attributes:
        rows: one row per measure, group and system: `COLUMNS`.
        items: the items that differ most: `ITEM_COLUMNS`.
        not_compared: one sentence for each system and data set that could not be compared, with the reason.
        conditions: scores and contrasts of conditions within each system (`by`), with the fields of
            `conditions.ConditionRow`.
    """

    rows: pd.DataFrame
    items: pd.DataFrame
    not_compared: Sequence[str] = ()
    conditions: pd.DataFrame = field(default_factory=pd.DataFrame)


def compare(
    folders: Sequence[Path],
    reference: str | None = None,
    allow_different: bool = False,
    over_common_lemmas: bool = False,
    by: Sequence[str] = (),
) -> Comparison:
    """Compare each system with a reference of the same suite and data, on the items that both scored.

    Args:
        folders: output folders of `tse run`.
        reference: model that the others are compared with; None takes the first one of each suite.
        allow_different: compare also where data, lemma lists or options differ; the column `different` names them.
        over_common_lemmas: take EW and MW over the lemmas that all systems score, not only the two of a row.
        by: columns of the user's own table whose values are conditions, which are compared within each system; then
            a single system is enough.

    Returns:
        Differences are `score` minus `reference_score`.

    Raises:
        ValueError: a folder holds no results, there is nothing to compare, no model has the reference's name, data
            or options differ, or no scores have the columns of `by`.
    """
    runs = read_runs(folders)
    of_conditions = conditions(runs, by) if by else pd.DataFrame()
    rows: list[dict[str, Any]] = []
    items: list[pd.DataFrame] = []
    apart: list[Paired] = []
    for pair in paired(runs, reference, allow_different, over_common_lemmas):
        of_pair = _rows(pair)
        if not of_pair:
            apart.append(pair)
            continue
        rows += of_pair
        items.append(pair.system.most_different(pair.reference, N_ITEMS).assign(**pair.about))
    if not rows and by:
        return Comparison(
            pd.DataFrame(columns=list(COLUMNS)), pd.DataFrame(columns=list(ITEM_COLUMNS)), (), of_conditions
        )
    if not rows:
        raise ValueError(
            "There is nothing to compare: no two systems in these folders scored the same items. Run them on the "
            "same suite and data, with the same groups and limit."
        )
    return Comparison(
        with_families(pd.DataFrame(rows)).reindex(columns=list(COLUMNS)),
        pd.concat(items, ignore_index=True).reindex(columns=list(ITEM_COLUMNS)),
        list(not_compared(runs, rows, apart, reference)),
        of_conditions,
    )


def _rows(pair: Paired) -> list[dict[str, Any]]:
    """Return the rows of one measure of two systems, one per group; none if they share no items."""
    found = list(pair.system.differences(pair.reference))
    if not found:
        return []
    rows = [dict(pair.about) | _row(difference) for difference in found]
    rows[0]["n_excluded"] = pair.system.n_excluded(pair.reference)
    return [row | {"different": ", ".join(pair.different)} for row in rows]


def as_json(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows of a comparison as they are written to JSON: a missing number is null."""
    return [{key: _plain(key, value) for key, value in row.items()} for row in rows.to_dict("records")]


def _plain(key: str, value: Any) -> Any:
    if pd.isna(value):
        return None
    is_count = key.removeprefix("reference_").startswith("n_") and key != "n_units_effective"
    return int(value) if is_count else value


def _row(found: GroupDifference) -> dict[str, Any]:
    difference = found.difference
    return {
        "level": found.level,
        "value": found.value,
        "group": found.group,
        "score": difference.score,
        "reference_score": difference.reference_score,
        "difference": difference.estimate.mean,
        **difference.estimate.columns(),
        "p": difference.p,
        "n_items": found.n_items,
        "n_lemmas": found.n_lemmas,
        "test": difference.test,
        "minimum_detectable": difference.minimum_detectable,
        "n_ties": found.n_ties,
        "approximate": found.approximate,
    }


def with_families(rows: pd.DataFrame) -> pd.DataFrame:
    """Add `family`, what Holm's method adjusts together, `n_family`, its number of tests, and `p_adjusted`.

    A test without a p-value does not count. Nothing outside a family changes its p-values.
    """
    keys = ["suite", "dataset", "config", "measure", "reference", "level"]
    families = rows.groupby(keys, sort=False, dropna=False)["p"]
    names = rows["measure"] + ", " + rows["level"] + ", against " + rows["reference"]
    return rows.assign(
        family=names,
        n_family=families.transform("count"),
        p_adjusted=families.transform(lambda p: pd.Series(holm(p), p.index)),
    )
