"""The units of AUCs over variation sets, and the intervals of their means: templates.

All sentences of a template share their words, so its sets are one unit. The cells (case order and role
assignment) are fixed, and each has the same weight. The interval of Pearson's r with the human cells comes from leaving
out one template at a time. Rank correlations have no interval, because they are not smooth enough for this method.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...io.bundle import metric_modules
from ...io.results import Row
from ...statistics.bootstrap import MIN_JACKKNIFE_UNITS, correlation_of_cells, jackknife_correlation
from ...statistics.clustered import Units, clustered_mean
from ..items import Group

UNIT = "templates"


def set_aucs(examples: pd.DataFrame) -> pd.DataFrame:
    """Return the AUC of each variation set: `template`, `variation_set`, `case_order`, `role`, `cell`, `auc`.

    Args:
        examples: columns `template`, `case_order`, `positions`, `logprob`. A set without all violations is excluded.
    """
    metric = metric_modules("minimal_variation_auc").variation_sets
    templates = examples["template"].tolist()
    compared = metric.compare(
        examples["logprob"], templates, examples["case_order"], examples["positions"].astype(str)
    )
    names = np.unique(np.asarray(templates))
    parts = []
    for kind, doubled in metric.DOUBLED_CASES.items():
        chosen = ["NAD".index(case) * 2 + which for case in doubled for which in (0, 1)]
        template, order, role = np.nonzero(compared.exists & compared.present[..., chosen].all(axis=-1))
        frame = pd.DataFrame(
            {
                "template": names[template],
                "variation_set": kind,
                "case_order": np.asarray(metric.CASE_ORDERS)[order],
                "role": np.asarray(metric.ROLE_ASSIGNMENTS)[role],
                "cell": order * len(metric.ROLE_ASSIGNMENTS) + role,
                "auc": compared.credit[template, order, role][:, chosen].mean(axis=1),
            }
        )
        parts.append(frame)
    return pd.concat(parts, ignore_index=True)


def grouped(sets: pd.DataFrame) -> Iterator[Group]:
    """Yield each group of results: its name, its sets (of one kind) and their units."""
    yield Group("all", sets, units_of(sets), "all")
    for column in ("case_order", "role"):
        for name, own in sets.groupby(column, sort=False):
            yield Group(f"{column}:{name}", own, units_of(own), column)
    for (order, role), own in sets.groupby(["case_order", "role"], sort=False):
        yield Group(f"cell:{order}|{role}", own, units_of(own), "cell")


def units_of(sets: pd.DataFrame) -> Units:
    """Return the templates as units; the mean is the mean of the cells' means."""
    return Units(sets["template"].to_numpy(), UNIT, strata=sets["cell"].to_numpy(), weighting="strata")


def with_intervals(rows: Sequence[Row], examples: pd.DataFrame, human: pd.DataFrame) -> list[Row]:
    """Add `se`, `ci_low`, `ci_high`, `unit`, `n_units` and `reliable` to rows of results; NaN without an interval.

    Args:
        rows: AUCs and correlations.
        examples: scores per sentence.
        human: `variation_set`, `group` (`cell:…`) and `auc` of the published human cells.
    """
    sets = set_aucs(examples)
    known: dict[tuple[Any, ...], dict[str, Any]] = {}
    for kind, of_kind in sets.groupby("variation_set", sort=False):
        for group, own, units, _ in grouped(of_kind):
            known["auc", kind, group] = clustered_mean(own["auc"], units).columns()
        known["human_pearson", kind, "all"] = _correlation(of_kind, human[human["variation_set"] == kind])
    without: dict[str, Any] = {"se": float("nan"), "ci_low": float("nan"), "ci_high": float("nan")}
    n_templates = examples["template"].nunique()
    without |= _templates(n_templates)
    return [row | known.get((row["metric"], row["variation_set"], row["group"]), without) for row in rows]


def _correlation(sets: pd.DataFrame, human: pd.DataFrame) -> dict[str, Any]:
    cells = "cell:" + sets["case_order"] + "|" + sets["role"]
    wide = sets.assign(cell=cells).pivot(index="template", columns="cell", values="auc")
    people = human.set_index("group")["auc"]
    shared = wide.columns.intersection(people.index)
    found = jackknife_correlation(correlation_of_cells(wide[shared], people[shared]), len(wide))
    columns = {"se": found.se, "ci_low": found.ci_low, "ci_high": found.ci_high}
    return columns | _templates(found.n_units)


def _templates(n: int) -> dict[str, Any]:
    """Return the columns about units of a correlation."""
    return {
        "unit": UNIT,
        "n_units": n,
        "n_units_effective": float(n),
        "reliable": n >= MIN_JACKKNIFE_UNITS,
    }
