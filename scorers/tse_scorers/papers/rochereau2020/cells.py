"""The 36 cells of case order by role assignment: this run's cells, the paper's cells, and means of them."""

from functools import cache

import numpy as np
import pandas as pd

from ...io.bundle import metric_modules
from ...report.tables import BASIS
from ...statistics.estimate import Floats
from ...suites.standard_view import tied_systems
from ...suites.variation_sets.measures import MEASURES
from ..published import published

HUMANS = "humans"
AUC = MEASURES[0]
SETS = {
    "1-6": "all six",
    "1-2_nominative": "doubled nominative",
    "1-2_accusative": "doubled accusative",
    "1-2_dative": "doubled dative",
}
"""Kinds of sets, by their violations."""
PUBLISHED_NAMES = {
    "unigram": "unigram (published)",
    "bigram": "bigram (published)",
    "lstm": "LSTM (published)",
    "bert": "German BERT (published)",
    "distilbert": "German DistilBERT (published)",
}
NAMES = {"human": HUMANS} | PUBLISHED_NAMES
"""The paper's systems -> what tables call them."""

CANONICAL_ROLES = ("ag1,re2,pa3", "ag2,re1,pa3")
"""Agent and recipient are the two people, the patient is the thing."""
ORDER_KEY = "N, D and A: the nominative, dative and accusative, in the order of the clause."
ROLE_KEY = (
    "ag, re and pa: which noun is agent, recipient and patient. Nouns 1 and 2 are people, noun 3 is a thing."
)
"""What the paper's names of case orders and role assignments stand for."""
ALL_TIED = "all tied"

Cells = dict[str, dict[str, pd.DataFrame]]  # system → kind of set → AUCs, case orders down, roles across


def orders() -> list[str]:
    """Return the case orders, least marked first."""
    return list(metric_modules("minimal_variation_auc").variation_sets.CASE_ORDERS)


def roles() -> list[str]:
    """Return the role assignments, most plausible first."""
    return list(metric_modules("minimal_variation_auc").variation_sets.ROLE_ASSIGNMENTS)


def grid_of(cells: pd.DataFrame) -> pd.DataFrame:
    """Spread columns case_order, role, auc into the 6 × 6 table."""
    (grids,) = grids_of(cells.assign(system="", variation_set="")).values()
    return grids[""]


def grids_of(cells: pd.DataFrame) -> Cells:
    """Spread columns system, variation_set, case_order, role, auc into tables."""
    names = ("system", "variation_set", "case_order", "role", "auc")
    aucs: dict[str, dict[str, Floats]] = {}
    row, column = ({name: place for place, name in enumerate(axis)} for axis in (orders(), roles()))
    for system, kind, order, role, auc in zip(*(cells[name] for name in names), strict=True):
        grid = aucs.setdefault(str(system), {}).setdefault(
            str(kind), np.full((len(row), len(column)), np.nan)
        )
        if order in row and role in column:
            grid[row[order], column[role]] = auc
    index = pd.Index(orders(), name="Case order")
    return {
        system: {kind: pd.DataFrame(grid, index, roles()) for kind, grid in grids.items()}
        for system, grids in aucs.items()
    }


def our_cells(rows: pd.DataFrame) -> Cells:
    """Return the cells of this run."""
    return grids_of(_placed(rows[rows["level"] == "cell"]).assign(auc=rows["score"]))


@cache
def published_cells() -> Cells:
    """Return the paper's cells, a table that repeats another one by mistake is left empty."""
    paper = published("rochereau2020_auc")
    auc, names = paper["auc"].where(paper["repeats_table"].isna()), paper["system"].map(NAMES)
    return grids_of(paper.assign(system=names, role=paper["role_assignment"], auc=auc))


def all_cells(rows: pd.DataFrame) -> Cells:
    """Return the cells of people, then of this run, then of the paper's models."""
    papers = dict(published_cells())
    return {HUMANS: papers.pop(HUMANS)} | our_cells(rows) | papers


@cache
def published_scores() -> pd.DataFrame:
    """Return the paper's AUCs as rows of results: those of cells, and their means."""
    return pd.DataFrame(
        [
            (system, AUC.name, kind, level, value, auc)
            for system, grids in published_cells().items()
            for kind, grid in grids.items()
            for level, of_level in by_level(grid).items()
            for value, auc in of_level.items()
            if not np.isnan(auc)
        ],
        columns=["system", "metric", "variation_set", "level", "value", "score"],
    )


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


def is_tied(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return for each row of results whether all comparisons behind its AUC tie."""
    kinds = {measure: rows["variation_set"] == measure.at["variation_set"] for measure in MEASURES}
    return pd.concat([measure.all_tied(rows[is_kind]) for measure, is_kind in kinds.items()])[rows.index]


def all_tied(rows: pd.DataFrame) -> list[str]:
    """Return the systems for which every comparison of sets that double any case ties: 0.50 says nothing of them."""
    return tied_systems(AUC, rows)


def marked(text: pd.DataFrame, tied: pd.DataFrame) -> pd.DataFrame:
    """Append "all tied" to the cells of a formatted table where `tied` is 1; it may lack rows and columns."""
    is_marked = tied.reindex(index=text.index, columns=text.columns) == 1
    return text.where(~is_marked, text + f" ({ALL_TIED})")


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


def contrast_means(cells: Floats) -> dict[tuple[str, str], Floats]:
    """Average AUCs by the place of the nominative and by the order of dative and accusative.

    Args:
        cells: AUCs of one or many tables of cells, (..., case orders, role assignments).

    Returns:
        (constraint, position) -> means, (...); and per constraint the `effect`: first minus last.
    """

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
    for name, compared in (("DATALIGN", cells), ("DATALIGN, plausible roles", canonical)):
        means[name, "dative first"] = mean(compared[..., dative_first, :])
        means[name, "accusative first"] = mean(compared[..., ~dative_first, :])
        means[name, "effect"] = means[name, "dative first"] - means[name, "accusative first"]
    return means
