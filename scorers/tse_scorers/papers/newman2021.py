"""Tables 2 and 3 and Figures 1 to 4 of Newman, Ang, Gong & Hewitt (2021), on results of the suite agreement."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..io.store import Record
from ..report.blocks import Block, Plain, Plot, Table
from ..report.draw import MOST_BANDS
from ..report.headline import noted
from ..report.scores import MOST_ACROSS, drawn
from ..suites.base import ALL
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
    "covered_mass": ("covered mass", "The probability of both forms of the verbs that EW counts (Figure 3)."),
    "without_lemmas": ("share of contexts", "Contexts without a verb within the cut-off (Figure 4)."),
}
CUT_OFFS = "verbs that count, by their probability at the gap"
OF_SCORES = " Hollow: too few nouns; dashed: guessing."
TITLE = "by construction, which is what stands between the subject and the verb (Table 2)."
WHY_CUT_OFF = (
    "Right half of a panel: only the verbs in the likeliest p % of what the model would say at each place, up to all. "
    "Left half: only verbs in the rarest p %, which it would hardly ever say. A model that knows agreement as a rule "
    "stays high on both sides."
)


def parts(rows: pd.DataFrame, records: Mapping[str, Record]) -> dict[str, Sequence[Block]]:
    """Return the paper's tables and figures of tidy rows on one data set, by heading."""
    rows = _in_order(rows)
    few, which = drawn(rows[rows["source"].eq("run") & rows["score"].notna()], MOST_ACROSS)
    return {
        "By construction": [*table2(rows), *overview(few, which)] if rows["level"].ne(ALL).any() else [],
        "Likely and unlikely verbs": figures(few, which),
        "The most probable words": table3(records, which),
    }


def published(rows: pd.DataFrame) -> pd.DataFrame:
    """Return Table 2 for the constructions of a run on the paper's data, and means over these with our weights."""
    of_paper = rows["dataset"].isin(["agreement_templates", "blimp_agreement"])
    ours = rows[rows["source"].eq("run") & rows["level"].eq("group") & of_paper & rows["name"].isin(METRICS)]
    counts = ours.groupby(["config", "name", "value"])["n"].agg(["min", "max"]).reset_index()
    paper = published_rows("newman2021").query("table == '2'").drop(columns="n")
    paper = paper.merge(counts, on=["config", "name", "value"])
    paper = paper.assign(measure=paper["name"].map(METRICS))
    # what a masked model sees goes on after the gap, so it has more contexts than a causal one
    n = paper["min"].where(paper["system"] == CAUSAL, paper["max"]).astype(float)
    keys = ["source", "system", "suite", "name", "measure"]
    sums = paper.assign(weighted=paper["score"] * n, n=n).groupby(keys, sort=False)[["weighted", "n"]].sum()
    total = (sums["weighted"] / sums["n"]).rename("score").reset_index().assign(level=ALL, value="")
    return pd.concat([paper[list(total)], total], ignore_index=True)


def _in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by construction, as the data does, all of them last, and by measure; systems keep their order."""
    names = list(dict.fromkeys([*METRICS, *rows["name"]]))
    order = [rows["name"].map(names.index), pd.factorize(rows["value"])[0], rows["level"].eq(ALL)]
    rows = rows.assign(label=rows["label"].where(rows["level"] != ALL, "All constructions"))
    return rows.iloc[np.lexsort(order)]


def table2(rows: pd.DataFrame) -> list[Block]:
    """Return EW, MW and TSE by construction; as published, folded."""
    shown = rows[rows["name"].isin(METRICS)]
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
    shown = rows[rows["name"].isin(METRICS)]
    points = shown.assign(panel=shown["measure"], series=shown["system"], y=shown["score"])
    title = f"Scores with 95 % intervals; hollow: too few verbs to rely on it; dashed: guessing.{which}"
    return [Plot("agreement_overview", title, "dots", points, "score")] if len(points) else []


def figures(rows: pd.DataFrame, which: str) -> list[Block]:
    """Return the scores by cut-off, a panel for each construction: on the left the least probable p, right the most."""
    if rows.empty:
        return []
    base, point = (rows["name"].str.partition("@")[part] for part in (0, 2))
    side, cutoff = (point.where(point != "", "top-1").str.split("-", n=1).str[part] for part in (0, 1))
    rows = rows.assign(base=base, cutoff_side=side, cutoff=cutoff.astype(float))[base.isin(list(FIGURES))]
    cuts = rows[["cutoff_side", "cutoff"]].drop_duplicates().sort_values(["cutoff_side", "cutoff"])
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
        name, of, is_folded = f"cutoffs_{metric}", points[points["base"] == metric], metric != "ew"
        chance, note = (0.5, OF_SCORES) if metric in METRICS else (None, "")
        note += " Band: 95 % interval." * (chance is not None and of["system"].nunique() <= MOST_BANDS)
        title += " Over each model's own verbs." * bool(own.notna().any()) + note + which
        if len(of):
            found.append(
                Plot(name, title, "lines", of, CUT_OFFS, axis, chance, folded=is_folded, ticks=ticks)
            )
    return found


def probable_forms(record: Record, contexts: Collection[str] | None = None) -> pd.DataFrame:
    """Return the most probable words at each gap, or at those of some contexts.

    The columns are `context`, `group`, `prefix`, `suffix`, `rank`, `form`, `probability`, and `status` (`correct`,
    `incorrect`, or "" for a word that is no form of a listed verb).
    """
    columns = ["context", "group", "number", "prefix", "suffix", "words", "probabilities"]
    table = record.tables["contexts"].read(columns)
    if "words" not in table:
        return pd.DataFrame()
    table = table if contexts is None else table[table["context"].isin(contexts)]
    table = table.explode(["words", "probabilities"], ignore_index=True)
    table = table.rename(columns={"words": "form", "probabilities": "probability"})
    lemmas = record.tables["lemmas"].read(["singular", "plural"])
    word, is_singular = table["form"].str.strip().str.lower(), table["number"] == "singular"
    in_singular, in_plural = (word.isin(set(lemmas[number].str.lower())) for number in ("singular", "plural"))
    right, wrong = in_singular.where(is_singular, in_plural), in_plural.where(is_singular, in_singular)
    rank = table.groupby(["context", "group"], sort=False).cumcount() + 1
    status = np.select([right, wrong], ["correct", "incorrect"], "")
    return table.assign(probability=table["probability"].astype(float), rank=rank, status=status)


def table3(records: Mapping[str, Record], which: str) -> list[Block]:
    """Return the most probable words at some gaps, marked as right or wrong; the paper's two gaps first."""
    theirs, frames = published_rows("newman2021").query("table == '3'"), []
    for system, record in list(records.items())[:MOST_ACROSS]:
        contexts = record.tables["contexts"].read(["context", "group", "prefix"])
        contexts = contexts.drop_duplicates(["group", "context"])
        turn = np.array(contexts.groupby("group", sort=False).cumcount())  # evenly over the constructions
        is_papers = contexts["prefix"].str.strip().isin(theirs["prefix"].str.strip())
        turn[is_papers.to_numpy() & ~contexts["prefix"].duplicated().to_numpy()] = -1
        chosen = contexts.iloc[np.argsort(turn, kind="stable")[: EXAMPLES + int((turn < 0).sum())]]
        forms = probable_forms(record, chosen["context"])
        if forms.empty:
            continue
        place = forms["context"].map({of: place for place, of in enumerate(chosen["context"])})
        shown = forms.assign(place=place, system=system).dropna(subset=["place"])
        shown = shown.drop_duplicates(["context", "rank"])
        frames.append(shown.sort_values(["place", "rank"], kind="stable"))
    if not frames:
        return []
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
