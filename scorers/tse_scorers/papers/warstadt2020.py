"""Tables 3 and 4 and Figures 1 to 6 of Warstadt et al. (2020), BLiMP; and Pythia's scores (Biderman et al. 2023)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy  # whose parts are imported when they are used

from ..io.bundle import metric_modules, shipped_table
from ..io.store import Record
from ..report.blocks import Block, Plot, Table
from ..report.scores import LEAST_OF_SERIES, MOST_ACROSS, MOST_DRAWN, drawn, places_in_series
from ..statistics import Units, mean
from ..suites import find_suite
from ..suites.base import ALL
from .published import rows as published_rows

NAME = "Warstadt et al. 2020"
METHODS = {"full": "whole sentence", "one_prefix": "one prefix", "two_prefix": "two prefixes"}
SYSTEMS = {
    "lstm": "LSTM", "transfo-xl-wt103": "Transformer-XL", "transfo-xl": "Transformer-XL", "gpt2-large": "GPT-2",
}  # fmt: skip
PEOPLE = {"individual_accuracy": "people, individual", "majority_accuracy": "people, majority"}
SOURCES = {"run": "this run", "paper": "published", "people": "people"}
ENOUGH_PARADIGMS, ENOUGH_PAIRS, BINS = 10, 100, 10
"""Of a correlation; of a point of Figure 2, and the number of its equally full bins."""
_DN, _SV = "determiner_noun_agreement_", "plural_subject_verb_agreement_"
_NEAR, _IRREGULAR_NEAR = [f"{_DN}{n}" for n in (1, 2)], [f"{_DN}irregular_{n}" for n in (1, 2)]
_FAR = [f"{_DN}with_adjective_1", f"{_DN}with_adj_2"]
_IRREGULAR_FAR = [f"{_DN}with_adj_irregular_{n}" for n in (1, 2)]
_VERBS, _IRREGULAR_VERBS = ([f"{kind}{_SV}{n}" for n in (1, 2)] for kind in ("regular_", "irregular_"))
CONDITIONS: Mapping[int, tuple[str, Mapping[tuple[str, str], Sequence[str]]]] = {
    3: ("Accuracy by what stands between two words that agree (Figure 3).", {
        ("Determiner and noun", "adjacent"): [*_NEAR, *_IRREGULAR_NEAR],
        ("Determiner and noun", "adjective between"): [*_FAR, *_IRREGULAR_FAR],
        ("Subject and verb", "no attractor"): _VERBS[:1],
        ("Subject and verb", "relational noun between"): ["distractor_agreement_relational_noun"],
        ("Subject and verb", "relative clause between"): ["distractor_agreement_relative_clause"],
    }),
    4: ("Accuracy where nouns have a regular and an irregular plural (Figure 4).", {
        ("Determiner and noun", "regular"): [*_NEAR, *_FAR],
        ("Determiner and noun", "irregular"): [*_IRREGULAR_NEAR, *_IRREGULAR_FAR],
        ("Subject and verb", "regular"): _VERBS,
        ("Subject and verb", "irregular"): _IRREGULAR_VERBS,
        ("Both", "regular"): [*_NEAR, *_FAR, *_VERBS],
        ("Both", "irregular"): [*_IRREGULAR_NEAR, *_IRREGULAR_FAR, *_IRREGULAR_VERBS],
    }),
}  # fmt: skip
"""Number of a figure -> its title, and (panel, condition) -> the paradigms whose mean it is."""
WHAT_PREDICTS = "Accuracy by properties of the good sentence, and by how far the two are apart (Figure 2)."
GROWTH = "Gain in accuracy per doubling of the training, by the numbers of revisions, beside published ones (Figure 5)."


def parts(rows: pd.DataFrame, records: Mapping[str, Record]) -> dict[str, Sequence[Block]]:
    """Return the paper's tables and figures of tidy rows on one data set, by heading."""
    method = rows["name"].str.partition("@")[2]
    rows = rows.assign(method=method.where(method != "", "full"))
    methods = [method for method in METHODS if method in set(rows["method"])]
    of_method = rows[rows["method"].isin(methods[:1])]
    few, which = drawn(rows)
    paradigms = of_method[of_method["level"].eq("paradigm") & of_method["system"].isin(few["system"])]
    paradigms = _without_pythia(paradigms)
    return {
        "Accuracy by phenomenon": by_level(of_method, "phenomenon", "pairs_table", "Table 3"),
        "Accuracy by paradigm": by_level(of_method, "paradigm", "pairs_paradigms", "Table 4"),
        "Who agrees with whom": correlations(paradigms, which),
        "What predicts a right answer": predictors(records, which),
        "Conditions of agreement": conditions(paradigms, records, which),
        "Whole sentences and prefixes": prefixes(few, which),
    }


def published(rows: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies of published models and of people over the paradigms of a run: each, and means by group."""
    ours = rows[rows["level"].eq("paradigm") & rows["name"].eq("accuracy")]
    models = published_rows("warstadt2020").query("metric == 'accuracy' and level == 'paradigm'")
    pythia = published_rows("biderman2023")
    last = places_in_series(pythia["revision"])
    pythia = pythia[last.eq(last.max()) & ~pythia["system"].str.endswith("-deduped")]
    people = shipped_table("blimp_human_judgments", "accuracy").to_pandas()
    people = people.melt("paradigm", list(PEOPLE), "system", "score").rename(columns={"paradigm": "value"})
    people = people.replace({"system": PEOPLE}).assign(source="people")
    single = pd.concat([models.replace({"system": SYSTEMS}), pythia, people])
    single = single[single["value"].isin(ours["value"])]
    if single.empty:
        return single
    phenomena, fields = (single["value"].map({of: at[n] for of, at in _places().items()}) for n in (0, 1))
    levels = {"paradigm": single["value"], "phenomenon": phenomena, "field": fields, ALL: ""}
    every = pd.concat([single.assign(level=level, value=value) for level, value in levels.items()])
    means = every.groupby(["source", "system", "level", "value"], sort=False)["score"].mean().reset_index()
    return means.assign(suite="minimal_pairs", name="accuracy", measure="accuracy")


def _places() -> Any:
    """Return BLiMP's paradigms -> (phenomenon, field of linguistics)."""
    return metric_modules("minimal_pair_accuracy").definitions.BLIMP_PARADIGMS


def curves(rows: pd.DataFrame, of_run: pd.DataFrame) -> pd.DataFrame:
    """Return Pythia's learning curves over the paradigms of a run: `label`, `x` (step), `y`, `panel` as in `rows`."""
    paradigms = set(of_run.loc[of_run["level"] == "paradigm", "value"])
    table = published_rows("biderman2023")
    panels = rows.loc[rows["level"].isin([ALL, "phenomenon"]), ["level", "value", "panel"]].drop_duplicates()
    if not paradigms or not paradigms <= set(table["value"]) or panels.empty:
        return pd.DataFrame()
    table = table[table["value"].isin(paradigms) & ~table["system"].str.endswith("-deduped")]
    table = table.assign(x=places_in_series(table["revision"]), label=table["system"], y=table["score"])
    groups = [table.assign(level=ALL, value=""), table.assign(level="phenomenon", value=table["phenomenon"])]
    means = pd.concat(groups).groupby(["level", "value", "label", "x"], sort=False)["y"].mean().reset_index()
    return means.merge(panels, on=["level", "value"])


def _phenomenon(value: str) -> str:
    return find_suite("minimal_pairs").group_name("phenomenon", value)


def by_level(rows: pd.DataFrame, level: str, name: str, number: str) -> list[Block]:
    """Return the accuracies of the groups of a level, and of everything, ours beside published ones and people's."""
    if not rows["level"].eq(level).any():
        return []
    shown = pd.concat([rows[rows["level"] == of] for of in (level, ALL)])
    title, is_folded = f"Accuracy by {level} ({number}).", level == "paradigm"
    if shown.loc[shown["source"] == "run", "system"].nunique() > MOST_ACROSS:
        return [Table(name, title, shown, "system", ("label",), intervals=False, folded=is_folded)]
    shown = shown.iloc[pd.factorize(shown["label"])[0].argsort(kind="stable")]
    shown = _without_pythia(shown).assign(source_name=lambda of: of["source"].map(SOURCES))
    return [Table(name, title, shown, columns=["source_name", "system"], intervals=False, folded=is_folded)]


def _without_pythia(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out the published Pythias, which are many; they are in the tables with systems below each other."""
    return rows[rows["source"].ne("paper") | ~rows["system"].str.startswith("pythia-")]


def correlations(paradigms: pd.DataFrame, which: str) -> list[Block]:
    """Return Pearson's r between systems over paradigms, of the best of ours, published ones and people."""
    shown = paradigms[paradigms["system"] != PEOPLE["majority_accuracy"]]
    wide = shown.pivot_table(index="value", columns="system", values="score", sort=False).astype(float)
    if len(wide) < ENOUGH_PARADIGMS or len(wide.columns) < 2:
        return []
    r = wide.corr(min_periods=3)
    points = r.rename_axis("label").rename_axis("x", axis=1).stack().rename("y").reset_index()
    title = f"Pearson's r between accuracies over {len(wide)} paradigms (Figure 1).{which}"
    return [Plot("blimp_figure1", title, "heat", points, "", "r", chance=None, span=(-1, 1))]


def predictors(records: Mapping[str, Record], which: str) -> list[Block]:
    """Return accuracy against length, perplexity, log-probability and confidence; intervals are over paradigms."""
    columns = "paradigm good logprob_good logprob_bad n_tokens_good full".split()
    points = []
    for system, record in list(records.items())[:MOST_DRAWN]:
        pairs = record.tables["items"].read(columns)
        if not set(columns) <= set(pairs):
            continue
        pairs = pairs[np.isfinite(pairs[["logprob_good", "logprob_bad"]].astype(float)).all(axis=1)]
        good, bad = pairs["logprob_good"], pairs["logprob_bad"]
        properties = {
            "length (words)": pairs["good"].str.split().str.len().astype(float),
            "log10 perplexity per token": -good / pairs["n_tokens_good"] / np.log(10),
            "log-probability": good,
            "confidence": (good - bad).abs(),
        }
        if len(pairs) >= ENOUGH_PAIRS:
            points += [_binned(x, pairs).assign(label=system, panel=name) for name, x in properties.items()]
    title = WHAT_PREDICTS + which
    return [Plot("blimp_figure2", title, "lines", pd.concat(points), "", "accuracy")] if points else []


def _binned(x: "pd.Series[float]", pairs: pd.DataFrame) -> pd.DataFrame:
    """Average right answers over equally full bins of x, or over its values where these are whole numbers."""
    is_whole = (x == x.round()).all()
    codes = x.rank(method="dense") if is_whole else pd.qcut(x, BINS, labels=False, duplicates="drop")
    enough = codes.map(codes.value_counts()) >= (ENOUGH_PAIRS if is_whole else 1)
    bins = [rows for _, rows in pairs[enough].groupby(codes[enough])]
    points = []
    for rows in bins:  # pairs of one paradigm are alike
        found = mean(rows["full"].to_numpy(dtype=float), Units(rows["paradigm"], "paradigms"))
        points.append((x[rows.index].mean(), found.mean, len(rows), found.low, found.high, found.reliable))
    return pd.DataFrame(points, columns=["x", "y", "n", "ci_low", "ci_high", "reliable"])


def conditions(paradigms: pd.DataFrame, records: Mapping[str, Record], which: str) -> list[Block]:
    """Return means of paradigms by condition, where a run has all paradigms of at least two of a panel."""
    chosen = {name for _, groups in CONDITIONS.values() for group in groups.values() for name in group}
    pairs_of = {}
    for system in records.keys() & set(paradigms["system"]):
        pairs = records[system].tables["items"].read()
        pairs_of[system] = pairs[pairs["paradigm"].isin(chosen)].reset_index(drop=True)
    blocks: list[Block] = []
    for number, (title, groups) in CONDITIONS.items():
        points = [
            {"label": system, "panel": panel, "series": condition, **_mean(of, pairs_of.get(str(system)))}
            for (panel, condition), group in groups.items()
            for system, of in paradigms[paradigms["value"].isin(group)].groupby("system", sort=False)
            if set(of["value"]) == set(group)
        ]
        columns = ["label", "panel", "series", "y", "ci_low", "ci_high", "reliable"]
        frame = pd.DataFrame(points, columns=columns)
        frame = frame[frame.groupby("panel")["series"].transform("nunique") > 1]
        title += f" Whiskers: 95 % intervals over critical words.{which}"
        if len(frame):
            blocks.append(Plot(f"blimp_figure{number}", title, "dots", frame, "accuracy"))
    return blocks


def _mean(of: pd.DataFrame, pairs: pd.DataFrame | None) -> dict[str, Any]:
    """Return the mean of some paradigms of a system, with its interval if it is ours."""
    if pairs is None:
        return {"y": float(of["score"].astype(float).mean()), "reliable": True}
    pairs, suite = pairs[pairs["paradigm"].isin(of["value"])], find_suite("minimal_pairs")
    measure = suite.measure(str(of["name"].iloc[0]))
    found = mean(pairs[measure.column].to_numpy(dtype=float), suite.units(pairs, measure, "phenomenon"))
    return {"y": found.mean, "ci_low": found.low, "ci_high": found.high, "reliable": found.reliable}


def growth(rows: pd.DataFrame) -> list[Block]:
    """Return the gain in accuracy when the training doubles, by phenomenon, beside the nine published slopes (6.3)."""
    shown = rows[rows["level"].isin([ALL, "phenomenon"]) & rows["leads"].astype(bool) & rows["score"].notna()]
    shown = shown.assign(x=places_in_series(shown["revision"]))
    fits, slopes = [], published_rows("warstadt2020").query("metric == 'slope_per_doubling'")
    for (model, label), of in shown[shown["x"] > 0].groupby(["model", "label"], sort=False):
        if of["x"].nunique() >= LEAST_OF_SERIES:
            fit = scipy.stats.linregress(np.log2(of["x"]), of["score"].astype(float))
            margin = scipy.special.stdtrit(len(of) - 2, 0.975) * fit.stderr
            name = str(model).rstrip("/").rpartition("/")[2]
            fits.append((name, label, fit.slope, fit.slope - margin, fit.slope + margin))
    points = pd.DataFrame(fits, columns=["series", "label", "y", "ci_low", "ci_high"])
    theirs = slopes.assign(series=slopes["system"].map(SYSTEMS) + " (published)", y=slopes["score"])
    theirs = theirs.assign(label=theirs["value"].map(_phenomenon))
    points = pd.concat([points, theirs.loc[theirs["label"].isin(points["label"]), ["series", "label", "y"]]])
    return [Plot("blimp_figure5", GROWTH, "dots", points, "gain per doubling", chance=0.0)] if fits else []


def prefixes(rows: pd.DataFrame, which: str) -> list[Block]:
    """Return accuracies by a prefix method and on whole sentences, over the paradigms that it allows (Figure 6)."""
    single = rows[rows["level"].eq("paradigm") & rows["source"].eq("run")]
    wide = single.pivot_table(index=["system", "value"], columns="method", values="score", sort=False)
    blocks = []
    for method in ("one_prefix", "two_prefix"):
        both = wide.reindex(columns=["full", method]).astype(float).dropna().rename(columns=METHODS)
        values = both.index.get_level_values("value")
        phenomena = [_phenomenon(_places().get(of, ("other paradigms",))[0]) for of in values]
        both = both.reset_index().rename(columns={"system": "panel"}).assign(label=phenomena)
        means = both.groupby(["panel", "label"], sort=False).mean(numeric_only=True).reset_index()
        overall = means.groupby("panel", sort=False).mean(numeric_only=True).reset_index()
        points = pd.concat([means, overall.assign(label="Mean of these")])
        points = points.melt(["panel", "label"], var_name="series", value_name="y")
        title = f"Whole sentences and {METHODS[method]}, on {values.nunique()} paradigms (Figure 6).{which}"
        blocks.append(Plot(f"blimp_figure6_{method}", title, "dots", points, "accuracy"))
    return [block for block in blocks if len(block.points)]
