"""The BLiMP section: Table 3 and Figures 1, 2, 3 and 6 of Warstadt et al. (2020)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ..bundle import definitions
from .correlation import pearson
from .inputs import Runs, configs_apart
from .plots import Picture, dots, heat_maps, panels_of_lines
from .published import published, shipped
from .section import Part, Section
from .tables import Table, count, formatted, percent, score

RUN, PUBLISHED, HUMANS = "this run", "published", "humans"
METHODS = {"full": "whole sentence", "one_prefix": "one prefix", "two_prefix": "two prefixes"}
PUBLISHED_NAMES = {
    "5-gram": "5-gram",
    "lstm": "LSTM",
    "transfo-xl-wt103": "Transformer-XL",
    "gpt2-large": "GPT-2",
}
# Which paradigms stand for which condition of Figure 3. The distractor paradigms are set against the one of
# the same design without a distractor.
LOCALITY = {
    "Determiner and noun": {
        "adjacent": [
            f"determiner_noun_agreement_{kind}" for kind in ("1", "2", "irregular_1", "irregular_2")
        ],
        "adjective between": [
            f"determiner_noun_agreement_with_{kind}"
            for kind in ("adjective_1", "adj_2", "adj_irregular_1", "adj_irregular_2")
        ],
    },
    "Subject and verb": {
        "no attractor": ["regular_plural_subject_verb_agreement_1"],
        "relational noun between": ["distractor_agreement_relational_noun"],
        "relative clause between": ["distractor_agreement_relative_clause"],
    },
}
BINS = 10
_SPELLINGS = {
    "npi": "NPI", "subject verb": "subject–verb", "determiner noun": "determiner–noun",
    "filler gap": "filler–gap", "control raising": "control and raising",
}  # fmt: skip

TERMS = {
    "Accuracy": "The share of minimal pairs in which the model gives the acceptable sentence the higher "
    "probability. Guessing gives 50 %. Ties and pairs without a number are not right answers. A phenomenon's accuracy "
    "is the mean of its paradigms, the overall one the mean of all paradigms.",
    "One prefix, two prefixes": "Other ways to ask, where a paradigm allows it: which of two words is more probable "
    "after the same beginning; or after which of two beginnings the same word is more probable.",
    "Humans": "The forced choices by which BLiMP was validated: single answers (individual), and the majority's answer "
    "per pair, over the few pairs per paradigm that were judged.",
}


def section(runs: Runs) -> Section | None:
    """Build the section, or None where the suite was not run."""
    rows = configs_apart(runs.suite("blimp"))
    rows = rows[rows["metric"] == "accuracy"].assign(method=rows["method"].fillna("full"))
    if rows.empty:
        return None
    methods = [method for method in METHODS if (rows["method"] == method).any()]
    one_method = rows[rows["method"] == methods[0]]  # whole sentences, unless only prefixes were asked for
    paradigms = _paradigms(one_method)
    parts = [
        _phenomena(one_method, paradigms, METHODS[methods[0]]),
        *_correlations(paradigms),
        *_predictors(runs),
        *_locality(paradigms),
        *_methods(rows),
        Part("Coverage", _COVERAGE_TEXT, [_coverage(rows)]),
    ]
    return Section(
        name="blimp",
        title="BLiMP",
        lead="Minimal pairs of English sentences, one acceptable and one not, from 67 paradigms in 12 phenomena of "
        "grammar. A model passes a pair when it finds the acceptable sentence more probable. All numbers are "
        "percentages unless a scale says otherwise.",
        terms=TERMS,
        parts=parts,
        source="Warstadt, Parrish, Liu, Mohananey, Peng, Wang & Bowman (2020), BLiMP: The Benchmark of Linguistic "
        "Minimal Pairs for English, TACL 8.",
    )


def phenomenon_name(phenomenon: str) -> str:
    """Name a phenomenon as a heading.

    >>> phenomenon_name("npi_licensing"), phenomenon_name("subject_verb_agreement")
    ('NPI licensing', 'Subject–verb agreement')
    """
    name = phenomenon.replace("_", " ")
    for plain, printed in _SPELLINGS.items():
        name = name.replace(plain, printed)
    return name[:1].upper() + name[1:]


def _phenomenon(paradigm: str) -> str:
    phenomenon, _ = definitions("minimal_pair_accuracy").BLIMP_PARADIGMS.get(
        paradigm, ("other paradigms", "")
    )
    return str(phenomenon)


def _names(columns: pd.MultiIndex) -> list[str]:
    """Name systems where the kind is no heading of its own."""
    forms = {RUN: "{}", PUBLISHED: "{} (published)", HUMANS: "humans ({})"}
    return [forms[kind].format(name) for kind, name in columns]


def _pivot(rows: pd.DataFrame) -> pd.DataFrame:
    once = rows.drop_duplicates(["group", "system"], keep="last")
    wide = once.pivot(index="group", columns="system", values="score").astype(float)
    return wide.reindex(index=pd.unique(once["group"]), columns=pd.unique(once["system"]))


def _paradigms(rows: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies by paradigm (0–1), columns (kind, system): ours, the published models, humans."""
    ours = _pivot(rows[~rows["group"].str.contains(":") & (rows["group"] != "all")])
    frames = {RUN: ours}
    models = published("warstadt2020_models")
    if not models.empty:
        wide = models.pivot(index="paradigm", columns="model", values="accuracy")
        frames[PUBLISHED] = (
            wide[pd.unique(models["model"])].rename(columns=PUBLISHED_NAMES).reindex(ours.index)
        )
    humans = shipped("blimp_human_judgments", "accuracy")
    if not humans.empty:
        wide = humans.set_index("paradigm")[["individual_accuracy", "majority_accuracy"]]
        frames[HUMANS] = wide.set_axis(["individual", "majority"], axis=1).reindex(ours.index)
    paradigms = pd.concat(frames, axis=1)
    paradigms.index.name = "Paradigm"
    return paradigms.dropna(axis=1, how="all")


def _phenomena(rows: pd.DataFrame, paradigms: pd.DataFrame, method: str) -> Part:
    phenomenon = paradigms.index.map(_phenomenon)
    means = paradigms.groupby(phenomenon).mean()
    means.loc["all"] = paradigms.mean()
    # Our own means come from the results; only the published and human columns are averaged here, over the
    # paradigms that were run, so that all columns are about the same sentences' paradigms.
    groups = rows["group"].str.replace("phenomenon:", "")
    ours = _pivot(rows.assign(group=groups)).reindex(means.index)
    for system in ours:
        means[(RUN, system)] = ours[system]
    means = means[paradigms.columns]
    means.index = pd.Index([phenomenon_name(name) if name != "all" else "Overall" for name in means.index])
    means.index.name = "Phenomenon"
    table = Table(
        caption=f"Accuracy in % by phenomenon ({method}), over {len(paradigms)} paradigms.",
        values=means,
        text=formatted(means, percent),
        note="Published models and humans judged whole sentences; their means are over the same paradigms as this run.",
        file="blimp_table",
        rule_above=["Overall"],
    )
    every = Table(
        caption="Accuracy in % by paradigm.",
        values=paradigms,
        text=formatted(paradigms, percent),
        file="blimp_paradigms",
        folded=True,
    )
    shown = [(RUN, system) for system in ours] + [
        c for c in ((PUBLISHED, "GPT-2"), (HUMANS, "individual")) if c in means
    ]
    drawn = 100 * means[shown]
    drawn.columns = pd.MultiIndex.from_product([["Accuracy by phenomenon"], _names(drawn.columns)])
    picture = Picture(
        name="blimp_phenomena",
        caption="Accuracy by phenomenon, with humans' single answers and the published GPT-2.",
        alt="Dots for each model and for humans per phenomenon; the numbers are in the table above.",
        draw=lambda: dots(drawn, ["Accuracy by phenomenon"], "accuracy (%)", chance=50),
    )
    text = "Which parts of grammar the model has, as in the paper's Table 3, with people beside."
    return Part("Accuracy by phenomenon", text, [table, picture, every])


def _correlations(paradigms: pd.DataFrame) -> Iterator[Part]:
    """Correlate all systems over the paradigms that were run, if these are enough to correlate."""
    systems = paradigms.drop(columns=[(HUMANS, "majority")], errors="ignore")
    if systems.shape[1] < 2 or len(systems) < 3:
        return
    names = _names(systems.columns)
    matrix = pd.DataFrame(
        [[pearson(systems[one], systems[other]) for other in systems] for one in systems], names, names
    )
    matrix.index.name = "System"
    table = Table("Pearson's r over paradigms.", matrix, formatted(matrix, score), file="blimp_correlations")
    picture = Picture(
        name="blimp_figure1",
        caption=f"Pearson's r between accuracies over {len(systems)} paradigms (Figure 1).",
        alt="Heat map of correlations between every two systems; the numbers are in its cells and in the table.",
        draw=lambda: heat_maps({"": matrix}, -1, 1, "Pearson's r", score, across=1),
        tables=[table],
    )
    text = "Do systems find the same paradigms hard? Neural models tend to agree with each other more than with people."
    yield Part("Who agrees with whom (Figure 1)", text, [picture])


def _predictors(runs: Runs) -> Iterator[Part]:
    """Accuracy by sentence length, perplexity, log-probability and confidence (Figure 2)."""
    columns = ["method", "sentence_good", "logprob_good", "logprob_bad", "n_tokens_good", "correct"]
    panels: dict[str, list[pd.DataFrame]] = {}
    for file in runs.scores("blimp"):
        pairs = file.read(columns)
        numbers = np.isfinite(pairs[["logprob_good", "logprob_bad"]].astype(float)).all(axis=1)
        pairs = pairs[numbers & (pairs["method"] == "full")]
        for name, x in _shallow(pairs).items():
            panels.setdefault(name, []).append(_binned(x, pairs["correct"]).assign(label=file.system))
    if not panels:
        return
    binned = {name: pd.concat(parts, ignore_index=True) for name, parts in panels.items()}
    drawn = {name: panel.assign(y=100 * panel["y"]) for name, panel in binned.items()}
    picture = Picture(
        name="blimp_figure2",
        caption="Accuracy against four shallow properties of the acceptable sentence (Figure 2). Length: one point per "
        f"number of words with 100 pairs or more; the others: {BINS} equally full bins, each at its mean.",
        alt="Four panels of lines, one per model; the numbers are in the tables below.",
        draw=lambda: panels_of_lines(drawn, "accuracy (%)", 50, logarithmic=["perplexity per token"]),
        tables=[_bin_table(name, panel) for name, panel in binned.items()],
    )
    text = "How far length, probability and the model's own certainty predict whether it is right. Confidence is the "
    text += "distance between the two sentences' log-probabilities (natural logarithm)."
    yield Part("What predicts a right answer (Figure 2)", text, [picture])


def _shallow(pairs: pd.DataFrame) -> dict[str, "pd.Series[float]"]:
    return {
        "length (words)": pairs["sentence_good"].str.split().str.len().astype(float),
        "perplexity per token": np.exp(-pairs["logprob_good"] / pairs["n_tokens_good"]),
        "log-probability of the sentence": pairs["logprob_good"],
        "confidence": (pairs["logprob_good"] - pairs["logprob_bad"]).abs(),
    }


def _binned(x: "pd.Series[float]", correct: "pd.Series[float]") -> pd.DataFrame:
    """Average the share of right answers over equally full bins of x, or over its values if they are whole numbers."""
    frame = pd.DataFrame({"x": x, "y": correct.astype(float)}).dropna()
    if (frame["x"] == frame["x"].round()).all():
        grouped = frame.groupby("x", as_index=False).agg(y=("y", "mean"), n=("y", "size"))
        enough = grouped[grouped["n"] >= 100]
        return enough if len(enough) else grouped
    bins = pd.qcut(frame["x"], BINS, labels=False, duplicates="drop")
    return frame.groupby(bins).agg(x=("x", "mean"), y=("y", "mean"), n=("y", "size")).reset_index(drop=True)


def _bin_table(name: str, panel: pd.DataFrame) -> Table:
    values, text = {}, {}
    for system, part in panel.groupby("label", sort=False):
        part = part.reset_index(drop=True)
        for column, heading, form in (
            ("x", name, "{:.4g}".format),
            ("y", "accuracy (%)", percent),
            ("n", "pairs", count),
        ):
            values[(system, heading)] = part[column]
            text[(system, heading)] = formatted(part[[column]], form)[column]
    values, text = pd.DataFrame(values), pd.DataFrame(text).fillna("")
    values.index = text.index = pd.RangeIndex(1, len(values) + 1, name="Bin")
    return Table(f"Accuracy by {name}.", values, text)


def _locality(paradigms: pd.DataFrame) -> Iterator[Part]:
    """Agreement across intervening material (Figure 3)."""
    names = _names(paradigms.columns)
    columns = {
        (panel, condition): paradigms.reindex(group).mean(skipna=False).set_axis(names)
        for panel, conditions in LOCALITY.items()
        for condition, group in conditions.items()
    }
    values = pd.DataFrame(columns)
    values = values[[kind != (HUMANS, "majority") for kind in paradigms]].dropna(axis=1, how="all")
    if values.empty:
        return
    values.index.name = "System"
    panels = list(dict.fromkeys(values.columns.get_level_values(0)))
    table = Table(
        "Accuracy in % by intervening material.", values, formatted(values, percent), file="blimp_locality"
    )
    picture = Picture(
        name="blimp_figure3",
        caption="Agreement at a distance (Figure 3). Determiner and noun: the mean of four paradigms with and without "
        "an adjective between. Subject and verb: regular_plural_subject_verb_agreement_1 and the two "
        "distractor_agreement paradigms, whose attractor has the other number.",
        alt="Dots per system for each kind of intervening material; the numbers are in the table below.",
        draw=lambda: dots(100 * values, panels, "accuracy (%)", chance=50),
        tables=[table],
    )
    text = "Words between two agreeing words make agreement harder, for people as for models, most of all where a noun "
    text += "of the other number lies between."
    yield Part("Locality and attractors (Figure 3)", text, [picture])


def _methods(rows: pd.DataFrame) -> Iterator[Part]:
    """Whole sentences against the two prefix methods, on the same paradigms (Figure 6)."""
    single = rows[~rows["group"].str.contains(":") & (rows["group"] != "all")]
    scores = single.drop_duplicates(["group", "system", "method"], keep="last")
    wide = scores.pivot(index=["system", "group"], columns="method", values="score").astype(float)
    pictures = [
        _method_picture(wide, method)
        for method in ("one_prefix", "two_prefix")
        if method in wide and "full" in wide
    ]
    if pictures:
        text = "Does it matter how the question is put? Each method is compared with whole sentences on the paradigms "
        text += "that allow it, averaged by phenomenon."
        yield Part("Whole sentences and prefixes (Figure 6)", text, pictures)


def _method_picture(wide: pd.DataFrame, method: str) -> Picture:
    both = wide[["full", method]].dropna().rename(columns=METHODS)
    phenomenon = both.index.get_level_values("group").map(_phenomenon).map(phenomenon_name)
    means = both.groupby([both.index.get_level_values("system"), phenomenon]).mean()
    summary = means.groupby(level=0).agg(["mean", "std"])
    systems = pd.unique(both.index.get_level_values("system"))
    n = both.index.get_level_values("group").nunique()
    values = pd.concat({system: means.loc[system] for system in systems}, axis=1)
    values.index.name = "Phenomenon"
    overall = pd.DataFrame({(s, c): summary.loc[s, c] for s in systems for c in both})
    overall = overall.set_axis(["Mean", "Standard deviation"])
    table_values = pd.concat([values, overall]).rename_axis("Phenomenon")
    return Picture(
        name=f"blimp_figure6_{method}",
        caption=f"Whole sentences against {METHODS[method]}, over {n} paradigms.",
        alt="Two dots per phenomenon, one for each method; the numbers are in the table below.",
        draw=lambda: dots(100 * values, list(systems), "accuracy (%)", chance=50),
        tables=[
            Table(
                "Accuracy in % by method; mean and standard deviation over phenomena below.",
                table_values,
                formatted(table_values, percent),
                rule_above=["Mean"],
            )
        ],
    )


_COVERAGE_TEXT = (
    "Pairs behind the accuracies. Pairs that were tied or lacked a number never count as right; left out are pairs "
    "without the prefixes that a method needs."
)
_COUNTS = (("n", "pairs"), ("n_excluded", "left out"), ("n_ties", "tied"), ("n_nonfinite", "no number"))


def _coverage(rows: pd.DataFrame) -> Table:
    whole = rows[rows["group"] == "all"].drop_duplicates(["system", "method"], keep="last")
    values = whole.set_index("system")[["method", *dict(_COUNTS)]]
    columns = {
        (METHODS.get(method, method), title): part[column]
        for method, part in values.groupby("method", sort=False)
        for column, title in _COUNTS
    }
    counts = pd.DataFrame(columns).reindex(pd.unique(whole["system"]))
    counts.index.name = "System"
    return Table("Pairs behind the accuracies.", counts, formatted(counts, count))
