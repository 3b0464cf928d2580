"""Tables 2 to 4 of Rochereau et al. (2020): means of the cells, and the frequency bias (section 5.4)."""

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from ....report.best import best_of_rows
from ....report.blocks import Chart, View
from ....report.findings import extremes
from ....report.published import is_reference
from ....report.tables import Table, score, spread
from .section_cells import HUMANS, ORDER_KEY, ROLE_KEY, SETS, TOTAL, auc_cells, orders, roles
from .section_templates import VARIES_WITH_TEMPLATES, Sets, bias_cells, over_templates
from .section_ties import marked, tied_systems

_BY_CASE = "By doubled case"
CASE_FREQUENCIES = {"nominative": 16 / 25, "accusative": 8 / 25, "dative": 1 / 25}
"""Shares of the noun phrases with these three cases in the paper's corpus, from the two ratios of section 5.4: "2x more
nominative NPs than accusative NPs, and 8x more accusative NPs than dative NPs"."""


def mean_parts(rows: pd.DataFrame, sets: Sets, excluded: Collection[str] = ()) -> Iterator[View]:
    """Yield means by case order, by role assignment and by the doubled case.

    Args:
        rows: results with the metric `auc`.
        sets: AUCs of variation sets, by system, for the intervals of differences.
        excluded: systems that cannot be the best, because their scores do not compare.
    """
    by = {
        (
            "Markedness (Table 2)",
            2,
            "case_order",
            "Case order",
        ): f"From the least marked order to the most marked one, over sets that double any case. {ORDER_KEY}",
        (
            "Plausibility (Table 3)",
            3,
            "role",
            "Roles",
        ): "From the most plausible roles to the least plausible ones, "
        f"over sets that double any case. {ROLE_KEY}",
    }
    for (title, number, level, corner), text in by.items():
        if (rows["variation_set"] == "1-6").any():
            yield View(title, text, [_picture(title, _table(rows, level, corner, number, excluded), rows)])
    yield _frequency_part(rows, sets, excluded)


def _frequency_part(rows: pd.DataFrame, sets: Sets, excluded: Collection[str]) -> View:
    table = _table(rows, "set", "Sets", 4, excluded)
    by_kind = table.values.reindex(list(SETS.values())).rename_axis("Sets")
    title, cases = "Doubled cases and the frequency bias (Table 4)", list(by_kind.index[1:])
    ends = table.intervals and table.intervals.map(lambda frame: frame.reindex(cases).T)
    picture = Chart.dots(
        "german_frequency_bias",
        by_kind.loc[cases].T.dropna(how="all"),
        ends,
        "AUC by the case that is doubled. Left of the line, impossible sentences score above possible ones."
        + (" Whiskers: 95 % intervals over templates." if ends and ends.low.notna().any(axis=None) else ""),
        alt="AUC by doubled case.",
        panel=_BY_CASE,
        x="AUC",
        tables=[frequency_bias(by_kind, sets)],
        basis=table.basis and table.basis.map(lambda frame: frame.reindex(cases)),
    )
    shares = ", ".join(f"{100 * share:.0f} % {case}" for case, share in CASE_FREQUENCIES.items())
    text = (
        "A language model that follows frequency likes nominatives, which are frequent, even where there is one too "
        "many: its AUC on sets with a doubled nominative is low, on sets with a doubled (rare) dative high. In the "
        "paper's corpus (German Wikipedia, section 5.4), noun phrases with these cases are "
        f"{shares}: the shares follow from its two ratios, 2 to 1 and 8 to 1. The tagged corpus was not released, so "
        "these counts cannot be repeated here."
    )
    return View(title, text, [_picture(title, table, rows), picture])


def frequency_bias(by_kind: pd.DataFrame, sets: Sets) -> Table:
    """Return how much easier violations with rarer cases are, by system.

    Args:
        by_kind: AUCs (0 to 1), the kinds of set down and systems across.
        sets: AUCs of variation sets, by system, for the intervals.
    """
    nominative, accusative, dative = (by_kind.loc[SETS[f"1-2_{case}"]] for case in CASE_FREQUENCIES)
    values = pd.DataFrame(
        {
            "accusative − nominative": accusative - nominative,
            "dative − accusative": dative - accusative,
            "dative − nominative": dative - nominative,
        }
    )
    return Table.of_scores(
        bias_cells(values, sets),
        "Differences of AUC between sets by their doubled case. A frequency bias makes all three positive.",
        "Model",
        across=("measure",),
        about=over_templates("the difference", sets),
        file="german_frequency_bias",
    )


def _table(rows: pd.DataFrame, level: str, corner: str, number: int, excluded: Collection[str]) -> Table:
    """Return a table of means, people first, with marks of ties."""
    cells = auc_cells(rows, level)
    cells = cells.assign(label=cells["label"].replace(TOTAL, "mean"))
    order = [*orders(), *roles(), *SETS.values(), "mean"]
    cells = cells.iloc[np.lexsort([cells["system"] != HUMANS, cells["label"].map(order.index)])]
    table = Table.of_scores(
        cells,
        f"AUC of people, of the models and of those of Rochereau et al. (2020) by {corner.lower()}.",
        corner,
        about=VARIES_WITH_TEMPLATES,
        totals=["mean"],
        number=f"Table {number}",
        file=f"german_table{number}",
    )
    tied = spread(cells, "tied")
    text = marked(table.text, tied)
    compared = [None if is_reference(name) or name in excluded else "AUC" for name in table.values.columns]
    best = best_of_rows(table.values.mask(tied == 1), text, compared, table.intervals)
    return replace(table, text=text, best=best)


def _picture(title: str, table: Table, rows: pd.DataFrame) -> Chart:
    """Draw a table of means, systems down."""
    values = table.values.T
    caption = (
        f"{title.partition(' (Table')[0]}: AUC of people, of this run's models and of the published ones."
    )
    if tied := tied_systems(rows):
        caption += f" All comparisons of {', '.join(tied)} tie: 0.50 is not a result."
    return Chart(
        "heat",
        str(table.file),
        {"": values},
        caption=caption,
        alt=f"AUC by {table.corner.lower()}. {extremes(values, score)}",
        x="AUC",
        number=table.number,
        tables=[table],
        basis=table.basis,
    )
