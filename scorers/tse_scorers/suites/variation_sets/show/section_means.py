"""Tables 2 to 4 of Rochereau et al. (2020): means of the cells, and the frequency bias (section 5.4)."""

from collections.abc import Collection, Iterator
from functools import partial

import numpy as np
import pandas as pd

from ....io.bundle import metric_modules
from ....report.best import best_of_rows
from ....report.blocks import Chart, View
from ....report.findings import extremes
from ....report.published import is_reference
from ....report.tables import Basis, Intervals, Table, formatted_with_intervals, score
from .section_cells import ORDER_KEY, ROLE_KEY, SETS, Cells, orders, roles
from .section_templates import Sets, bias_intervals, note_on_intervals, over_templates
from .section_ties import is_tied, marked, tied_systems

_BY_CASE = "By doubled case"
CASE_FREQUENCIES = {"nominative": 16 / 25, "accusative": 8 / 25, "dative": 1 / 25}
"""Shares of the noun phrases with these three cases in the paper's corpus, from the two ratios of section 5.4: "2x more
nominative NPs than accusative NPs, and 8x more accusative NPs than dative NPs"."""


def mean_parts(
    systems: Cells, rows: pd.DataFrame, sets: Sets, excluded: Collection[str] = ()
) -> Iterator[View]:
    """Yield means by case order, by role assignment and by the doubled case.

    Args:
        systems: cells of people, of this run's models and of the published ones, in the order of the tables.
        rows: results with the metric `auc`.
        sets: AUCs of variation sets, by system, for the intervals of differences.
        excluded: systems that cannot be the best, because their scores do not compare.
    """
    margins = metric_modules("minimal_variation_auc").variation_sets.margins
    whole = {system: margins(grids["1-6"].to_numpy()) for system, grids in systems.items() if "1-6" in grids}
    if whole:
        by_order = {system: [*orders, overall] for system, (orders, _, overall) in whole.items()}
        by_role = {system: [*roles, overall] for system, (_, roles, overall) in whole.items()}
        least = pd.DataFrame(by_order, [*orders(), "mean"]).rename_axis("Case order")
        plausible = pd.DataFrame(by_role, [*roles(), "mean"]).rename_axis("Roles")
        text = (
            f"From the least marked order to the most marked one, over sets that double any case. {ORDER_KEY}"
        )
        yield View("Markedness (Table 2)", text, [_picture("Markedness (Table 2)", 2, least, rows, excluded)])
        text = f"From the most plausible roles to the least plausible ones, over sets that double any case. {ROLE_KEY}"
        yield View(
            "Plausibility (Table 3)", text, [_picture("Plausibility (Table 3)", 3, plausible, rows, excluded)]
        )
    yield _frequency_part(systems, rows, sets, excluded)


def _frequency_part(systems: Cells, rows: pd.DataFrame, sets: Sets, excluded: Collection[str]) -> View:
    margins = metric_modules("minimal_variation_auc").variation_sets.margins
    by_kind = pd.DataFrame(
        {
            system: [margins(grids[kind].to_numpy())[2] if kind in grids else np.nan for kind in SETS]
            for system, grids in systems.items()
        },
        index=pd.Index(SETS.values(), name="Sets"),
    )
    title = "Doubled cases and the frequency bias (Table 4)"
    drawn = pd.concat({_BY_CASE: by_kind.iloc[1:].T}, axis=1).dropna(how="all")
    labelled = _labelled(rows)
    ends = _mean_intervals(labelled)
    ends = ends.map(lambda frame: pd.concat({_BY_CASE: frame.reindex(by_kind.index[1:]).T}, axis=1))
    picture = Chart(
        "dots",
        "german_frequency_bias",
        {_BY_CASE: drawn[_BY_CASE]},
        caption="AUC by the case that is doubled. Left of the line, impossible sentences score above possible ones."
        + (" Whiskers: 95 % intervals over templates." if ends.low.notna().any(axis=None) else ""),
        alt=f"AUC by doubled case. {extremes(drawn.droplevel(0, axis=1), score)}",
        x="AUC",
        chance=0.5,
        intervals=ends,
        tables=[frequency_bias(by_kind, sets)],
        basis=Basis.of(lambda column: _spread(labelled, column).reindex(by_kind.index[1:])),
    )
    shares = ", ".join(f"{100 * share:.0f} % {case}" for case, share in CASE_FREQUENCIES.items())
    text = (
        "A language model that follows frequency likes nominatives, which are frequent, even where there is one too "
        "many: its AUC on sets with a doubled nominative is low, on sets with a doubled (rare) dative high. In the "
        "paper's corpus (German Wikipedia, section 5.4), noun phrases with these cases are "
        f"{shares}: the shares follow from its two ratios, 2 to 1 and 8 to 1. The tagged corpus was not released, so "
        "these counts cannot be repeated here."
    )
    return View(title, text, [_picture(title, 4, by_kind, rows, excluded), picture])


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
    values = values.rename_axis("Model")
    return Table.with_intervals(
        "Differences of AUC between sets by their doubled case. A frequency bias makes all three positive.",
        values,
        bias_intervals(sets, values),
        note=partial(note_on_intervals, what="the difference", more=over_templates(sets)),
        file="german_frequency_bias",
    )


def _picture(
    title: str, number: int, values: pd.DataFrame, rows: pd.DataFrame, excluded: Collection[str]
) -> Chart:
    """Draw a table of means, systems down, with its numbers, intervals and marks of ties."""
    labelled = _labelled(rows)
    intervals = _mean_intervals(labelled)
    basis = Basis.of(lambda column: _spread(labelled, column).reindex(values.index))
    tied_there = _spread(labelled, "tied").reindex(index=values.index, columns=values.columns) == 1
    text = marked(formatted_with_intervals(values, intervals), _spread(labelled, "tied"))
    table = Table(
        f"AUC of people, of the models and of those of Rochereau et al. (2020) by {values.index.name.lower()}.",
        values,
        text,
        interval_note=note_on_intervals(text, "the AUC"),
        number=f"Table {number}",
        best=best_of_rows(
            values.mask(tied_there),
            text,
            [None if is_reference(name) or name in excluded else "AUC" for name in values.columns],
            intervals,
        ),
        file=f"german_table{number}",
        rule_above=["mean"] if "mean" in values.index else [],
        intervals=intervals,
        basis=basis,
    )
    caption = (
        f"{title.partition(' (Table')[0]}: AUC of people, of this run's models and of the published ones."
    )
    if tied := tied_systems(rows):
        caption += f" All comparisons of {', '.join(tied)} tie: 0.50 is not a result."
    return Chart(
        "heat",
        f"german_table{number}",
        {"": values.T},
        caption=caption,
        alt=f"AUC by {str(values.index.name).lower()}. {extremes(values.T, score)}",
        x="AUC",
        number=f"Table {number}",
        tables=[table],
        basis=basis,
    )


def _mean_intervals(labelled: pd.DataFrame) -> Intervals:
    """Return the intervals of the means over templates, labels down and systems across."""
    return Intervals(*(_spread(labelled, column) for column in ("ci_low", "ci_high", "se", "reliable")))


def _labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the results behind the means, with `label`: a case order, roles, `mean` or a kind of set; and `tied`."""
    rows = rows.assign(tied=is_tied(rows))
    whole = rows["level"] == "all"
    six = rows["variation_set"] == "1-6"
    mean_of_cells = rows["level"].isin(("case_order", "role")) & six
    labels = [
        rows[mean_of_cells].assign(label=rows["value"]),
        rows[whole & six].assign(label="mean"),
        rows[whole].assign(label=rows["variation_set"].map(SETS)),
    ]
    return pd.concat(labels).drop_duplicates(["label", "system"], keep="last")


def _spread(labelled: pd.DataFrame, column: str) -> pd.DataFrame:
    return labelled.pivot(index="label", columns="system", values=column).astype(float)
