"""Tables 2 and 3 and Figures 1 to 4 of Newman, Ang, Gong & Hewitt (2021), on results of the suite agreement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..io.runs import ScoreFile
from ..report.blocks import Block, Plain, Plot, Table
from ..report.headline import noted
from ..report.scores import ALL, MOST_ACROSS, drawn
from ..suites.agreement.data.paper_examples import positions
from .published import rows as published_rows

NAME = "Newman et al. 2021"
METRICS = {"ew": "EW", "mw": "MW", "tse": "TSE"}
CAUSAL = "gpt2-xl"
"""The published system that sees only what precedes the gap; the others are masked models."""
EXAMPLES = 9
"""Contexts of Table 3 for each system, besides the paper's."""
FIGURES = {
    "ew": ("EW", "EW by cut-off (Figures 1 and 2)."),
    "mw": ("MW", "MW by cut-off (Figures 1 and 2)."),
    "covered_mass": (
        "covered mass",
        "The probability of both forms of the verbs that EW counts (Figure 3).",
    ),
    "share_without_lemmas": (
        "share of contexts",
        "Contexts without a verb within the cut-off (Figure 4).",
    ),
}
CUT_OFFS = "verbs that count, by their probability at the gap"
OF_SCORES = " Band: 95 % interval; hollow: too few nouns; dashed: guessing."
TITLE = "by construction, which is what stands between the subject and the verb (Table 2)."
WHY_CUT_OFF = (
    "Right half of a panel: only the verbs in the likeliest p % of what the model would say at each place, up to all. "
    "Left half: only verbs in the rarest p %, which it would hardly ever say. A model that knows agreement as a rule "
    "stays high on both sides."
)


def parts(rows: pd.DataFrame, tables: Callable[[str], Mapping[str, ScoreFile]]) -> dict[str, Sequence[Block]]:
    """Return the paper's tables and figures of tidy rows on one data set, by heading."""
    rows = _in_order(rows)
    few, which = drawn(rows[rows["source"].eq("run") & rows["score"].notna()], MOST_ACROSS)
    return {
        "By construction": [*table2(rows), *overview(few, which)] if rows["level"].ne(ALL).any() else [],
        "Likely and unlikely verbs": figures(few, which),
        "The most probable words": table3(tables("top_forms"), which),
    }


def published(rows: pd.DataFrame) -> pd.DataFrame:
    """Return Table 2 for the constructions of a run on the paper's data, and means over these with our weights."""
    of_paper = rows["dataset"].isin(["agreement_templates", "blimp_agreement"]) & rows["forms"].ne("all")
    ours = uncut(rows[rows["source"].eq("run") & rows["level"].eq("group") & of_paper])
    counts = ours.groupby(["config", "metric", "value"])["n"].agg(["min", "max"]).reset_index()
    paper = published_rows("newman2021").query("table == '2'").drop(columns="n")
    paper = paper.merge(counts, on=["config", "metric", "value"])
    paper = paper.assign(measure=paper["metric"].map(METRICS))
    # what a masked model sees goes on after the gap, so it has more contexts than a causal one
    n = paper["min"].where(paper["system"] == CAUSAL, paper["max"]).astype(float)
    keys = ["source", "system", "suite", "metric", "measure"]
    sums = paper.assign(weighted=paper["score"] * n, n=n).groupby(keys, sort=False)[["weighted", "n"]].sum()
    total = (sums["weighted"] / sums["n"]).rename("score").reset_index().assign(level=ALL, value="")
    return pd.concat([paper[list(total)], total], ignore_index=True)


def uncut(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the scores over the whole distribution; TSE and published rows have no cut-off."""
    return rows[rows["cutoff"].isna() | (rows["cutoff_side"].eq("top") & rows["cutoff"].eq(1.0))]


def _in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by construction, as the data does, all of them last, and by measure; systems keep their order."""
    metrics = list(dict.fromkeys([*METRICS, *rows["metric"]]))
    order = [rows["metric"].map(metrics.index), pd.factorize(rows["value"])[0], rows["level"].eq(ALL)]
    rows = rows.assign(label=rows["label"].where(rows["level"] != ALL, "All constructions"))
    return rows.iloc[np.lexsort(order)]


def table2(rows: pd.DataFrame) -> list[Block]:
    """Return EW, MW and TSE by construction; as published, folded."""
    shown = uncut(rows[rows["metric"].isin(METRICS)])
    ours, theirs = shown[shown["source"] == "run"], shown[shown["source"] != "run"]
    title, across = TITLE if len(theirs) else "by construction.", ("measure", "system")
    tables = [noted(Table("table2", f"Scores {title}", ours, columns=across, intervals=False))]
    if ours["system"].nunique() > MOST_ACROSS:
        tables = [
            noted(replace(tables[0], name=f"table2_{label}", title=f"{label} {title}", scores=of, rows="system",
                          columns=("label",), folded=label != "EW"))
            for label, of in ours.groupby("measure", sort=False)
        ]  # fmt: skip
    title = "As published (Table 2), for the constructions of this run."
    of_paper = Table("table2_published", title, theirs, columns=across, intervals=False, folded=True, bars="")
    return [*tables, of_paper] if len(theirs) else [*tables]


def overview(rows: pd.DataFrame, which: str) -> list[Block]:
    """Return a picture of Table 2: a panel for each measure."""
    shown = uncut(rows[rows["metric"].isin(METRICS)])
    points = shown.assign(panel=shown["measure"], series=shown["system"], y=shown["score"])
    title = f"Scores with 95 % intervals; hollow: too few verbs to rely on it; dashed: guessing.{which}"
    return [Plot("agreement_overview", title, "dots", points, "score")] if len(points) else []


def figures(rows: pd.DataFrame, which: str) -> list[Block]:
    """Return the scores by cut-off, a panel for each construction: on the left the least probable p, right the most."""
    cuts = rows[["cutoff_side", "cutoff"]].dropna().drop_duplicates().sort_values(["cutoff_side", "cutoff"])
    if len(cuts) < 2:  # over all forms, there is the whole distribution alone
        return []
    cuts["x"] = np.arange(len(cuts)) + 1.5 * cuts["cutoff_side"].eq("top").to_numpy()
    named = cuts[cuts["cutoff"].isin([1e-6, 0.5, 1.0])]
    words = {"bottom": "rarest", "top": "likeliest"}
    ticks = {of.x: f"{words[of.cutoff_side]}\n{100 * of.cutoff:.4g} %" for of in named.itertuples()}
    ticks |= {of.x: "all" for of in named.itertuples() if of.cutoff == 1}
    points = rows.merge(cuts).rename(columns={"cutoff_side": "piece"})
    own = points["score_own_lemmas"]  # a curve is over the same verbs from end to end
    points = points.assign(panel=points["label"], label=points["system"], y=own.fillna(points["score"]))
    points.loc[own.notna(), ["ci_low", "ci_high"]] = np.nan
    points = points.iloc[np.lexsort([points["x"], points.groupby(["panel", "label"], sort=False).ngroup()])]
    found: list[Block] = [WHY_CUT_OFF]
    for metric, (axis, title) in FIGURES.items():
        name, of, is_folded = f"cutoffs_{metric}", points[points["metric"] == metric], metric != "ew"
        chance, note = (0.5, OF_SCORES) if metric in METRICS else (None, "")
        title += " Over each model's own verbs." * bool(own.notna().any()) + note + which
        if len(of):
            found.append(
                Plot(name, title, "lines", of, CUT_OFFS, axis, chance, folded=is_folded, ticks=ticks)
            )
    return found


def table3(files: Mapping[str, ScoreFile], which: str) -> list[Block]:
    """Return the most probable words at some gaps, marked as right or wrong; the paper's two gaps first."""
    names = ["context_id", "group", "prefix", "suffix", "rank", "form", "probability", "status"]
    frames = []
    for system, file in list(files.items())[:MOST_ACROSS]:
        forms = file.read(names)
        contexts = forms.drop_duplicates(["group", "context_id"])
        turn = np.array(contexts.groupby("group", sort=False).cumcount())  # evenly over the constructions
        papers = positions(contexts)
        turn[papers] = -1
        chosen = contexts.iloc[np.argsort(turn, kind="stable")[: EXAMPLES + len(papers)]]
        place = forms["context_id"].map({of: place for place, of in enumerate(chosen["context_id"])})
        shown = forms.assign(place=place, system=system).dropna(subset=["place"])
        shown = shown.drop_duplicates(["context_id", "rank"])
        frames.append(shown.sort_values(["place", "rank"], kind="stable"))
    if not frames:
        return []
    theirs = published_rows("newman2021").query("table == '3'")
    theirs = theirs.rename(columns={"value": "form", "score": "probability"})
    seen = {prefix for of in frames for prefix in of["prefix"].str.strip()}
    shown = pd.concat([theirs[theirs["prefix"].str.strip().isin(seen)], *frames])
    sign = shown["status"].map({"correct": "✓ ", "incorrect": "✗ "}).fillna("")
    words = sign + shown["form"] + shown["probability"].map(" {:.3f}".format)
    prefix, suffix = (shown[side].fillna("").str.strip() for side in ("prefix", "suffix"))
    shown = shown.assign(sentence=prefix + " ___ " + suffix, words=words)
    words = shown.groupby(["system", "sentence"], sort=False)["words"].agg(", ".join)
    title = f"The most probable words at a gap, with their probabilities (Table 3).{which}"
    note = "✓ and ✗: a form of a listed verb in the right or the wrong number; other words are not judged."
    return [Plain("table3", title, words.to_frame("most probable words"), note)]
