"""The explorer's tab `People`: accuracies of people and models by paradigm."""

from collections.abc import Iterator, Mapping
from functools import partial

import pandas as pd

from ...report.blocks import Chart, Control, View
from .paradigms import HUMANS, by_paradigm, field_of, system_names

TITLE = "People"


def people_views(rows: pd.DataFrame) -> Iterator[View]:
    """Yield the part that compares people with models, from accuracies on whole sentences; none for other data."""
    if points := _paradigm_points(rows):
        models = Control("Model", {name: name for name in points})
        yield View("", "", partial(_paradigms, points), [models], (), TITLE, "BLiMP paradigms")


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


def _fields(paradigms: "pd.Index | pd.Series[str]") -> "pd.Index | pd.Series[str]":
    return paradigms.map(lambda paradigm: field_of(paradigm).replace("_", " "))
