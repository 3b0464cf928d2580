"""The suite's tabs of the explorer: Table 2 of all runs, and scores against cut-offs."""

from collections.abc import Mapping
from functools import partial

import pandas as pd

from ....report.blocks import Chart, Control, Table, View
from ....report.inputs import Runs
from ....report.published import published
from ....report.tables import CELLS, with_published
from ..estimate.frequency import METRICS as METRICS_BY_FREQUENCY
from .labels import labelled
from .section_coverage import forms_of
from .section_cutoffs import cutoff_points
from .section_table2 import METRICS, of_paper
from .tab_items import context_items, pair_items

Cutoff = tuple[str, float]
WHOLE: Cutoff = ("top", 1.0)
SCORES = {"EW, systematicity": "ew", "MW, likely behaviour": "mw", "TSE, the template's own verb": "tse"}
MEASURES = {
    "EW and MW": {"ew": "EW", "mw": "MW"},
    "probability that the listed verbs cover": {"covered_mass": "covered mass"},
    "contexts without a verb": {"share_without_lemmas": "share of contexts"},
}


def tabs(runs: Runs) -> list[View]:
    """Return the tabs `Agreement` and `Curves`; none if no run has results of the suite."""
    rows = labelled(runs.suite("agreement"))
    if rows.empty:
        return []
    rows = rows[~rows["metric"].isin(METRICS_BY_FREQUENCY)]
    controls = [Control("Score", SCORES), Control("EW and MW over verbs within", _cutoffs(rows))]
    headlines = {metric.upper(): (name, cutoff_name(*WHOLE)) for name, metric in SCORES.items()}
    blocks = partial(_table2, runs, rows)
    table = View("Agreement", "", blocks, controls, (), "Agreement", headlines=headlines)
    return [table, *_curve_tabs(rows)]


def cutoff_name(side: str, cutoff: float) -> str:
    """Name a cut-off.

    >>> cutoff_name("top", 0.9), cutoff_name("bottom", 1e-06), cutoff_name("top", 1.0)
    ('most probable 90 %', 'least probable 0.0001 %', 'the whole distribution')
    """
    if (side, cutoff) == WHOLE:
        return "the whole distribution"
    if side == "sampler_top":
        return f"nucleus of {100 * cutoff:g} % at each token"
    of_list = " of the listed probability" if side.startswith("list_") else ""
    return f"{'most' if side.endswith('top') else 'least'} probable {100 * cutoff:g} %{of_list}"


def _short_cutoff(side: str, cutoff: float) -> str:
    return "whole" if (side, cutoff) == WHOLE else f"{side.replace('_', ' ')} {100 * cutoff:g}"


def _cutoffs(rows: pd.DataFrame) -> dict[str, Cutoff]:
    """Name the cut-offs that were scored, the whole distribution first."""
    pairs = rows.dropna(subset=["cutoff"])[["cutoff_side", "cutoff"]]
    found = set(pairs.itertuples(index=False, name=None)) - {WHOLE}
    sides = ("top", "bottom", "list_top", "list_bottom", "sampler_top")
    ranked = sorted(found, key=lambda cutoff: (sides.index(cutoff[0]), -cutoff[1]))
    return {cutoff_name(*cutoff): cutoff for cutoff in [WHOLE, *ranked]}


def _table2(runs: Runs, rows: pd.DataFrame, metric: str, cutoff: Cutoff) -> list[Table]:
    """Show one measure (mw, ew, tse) by construction; EW and MW of the verbs inside a cut-off."""
    rows = rows[rows["metric"] == metric]
    if metric == "tse":
        cutoff = WHOLE
    else:
        rows = rows[(rows["cutoff_side"] == cutoff[0]) & (rows["cutoff"] == cutoff[1])]
    within = "" if cutoff == WHOLE else f"; verbs within the {cutoff_name(*cutoff)}"
    cells = with_published(rows, _published(rows, metric)) if cutoff == WHOLE else rows
    table = Table.of_scores(
        cells,
        f"{METRICS[metric]} by construction, 0 to 1{within}.",
        "Templates",
        unit="pairs" if metric == "tse" else "contexts",
        totals=[label for label in rows["label"].unique() if label.startswith("All of ")],
        measure=METRICS[metric],
        compared=metric.upper() if cutoff == WHOLE else "",
        limited_to="" if metric == "tse" else _short_cutoff(*cutoff),
        items=pair_items(runs, rows) if metric == "tse" else context_items(runs, rows, metric, *cutoff),
    )
    return [table]


def _published(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the cells of the paper's Table 2 for the rows that were scored on its data."""
    paper = published("newman2021_table2")
    groups = rows[of_paper(rows) & (forms_of(rows) == "single")]
    groups = groups.drop_duplicates("group")[["group", "label"]]
    if paper.empty or groups.empty:
        return pd.DataFrame(columns=CELLS)
    paper = paper[paper["metric"] == METRICS[metric]].assign(system=paper["model"] + " (published)")
    paper = groups.merge(paper, left_on="group", right_on="construction")
    return paper.sort_values("model", kind="stable")


def _curve_tabs(rows: pd.DataFrame) -> list[View]:
    """Return the parts of `Curves`: the models on one construction, the constructions of one model."""
    rows = rows[rows["cutoff"].notna() & (rows["cutoff_side"] != "sampler_top")]
    if rows.empty:
        return []
    *constructions, overall = dict.fromkeys(rows["label"])
    measure = Control("Curves of", MEASURES)
    construction = Control("Construction", {label: label for label in (overall, *constructions)})
    model = Control("Model", {system: system for system in rows["system"].unique()})
    by_model, by_construction = partial(_curves, rows, "label"), partial(_curves, rows, "system")
    return [
        View("", "", by_model, [measure, construction], (), "Curves", "models, for one construction"),
        View("", "", by_construction, [measure, model], (), "Curves", "constructions, for one model"),
    ]


def _curves(rows: pd.DataFrame, fixed: str, metrics: Mapping[str, str], value: str) -> list[Chart]:
    """Show scores against cut-offs where `fixed` (`label`, the construction, or `system`) has this value."""
    shown = rows[(rows[fixed] == value) & rows["metric"].isin(metrics)]
    if shown.empty:
        raise ValueError(
            f"{value} has no {' or '.join(metrics.values())} under cut-offs. Choose something else in the list."
        )
    points = cutoff_points(shown.assign(label=shown["system" if fixed == "label" else "label"]))
    panels = {metrics[metric]: own for metric, own in points.groupby("metric", sort=False)}
    chart = Chart(
        "cutoffs",
        "curves",
        panels,
        caption=f"{value}: {' and '.join(metrics.values())} against the cut-off. On the left only the least "
        "probable verbs count (bottom p), on the right only the most probable ones (top p); the far right (top 100 %) "
        "is the whole distribution. Scores over all forms are at list percentiles.",
        x="verbs within",
        unit="contexts",
        limited_to=value,
    )
    return [chart]
