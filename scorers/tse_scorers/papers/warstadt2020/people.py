"""The explorer's tab `People`: accuracies of people and models by paradigm, and their choices on single pairs."""

from collections.abc import Iterator, Mapping
from functools import partial

import pandas as pd

from ...report.blocks import Chart, Control, View
from ...report.inputs import Runs
from ...suites.minimal_pairs.show.shown_items import judged_pairs, read_pairs
from ...suites.minimal_pairs.show.texts import from_blimp
from .paradigms import HUMANS, by_paradigm, field_of, system_names

TITLE = "People"


def people_views(runs: Runs, rows: pd.DataFrame) -> Iterator[View]:
    """Yield the parts that compare people with models, from accuracies on whole sentences; none for other data.

    The judgments of single pairs are not part of the package: without them, there is no part for them.
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
    judged = judged_pairs().rename(columns={"sentence_good": "good", "sentence_bad": "bad"})
    both = judged.merge(read_pairs(runs, "full", system), on=["paradigm", "good", "bad"])
    if both.empty:
        raise ValueError(
            f"{system} scored none of the {len(judged)} pairs that people judged. Run the whole of BLiMP, without "
            "--limit and --groups."
        )
    points = pd.DataFrame(
        {
            "item": both["good"] + " ⁄ *" + both["bad"],
            "paradigm": both["paradigm"],
            "label": _fields(both["paradigm"]),
            "x": both["share"],
            "n": both["n"],
            "y": both["logprob_good"] - both["logprob_bad"],
            "choice": both["score"].map({1: "✓ correct", 0: "✗ not correct"}),
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


def _fields(paradigms: "pd.Index | pd.Series[str]") -> "pd.Index | pd.Series[str]":
    return paradigms.map(lambda paradigm: field_of(paradigm).replace("_", " "))
