"""The BLiMP section: Tables 3 and 4 and Figures 1 to 6 of Warstadt et al. (2020)."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pandas as pd

from ....report.best import best_of_rows, unusable
from ....report.blocks import Chart, Section, View
from ....report.findings import extremes
from ....report.inputs import Runs, configs_apart
from ....report.tables import (
    Basis,
    Intervals,
    Table,
    counts_table,
    formatted_with_intervals,
    note_on_intervals,
)
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
    OTHERS,
    PUBLISHED,
    RUN,
    by_group,
    by_paradigm,
    from_blimp,
    group_name,
    is_without_paradigms,
    phenomenon_name,
    phenomenon_of,
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
    if len(paradigms):
        yield _phenomena(one_method, paradigms, METHODS[method], unusable(runs, "minimal_pairs"))
        yield from correlations(paradigms)
        yield from predictors(runs)
        yield from locality(paradigms, one_method)
        yield from regularity(paradigms, one_method)
        yield from growth(_of_method(runs.every_revision(), method), paradigms)
        yield from methods(rows)
    else:
        yield _means_alone(one_method, METHODS[method])
    counts = counts_table("Pairs behind the accuracies.", rows, "method", METHODS, _COUNTS)
    yield View("Coverage", " ".join([_COVERAGE_TEXT, *flawed_pairs(runs, set(rows["config"]))]), [counts])


def _accuracies(runs: Runs) -> pd.DataFrame:
    rows = runs.suite("minimal_pairs")
    rows = configs_apart(rows[rows["metric"] == "accuracy"])
    return rows.assign(method=rows["method"].fillna("full"))


def _of_method(runs: Runs, method: str) -> pd.DataFrame:
    rows = _accuracies(runs)
    return rows[rows["method"] == method]


def _means_alone(rows: pd.DataFrame, method: str) -> View:
    """Return the means of results that hold no accuracies by paradigm, of which the other parts are made."""
    means = _means_of_results(rows)
    ends = Intervals(*(_means_of_results(rows, column) for column in ("ci_low", "ci_high", "se")))
    text = formatted_with_intervals(means, ends, ACCURACY.form)
    table = Table(
        f"Accuracy ({method}).",
        means,
        text,
        interval_note=note_on_intervals(text),
        file="pairs_table",
        basis=Basis.of(lambda column: _means_of_results(rows, column)),
    )
    return View("Accuracy", "These results hold no accuracies by paradigm.", [table])


def _means_of_results(rows: pd.DataFrame, column: str = "score") -> pd.DataFrame:
    return by_group(_of_means(rows), column).rename_axis("Phenomenon")


def _phenomena(rows: pd.DataFrame, paradigms: pd.DataFrame, method: str, excluded: set[str]) -> View:
    means = _by_phenomenon(rows, paradigms)
    is_one_group = is_without_paradigms(rows)
    if is_one_group:
        means = means.loc[["Overall"]].rename_axis("Pairs")
    of_phenomena = _intervals(rows, phenomena=True)
    has_others = len(paradigms.columns.unique(level=0)) > 1
    title = "Accuracy" if is_one_group else "Accuracy by phenomenon"
    over = "1 paradigm" if len(paradigms) == 1 else f"{len(paradigms)} paradigms"
    basis = _basis(_of_means(rows))
    text = formatted_with_intervals(means, of_phenomena, ACCURACY.form, basis)
    of_what = (
        "The interval of the overall accuracy shows how much it varies with the choice of paradigms; a phenomenon's is "
        "for these paradigms only."
        if "paradigms" in set(rows.loc[rows["level"] == "all", "unit"])
        else ("" if is_one_group else "The intervals are for these paradigms only.")
    )
    table = Table(
        caption=f"Accuracy ({method})."
        if is_one_group
        else f"Accuracy by phenomenon ({method}), over {over}.",
        values=means,
        text=text,
        note="Published models and humans judged whole sentences; their means are over the same paradigms as this run."
        if has_others
        else "",
        interval_note=note_on_intervals(text, rows[rows["level"].isin(_MEANS)], of_what),
        best=_best(means, text, excluded, of_phenomena),
        file="pairs_table",
        rule_above=[] if is_one_group else ["Overall"],
        intervals=of_phenomena,
        basis=basis,
    )
    drawn = means[[c for c in means if c[0] == RUN or c in ((PUBLISHED, "GPT-2"), (HUMANS, "individual"))]]
    drawn = drawn.set_axis(system_names(drawn.columns), axis=1)
    said = extremes(drawn, ACCURACY.form)
    named = basis.named(drawn.index)
    whiskers = of_phenomena.map(
        lambda ends: pd.concat({title: ends[RUN]}, axis=1).reindex(drawn.index).set_axis(named)
    )
    drawn = drawn.set_axis(named)
    picture = Chart(
        "dots",
        "pairs_phenomena",
        {title: drawn},
        caption=title
        + (
            ", with humans' single answers and GPT-2 in the authors' released summary." if has_others else "."
        ),
        alt=f"{title}. {said}",
        x="accuracy",
        digits=ACCURACY.digits,
        chance=0.5,
        intervals=whiskers,
        basis=basis,
    )
    if is_one_group:
        return View(title, "", [table, picture])
    about = "Which parts of grammar the model has"
    about += ", as in Table 3 of Warstadt et al. (2020), next to human scores." if has_others else "."
    return View(title, about, [table, picture, _every_paradigm(rows, paradigms, excluded)])


def _every_paradigm(rows: pd.DataFrame, paradigms: pd.DataFrame, excluded: set[str]) -> Table:
    of_paradigms = _intervals(rows)
    basis = _basis(rows)
    text = formatted_with_intervals(paradigms, of_paradigms, ACCURACY.form, basis)
    marks = prefix_marks(paradigms.index)
    return Table(
        caption="Accuracy by paradigm.",
        values=paradigms.join(marks),
        text=text.join(marks.map(lambda mark: "✓" if mark == 1 else "")),
        note=""
        if marks.empty
        else "✓: the paradigm can be scored by this prefix method (Warstadt et al. 2020).",
        interval_note=note_on_intervals(text, rows[rows["level"] == "paradigm"]),
        file="pairs_paradigms",
        folded=True,
        intervals=of_paradigms,
        best=_best(paradigms, text, excluded, of_paradigms).join(marks.map(lambda _: False)),
        basis=basis,
    )


def _best(values: pd.DataFrame, text: pd.DataFrame, excluded: set[str], intervals: Intervals) -> pd.DataFrame:
    """Mark the best of this run's systems in each row, except those whose scores do not compare."""
    compared = [kind == RUN and system not in excluded for kind, system in values.columns]
    return best_of_rows(values, text, ["accuracy" if own else None for own in compared], intervals)


def _by_phenomenon(rows: pd.DataFrame, paradigms: pd.DataFrame) -> pd.DataFrame:
    """Average by phenomenon and over all; our own means come from the results as they are.

    The published and human columns are averaged over the paradigms that were run, so that all columns are about
    the same ones.
    """
    phenomenon = paradigms.index.map(phenomenon_of)
    means = paradigms.groupby(phenomenon).mean()
    rows = rows[rows["level"].isin(_MEANS)]
    ours = by_group(rows.assign(group=rows["value"].where(rows["level"] != "all", "all")))
    own = [name for name in ours.index if name not in means.index and name != "all"]
    if own:  # phenomena that are not BLiMP's have their own names
        means = means.reindex([*means.index.drop(OTHERS, errors="ignore"), *own])
    means.loc["all"] = paradigms.mean()
    for system in ours:
        means[(RUN, system)] = ours[system].reindex(means.index)
    means = means[paradigms.columns]
    means.index = pd.Index([phenomenon_name(name) if name != "all" else "Overall" for name in means.index])
    return means.rename_axis("Phenomenon")


def _intervals(rows: pd.DataFrame, phenomena: bool = False) -> Intervals:
    """Return the ends of our intervals, with the labels of the tables."""
    shown, systems = _of_means(rows) if phenomena else rows, pd.unique(rows["system"])
    parts = (
        by_group(shown, column).reindex(columns=systems) for column in ("ci_low", "ci_high", "se", "reliable")
    )
    return Intervals(*parts).map(lambda wide: pd.concat({RUN: wide}, axis=1))


def _basis(rows: pd.DataFrame) -> Basis:
    """Return what our scores are over, with the labels of the tables."""
    return Basis.of(lambda column: pd.concat({RUN: by_group(rows, column)}, axis=1))


_MEANS = ("all", "phenomenon")
"""Levels of the means of paradigms that tables have."""


def _of_means(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the means of paradigms, with the labels of the tables as groups."""
    means = rows[rows["level"].isin(_MEANS)]
    return means.assign(
        group=[group_name(*place) for place in zip(means["level"], means["value"], strict=True)]
    )


_COVERAGE_TEXT = (
    "Pairs behind the accuracies. Pairs that were tied or lacked a number never count as right; excluded are pairs "
    "without the prefixes that a method needs."
)
_COUNTS = {"n": "pairs", "n_excluded": "excluded", "n_ties": "tied", "n_nonfinite": "no number"}
