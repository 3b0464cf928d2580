"""Learning curves: a model's scores over its revisions, with a log-linear fit (BLiMP's Figure 5).

The fit is score = a + b * log10(position), by least squares over the revisions whose position is above 0; b is the
gain from ten times as much training.
"""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import linregress

from ..models.revisions import position
from .charts import panels_of_lines
from .inputs import Runs, slugs
from .measure import Measure, Measures, measured
from .plots import Picture
from .section import Part, Section
from .tables import Table, count, formatted, score

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HASH = r"\w+:\w+|[0-9a-f]{40}"
"""Revisions whose digits are not a position in a series: hashes of weights, commits."""
LEAST = 3
"""The number of revisions from which a curve is drawn."""


def section(runs: Runs, measures: Measures) -> Section | None:
    """Return the section of learning curves, or None if no model has enough revisions."""
    rows = _points(runs.rows, measures)
    parts = [
        part for model, of_model in rows.groupby("model", sort=False) for part in _parts(str(model), of_model)
    ]
    if not parts:
        return None
    return Section(
        name="series",
        title="Over the course of training",
        lead="The same model at several points of its training, on the same data.",
        terms={"per decade": "what ten times the training brings, by a log-linear fit over the revisions."},
        parts=parts,
    )


def _points(rows: pd.DataFrame, measures: Measures) -> pd.DataFrame:
    """Rows that make curves: `label`, `x`, `y` by model and suite."""
    revisions = rows["revision"].astype(str)
    rows = rows[rows["score"].notna() & ~revisions.str.fullmatch(HASH)].copy()
    rows["x"] = [position(str(revision))[0] for revision in rows["revision"]]
    found = [
        {**row, "label": _label(measure, str(row["group"])), "y": row["score"]}
        for row, measure in measured(rows[rows["x"] != float("inf")].to_dict("records"), measures)
        if measure.has_curve(str(row["group"]))
    ]
    return pd.DataFrame(found, columns=["model", "suite", "config", "revision", "label", "x", "y"])


def _label(measure: Measure, group: str) -> str:
    """Name a curve: by its measure, or by its group where the measure has curves of several groups."""
    if len(measure.curve_groups) == 1:
        return measure.label
    return group.rpartition(":")[2].replace("_", " ")


def _parts(model: str, rows: pd.DataFrame) -> Iterator[Part]:
    for (suite, config), of_suite in rows.groupby(["suite", "config"], sort=False):
        if of_suite["x"].nunique() < LEAST:
            continue
        points = of_suite.sort_values("x")
        name = f"series_{slugs([f'{model}_{suite}_{config}']).popitem()[1]}"
        yield Part(
            title=f"{model}: {suite} ({config})",
            text="Each point is one revision; its place is the last number in the revision's name.",
            blocks=[
                Picture(
                    name=name,
                    caption="Scores over revisions.",
                    alt=_first_and_last(points),
                    draw=partial(_figure, points),
                    panels={"": partial(_figure, points)},
                    tables=[_scores(points, name), _fits(points)],
                )
            ],
        )


def _figure(points: pd.DataFrame) -> "Figure":
    is_logarithmic = bool((points["x"] > 0).all())
    panel = {"step or tokens": points[["label", "x", "y"]]}
    return panels_of_lines(panel, "score", logarithmic=list(panel) if is_logarithmic else [], most=14)


def _first_and_last(points: pd.DataFrame) -> str:
    """Say where each curve begins and ends."""
    said = [
        f"{label} from {score(own['y'].iloc[0])} to {score(own['y'].iloc[-1])}"
        for label, own in points.groupby("label", sort=False)
    ]
    return f"From the first to the last revision: {'; '.join(said)}."


def _scores(points: pd.DataFrame, name: str) -> Table:
    values = points.pivot_table(index="x", columns="label", values="y", sort=False)
    values.index = pd.Index([count(x) for x in values.index], name="step or tokens")
    values.columns.name = None
    return Table("Scores, in 0 to 1.", values, formatted(values, score), file=name, folded=True)


def _fits(points: pd.DataFrame) -> Table:
    fits = {}
    for label, line in points[points["x"] > 0].groupby("label", sort=False):
        if line["x"].nunique() >= LEAST:
            fit = linregress(np.log10(line["x"]), line["y"])
            fits[label] = {"per decade": fit.slope, "r": fit.rvalue}
    values = pd.DataFrame.from_dict(fits, orient="index", columns=["per decade", "r"])
    values.index.name = "measure"
    return Table("Log-linear fit: score against log10 of the position.", values, formatted(values, score))
