"""Figures 1, 2 and 6 of Warstadt et al. (2020): what goes with what in the accuracies on BLiMP."""

from collections import Counter
from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from ...io.records import SINGLE
from ...report.blocks import Chart, View
from ...report.curves import on_bands, on_naming
from ...report.findings import extremes
from ...report.inputs import Runs
from ...report.tables import Table, count, formatted, note_on_intervals, score, with_interval
from ...statistics.clustered import Codes, Units, means_of_groups
from ...statistics.estimate import Floats
from ...suites.minimal_pairs.show.texts import phenomenon_name
from .paradigms import HUMANS, METHODS, phenomenon_of, system_names

BINS = 10
ENOUGH_PAIRS = 100
"""The number of pairs from which an accuracy is drawn against a property of sentences."""
ENOUGH_PARADIGMS = 10
"""The number of paradigms from which systems are correlated over them."""
N_PARADIGMS = 67
"""BLiMP's paradigms, over which the paper correlates."""


def correlations(paradigms: pd.DataFrame) -> Iterator[View]:
    """Correlate all systems over the paradigms that were run, if these are enough to correlate."""
    systems = paradigms.drop(columns=[(HUMANS, "majority")], errors="ignore")
    if systems.shape[1] < 2 or len(systems) < ENOUGH_PARADIGMS:
        return
    names = system_names(systems.columns)
    matrix = systems.astype(float).set_axis(names, axis=1).corr(min_periods=3).rename_axis("Model")
    table = Table("Pearson's r over paradigms.", matrix, formatted(matrix, score), file="pairs_correlations")
    picture = Chart(
        "heat",
        "blimp_figure1",
        {"": matrix},
        caption=f"Pearson's r between accuracies over {len(systems)} paradigms.",
        alt=f"Correlations between every two models. {extremes(_of_pairs(matrix), score)}",
        x="Pearson's r",
        span=(-1, 1),
        tables=[table],
        number="Figure 1",
    )
    text = "Do models find the same paradigms hard?"
    if HUMANS in systems and len(systems) == N_PARADIGMS:
        text += " The published neural models agree more with each other than with people."
    yield View("Who agrees with whom (Figure 1)", text, [picture])


def _of_pairs(matrix: pd.DataFrame) -> pd.DataFrame:
    """Leave only the correlations of two different systems, each once."""
    return matrix.where(np.triu(np.ones(matrix.shape, dtype=bool), 1))


PREDICTORS_TEXT = (
    "How far length, probability and the model's own certainty predict whether it is right. Confidence is the distance "
    "between the two sentences' log-probabilities (natural logarithm)."
)
METHODS_TEXT = (
    "Does it matter how the question is put? Each method is compared with whole sentences on the paradigms that allow "
    "it, averaged by phenomenon."
)


def predictor_view(runs: Runs) -> View:
    """Return accuracy by sentence length, perplexity, log-probability and confidence (Figure 2)."""
    return View("What predicts a right answer (Figure 2)", PREDICTORS_TEXT, partial(_predictors, runs))


def _predictors(runs: Runs) -> list[Chart]:
    columns = [
        "method", "paradigm", "sentence_good", "logprob_good", "logprob_bad", "n_tokens_good", "correct"
    ]  # fmt: skip
    panels: dict[str, list[pd.DataFrame]] = {}
    files = list(runs.scores("minimal_pairs", SINGLE))
    counts = Counter(file.system for file in files)  # pairs that are not BLiMP's are in files of their own
    for file in files:
        label = f"{file.system} ({file.config or 'all'})" if counts[file.system] > 1 else file.system
        pairs = file.read(columns)
        numbers = np.isfinite(pairs[["logprob_good", "logprob_bad"]].astype(float)).all(axis=1)
        pairs = pairs[numbers & (pairs["method"] == "full")]
        if len(pairs) < ENOUGH_PAIRS:
            continue
        correct, paradigms = pairs["correct"].to_numpy(dtype=float), pd.factorize(pairs["paradigm"])[0]
        for name, x in _shallow(pairs).items():
            points = _binned(x.to_numpy(dtype=float), correct, paradigms)
            panels.setdefault(name, []).append(points.assign(label=label))
    if not panels:
        return []
    binned = {name: pd.concat(parts, ignore_index=True) for name, parts in panels.items()}
    binned = {name: panel for name, panel in binned.items() if len(panel)}
    picture = Chart(
        "lines",
        "blimp_figure2",
        binned,
        caption=f"Accuracy against {len(binned)} shallow properties of the acceptable sentence. Length: one "
        f"point per number of words with {ENOUGH_PAIRS} pairs or more; the others: {BINS} equally full bins, each at "
        f"its mean.{on_naming(len(counts))}{on_bands(len(counts), ' over paradigms')}",
        alt=" ".join(_first_to_last(name, panel) for name, panel in binned.items()),
        number="Figure 2",
        y="accuracy",
        chance=0.5,
        logarithmic=["perplexity per token"],
        tables=[_bin_table(name, panel) for name, panel in binned.items()],
    )
    return [picture]


def _first_to_last(name: str, panel: pd.DataFrame) -> str:
    """Say how accuracy differs between the first and the last point, averaged over systems."""
    points = panel.sort_values("x").groupby("label", sort=False)["y"]
    if not points.ngroups:
        return ""
    low, high = (score(ends.mean()) for ends in (points.first(), points.last()))
    return f"Mean accuracy by {name}: {low} at its lowest values, {high} at its highest."


def _shallow(pairs: pd.DataFrame) -> dict[str, "pd.Series[float]"]:
    n_words = [len(sentence.split()) for sentence in pairs["sentence_good"].tolist()]
    return {
        "length (words)": pd.Series(n_words, pairs.index, dtype=float),
        "perplexity per token": np.exp(-pairs["logprob_good"] / pairs["n_tokens_good"]),
        "log-probability of the sentence": pairs["logprob_good"],
        "confidence": (pairs["logprob_good"] - pairs["logprob_bad"]).abs(),
    }


def _binned(x: Floats, correct: Floats, paradigms: Codes) -> pd.DataFrame:
    """Average the share of right answers over equally full bins of x, or over its values if they are whole numbers."""
    is_known = ~(np.isnan(x) | np.isnan(correct))
    x, correct, paradigms = x[is_known], correct[is_known], paradigms[is_known]
    if (x == x.round()).all():
        codes = np.unique(x, return_inverse=True)[1]
        codes = np.where(np.bincount(codes)[codes] >= ENOUGH_PAIRS, codes, -1)
    else:
        codes = pd.qcut(x, BINS, labels=False, duplicates="drop")
    bins = [np.flatnonzero(codes == code) for code in np.unique(codes[codes >= 0])]
    # The pairs of a paradigm are alike, so paradigms are the units.
    units = [Units(paradigms[places], "paradigms") for places in bins]
    means = means_of_groups([correct[None, places] for places in bins], units)
    points = [
        (x[places].mean(), mean.mean, len(places), mean.ci_low, mean.ci_high, mean.reliable)
        for places, (mean,) in zip(bins, means, strict=True)
    ]
    return pd.DataFrame(points, columns=["x", "y", "n", "ci_low", "ci_high", "reliable"])


def _bin_table(name: str, panel: pd.DataFrame) -> Table:
    values, text = {}, {}
    for system, part in panel.groupby("label", sort=False):
        part = part.reset_index(drop=True)
        for column, heading in (("x", name), ("y", "accuracy"), ("n", "pairs")):
            values[(system, heading)] = part[column]
        text[(system, name)] = part["x"].map("{:.4g}".format)
        scored = zip(part["y"], part["ci_low"], part["ci_high"], strict=True)
        text[(system, "accuracy")] = pd.Series([with_interval(*score) for score in scored])
        text[(system, "pairs")] = part["n"].map(count)
    values, text = pd.DataFrame(values), pd.DataFrame(text).fillna("")
    values.index = text.index = pd.RangeIndex(1, len(values) + 1, name="Bin")
    return Table(f"Accuracy by {name}.", values, text, interval_note=note_on_intervals(text))


def method_view(rows: pd.DataFrame) -> View:
    """Return whole sentences against the two prefix methods, on the same paradigms (Figure 6)."""
    return View("Whole sentences and prefixes (Figure 6)", METHODS_TEXT, partial(_methods, rows))


def _methods(rows: pd.DataFrame) -> list[Chart]:
    single = rows[rows["level"] == "paradigm"]
    scores = single.drop_duplicates(["group", "system", "method"], keep="last")
    wide = scores.pivot(index=["system", "group"], columns="method", values="score").astype(float)
    wide = wide.reindex(pd.unique(rows["system"]), level="system")  # one order of systems in all pictures
    return [
        _method_picture(wide, method)
        for method in ("one_prefix", "two_prefix")
        if method in wide and "full" in wide
    ]


def _method_picture(wide: pd.DataFrame, method: str) -> Chart:
    both = wide[["full", method]].dropna().rename(columns=METHODS)
    phenomenon = both.index.get_level_values("group").map(phenomenon_of).map(phenomenon_name)
    means = both.groupby([both.index.get_level_values("system"), phenomenon]).mean()
    summary = means.groupby(level=0).agg(["mean", "std"])
    systems = pd.unique(both.index.get_level_values("system"))
    n = both.index.get_level_values("group").nunique()
    values = pd.concat({system: means.loc[system] for system in systems}, axis=1)
    values.index.name = "Phenomenon"
    overall = pd.DataFrame({(s, c): summary.loc[s, c] for s in systems for c in both})
    overall = overall.set_axis(["Mean", "Standard deviation"])
    table_values = pd.concat([values, overall]).rename_axis("Phenomenon")
    return Chart(
        "dots",
        f"blimp_figure6_{method}",
        {system: values[system] for system in systems},
        caption=f"Whole sentences against {METHODS[method]}, over {n} paradigms.",
        alt=f"Mean accuracy by method: {_means_of(overall)}",
        x="accuracy",
        chance=0.5,
        number="Figure 6",
        tables=[
            Table(
                f"Accuracy: whole sentences and {METHODS[method]}; mean and standard deviation over phenomena "
                "below.",
                table_values,
                formatted(table_values, score),
                totals=["Mean"],
            )
        ],
    )


def _means_of(overall: pd.DataFrame) -> str:
    means = (f"{system}, {method} {score(mean)}" for (system, method), mean in overall.loc["Mean"].items())
    return "; ".join(means) + "."
