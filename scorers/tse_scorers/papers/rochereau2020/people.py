"""Table 5 of Rochereau et al. (2020): do models share people's preferences?"""

from functools import partial

import pandas as pd

from ...report.blocks import Chart, View
from ...report.correlation import correlate, pearson
from ...report.findings import extremes
from ...report.numbers import ranged
from ...report.tables import Table, formatted, score, stacked
from .cells import HUMANS, SETS, Cells, all_cells

CORRELATION_TEXT = (
    "Does a model prefer the same orders and roles as people, whatever its level? The noise in people's ratings limits "
    "r, for any model; how much is not known, because only the means of cells are published."
)


def correlation_view(rows: pd.DataFrame, correlations: pd.DataFrame) -> View:
    """Return Pearson's r between the human cells and each system's, from AUCs and results of `human_pearson`."""
    blocks = partial(_correlations, rows, correlations)
    return View("Agreement with people (Table 5)", CORRELATION_TEXT, blocks)


def _correlations(rows: pd.DataFrame, correlations: pd.DataFrame) -> list[Chart]:
    systems = all_cells(rows)
    human = systems.pop(HUMANS)
    values = pd.DataFrame(
        {
            system: [_pearson(grids.get(kind), human[kind]) for kind in SETS]
            for system, grids in systems.items()
        },
        index=list(SETS.values()),
    )
    values = values.T.rename_axis("Model")
    intervals = correlations.assign(
        label=correlations["system"], measure=correlations["variation_set"].map(SETS)
    )
    intervals = intervals.drop_duplicates(["label", "measure"], keep="last")
    intervals = intervals.reindex(columns=["label", "measure", "ci_low", "ci_high", "se"])
    table = Table.of_scores(
        stacked(values).merge(intervals, how="left", on=["label", "measure"]),
        "Pearson's r with the cells of people.",
        "Model",
        across=("measure",),
        about="The interval shows how much r varies with the choice of templates. n: 36 cells, over "
        f"{ranged(correlations['n_units'])} templates. Published cells have no interval.",
        file="german_table5",
        number="Table 5",
    )
    picture = Chart(
        "heat",
        "german_table5",
        {"": values},
        caption="Pearson's r between the 36 human cells and each model's, for each kind of set.",
        number="Table 5",
        alt=f"Pearson's r with people. {extremes(values, score)}",
        x="Pearson's r",
        span=(-1, 1),
        tables=[table, _three_correlations(human["1-6"], systems, correlations)],
    )
    return [picture]


def _pearson(grid: pd.DataFrame | None, human: pd.DataFrame) -> float:
    return float("nan") if grid is None else pearson(grid.to_numpy().ravel(), human.to_numpy().ravel())


def _three_correlations(human: pd.DataFrame, systems: Cells, correlations: pd.DataFrame) -> Table:
    """Return three correlations over the (1-6) cells, Pearson's with its interval over templates where it is known."""
    of_six = correlations[correlations["variation_set"] == "1-6"].drop_duplicates("system", keep="last")
    intervals = of_six.set_index("system")[["ci_low", "ci_high"]].astype(float).T.to_dict("list")
    columns = {}
    for system, grids in systems.items():
        if "1-6" in grids:
            result = correlate(*(cells.to_numpy().ravel() for cells in (grids["1-6"], human)))
            if result is not None:
                low, high = intervals.get(system, [float("nan")] * 2)
                columns[system] = [result["pearson"], low, high, result["spearman"], result["kendall"]]
    headings = ["Pearson", "95 % from", "95 % to", "Spearman", "Kendall"]
    values = pd.DataFrame(columns, index=headings).T.rename_axis("Model")
    caption = (
        "Agreement over the cells of sets that double any case, with the 95 % interval of Pearson's r over "
    )
    caption += "templates (none for published scores, whose templates are not known)."
    return Table(caption, values, formatted(values, score), file="german_agreement")
