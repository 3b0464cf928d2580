"""Tables 2 to 4 of Rochereau et al. (2020): means of the cells, and the frequency bias (section 5.4)."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...report.best import best_of_rows, unusable
from ...report.blocks import Chart, View
from ...report.findings import extremes
from ...report.inputs import Runs
from ...report.published import is_reference
from ...report.tables import Table, score, spread, with_published
from ...suites.variation_sets.measures import KIND_LABELS
from .cells import (
    HUMANS,
    ORDER_KEY,
    ROLE_KEY,
    SETS,
    all_tied,
    is_tied,
    marked,
    orders,
    published_scores,
    roles,
)
from .templates import VARIES_WITH_TEMPLATES, Sets, bias_cells, over_templates

CASE_FREQUENCIES = {"nominative": 16 / 25, "accusative": 8 / 25, "dative": 1 / 25}
"""Shares of the noun phrases with these three cases in the paper's corpus, from the two ratios of section 5.4: "2x more
nominative NPs than accusative NPs, and 8x more accusative NPs than dative NPs"."""


@dataclass(frozen=True)
class MeanTable:
    """A table of the paper: means of AUCs by `by`, a level of results, or by the kind of set.

    Its files are read without the page and have the `key` to its labels.
    """

    title: str
    number: int
    by: str
    corner: str
    text: str
    key: str = ""


MARKEDNESS = MeanTable(
    "Markedness", 2, "case_order", "Case order",
    f"From the least marked order to the most marked one, over sets that double any case. {ORDER_KEY}",
    ORDER_KEY,
)  # fmt: skip
PLAUSIBILITY = MeanTable(
    "Plausibility", 3, "role", "Roles",
    f"From the most plausible roles to the least plausible ones, over sets that double any case. {ROLE_KEY}",
    ROLE_KEY,
)  # fmt: skip
DOUBLED_CASES = MeanTable(
    "Doubled cases and the frequency bias", 4, "variation_set", "Sets",
    "A language model that follows frequency likes nominatives, which are frequent, even where there is one too "
    "many: its AUC on sets with a doubled nominative is low, on sets with a doubled (rare) dative high. In the "
    "paper's corpus (German Wikipedia, section 5.4), noun phrases with these cases are "
    f"{', '.join(f'{100 * share:.0f} % {case}' for case, share in CASE_FREQUENCIES.items())}: the shares follow from "
    "its two ratios, 2 to 1 and 8 to 1. The tagged corpus was not released, so these counts cannot be repeated here.",
)  # fmt: skip


def mean_views(runs: Runs, rows: pd.DataFrame, sets: Callable[[], Sets]) -> Iterator[View]:
    """Yield means of AUCs by case order, roles and doubled case; `sets` returns what intervals are from."""
    excluded = unusable(runs, "german")
    for table in (MARKEDNESS, PLAUSIBILITY):
        if (rows["variation_set"] == "1-6").any():
            yield View(f"{table.title} (Table {table.number})", table.text, [_picture(table, rows, excluded)])
    yield View(
        f"{DOUBLED_CASES.title} (Table {DOUBLED_CASES.number})", DOUBLED_CASES.text,
        lambda: _doubled_cases(rows, excluded, sets()),
        headlines=list(KIND_LABELS.values()),
    )  # fmt: skip


def _doubled_cases(rows: pd.DataFrame, excluded: Collection[str], sets: Sets) -> list[Chart]:
    picture = _picture(DOUBLED_CASES, rows, excluded)
    return [picture, _bias_picture(picture.tables[0], sets)]


def _bias_picture(table: Table, sets: Sets) -> Chart:
    by_kind = table.values.reindex(list(SETS.values())).rename_axis("Sets")
    cases = list(by_kind.index[1:])
    ends = table.intervals and table.intervals.map(lambda frame: frame.reindex(cases).T)
    return Chart.dots(
        "german_frequency_bias",
        by_kind.loc[cases].T.dropna(how="all"),
        ends,
        "AUC by the case that is doubled. Left of the line, impossible sentences score above possible ones."
        + (" Whiskers: 95 % intervals over templates." if ends and ends.low.notna().any(axis=None) else ""),
        alt="AUC by doubled case.",
        panel="By doubled case",
        x="AUC",
        tables=[frequency_bias(by_kind, sets)],
        basis=table.basis and table.basis.map(lambda frame: frame.reindex(cases)),
    )


def frequency_bias(by_kind: pd.DataFrame, sets: Sets) -> Table:
    """Return how much easier violations with rarer cases are, from AUCs: kinds of set down, systems across."""
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


def _selected(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the results that a table shows, with their `label` there."""
    is_whole = rows["level"] == "all"
    if by == "variation_set":
        return rows[is_whole].assign(label=rows["variation_set"].map(SETS))
    shown = rows[(rows["variation_set"] == "1-6") & (is_whole | (rows["level"] == by))]
    return shown.assign(label=shown["value"].where(shown["level"] != "all", "mean"))


def _table(mean_table: MeanTable, rows: pd.DataFrame, excluded: Collection[str]) -> Table:
    """Return a table of means, people first, with marks of ties; `excluded` are systems that cannot be the best."""
    scored = _selected(rows.assign(tied=is_tied(rows).astype(float)), mean_table.by)
    cells = with_published(scored, _selected(published_scores(), mean_table.by), ["tied"])
    order = [*orders(), *roles(), *SETS.values(), "mean"]
    cells = cells.iloc[np.lexsort([cells["system"] != HUMANS, cells["label"].map(order.index)])]
    table = Table.of_scores(
        cells,
        f"AUC of people, of the models and of those of Rochereau et al. (2020) by {mean_table.corner.lower()}.",
        mean_table.corner,
        about=VARIES_WITH_TEMPLATES,
        totals=["mean"],
        number=f"Table {mean_table.number}",
        file=f"german_table{mean_table.number}",
    )
    tied = spread(cells, "tied")
    text = marked(table.text, tied)
    compared = [None if is_reference(name) or name in excluded else "AUC" for name in table.values.columns]
    best = best_of_rows(table.values.mask(tied == 1), text, compared, table.intervals)
    return replace(table, text=text, best=best, note=mean_table.key)


def _picture(mean_table: MeanTable, rows: pd.DataFrame, excluded: Collection[str]) -> Chart:
    """Draw a table of means, systems down."""
    table = _table(mean_table, rows, excluded)
    values = table.values.T
    caption = f"{mean_table.title}: AUC of people, of this run's models and of the published ones."
    if tied := all_tied(rows):
        caption += f" All comparisons of {', '.join(tied)} tie: 0.50 is not a result."
    return Chart(
        "heat",
        str(table.file),
        {"": values},
        caption=caption,
        panel_caption=f"{caption} {table.note}".strip(),
        alt=f"AUC by {table.corner.lower()}. {extremes(values, score)}",
        x="AUC",
        number=table.number,
        tables=[table],
        basis=table.basis,
    )
