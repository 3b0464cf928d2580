"""The agreement suite's section: Tables 2 and 3 and Figures 1 to 4 of Newman et al. (2021)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ...io.table_files import is_table
from ...report.best import best_of_rows, unusable
from ...report.charts import dots, single_dots
from ...report.findings import extremes
from ...report.inputs import Runs, basename
from ...report.plots import Picture
from ...report.published import published
from ...report.section import Part, Section
from ...report.tables import (
    INTERVALS,
    MISSING,
    Intervals,
    Table,
    formatted,
    formatted_with_intervals,
    score,
)
from .contrast import own_contrasts
from .cutoffs import without_cutoff
from .frequency import METRICS as METRICS_BY_FREQUENCY
from .section_coverage import coverage_part, forms_of, lemma_counts, strata_parts
from .section_cutoffs import ROW_LINES, curve_parts
from .section_examples import example_parts
from .section_frequency import frequency_parts
from .section_onset import onset_parts

METRICS = {"mw": "MW", "ew": "EW", "tse": "TSE"}
PAPER_CONFIGS = ("marvin_linzen", "newman2021")
CONFIG_NAMES = {
    "marvin_linzen": "Marvin & Linzen",
    "newman2021": "BLiMP (the paper's copy)",
    "blimp": "BLiMP",
}

TERMS = {
    "TSE": "Targeted syntactic evaluation: the share of sentence pairs in which the model finds the right "
    "form of the template's own verb more probable than the wrong one. Pairs whose two forms are not both "
    "single tokens of the model's vocabulary are excluded and counted.",
    "EW (systematicity)": "Equally weighted: the same question asked of every verb of a long list, each verb "
    "counting the same. Can the model conjugate any verb, likely or not?",
    "MW (likely behaviour)": "Model weighted: of the probability that the model gives to the two forms of "
    "the listed verbs, the share that lies on the right ones. If the model were to continue by itself, "
    "would it be right?",
    "Top p, bottom p": "The scores again with the verb list limited to forms within the most probable p of "
    "the distribution (what nucleus sampling keeps), or to verbs with both forms within the least "
    "probable p.",
    "Covered mass": "The probability that the listed verbs' forms take up at the gap. The rest lies on other "
    "words and other inflections, which say nothing about agreement.",
}


def section(runs: Runs) -> Section | None:
    """Build the section, or None where the suite was not run."""
    rows = labelled(runs.suite("agreement"))
    if rows.empty:
        return None
    systems = list(dict.fromkeys(rows["system"]))
    contrasts = own_contrasts(runs)
    parts = [
        *_table2_parts(rows, systems, runs),
        *strata_parts(rows, systems),
        *frequency_parts(rows, systems),
        *onset_parts(labelled(runs.every_revision().suite("agreement"))),
        *curve_parts(rows[~rows["metric"].isin(METRICS_BY_FREQUENCY)], systems),
        *example_parts(runs),
    ]
    return Section(
        name="agreement",
        title="Agreement" if contrasts else "Subject–verb agreement",
        lead=f"Each context is a sentence with a gap where its verb belongs{_example(rows)}. The model's distribution "
        "over words at the gap is read at the singular and the plural form of many verbs. A causal model sees the left "
        "side of the gap only, a masked model both sides; scores are means over the contexts that differ for the "
        "model. All scores lie between 0 and 1." + _contrast_note(contrasts),
        terms=TERMS,
        parts=[*parts, coverage_part(rows, systems, runs)],
        source="Newman, Ang, Gong & Hewitt (2021), Refining Targeted Syntactic Evaluation of Language "
        "Models, NAACL. Templates: Marvin & Linzen (2018), EMNLP; Warstadt et al. (2020), TACL.",
    )


def _data_name(config: object) -> str:
    """Name a configuration in prose."""
    return CONFIG_NAMES.get(str(config), str(config).replace("_", " "))


def _example(rows: pd.DataFrame) -> str:
    """Return an English example where the contexts are English."""
    return " (The keys to the cabinet __ on the table)" if rows["config"].isin(CONFIG_NAMES).all() else ""


def _contrast_note(contrasts: list[str]) -> str:
    """Say what the forms are where they do not differ in number."""
    if not contrasts:
        return ""
    return (
        f" Data with other values than the two numbers ({'; '.join(contrasts)}): there, the two forms of a word are "
        "those of the first and of the second value, and what is said here of verbs holds for these words."
    )


def labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Add `label`, the row of Table 2 that a result belongs to, and put the rows into the table's order."""
    rows = rows.copy()
    config = rows["config"].fillna(rows["dataset"]).fillna("")
    configs = config.groupby(rows["group"]).nunique()
    whole = rows["group"] == "all"
    # The mean over everything is another one for each data set; other groups only where several have them.
    ambiguous = rows["group"].map(configs) > 1
    named = rows["group"].where(~ambiguous, rows["group"] + " (" + config + ")")
    rows["label"] = named.where(~whole, "All of " + config.replace(CONFIG_NAMES))
    # A data set that is a single row of the table would otherwise appear twice, as the row and as its mean.
    groups = rows[~whole].groupby(config[~whole])["group"].nunique()
    rows = rows[~(whole & (config.map(groups) == 1))]
    order = {label: position for position, label in enumerate(_ordered(rows["label"].unique()))}
    return rows.sort_values("label", key=lambda column: column.map(order), kind="stable")


def of_paper(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Mark results on the paper's data; a user's file may have the name of a configuration."""
    ours = ~rows["dataset"].astype(str).map(lambda dataset: is_table(dataset) or "/" in dataset).astype(bool)
    return rows["config"].isin(PAPER_CONFIGS) & ours


def _ordered(labels: np.ndarray) -> list[str]:
    known = list(ROW_LINES)

    def place(label: str) -> tuple[bool, int, str]:
        group = label.split(" (newman2021)")[0].split(" (blimp)")[0]
        return label.startswith("All of "), known.index(group) if group in known else len(known), label

    return sorted(labels, key=place)


def _wide(rows: pd.DataFrame, column: str, systems: list[str], inner: list[str]) -> pd.DataFrame:
    """Spread one column into label × (system, metric), in the order of the table."""
    once = rows.drop_duplicates(["label", "system", "metric"], keep="last")
    wide = once.pivot(index="label", columns=["system", "metric"], values=column)
    wide = wide.reindex(index=pd.unique(rows["label"]))
    there = [(system, metric) for system in systems for metric in inner if (system, metric) in wide.columns]
    return wide.reindex(columns=pd.MultiIndex.from_tuples(there, names=["system", "metric"]))


def _table2_parts(rows: pd.DataFrame, systems: list[str], runs: Runs) -> Iterator[Part]:
    """Yield the paper's measure, and the scores over all verbs, where they were run."""
    for forms, own in rows.groupby(forms_of(rows), sort=False):
        of_them = [system for system in systems if (own["system"] == system).any()]
        yield _table2_part(own, of_them, str(forms), runs)


def _table2_part(rows: pd.DataFrame, systems: list[str], forms: str, runs: Runs) -> Part:
    whole = without_cutoff(rows)
    scores = _wide(whole, "score", systems, list(METRICS)).astype(float)
    scores.columns = scores.columns.map(lambda column: (column[0], METRICS[column[1]]))
    ends = (_wide(whole, end, systems, list(METRICS)) for end in ("ci_low", "ci_high", "se"))
    intervals = Intervals(*ends).map(lambda ends: ends.set_axis(scores.columns, axis=1))
    scores.index.name = "Templates"
    beside = _published_beside(scores, whole if forms == "single" else whole[:0])
    values = _with_published(scores, beside)
    apart = [label for label in scores.index if label.startswith("All of ")][:1]
    known = beside.notna().any(axis=None)
    single = forms == "single"
    papers = of_paper(whole)
    is_paper = single and bool(papers.all())
    of_data = "" if papers.any() else f" of {', '.join(map(_data_name, pd.unique(whole['config'])))}"
    text = formatted_with_intervals(scores, intervals)
    table = Table(
        caption=f"MW, EW and TSE per construction{of_data}{'' if single else ', all verbs'}."
        + (
            " In parentheses: the value that Newman et al. (2021) published for the model of that name."
            if known
            else ""
        ),
        values=values,
        text=text,
        beside=formatted(beside, score).replace(MISSING, "") if known else None,
        note="MW rests on probabilities, EW and TSE on right or wrong, so that MW does not compare with the "
        f"other two directly. Verb lists differ between vocabularies. {lemma_counts(whole)}",
        file="table2" if single else "table2_all_forms",
        rule_above=apart,
        intervals=intervals,
        number="Table 2" if is_paper else "",
        interval_note=f"{INTERVALS} The intervals are over other nouns and, for EW and TSE, other verbs; for MW, "
        "the verbs are held fixed.",
        best=best_of_rows(scores, text, _compared(scores.columns, runs)),
    )
    picture = Picture(
        name="agreement_overview" if single else "agreement_overview_all_forms",
        caption="MW, EW and TSE side by side. Where EW is lower than TSE, the model knows the "
        "template's own verb better than other verbs.",
        alt=f"MW, EW and TSE per construction, for {len(systems)} systems. {extremes(scores, score)}",
        draw=lambda: dots(scores, systems, "score", chance=0.5),
        panels=single_dots(scores, systems, "score", 0.5),
        panel_caption="scores by construction.",
    )
    about = "The paper's main table. " if is_paper else ""
    about += (
        "High TSE with lower EW means that the model conjugates the verbs it was "
        "asked about, but not just any verb."
    )
    title = "Scores by construction" if single else "Scores by construction, all verbs"
    about += "" if single else _ALL_FORMS_TEXT
    return Part(title, about, [table, picture, *(_published_table() if single and papers.any() else ())])


_ALL_FORMS_TEXT = (
    " These scores are over all verbs of the list, also those whose forms are several tokens, so that models with "
    "different vocabularies compare. They are not the paper's measure."
)


def _compared(columns: pd.MultiIndex, runs: Runs) -> list[str | None]:
    """Return the measure of each column whose scores compare with other systems' scores, None for the others."""
    excluded = {
        measure: unusable(runs, "agreement", measure != METRICS["tse"]) for measure in METRICS.values()
    }
    return [None if system in excluded[measure] else measure for system, measure in columns]


def _published_beside(scores: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the published numbers of the models that are the paper's, NaN elsewhere."""
    paper = published("newman2021_table2")
    beside = pd.DataFrame(np.nan, index=scores.index, columns=scores.columns)
    if paper.empty:
        return beside
    lookup = paper.set_index(["model", "metric", "construction"])["score"].to_dict()
    about = rows.assign(is_paper=of_paper(rows))
    about = about.drop_duplicates(["label", "system"]).set_index(["label", "system"])
    for label in beside.index:
        for system, metric in beside.columns:
            if (label, system) in about.index:
                row = about.loc[(label, system)]
                if row["is_paper"]:
                    key = (basename(str(row["model"])), metric, row["group"])
                    beside.loc[label, (system, metric)] = lookup.get(key, np.nan)
    return beside


def _with_published(scores: pd.DataFrame, beside: pd.DataFrame) -> pd.DataFrame:
    """Put a published column next to ours wherever there is one, for the CSV file."""
    columns = {}
    for system, metric in scores.columns:
        columns[(system, metric)] = scores[(system, metric)]
        if beside[(system, metric)].notna().any():
            columns[(system, f"{metric} published")] = beside[(system, metric)]
    return pd.DataFrame(columns, index=scores.index)


def _published_table() -> Iterator[Table]:
    paper = published("newman2021_table2")
    if not paper.empty:
        wide = paper.pivot(index="construction", columns=["model", "metric"], values="score")
        wide = wide.reindex(index=pd.unique(paper["construction"]))
        wide = wide[[(model, metric) for model in pd.unique(paper["model"]) for metric in METRICS.values()]]
        wide.index.name = "Templates"
        yield Table(
            "Table 2 as published (Newman et al. 2021).",
            wide,
            formatted(wide, score),
            rule_above=["BLiMP"],
            folded=True,
        )
