"""The German section: Tables 1 to 5 of Rochereau et al. (2020), Keller's (2001) contrasts, the frequency bias."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ...io.bundle import metric_modules
from ...report.charts import dots, heat_maps
from ...report.correlation import correlate, pearson
from ...report.inputs import Runs, configs_apart, slugs
from ...report.plots import Picture
from ...report.section import Part, Section
from ...report.tables import (
    INTERVALS,
    MISSING,
    Intervals,
    Table,
    count,
    formatted,
    formatted_with_intervals,
    score,
)
from .section_cells import HUMANS, Cells, contrasts, orders, our_cells, published_cells, roles, with_means

SETS = {
    "1-6": "all six",
    "1-2_nominative": "doubled nominative",
    "1-2_accusative": "doubled accusative",
    "1-2_dative": "doubled dative",
}

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
    ours = our_cells(rows)
    paper = published_cells()
    systems = ({HUMANS: paper.pop(HUMANS)} if HUMANS in paper else {}) | ours | paper
    parts = [
        *_cell_parts(ours, systems.get(HUMANS, {})),
        *_margin_parts(systems, rows),
        *_correlation_part(systems, results[results["metric"] == "human_pearson"]),
        _contrast_part(systems),
        Part("Coverage", _COVERAGE_TEXT, [_coverage(rows)]),
    ]
    return Section(
        name="german",
        title="German argument structure",
        lead="Subordinate clauses with three noun phrases whose cases and order vary freely (…, dass der Soldat dem "
        "Offizier einen Brief schreibt). A clause in which one case is there twice and another is missing is "
        "impossible, whatever its order. Does the model rank it below the possible ones, and does it share "
        "people's preferences among these?",
        terms=TERMS,
        parts=parts,
        source="Rochereau, Sagot & Dupoux (2020), Neural language modeling of free word order argument structure; "
        "Keller (2001), Gradience in grammar. Human and published values are those of the paper's own sentences.",
    )


def _cell_parts(ours: Cells, humans: dict[str, pd.DataFrame]) -> Iterator[Part]:
    blocks: list[Picture | Table] = []
    for system, slug in slugs(list(ours)).items():
        own = ours[system]
        pairs = {
            f"{who}: {SETS[kind]}": grids[kind]
            for kind in SETS
            for who, grids in ((HUMANS, humans), (system, own))
            if kind in grids and kind in own
        }
        drawn = {title: with_means(grid) for title, grid in pairs.items()}
        blocks.append(_cell_picture(system, slug, drawn, 2 if humans else 1))
    if not blocks:
        return
    text = "Every combination of case order (down, least marked first) and role assignment (across, most plausible "
    text += "first). Blue: the acceptable sentences win; red: the impossible ones do."
    whole = {system: own["1-6"] for system, own in ours.items() if "1-6" in own}
    if whole:
        blocks.append(_cell_table(whole, humans.get("1-6")))
    yield Part("The 36 cells (Table 1)", text, blocks)


def _cell_picture(system: str, slug: str, maps: dict[str, pd.DataFrame], across: int) -> Picture:
    return Picture(
        name=f"german_table1_{slug}",
        caption=f"{system}: AUC by case order and role assignment, people on the left, for each kind of set.",
        alt="Heat maps of 36 cells with their means at the margins; the numbers are in the cells.",
        draw=lambda: heat_maps(maps, 0, 1, "AUC", score, across),
        tables=[
            Table(title, frame, formatted(frame, score), rule_above=["mean"]) for title, frame in maps.items()
        ],
    )


def _cell_table(whole: dict[str, pd.DataFrame], humans: pd.DataFrame | None) -> Table:
    values = pd.concat({system: with_means(grid) for system, grid in whole.items()}, axis=1)
    caption, beside, raw = "Table 1. AUC of (1-6) sets", None, values
    if humans is not None:
        caption += "; in parentheses the human value"
        beside = pd.concat({system: with_means(humans) for system in whole}, axis=1)
        raw = pd.concat([values, pd.concat({HUMANS: with_means(humans)}, axis=1)], axis=1)
        beside = formatted(beside, score).replace(MISSING, "")
    return Table(
        caption + ".",
        raw,
        formatted(values, score),
        beside,
        file="german_table1",
        rule_above=["mean"],
        folded=True,
    )


def _margin_parts(systems: Cells, rows: pd.DataFrame) -> Iterator[Part]:
    precision = _precision(rows)
    margins = metric_modules("minimal_variation_auc").variation_sets.margins
    whole = {system: margins(grids["1-6"].to_numpy()) for system, grids in systems.items() if "1-6" in grids}
    if whole:
        by_order = {system: [*orders, overall] for system, (orders, _, overall) in whole.items()}
        by_role = {system: [*roles, overall] for system, (_, roles, overall) in whole.items()}
        text = "From the least marked order to the most marked one, (1-6) sets."
        yield _table_part(
            "Markedness (Table 2)",
            text,
            2,
            pd.DataFrame(by_order, [*orders(), "mean"]),
            "Case order",
            precision,
        )
        text = "From the most plausible roles to the least plausible ones, (1-6) sets."
        yield _table_part(
            "Plausibility (Table 3)", text, 3, pd.DataFrame(by_role, [*roles(), "mean"]), "Roles", precision
        )
    by_kind = pd.DataFrame(
        {
            system: [margins(grids[kind].to_numpy())[2] if kind in grids else np.nan for kind in SETS]
            for system, grids in systems.items()
        },
        index=list(SETS.values()),
    )
    text = "A language model that follows frequency likes nominatives, which are frequent, even where there is one too "
    text += (
        "many: its AUC on sets with a doubled nominative is low, on sets with a doubled (rare) dative high."
    )
    part = _table_part("Doubled cases and the frequency bias (Table 4)", text, 4, by_kind, "Sets", precision)
    picture = Picture(
        name="german_frequency_bias",
        caption="AUC by the case that is doubled. Left of the line, impossible sentences score above possible ones.",
        alt="Three dots per system: sets with doubled nominative, accusative and dative.",
        draw=lambda: dots(
            pd.concat({"By doubled case": by_kind.iloc[1:].T}, axis=1).dropna(how="all"),
            ["By doubled case"],
            "AUC",
            0.5,
        ),
    )
    yield Part(part.title, part.text, [*part.blocks, picture])


def _precision(rows: pd.DataFrame) -> Intervals:
    """Return the ends of our intervals: case orders, roles, `mean` and kinds of set × system."""
    whole = rows["group"] == "all"
    six = rows["variation_set"] == "1-6"
    mean_of_cells = ~rows["group"].str.startswith("cell:") & ~whole & six
    labels = [
        rows[mean_of_cells].assign(label=rows["group"].str.partition(":")[2]),
        rows[whole & six].assign(label="mean"),
        rows[whole].assign(label=rows["variation_set"].map(SETS)),
    ]
    once = pd.concat(labels).drop_duplicates(["label", "system"], keep="last")
    wide = once.pivot(index="label", columns="system", values=["ci_low", "ci_high", "se"]).astype(float)
    return Intervals(wide["ci_low"], wide["ci_high"], wide["se"])


def _table_part(
    title: str, text: str, number: int, values: pd.DataFrame, corner: str, precision: Intervals
) -> Part:
    values = values.rename_axis(corner)
    rule = ["mean"] if "mean" in values.index else []
    table = Table(
        f"Table {number}. AUC.",
        values,
        formatted_with_intervals(values, precision),
        note=f"{INTERVALS} Other templates would give an AUC in it.",
        file=f"german_table{number}",
        rule_above=rule,
        intervals=precision,
    )
    picture = Picture(
        name=f"german_table{number}",
        caption=f"{title}: AUC of people, of this run's models and of the published ones.",
        alt=f"Heat map, systems down and {corner.lower()} across; the numbers are in its cells.",
        draw=lambda: heat_maps({"": values.T}, 0, 1, "AUC", score, across=1),
        tables=[table],
    )
    return Part(title, text, [picture])


def _correlation_part(systems: Cells, rows: pd.DataFrame) -> Iterator[Part]:
    """Pearson's r between the human cells and each system's (Table 5)."""
    if HUMANS not in systems:
        return
    human = systems[HUMANS]
    found = {
        system: [_agreement(grids.get(kind), human.get(kind)) for kind in SETS]
        for system, grids in systems.items()
        if system != HUMANS
    }
    values = pd.DataFrame(found, index=list(SETS.values())).T.rename_axis("System")
    table = Table(
        "Table 5. Pearson's r with the human cells.", values, formatted(values, score), file="german_table5"
    )
    picture = Picture(
        name="german_table5",
        caption="Pearson's r between the 36 human cells and each system's. The paper's Table 5 is the first column.",
        alt="Heat map of correlations, systems down and kinds of set across; the numbers are in its cells.",
        draw=lambda: heat_maps({"": values}, -1, 1, "Pearson's r", score, across=1),
        tables=[table, *_agreement_table(systems, rows)],
    )
    text = "Does a system prefer the same orders and roles as people, whatever its level?"
    yield Part("Agreement with people (Table 5)", text, [picture])


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
        values = pd.DataFrame(found, index=headings).T.rename_axis("System")
        caption = "Agreement over the cells of (1-6) sets, with the 95 % interval of Pearson's r over "
        caption += "templates (none for published scores, whose templates are not known)."
        yield Table(caption, values, formatted(values, score), file="german_agreement")


def _contrast_part(systems: Cells) -> Part:
    whole = {system: grids["1-6"] for system, grids in systems.items() if "1-6" in grids}
    values = pd.DataFrame({system: contrasts(grid) for system, grid in whole.items()}).T.rename_axis("System")
    groups = list(dict.fromkeys(values.columns.get_level_values(0)))
    drawn = values.drop(columns=[column for column in values.columns if column[1] == "effect"])
    table = Table("Means of AUC by constraint.", values, formatted(values, score), file="german_contrasts")
    picture = Picture(
        name="german_contrasts",
        caption="Where the nominative comes (NOMALIGN), and whether the dative comes before the accusative (DATALIGN), "
        "over all role assignments and over the two plausible ones.",
        alt="Dots per system for each position; the numbers are in the table below.",
        draw=lambda: dots(drawn, groups, "AUC", chance=0.5),
        tables=[table],
    )
    text = "Keller's two constraints on German word order: nominative before the rest, dative before accusative. "
    text += "People follow the first throughout and the second where the roles are plausible; the first is stronger. "
    text += "The effect is the first position's mean minus the last one's."
    return Part("Word order constraints (NOMALIGN, DATALIGN)", text, [picture])


_COVERAGE_TEXT = (
    "Minimal variation sets behind the AUCs, and comparisons in them that were tied (they count half) or lacked a "
    "number (they count as lost)."
)


_COUNTS = (("n", "sets"), ("n_excluded", "left out"), ("n_ties", "tied"), ("n_nonfinite", "no number"))


def _coverage(rows: pd.DataFrame) -> Table:
    whole = rows[rows["group"] == "all"].drop_duplicates(["system", "variation_set"], keep="last")
    columns = {
        (SETS.get(kind, kind), title): part.set_index("system")[column]
        for kind, part in whole.groupby("variation_set", sort=False)
        for column, title in _COUNTS
    }
    counts = pd.DataFrame(columns).reindex(pd.unique(whole["system"])).rename_axis("System")
    return Table("Sets behind the AUCs.", counts, formatted(counts, count))
