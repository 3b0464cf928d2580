"""Learning curves: a model's scores over its revisions, with a log-linear fit (BLiMP's Figure 5).

The fit is score = a + b * log10(position), by least squares over the revisions whose position is above 0; b is the
gain from ten times as much training.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy  # whose parts are imported when they are used

from .blocks import Chart, Section, View
from .curves import NAMED
from .inputs import Runs
from .measure import Measure, Measures, PublishedCurves, measured
from .names import Names
from .numbers import score, signed
from .revisions import MOST, positions
from .systems import model_names, slugs
from .tables import BASIS, Basis, Table, count, formatted

Form = Callable[[float], str]
"""How a score is printed."""

LEAST = 3
"""The number of revisions from which a curve is drawn."""


Published = Callable[[str, pd.DataFrame], PublishedCurves | None]
"""Name of a suite and the rows of one model -> published curves of the same groups."""


def section(
    runs: Runs,
    measures: Measures,
    names: Names | None = None,
    published: Published = lambda suite, rows: None,
) -> Section | None:
    """Return the section of learning curves, or None if no model has enough revisions."""
    names = names or Names()
    rows = points_of(runs.rows, measures, names)
    models = model_names(map(str, runs.rows["model"].unique()))
    views = [
        view
        for model, of_model in rows.groupby("model", sort=False)
        for view in _views(
            models[str(model)], of_model, names, runs.rows[runs.rows["model"] == model], measures, published
        )
    ]
    if not views:
        return None
    return Section(
        name="series",
        title="Over the course of training",
        lead="The same model at several points of its training, on the same data.",
        terms={"per decade": "what ten times the training brings, by a log-linear fit over the revisions."},
        views=views,
    )


_COLUMNS = (
    "model", "suite", "config", "revision", "label", "measure", "is_whole", "x", "y", "ci_low",
    "ci_high", "reliable", *BASIS,
)  # fmt: skip


def points_of(rows: pd.DataFrame, measures: Measures, names: Names) -> pd.DataFrame:
    """Rows that make curves: `label`, `x`, `y` by model and suite."""
    rows = rows.assign(x=positions(rows["revision"]))
    rows = rows[rows["score"].notna() & rows["x"].notna()]
    points = [
        {
            **row,
            "label": _label(measure, row, names),
            "measure": measure.label,
            "is_whole": row["group"] == "all",
            "y": row["score"],
        }
        for row, measure in measured(rows.to_dict("records"), measures)
        if row["level"] in measure.curve_levels
    ]
    return pd.DataFrame(points, columns=list(_COLUMNS))


def _label(measure: Measure, row: Mapping[str, Any], names: Names) -> str:
    """Name a curve: by its measure, or by its group where the measure has curves of several groups."""
    if len(measure.curve_levels) == 1:
        return measure.label
    return names.group(str(row["suite"]), str(row["level"]), str(row["value"]))


def _behind(
    rows: pd.DataFrame, measures: Sequence[Measure], names: Names, published: Published
) -> tuple[pd.DataFrame, str]:
    """Return published curves of the groups of a suite (`label`, `line`, `x`, `y`), and their caption."""
    suite = str(rows["suite"].iloc[0])
    curves = published(suite, rows)
    if curves is None:
        return pd.DataFrame(columns=["label", "line", "x", "y"]), ""
    groups = zip(curves.points["level"], curves.points["value"], strict=True)
    labels = [_label(measures[0], {"suite": suite, "level": at, "value": of}, names) for at, of in groups]
    return curves.points.assign(label=labels), f" {curves.caption}"


def _views(
    model: str,
    rows: pd.DataFrame,
    names: Names,
    results: pd.DataFrame,
    measures: Measures,
    published: Published,
) -> Iterator[View]:
    """Yield the curves of a model on each suite, from its points (`rows`) and all its results."""
    for (suite, config), of_suite in rows.groupby(["suite", "config"], sort=False):
        if of_suite["x"].nunique() < LEAST:
            continue
        points = of_suite.sort_values("x")
        few = _ONE_IS_SHOWN if of_suite["x"].nunique() > MOST else ""
        of_data = results[(results["suite"] == suite) & (results["config"] == config)]
        behind, about = _behind(of_data, measures[str(suite)], names, published)
        form = max(measures[str(suite)], key=lambda measure: measure.digits).form
        name = f"series_{slugs([f'{model}_{suite}_{config}']).popitem()[1]}"
        ends = [
            f"{label} from {form(curve['y'].iloc[0])} to {form(curve['y'].iloc[-1])}"
            for label, curve in points.groupby("label", sort=False)
        ]
        yield View(
            title=f"{model}: {names.heading(suite, config)}",
            text="Each point is one revision; its place is the last number in the revision's name." + few,
            blocks=[
                replace(
                    _chart(points, behind, name),
                    caption=_caption(points, about),
                    alt=f"From the first to the last revision: {'; '.join(ends)}.",
                    y="score",
                    basis=_basis(points),
                    tables=[_scores(points, name, form), _fits(points)],
                )
            ],
        )


_X_AXIS = "step or tokens"
_ONE_IS_SHOWN = " The other sections show only the last revision."


def _chart(points: pd.DataFrame, behind: pd.DataFrame, name: str) -> Chart:
    panels, whole = {_X_AXIS: points}, _whole(points)
    logarithmic = [_X_AXIS] if _is_logarithmic(points) else []
    if points["label"].nunique() > NAMED:
        return Chart(
            "multiples", name, panels, "", x=_X_AXIS, whole=whole, logarithmic=logarithmic,
            behind={_X_AXIS: behind},
        )  # fmt: skip
    of_whole = {_X_AXIS: behind[behind["label"] == whole]}
    return Chart("lines", name, panels, "", logarithmic=logarithmic, behind=of_whole, width=5.4)


def _is_logarithmic(points: pd.DataFrame) -> bool:
    return bool((points["x"] >= 0).all() and points["x"].max() > 0)


def _whole(points: pd.DataFrame) -> str:
    """Return the label of the mean over all groups; of the first group if there is none."""
    labels = points.loc[points["is_whole"].astype(bool), "label"]
    return str(labels.iloc[0] if len(labels) else points["label"].iloc[0])


def _caption(points: pd.DataFrame, about: str) -> str:
    bands = " Bands: 95 % intervals." if points["ci_low"].notna().any() else ""
    beside = f" Grey: {_whole(points)}." if points["label"].nunique() > NAMED and not about else ""
    scale = " The horizontal axis is logarithmic." if _is_logarithmic(points) else ""
    return f"Scores over revisions.{bands}{beside}{scale}{about}"


def _scores(points: pd.DataFrame, name: str, form: Form) -> Table:
    values = _spread(points, "y")
    text, basis = formatted(values, form), _basis(points)
    return Table("Scores.", values, text, file=name, folded=True, basis=basis)


def _spread(points: pd.DataFrame, column: str) -> pd.DataFrame:
    wide = points.pivot_table(index="x", columns="label", values=column, sort=False, dropna=False)
    wide.index = pd.Index([count(x) for x in wide.index], name=_X_AXIS)
    return wide.rename_axis(columns=None)


def _basis(points: pd.DataFrame) -> Basis:
    return Basis.of(partial(_spread, points), by_measure=True)


def _fits(points: pd.DataFrame) -> Table:
    fits = {}
    for label, line in points[points["x"] > 0].groupby("label", sort=False):
        if line["x"].nunique() >= LEAST:
            fit = scipy.stats.linregress(np.log10(line["x"]), line["y"])
            fits[label] = {"per decade": fit.slope, "r": fit.rvalue, "n": len(line)}
    values = pd.DataFrame.from_dict(fits, orient="index", columns=["per decade", "r", "n"])
    values.index.name = "measure"
    text = formatted(values, [signed, score, count])
    note = "n: the number of revisions that the fit and r are over."
    return Table("Log-linear fit: score against log10 of the position.", values, text, note=note)
