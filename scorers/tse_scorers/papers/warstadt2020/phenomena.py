"""Tables 3 and 4 of Warstadt et al. (2020): accuracy by phenomenon and by paradigm."""

from dataclasses import replace
from typing import Any

import pandas as pd

from ...report.best import best_of_rows
from ...report.blocks import Chart, View
from ...report.tables import Table
from ...suites.minimal_pairs.measures import METHOD_LABELS
from ...suites.minimal_pairs.show.texts import is_without_paradigms
from ...suites.shown import OVERALL
from .paradigms import HUMANS, PUBLISHED, RUN, accuracy_cells, prefix_marks, system_names

HUMANS_TEXT = (
    "Humans: the forced choices by which BLiMP was validated: single answers (individual), and the majority's answer "
    "per pair, over the few pairs per paradigm that were judged."
)
_HEADLINES = list(METHOD_LABELS.values())


def phenomenon_view(rows: pd.DataFrame, method: str, excluded: set[str]) -> View:
    """Return accuracies of one method by phenomenon and paradigm; the scores of `excluded` systems do not compare."""
    cells, n = accuracy_cells(rows, "phenomenon"), rows.loc[rows["level"] == "paradigm", "value"].nunique()
    if cells.empty:
        return View("Accuracy by paradigm", "", [_every_paradigm(rows, excluded)], headlines=_HEADLINES)
    is_one_group = is_without_paradigms(rows)
    has_others = bool((cells["kind"] != RUN).any())
    title = "Accuracy" if is_one_group or not n else "Accuracy by phenomenon"
    over = f", over {n} paradigm{'s' if n > 1 else ''}" if n and not is_one_group else ""
    of_what = "" if is_one_group or not n else "The intervals are for these paradigms only."
    if "paradigms" in set(rows.loc[rows["level"] == "all", "unit"]):
        of_what = (
            "The interval of the overall accuracy shows how much it varies with the choice of paradigms; a "
            "phenomenon's is for these paradigms only."
        )
    table = _table(
        cells.sort_values("label", key=lambda label: label == OVERALL, kind="stable"),
        f"{title} ({method}){over}.",
        "Pairs" if is_one_group else "Phenomenon",
        excluded,
        about=of_what,
        totals=[] if is_one_group else [OVERALL],
        note="Published models and humans judged whole sentences; their means are over the same paradigms as this run."
        if has_others
        else "",
        file="pairs_table",
    )
    if not n:
        return View(title, "These results hold no accuracies by paradigm.", [table], headlines=_HEADLINES)
    shown = [c for c in table.values if c[0] == RUN or c in ((PUBLISHED, "GPT-2"), (HUMANS, "individual"))]
    picture = Chart.dots(
        "pairs_phenomena",
        table.values[shown].set_axis(system_names(shown), axis=1),
        table.intervals and table.intervals.map(lambda ends: ends[RUN]),
        title
        + (
            ", with humans' single answers and GPT-2 in the authors' released summary." if has_others else "."
        ),
        alt=f"{title}.",
        panel=title,
        x="accuracy",
        basis=table.basis,
        names_with_n=True,
    )
    if is_one_group:
        return View(title, "", [table, picture], headlines=_HEADLINES)
    about = "Which parts of grammar the model has"
    about += ", as in Table 3 of Warstadt et al. (2020), next to human scores." if has_others else "."
    about += f" {HUMANS_TEXT}" if (cells["kind"] == HUMANS).any() else ""
    return View(title, about, [table, picture, _every_paradigm(rows, excluded)], headlines=_HEADLINES)


def _every_paradigm(rows: pd.DataFrame, excluded: set[str]) -> Table:
    cells = accuracy_cells(rows, "paradigm")
    table = _table(
        cells[cells["label"] != OVERALL],
        "Accuracy by paradigm.",
        "Paradigm",
        excluded,
        file="pairs_paradigms",
        folded=True,
    )
    marks = prefix_marks(table.values.index)
    if marks.empty:
        return table
    return replace(
        table,
        values=table.values.join(marks),
        text=table.text.join(marks.map(lambda mark: "✓" if mark == 1 else "")),
        note="✓: the paradigm can be scored by this prefix method (Warstadt et al. 2020).",
        best=None if table.best is None else table.best.join(marks.map(lambda _: False)),
    )


def _table(cells: pd.DataFrame, caption: str, corner: str, excluded: set[str], **options: Any) -> Table:
    """Make a table of accuracies; the best are those of this run's systems whose scores compare."""
    table = Table.of_scores(cells, caption, corner, across=("kind", "system"), **options)
    compared = [kind == RUN and system not in excluded for kind, system in table.values.columns]
    measures = ["accuracy" if is_compared else None for is_compared in compared]
    return replace(table, best=best_of_rows(table.values, table.text, measures, table.intervals))
