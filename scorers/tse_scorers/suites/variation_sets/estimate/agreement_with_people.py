"""Correlations of the 36 cells of people with those of a model: the paper's Table 5."""

import math
from typing import Any

import numpy as np
import pandas as pd

from ....io.bundle import metric_modules, shipped_table
from ....io.result_row import ResultRow
from ....statistics import Estimate, correlation, enough_units
from .intervals import UNIT, cell_aucs

N_CELLS = 36


def human_agreement(sets: pd.DataFrame) -> list[ResultRow]:
    """Return the correlations of the 36 published human cells with these, per kind of set (the paper's Table 5).

    People rated the released sentences; for other sentences, this compares case orders and roles. NaN if there are
    fewer than three cells or all are equal.

    Args:
        sets: what `set_aucs` returns.
    """
    keys = ["variation_set", "case_order", "role"]
    people = shipped_table("german_human_judgments").to_pandas().rename(columns={"role_assignment": "role"})
    people = people.rename(columns={"auc": "people"})[[*keys, "people"]]
    scored = sets.dropna(subset=["auc"]).merge(people, on=keys)
    cells = cell_aucs(scored, [*keys, "people"]).rename("auc").reset_index()
    rows = []
    for kind, of_kind in cells.groupby("variation_set", sort=False):
        counts = {"n": len(of_kind), "n_excluded": N_CELLS - len(of_kind), "n_ties": 0}
        about: dict[str, Any] = {"level": "all", "value": "", "variation_set": str(kind)} | counts
        pearson = over_templates(scored[scored["variation_set"] == kind])
        n_units = sets["template"].nunique()
        without = pearson._replace(
            se=math.nan, low=math.nan, high=math.nan, n_units=n_units, n_effective=float(n_units)
        )
        for name, score in _correlations(of_kind).items():
            precision = pearson.columns()
            if name != "pearson":
                precision = without.columns() | {"reliable": enough_units(n_units)}
            rows.append(ResultRow(metric=f"human_{name}", score=score, **about, **precision))
    return rows


def over_templates(sets: pd.DataFrame) -> Estimate:
    """Return Pearson's r of one kind of set with people, and its interval over templates."""
    templates, names = pd.factorize(sets["template"])
    cells, cell_names = pd.factorize(sets["case_order"] + "|" + sets["role"])
    aucs, people = np.full((len(names), len(cell_names)), np.nan), np.zeros(len(cell_names))
    aucs[templates, cells], people[cells] = sets["auc"], sets["people"]
    return correlation(aucs, people, UNIT)


def _correlations(cells: pd.DataFrame) -> dict[str, float]:
    measures = ("pearson", "spearman", "kendall")
    if len(cells) < 3:
        return dict.fromkeys(measures, math.nan)
    correlations = metric_modules("human_correlation").definitions.correlations(
        cells["auc"], cells["people"], n_resamples=0
    )
    return {name: float(correlations[name]) for name in measures}
