"""Learning curves: a model's scores over its revisions, with a log-linear fit (BLiMP's Figure 5).

The fit is score = a + b * log10(position), by least squares over the revisions whose position is above 0; b is the
gain from ten times as much training.
"""

import math
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy

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
MOST = 20
"""The number of revisions of a model that tables and figures beside its curve show; of more, only the last one."""


def without_earlier(runs: Runs) -> Runs:
    """Leave out all revisions but the last one of each model that has more than `MOST` of them."""
    rows = runs.rows[_is_shown(runs.rows)]
    if len(rows) == len(runs.rows):
        return runs
    shown = set(rows[["suite", "system"]].itertuples(index=False, name=None))
    files = [file for file in runs.files if (file.suite, file.system) in shown]
    kept = set(rows[["suite", "model", "revision"]].itertuples(index=False, name=None))
    return replace(
        runs,
        rows=rows.reset_index(drop=True),
        runs=[_shortened(run, kept) for run in runs.runs],
        files=files,
        all_revisions=runs.rows,
    )


def _shortened(run: dict[str, Any], kept: Container[tuple[Any, ...]]) -> dict[str, Any]:
    """Leave the signatures of models that are not shown out of a run, and say how many there are."""
    signature = run["signature"]
    models = [each for each in signature.get("models", []) if isinstance(each, dict)]
    shown = [
        each
        for each in models
        if tuple(each["identity"].get(key) for key in ("suite", "model", "revision")) in kept
    ]
    left_out = f"{len(models) - len(shown)} earlier revisions: see results.json"
    return run | {"signature": signature | {"models": shown, "left_out": left_out}}


def latest(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of a results.json without those of earlier revisions, as `without_earlier` does."""
    return list(compress(rows, _is_shown(pd.DataFrame(rows)))) if rows else []


def _is_shown(rows: pd.DataFrame) -> pd.Series:
    """Whether each row is of the last revision of its model, or of one with few revisions."""
    of_model = rows.groupby([rows["suite"], rows["config"].astype(str), rows["model"]], sort=False)
    many = of_model["revision"].transform("nunique") > MOST
    places = _positions(rows["revision"])
    last = places.groupby([rows["suite"], rows["config"].astype(str), rows["model"]]).transform("max")
    return ~many | places.isna() | (places == last)


def _positions(revisions: pd.Series) -> pd.Series:
    """Return the place of each revision in its series; NaN for hashes and names without a number."""
    places = {
        revision: math.nan if re.fullmatch(HASH, str(revision)) else position(str(revision))[0]
        for revision in revisions.unique()
    }
    return revisions.map(places).replace(math.inf, math.nan)


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
    rows = rows.assign(x=_positions(rows["revision"]))
    rows = rows[rows["score"].notna() & rows["x"].notna()]
    found = [
        {
            **row,
            "label": _label(measure, str(row["group"])),
            "y": row["score"],
            "low": row["ci_low"],
            "high": row["ci_high"],
        }
        for row, measure in measured(rows.to_dict("records"), measures)
        if measure.has_curve(str(row["group"]))
    ]
    return pd.DataFrame(
        found, columns=["model", "suite", "config", "revision", "label", "x", "y", "low", "high"]
    )


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
        few = _ONE_IS_SHOWN if of_suite["x"].nunique() > MOST else ""
        name = f"series_{slugs([f'{model}_{suite}_{config}']).popitem()[1]}"
        yield Part(
            title=f"{model}: {suite} ({config})",
            text="Each point is one revision; its place is the last number in the revision's name." + few,
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


_ONE_IS_SHOWN = " The other sections show only the last revision."


def _figure(points: pd.DataFrame) -> "Figure":
    is_logarithmic = bool((points["x"] > 0).all())
    panel = {"step or tokens": points[["label", "x", "y", "low", "high"]]}
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
            fit = scipy.stats.linregress(np.log10(line["x"]), line["y"])
            fits[label] = {"per decade": fit.slope, "r": fit.rvalue}
    values = pd.DataFrame.from_dict(fits, orient="index", columns=["per decade", "r"])
    values.index.name = "measure"
    return Table("Log-linear fit: score against log10 of the position.", values, formatted(values, score))
