"""Variation sets, their groups, and the units of their AUCs: templates.

All sentences of a template share their words, so its sets are one unit. The cells (case order and role
assignment) are fixed, and each has the same weight. The interval of Pearson's r with the human cells comes from leaving
out one template at a time. Rank correlations have no interval, because they are not smooth enough for this method.
"""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from ....io.bundle import metric_modules
from ....statistics import Units
from ...items import Group, rows_by

UNIT = "templates"
OF_SENTENCES = ["template", "case_order", "positions", "acceptable", "sentence", "logprob"]
"""Columns of the scores of sentences that sets are made of."""


def set_aucs(examples: pd.DataFrame) -> pd.DataFrame:
    """Return the AUC of each variation set, NaN for one without all its violations.

    Args:
        examples: columns `template`, `case_order`, `positions`, `logprob`.

    Returns:
        The columns of `set_aucs` in `metrics/minimal_variation_auc/definitions.py`.
    """
    metric = metric_modules("minimal_variation_auc").definitions
    pairs = metric.compare(*(examples[name] for name in ("logprob", "template", "case_order", "positions")))
    sets: pd.DataFrame = metric.set_aucs(pairs)
    return sets


def grouped(sets: pd.DataFrame) -> Iterator[Group]:
    """Yield each group of results, with its sets (of one kind) and their units."""
    units = units_of(sets)
    yield Group("all", "", sets, units)
    cell_names = sets["case_order"] + "|" + sets["role"]
    for level, labels in (("case_order", sets["case_order"]), ("role", sets["role"]), ("cell", cell_names)):
        for value, rows in rows_by(labels):
            yield Group(level, str(value), sets, units.of(rows), rows)


def units_of(sets: pd.DataFrame) -> Units:
    """Return the templates as units; the mean is the mean of the cells' means."""
    templates = pd.factorize(sets["template"])[0]  # numbers are quicker than names
    return Units(templates, UNIT, strata=sets["cell"].to_numpy(), weighting="strata")


def cell_aucs(sets: pd.DataFrame, keys: list[str]) -> "pd.Series[float]":
    """Return the AUC of each cell, from exact sums: cells that are equal as fractions have equal ranks."""
    sums = sets.groupby(keys, sort=False)[["credit", "n_comparisons"]].sum()
    return sums["credit"] / sums["n_comparisons"]


def mean_of_cells(group: Group) -> float:
    """Return the mean over cells of a group of sets from exact fractions; NaN without sets that have an AUC."""
    cell, credit, n_comparisons = (group.values(column) for column in ("cell", "credit", "n_comparisons"))
    n = np.bincount(cell, n_comparisons)
    shares = np.bincount(cell, credit)[n > 0] / n[n > 0]
    return float(shares.mean()) if len(shares) else math.nan
