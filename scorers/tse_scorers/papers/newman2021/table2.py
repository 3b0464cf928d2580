"""Table 2 of Newman et al. (2021): TSE, EW and MW by construction, and the picture of it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from ...io.table_files import is_table
from ...report.best import best_of_rows, unusable
from ...report.blocks import Chart, View
from ...report.charts import MANY, WHISKERS
from ...report.inputs import Runs
from ...report.systems import basename
from ...report.tables import (
    MISSING,
    Table,
    formatted,
    score,
    spread,
)
from ...suites.agreement.estimate.measures import WHOLE, without_cutoff
from ...suites.agreement.options import CONFIG_NAMES
from ...suites.agreement.show.texts import WHOLE_DATA
from ..published import published

METRICS = {"tse": "TSE", "ew": "EW", "mw": "MW"}
"""In the order of all tables here; Newman et al. (2021) print MW, EW, TSE."""
_HEADLINES = list(METRICS.values())
PAPER_CONFIGS = ("marvin_linzen", "newman2021")


def table2_views(rows: pd.DataFrame, runs: Runs) -> Iterator[View]:
    """Yield the paper's measure, and the scores over all verbs, where they were run."""
    rows = without_cutoff(rows)
    for single, of_forms in rows.groupby(rows["forms"] != "all", sort=False):  # without a value: single
        yield _table2_view(of_forms, bool(single), runs)


def _table2_view(rows: pd.DataFrame, single: bool, runs: Runs) -> View:
    about = "The paper's main table. " if single and of_paper(rows).all() else ""
    about += (
        "High TSE with lower EW means that the model knows the forms of the sentences' own words, but not of just any "
        "word."
    )
    title = "Scores by construction" if single else "Scores by construction, all verbs"
    about += "" if single else _ALL_FORMS_TEXT
    return View(title, about, partial(_blocks, rows, single, runs), headlines=_HEADLINES)


def _blocks(rows: pd.DataFrame, single: bool, runs: Runs) -> list[Table | Chart]:
    table = _table2(rows, single, runs)
    scores = table.values[table.text.columns]
    picture = Chart.dots(
        "agreement_overview" if single else "agreement_overview_all_forms",
        scores,
        table.intervals,
        "TSE, EW and MW side by side. Where EW is lower than TSE, the model knows the test verbs better than other "
        f"verbs. {WHISKERS}",
        alt=f"TSE, EW and MW per construction, for {rows['system'].nunique()} models.",
        x="score",
        panel_caption="scores by construction.",
        basis=table.basis,
        names_with_n=True,
    )
    return [table, picture, *([_published_table()] if single and of_paper(rows).any() else ())]


def _table2(rows: pd.DataFrame, single: bool, runs: Runs) -> Table:
    """Return the table, with the published scores of the paper's models beside ours."""
    papers = of_paper(rows)
    of_data = "" if papers.any() else f" of {', '.join(map(_data_name, pd.unique(rows['config'])))}"
    table = Table.of_scores(
        by_metric(rows, METRICS),
        f"TSE, EW and MW per construction{of_data}{'' if single else ', all verbs'}.",
        "Templates",
        across=("system", "measure"),
        about="The intervals are over other nouns and, for EW and TSE, other verbs; for MW, the verbs are held fixed.",
        totals=[label for label in pd.unique(rows["label"]) if label.startswith(WHOLE_DATA)],
        note="MW is a share of probability, EW and TSE are shares of right decisions, so MW is not directly comparable "
        f"with the other two. {lemma_counts(rows)}".rstrip(),
        file="table2" if single else "table2_all_forms",
        number="Table 2" if single and papers.all() else "",
    )
    best = best_of_rows(table.values, table.text, _compared(table.values.columns, runs), table.intervals)
    beside = _published_beside(table.values, rows if single else rows[:0])
    if not beside.notna().any(axis=None):
        return replace(table, best=best)
    return replace(
        table,
        caption=f"{table.caption} In parentheses: the value that Newman et al. (2021) published for the model of that "
        "name.",
        values=_with_published(table.values, beside),
        beside=formatted(beside, score).replace(MISSING, ""),
        best=best,
    )


def of_paper(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Mark results on the paper's data; a user's file may have the name of a configuration."""
    others = [name for name in rows["dataset"].unique() if is_table(str(name)) or "/" in str(name)]
    return rows["config"].isin(PAPER_CONFIGS) & ~rows["dataset"].isin(others)


def lemma_counts(rows: pd.DataFrame) -> str:
    """Say how many lemmas EW and MW are over, for each system or, of many, from least to most."""
    is_over_lemmas = rows["metric"].isin(["ew", "mw"]) & rows["n_lemmas"].notna()
    over_lemmas = rows[is_over_lemmas].drop_duplicates("system")
    counts = dict(zip(over_lemmas["system"], over_lemmas["n_lemmas"].astype(int), strict=True))
    if not counts:
        return ""
    least, most = min(counts.values()), max(counts.values())
    if least == most:
        return f"EW and MW: over {least:,} lemmas."
    numbers = (f"{system} {n:,}" for system, n in counts.items())
    shown = f"{least:,} to {most:,}" if len(counts) > MANY else ", ".join(numbers)
    return f"Verb lists differ between vocabularies. Lemmas behind EW and MW: {shown}."


def by_metric(rows: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the results of some metrics as cells, which a table has in the order of `names`, with `measure`."""
    rows = rows[rows["metric"].isin(list(names))]
    order = [rows["metric"].map(list(names).index), pd.factorize(rows["label"])[0]]
    return rows.assign(measure=rows["metric"].map(names)).iloc[np.lexsort(order)]


def _data_name(config: object) -> str:
    """Name a configuration in prose."""
    return CONFIG_NAMES.get(str(config), str(config).replace("_", " "))


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
    scored = rows[of_paper(rows)].drop_duplicates(["label", "system"])[["label", "system", "group", "model"]]
    paper = paper.rename(columns={"metric": "measure", "construction": "group"})
    beside = scored.assign(model=scored["model"].map(basename)).merge(paper, on=["model", "group"])
    return spread(beside, "score", ("system", "measure")).reindex(index=scores.index, columns=scores.columns)


def _with_published(scores: pd.DataFrame, beside: pd.DataFrame) -> pd.DataFrame:
    """Put a published column next to ours wherever there is one, for the CSV file."""
    columns = {}
    for system, metric in scores.columns:
        columns[(system, metric)] = scores[(system, metric)]
        if beside[(system, metric)].notna().any():
            columns[(system, f"{metric} published")] = beside[(system, metric)]
    return pd.DataFrame(columns, index=scores.index)


def _published_table() -> Table:
    paper = published("newman2021_table2")
    wide = paper.pivot(index="construction", columns=["model", "metric"], values="score")
    wide = wide.reindex(index=pd.unique(paper["construction"]))
    wide = wide[[(model, metric) for model in pd.unique(paper["model"]) for metric in METRICS.values()]]
    wide.index.name = "Templates"
    caption = "Table 2 as published (Newman et al. 2021)."
    return Table(caption, wide, formatted(wide, score), totals=["BLiMP"], folded=True)


def published_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's Table 2 as rows of results, for results of the suite on its data."""
    configs = rows.loc[of_paper(rows) & (rows["forms"] != "all"), "config"].unique()
    if not len(configs):
        return pd.DataFrame(columns=["system", "metric", "config", "level", "value", "score", *WHOLE])
    metrics = {label: name for name, label in METRICS.items()}
    paper = published("newman2021_table2").sort_values("model", kind="stable")
    paper = paper.assign(
        system=paper["model"] + " (published)", metric=paper["metric"].map(metrics), level="group"
    )
    paper = paper.rename(columns={"construction": "value"}).assign(**WHOLE)
    paper.loc[paper["metric"] == "tse", list(WHOLE)] = None
    return pd.concat([paper.assign(config=config) for config in configs])
