"""The explorer's tab `People`: accuracies of people and models by paradigm, and their choices on single pairs."""

from collections.abc import Iterator, Mapping
from functools import partial

import pandas as pd

from ...io.bundle import metric_modules
from ...io.records import SINGLE
from ...report.blocks import Chart, Control, View
from ...report.inputs import Runs
from ...suites.minimal_pairs.show.shown_items import judged_pairs
from ...suites.minimal_pairs.show.texts import from_blimp
from .paradigms import HUMANS, by_paradigm, system_names

TITLE = "People"
_PAIR = ["paradigm", "sentence_good", "sentence_bad"]
_SCORES = ["method", "paradigm", "sentence_good", "sentence_bad", "logprob_good", "logprob_bad", "correct"]


def people_views(runs: Runs, rows: pd.DataFrame) -> Iterator[View]:
    """Yield the parts that compare people with models; none for other data than BLiMP's.

    The judgments of single pairs are not part of the package: without them, there is no part for them.

    Args:
        runs: the runs with the scores of their pairs.
        rows: the accuracies of the method `full`.
    """
    if points := _paradigm_points(rows):
        models = Control("Model", {name: name for name in points})
        yield View("", "", partial(_paradigms, points), [models], (), TITLE, "BLiMP paradigms")
    scored = runs.suite("minimal_pairs")  # with the names that files of scores have
    scored = scored[scored["metric"] == "accuracy"]
    systems = {system: system for system in scored["system"][from_blimp(pd.Index(scored["value"]))].unique()}
    if systems and not judged_pairs().empty:
        models = Control("Model", systems)
        yield View("", "", partial(_pairs, runs), [models], (), TITLE, "BLiMP pairs")


def _paradigm_points(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return for each model (published ones too) x: people's accuracy per paradigm, y: the model's, label: field."""
    paradigms = by_paradigm(rows) if len(rows) else pd.DataFrame()
    if (HUMANS, "individual") not in paradigms:
        return {}
    human = paradigms[(HUMANS, "individual")]
    names = dict(zip(paradigms.columns, system_names(paradigms.columns), strict=True))
    return {
        name: pd.DataFrame(
            {
                "item": paradigms.index,
                "label": _fields(paradigms.index),
                "x": human.to_numpy(),
                "y": paradigms[key],
            }
        )
        for key, name in names.items()
        if key[0] != HUMANS
    }


def _paradigms(points: Mapping[str, pd.DataFrame], system: str) -> list[Chart]:
    chart = Chart(
        "scatter",
        "people",
        {"": points[system]},
        caption=f"{system} and people.",
        x="people: accuracy",
        y=f"{system}: accuracy",
        unit="paradigms",
        headings={"item": "Paradigm", "x": "people", "y": "model", "label": "field"},
        same_scale=True,
        limited_to=f"{system} paradigms",
    )
    return [chart]


def _pairs(runs: Runs, system: str) -> list[Chart]:
    """Show the pairs that people judged and a run scored.

    Raises:
        ValueError: the run scored none of those pairs.
    """
    both = _judged_and_scored(runs, system)
    points = pd.DataFrame(
        {
            "item": both["sentence_good"] + " ⁄ *" + both["sentence_bad"],
            "paradigm": both["paradigm"],
            "label": _fields(both["paradigm"]),
            "x": both["share"],
            "n": both["n"],
            "y": both["logprob_good"] - both["logprob_bad"],
            "choice": both["correct"].map({1: "✓ correct", 0: "✗ not correct"}),
        }
    )
    chart = Chart(
        "scatter",
        "people",
        {"": points.sort_values("y", kind="stable")},
        caption=f"{system} and people. Log-probabilities are natural logs.",
        x="share of people who choose the acceptable sentence",
        y=f"{system}: log P(good) − log P(bad)",
        unit="pairs",
        headings={
            "item": "Pair (acceptable ⁄ *unacceptable)", "x": "people who choose the acceptable", "n": "people",
            "y": "log P difference", "choice": "model's choice", "paradigm": "paradigm",
        },
        limited_to=f"{system} pairs",
    )  # fmt: skip
    return [chart]


def _judged_and_scored(runs: Runs, system: str) -> pd.DataFrame:
    judged = judged_pairs()
    files = [file for file in runs.scores("minimal_pairs", SINGLE) if file.system == system]
    if not files:
        raise ValueError(
            f"The folder of {system} does not contain scores of single pairs; expected a record of BLiMP in runs/. "
            "Copy it there, or run BLiMP again."
        )
    scores = pd.concat([file.read(_SCORES) for file in files], ignore_index=True)
    both = judged.merge(
        scores[scores["method"] == "full"], on=["sentence_good", "sentence_bad"], suffixes=("", "_scored")
    )
    if both.empty:
        raise ValueError(
            f"{system} scored none of the {len(judged)} pairs that people judged. Run the whole of BLiMP, without "
            "--limit and --groups."
        )
    return both.drop_duplicates(_PAIR)


def _fields(paradigms: "pd.Index | pd.Series[str]") -> "pd.Index | pd.Series[str]":
    fields = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS
    return paradigms.map(lambda paradigm: fields.get(paradigm, ("", "other"))[1].replace("_", " "))
