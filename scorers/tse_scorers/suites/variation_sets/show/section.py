"""The German section: Tables 1 to 28 of Rochereau et al. (2020) and Keller's (2001) contrasts."""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from ....report.best import unusable
from ....report.blocks import Chart, Section, View
from ....report.correlation import correlate, pearson
from ....report.findings import extremes
from ....report.inputs import Runs, configs_apart
from ....report.numbers import ranged
from ....report.tables import Table, counts_table, formatted, score, stacked
from ...item_files import example
from .section_cell_tables import cell_parts
from .section_cells import HUMANS, SETS, Cells, contrasts, our_cells, published_cells
from .section_means import mean_parts
from .section_templates import (
    Sets,
    contrast_cells,
    over_templates,
    scored_sentences,
    scored_sets,
    template_part,
)
from .section_ties import remark_on_ties
from .tab import tabs
from .tab_items import read_comparisons

TERMS = {
    "AUC": "The share of unacceptable variants of a sentence that score below the acceptable one, ties counting half; "
    "0.5 is chance, and below it the unacceptable ones are preferred.",
    "Minimal variation set": "One acceptable sentence against those that double one of its cases: all six of them, or "
    "the two that double the nominative, the accusative or the dative.",
    "Case order": "Order of nominative (N), dative (D) and accusative (A) noun phrases in the clause. All six are "
    "grammatical; people find some of them marked, above all those where the nominative comes late.",
    "Role assignment": "Which noun is agent, recipient and patient. Nouns 1 and 2 are people, noun 3 is a thing: "
    "ag1,re2,pa3 and ag2,re1,pa3 are plausible, the rest less so.",
}


def section(runs: Runs) -> Section | None:
    """Build the section, or None where the suite was not run."""
    results = configs_apart(runs.suite("german"))
    rows = results[results["metric"] == "auc"]
    if rows.empty:
        return None
    return Section(
        name="german",
        title="German",
        lead="Subordinate clauses with three noun phrases whose cases and order vary freely (…, dass der Soldat dem "
        "Offizier einen Brief schreibt). A clause in which one case is there twice and another is missing is "
        "impossible, whatever its order. Does the model rank it below the possible ones, and does it share "
        "people's preferences among these?",
        terms=TERMS | remark_on_ties(rows),
        question="German argument structure: does the model find a clause more probable than one in which a case is "
        "there twice?",
        example=partial(example, runs, "german", partial(read_comparisons, runs)),
        views=tabs(runs),
        analyses=partial(_analyses, runs, results, rows),
        source="Rochereau, Sagot & Dupoux (2020), Neural language modeling of free word order argument structure; "
        "Keller (2001), Gradience in grammar. Human and published values are those of the paper's own sentences.",
    )


def _analyses(runs: Runs, results: pd.DataFrame, rows: pd.DataFrame) -> Iterator[View]:
    paper = published_cells()
    systems = ({HUMANS: paper.pop(HUMANS)} if HUMANS in paper else {}) | our_cells(rows) | paper
    sentences = scored_sentences(runs, pd.unique(rows["system"]))
    sets = scored_sets(sentences)
    yield from cell_parts(rows, published_cells())
    yield from mean_parts(rows, sets, unusable(runs, "german"))
    yield from _correlation_part(systems, results[results["metric"] == "human_pearson"])
    yield _contrast_part(systems, sets)
    if templates := template_part(sentences):
        yield templates
    counts = counts_table("Sets behind the AUCs.", rows, "variation_set", SETS, _COUNTS)
    yield View("Coverage", _COVERAGE_TEXT, [counts])


_CEILING = (
    "The noise in people's ratings limits r, for any model. How much cannot be said here: this noise ceiling "
    "needs single ratings, and only the means of cells are published. `tse noise-ceiling` computes it from yours."
)


def _correlation_part(systems: Cells, rows: pd.DataFrame) -> Iterator[View]:
    """Pearson's r between the human cells and each system's (Table 5)."""
    if HUMANS not in systems:
        return
    human = systems[HUMANS]
    found = {
        system: [_agreement(grids.get(kind), human.get(kind)) for kind in SETS]
        for system, grids in systems.items()
        if system != HUMANS
    }
    values = pd.DataFrame(found, index=list(SETS.values())).T.rename_axis("Model")
    known = rows.assign(label=rows["system"], measure=rows["variation_set"].map(SETS))
    known = known.drop_duplicates(["label", "measure"], keep="last")
    ends = known.reindex(columns=["label", "measure", "ci_low", "ci_high", "se"])
    table = Table.of_scores(
        stacked(values).merge(ends, how="left", on=["label", "measure"]),
        "Pearson's r with the cells of people.",
        "Model",
        across=("measure",),
        about="The interval shows how much r varies with the choice of templates. n: 36 cells, over "
        f"{ranged(rows['n_units'])} templates. Published cells have no interval.",
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
        tables=[table, *_agreement_table(systems, rows)],
    )
    about = f"Does a model prefer the same orders and roles as people, whatever its level? {_CEILING}"
    yield View("Agreement with people (Table 5)", about, [picture])


def _agreement(own: pd.DataFrame | None, human: pd.DataFrame | None) -> float:
    if own is None or human is None:
        return float("nan")
    return pearson(own.to_numpy().ravel(), human.to_numpy().ravel())


def _agreement_table(systems: Cells, rows: pd.DataFrame) -> Iterator[Table]:
    """Three correlations over the (1-6) cells, Pearson's with its interval over templates where it is known."""
    found = {}
    six = rows[rows["variation_set"] == "1-6"].drop_duplicates("system", keep="last").set_index("system")
    intervals = six[["ci_low", "ci_high"]].astype(float).T.to_dict("list")
    for system, grids in systems.items():
        if system != HUMANS and "1-6" in grids and "1-6" in systems[HUMANS]:
            own, human = (table["1-6"].to_numpy().ravel() for table in (grids, systems[HUMANS]))
            result = correlate(own, human)
            if result is not None:
                low, high = intervals.get(system, [float("nan")] * 2)
                found[system] = [result["pearson"], low, high, result["spearman"], result["kendall"]]
    if found:
        headings = ["Pearson", "95 % from", "95 % to", "Spearman", "Kendall"]
        values = pd.DataFrame(found, index=headings).T.rename_axis("Model")
        caption = "Agreement over the cells of sets that double any case, with the 95 % interval of Pearson's r over "
        caption += "templates (none for published scores, whose templates are not known)."
        yield Table(caption, values, formatted(values, score), file="german_agreement")


def _contrast_part(systems: Cells, sets: Sets) -> View:
    whole = {system: contrasts(grids["1-6"]) for system, grids in systems.items() if "1-6" in grids}
    values = pd.DataFrame(whole).T.rename_axis("Model")
    table = Table.of_scores(
        contrast_cells(values, sets),
        "Means of AUC by constraint.",
        "Model",
        across=("panel", "measure"),
        about=over_templates("the mean", sets),
        file="german_contrasts",
    )
    picture = Chart.dots(
        "german_contrasts",
        values.loc[:, values.columns.get_level_values(1) != "effect"],
        table.intervals,
        "Where the nominative comes (NOMALIGN), and whether the dative comes before the accusative (DATALIGN), "
        "over all role assignments and over the two plausible ones."
        + (" Whiskers: 95 % intervals over templates." if table.interval_note else ""),
        alt="Means of AUC by position.",
        x="AUC",
        tables=[table],
    )
    about = "Keller's two constraints on German word order: nominative before the rest, dative before accusative. "
    about += "People follow the first throughout and the second where the roles are plausible; the first is stronger. "
    about += "The effect is the first position's mean minus the last one's."
    return View("Word order constraints (NOMALIGN, DATALIGN)", about, [picture])


_COVERAGE_TEXT = (
    "Minimal variation sets behind the AUCs, and comparisons in them that were tied (they count half) or lacked a "
    "number (they count as lost)."
)
_COUNTS = {"n": "sets", "n_excluded": "excluded", "n_ties": "tied", "n_nonfinite": "no number"}
