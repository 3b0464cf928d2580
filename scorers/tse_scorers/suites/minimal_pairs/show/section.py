"""The BLiMP section: Tables 3 and 4 and Figures 1 to 6 of Warstadt et al. (2020)."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from ....report.best import best_of_rows, unusable
from ....report.blocks import Chart, Section, View
from ....report.inputs import Runs, configs_apart
from ....report.tables import Table, counts_table
from ...item_files import example
from ..measures import ACCURACY
from .flaws import flawed_pairs
from .section_analyses import correlations, methods, predictors
from .section_conditions import locality, regularity
from .section_growth import growth
from .section_in_context import in_context
from .section_paradigms import (
    HUMANS,
    METHODS,
    PUBLISHED,
    RUN,
    TOTAL,
    accuracy_cells,
    by_paradigm,
    from_blimp,
    is_without_paradigms,
    prefix_marks,
    system_names,
    title_of,
)
from .tab import tabs
from .tab_items import read_pairs

LEAD = (
    "A model passes a pair when it finds the acceptable sentence more probable. Its accuracy is a proportion, from 0 "
    "to 1."
)
TERMS = {
    "Accuracy": "The share of minimal pairs in which the model gives the acceptable sentence the higher "
    "probability. Guessing gives 0.5. Ties and pairs without a number are not right answers. A phenomenon's accuracy "
    "is the mean of its paradigms, the overall one the mean of all paradigms.",
    "One prefix, two prefixes": "Other ways to ask, where a paradigm allows it: which of two words is more probable "
    "after the same beginning; or after which of two beginnings the same word is more probable.",
    "Humans": "The forced choices by which BLiMP was validated: single answers (individual), and the majority's answer "
    "per pair, over the few pairs per paradigm that were judged.",
}


def terms_of(paradigms: pd.DataFrame) -> dict[str, str]:
    """Return what the scores mean, for the systems that are the columns of a table by paradigm."""
    return {term: text for term, text in TERMS.items() if term != "Humans" or HUMANS in paradigms}


def section(runs: Runs) -> Section | None:
    """Build the section of pairs by themselves, in context, or of both; None where the suite was not run."""
    alone, after = _by_themselves(runs), in_context(runs)
    if alone is None or after is None:
        return alone or after
    return replace(
        alone,
        lead=f"{alone.lead} {after.lead}",
        terms={**alone.terms, **after.terms},
        views=[*alone.views, *after.views],
        source=f"{alone.source} {after.source}",
    )


def _by_themselves(runs: Runs) -> Section | None:
    rows = _accuracies(runs)
    if rows.empty:
        return None
    asked = [method for method in METHODS if (rows["method"] == method).any()]
    one_method = _of_method(runs, asked[0])  # whole sentences, unless only prefixes were asked for
    paradigms = by_paradigm(one_method)
    is_blimp, title = from_blimp(paradigms.index), title_of(list(rows["config"].unique()))
    what = "of English sentences, one acceptable and one not, from 67 paradigms in 12 phenomena of grammar"
    if not is_blimp.all() or title != "BLiMP":
        what = "of sentences, one acceptable and one not" + (": BLiMP's and others" if is_blimp.any() else "")
    return Section(
        name="minimal_pairs",
        title=title,
        lead=f"Minimal pairs {what}. {LEAD}",
        terms=terms_of(paradigms),
        question="Does the model find the acceptable one of two sentences more probable?",
        example=partial(example, runs, "minimal_pairs", partial(read_pairs, runs, asked[0])),
        views=tabs(runs),
        analyses=partial(_analyses, runs, rows, asked[0]),
        source="Warstadt, Parrish, Liu, Mohananey, Peng, Wang & Bowman (2020), BLiMP: The Benchmark of Linguistic "
        "Minimal Pairs for English, TACL 8.",
    )


def _analyses(runs: Runs, rows: pd.DataFrame, method: str) -> Iterator[View]:
    """Yield the views of the report, of accuracies by one method."""
    one_method = _of_method(runs, method)
    paradigms = by_paradigm(one_method)
    yield _phenomena(one_method, METHODS[method], unusable(runs, "minimal_pairs"))
    if len(paradigms):
        yield from correlations(paradigms)
        yield from predictors(runs)
        yield from locality(paradigms, one_method)
        yield from regularity(paradigms, one_method)
        yield from growth(_of_method(runs.every_revision(), method), paradigms)
        yield from methods(rows)
    counts = counts_table("Pairs behind the accuracies.", rows, "method", METHODS, _COUNTS)
    yield View("Coverage", " ".join([_COVERAGE_TEXT, *flawed_pairs(runs, set(rows["config"]))]), [counts])


def _accuracies(runs: Runs) -> pd.DataFrame:
    rows = runs.suite("minimal_pairs")
    rows = configs_apart(rows[rows["metric"] == "accuracy"])
    return rows.assign(method=rows["method"].fillna("full"))


def _of_method(runs: Runs, method: str) -> pd.DataFrame:
    rows = _accuracies(runs)
    return rows[rows["method"] == method]


def _phenomena(rows: pd.DataFrame, method: str, excluded: set[str]) -> View:
    cells, n = accuracy_cells(rows, "phenomenon"), rows.loc[rows["level"] == "paradigm", "value"].nunique()
    if cells.empty:
        return View("Accuracy by paradigm", "", [_every_paradigm(rows, excluded)])
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
        cells.sort_values("label", key=lambda label: label == TOTAL, kind="stable"),
        f"{title} ({method}){over}.",
        "Pairs" if is_one_group else "Phenomenon",
        excluded,
        about=of_what,
        totals=[] if is_one_group else [TOTAL],
        note="Published models and humans judged whole sentences; their means are over the same paradigms as this run."
        if has_others
        else "",
        file="pairs_table",
    )
    if not n:
        return View(title, "These results hold no accuracies by paradigm.", [table])
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
        digits=ACCURACY.digits,
        form=ACCURACY.form,
        basis=table.basis,
        names_with_n=True,
    )
    if is_one_group:
        return View(title, "", [table, picture])
    about = "Which parts of grammar the model has"
    about += ", as in Table 3 of Warstadt et al. (2020), next to human scores." if has_others else "."
    return View(title, about, [table, picture, _every_paradigm(rows, excluded)])


def _every_paradigm(rows: pd.DataFrame, excluded: set[str]) -> Table:
    cells = accuracy_cells(rows, "paradigm")
    table = _table(
        cells[cells["label"] != TOTAL],
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
    table = Table.of_scores(
        cells, caption, corner, digits=ACCURACY.digits, across=("kind", "system"), **options
    )
    compared = [kind == RUN and system not in excluded for kind, system in table.values.columns]
    measures = ["accuracy" if own else None for own in compared]
    return replace(table, best=best_of_rows(table.values, table.text, measures, table.intervals))


_COVERAGE_TEXT = (
    "Pairs behind the accuracies. Pairs that were tied or lacked a number never count as right; excluded are pairs "
    "without the prefixes that a method needs."
)
_COUNTS = {"n": "pairs", "n_excluded": "excluded", "n_ties": "tied", "n_nonfinite": "no number"}
