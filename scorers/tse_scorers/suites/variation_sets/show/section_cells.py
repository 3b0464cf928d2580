"""The 36 cells of case order by role assignment: this run's cells, the paper's cells, and means of them."""

import numpy as np
import pandas as pd

from ....io.bundle import metric_modules
from ....report.published import published
from ....report.tables import BASIS, CELLS, cells_of, with_published
from ....statistics.estimate import Floats
from ..measures import MEASURES

HUMANS, TOTAL = "humans", "Overall"

SETS = {
    "1-6": "all six",
    "1-2_nominative": "doubled nominative",
    "1-2_accusative": "doubled accusative",
    "1-2_dative": "doubled dative",
}


PUBLISHED_NAMES = {
    "unigram": "unigram (published)",
    "bigram": "bigram (published)",
    "lstm": "LSTM (published)",
    "bert": "German BERT (published)",
    "distilbert": "German DistilBERT (published)",
}


_NAMES = {"human": HUMANS} | PUBLISHED_NAMES


# Agent and recipient are the two people, the patient is the thing.
CANONICAL_ROLES = ("ag1,re2,pa3", "ag2,re1,pa3")


ORDER_KEY = "N, D and A: the nominative, dative and accusative, in the order of the clause."
ROLE_KEY = (
    "ag, re and pa: which noun is agent, recipient and patient. Nouns 1 and 2 are people, noun 3 is a thing."
)
"""What the papers' names of case orders and role assignments stand for."""


Cells = dict[str, dict[str, pd.DataFrame]]  # system → kind of set → AUCs, case orders down, roles across


def orders() -> list[str]:
    """Return the case orders, least marked first."""
    return list(metric_modules("minimal_variation_auc").variation_sets.CASE_ORDERS)


def roles() -> list[str]:
    """Return the role assignments, most plausible first."""
    return list(metric_modules("minimal_variation_auc").variation_sets.ROLE_ASSIGNMENTS)


def grid_of(cells: pd.DataFrame) -> pd.DataFrame:
    """Spread columns case_order, role, auc into the 6 × 6 table."""
    # Not by `pivot`: this is done for each system, kind of set and column of results.
    values = zip(cells["case_order"], cells["role"], strict=True)
    auc = dict(zip(values, cells["auc"].astype(float), strict=True))
    grid = [[auc.get((order, role), np.nan) for role in roles()] for order in orders()]
    return pd.DataFrame(grid, pd.Index(orders(), name="Case order"), roles(), dtype=float)


def our_cells(rows: pd.DataFrame) -> Cells:
    """Collect the cells of this run."""
    cells = _placed(rows[rows["level"] == "cell"]).assign(auc=rows["score"])
    return {
        str(system): {str(kind): grid_of(part) for kind, part in own.groupby("variation_set", sort=False)}
        for system, own in cells.groupby("system", sort=False)
    }


def _placed(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the case order and roles of each row of results, or `mean`, as in the table that `with_means` returns."""
    forms = {"all": "mean|mean", "case_order": "{}|mean", "role": "mean|{}", "cell": "{}"}
    places = [
        forms[level].format(value).split("|")
        for level, value in zip(rows["level"], rows["value"], strict=True)
    ]
    return rows.assign(case_order=[order for order, _ in places], role=[role for _, role in places])


def placed_cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Return this run's AUCs as cells of tables of case orders (`label`) by `role`, with their means.

    Means have no numbers of items: those of all cells are the same.
    """
    cells = _placed(rows).assign(tied=is_tied(rows).astype(float))
    cells = cells.assign(label=cells["case_order"]).astype(dict.fromkeys(BASIS, float))
    cells.loc[cells["level"] != "cell", list(BASIS)] = np.nan
    order = [*orders(), *roles(), "mean"]
    systems = pd.factorize(cells["system"])[0]
    return cells.iloc[np.lexsort([systems, *(cells[name].map(order.index) for name in ("role", "label"))])]


def published_systems() -> list[str]:
    """Return the names of the paper's systems, people among them."""
    paper = published("rochereau2020_auc")
    return [] if paper.empty else [_NAMES[str(system)] for system in paper["system"].unique()]


def published_cells() -> Cells:
    """Return the paper's cells; a table that repeats another one by mistake is left empty."""
    paper = published("rochereau2020_auc")
    if paper.empty:
        return {}
    paper = paper.assign(role=paper["role_assignment"], auc=paper["auc"].where(paper["repeats_table"].isna()))
    return {
        _NAMES[str(system)]: {
            str(kind): grid_of(part) for kind, part in own.groupby("variation_set", sort=False)
        }
        for system, own in paper.groupby("system", sort=False)
    }


def auc_cells(rows: pd.DataFrame, level: str, kind: str = "1-6") -> pd.DataFrame:
    """Return AUCs as cells of a table, ours and the paper's, with `variation_set` and whether all comparisons tie.

    Args:
        rows: results with the metric `auc`.
        level: `cell`, `case_order` or `role`, for one kind of set, and overall; or `set`, over all cells.
        kind: of set.
    """
    whole = rows["level"] == "all"
    if level == "set":
        ours = rows[whole].assign(label=rows["variation_set"].map(SETS))
    else:
        inside = (rows["variation_set"] == kind) & (whole | (rows["level"] == level))
        ours = rows.assign(label=rows["value"].str.replace("|", " · ").where(~whole, TOTAL))[inside]
    theirs = {system: _means(grids, level, kind) for system, grids in published_cells().items()}
    return with_published(
        ours.assign(tied=is_tied(ours).astype(float)),
        cells_of(pd.DataFrame(theirs)) if theirs else pd.DataFrame(columns=CELLS),
        ["variation_set", "tied"],
    )


def is_tied(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return for each row of results whether all comparisons behind its AUC tie."""
    kinds = {measure: rows["variation_set"] == measure.at["variation_set"] for measure in MEASURES}
    return pd.concat([measure.all_tied(rows[is_kind]) for measure, is_kind in kinds.items()])[rows.index]


def _means(grids: dict[str, pd.DataFrame], level: str, kind: str) -> "pd.Series[float]":
    if level == "set":
        return pd.Series({SETS[name]: by_level(grid)["all"][""] for name, grid in grids.items()})
    if kind not in grids:
        return pd.Series(dtype=float)
    means = by_level(grids[kind])
    names = {value.replace("|", " · "): auc for value, auc in means[level].items() if not np.isnan(auc)}
    return pd.Series(names | {TOTAL: means["all"][""]})


def by_level(grid: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return the AUCs of a table of cells and their means: level of results -> value of a group -> AUC."""
    means = with_means(grid)
    return {
        "cell": {f"{order}|{role}": grid.at[order, role] for order in grid.index for role in grid},
        "case_order": {str(order): means.at[order, "mean"] for order in grid.index},
        "role": {str(role): means.at["mean", role] for role in grid},
        "all": {"": means.at["mean", "mean"]},
    }


def with_means(grid: pd.DataFrame) -> pd.DataFrame:
    """Add the means by case order and by role to a table of cells."""
    by_order, by_role, overall = metric_modules("minimal_variation_auc").variation_sets.margins(
        grid.to_numpy()
    )
    cells = np.block([[grid.to_numpy(), by_order[:, None]], [by_role, overall]])
    return pd.DataFrame(cells, pd.Index([*grid.index, "mean"], name="Case order"), [*grid, "mean"])


def contrasts(grid: pd.DataFrame) -> "pd.Series[float]":
    """Average AUCs by the place of the nominative and by the order of dative and accusative.

    Args:
        grid: AUCs, case orders down and role assignments across.

    Returns:
        Means with labels (constraint, position), and per constraint the `effect`: first minus last.
    """
    return pd.Series({label: float(mean) for label, mean in contrast_means(grid.to_numpy()).items()})


def contrast_means(cells: Floats) -> dict[tuple[str, str], Floats]:
    """Return the means of `contrasts` for many tables of cells at once, (..., case orders, role assignments)."""

    def mean(cells: Floats) -> Floats:
        flat = np.ascontiguousarray(cells).reshape(*cells.shape[:-2], -1)
        n = (~np.isnan(flat)).sum(axis=-1)
        return np.where(n > 0, np.nan_to_num(flat).sum(axis=-1) / np.maximum(n, 1), np.nan)

    nominative = np.array([order.index("N") for order in orders()])
    dative_first = np.array([order.index("D") < order.index("A") for order in orders()])
    canonical = cells[..., [roles().index(role) for role in CANONICAL_ROLES]]
    means = {
        ("NOMALIGN", f"nominative {name}"): mean(cells[..., nominative == place, :])
        for place, name in enumerate(("first", "second", "last"))
    }
    means["NOMALIGN", "effect"] = means["NOMALIGN", "nominative first"] - means["NOMALIGN", "nominative last"]
    for name, own in (("DATALIGN", cells), ("DATALIGN, plausible roles", canonical)):
        means[name, "dative first"] = mean(own[..., dative_first, :])
        means[name, "accusative first"] = mean(own[..., ~dative_first, :])
        means[name, "effect"] = means[name, "dative first"] - means[name, "accusative first"]
    return means
