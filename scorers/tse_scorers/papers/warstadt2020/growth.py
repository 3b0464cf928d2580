"""Figure 5 of Warstadt et al. (2020): how fast accuracy grows with the training data, by phenomenon.

And the curves of Pythia's models (Biderman et al. 2023), which are drawn behind those of a run.

The slope is that of accuracy against log2 of the training size, by least squares (section 6.3). A size is the last
number in the name of a revision: tokens, or steps, whose doublings are the same where batches are equally large.
"""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
import pandas as pd
import scipy  # whose parts are imported when they are used

from ...report.blocks import Chart, View
from ...report.inputs import configs_apart
from ...report.measure import PublishedCurves
from ...report.numbers import number
from ...report.revisions import positions
from ...report.series import LEAST
from ...report.tables import Table, stacked
from ...statistics.estimate import t_quantile
from ...suites.minimal_pairs.show.texts import phenomenon_name
from ..published import published

_slope = partial(number, digits=4)
_RETRAINED = {"lstm": "LSTM", "transfo-xl": "Transformer-XL"}
"""Models whose slopes the paper prints -> their names among the published models."""


def growth(rows: pd.DataFrame) -> Iterator[View]:
    """Compare the slopes of models that were run at several points of their training with the published ones.

    `rows` are of one method and all revisions.
    """
    curves = _curves(rows)
    fits = {str(model): slopes(of_model) for model, of_model in curves.groupby("model", sort=False)}
    retrained = {model: fit["slope"] for model, fit in fits.items() if len(fit)}
    if not retrained:
        return
    columns = retrained | {
        f"{_RETRAINED[model]} (published)": slope for model, slope in published_slopes().items()
    }
    values = pd.DataFrame(columns).reindex(pd.unique(curves["group"])).dropna(axis=1, how="all")
    table = _table(values, fits)
    picture = Chart.dots(
        "blimp_figure5",
        table.values,
        table.intervals,
        "Gain in accuracy when the training doubles. Whiskers: 95 % intervals of the slopes of the lines.",
        alt="Gain in accuracy per doubling.",
        panel="Gain per doubling",
        x="gain in accuracy",
        chance=0,
        form=_slope,
        number="Figure 5",
        tables=[table],
    )
    text = "The slope of accuracy against the base-2 logarithm of the training size, over the revisions that were run. "
    text += "The paper prints the steepest and the shallowest slopes of two models, retrained on 1/8 to 64 million "
    text += "tokens. The curves themselves are in the section on the course of training."
    yield View("Training size (Figure 5)", text, [picture])


def _table(values: pd.DataFrame, fits: Mapping[str, pd.DataFrame]) -> Table:
    fitted = pd.concat({model: fit.rename_axis("label") for model, fit in fits.items()}, names=["system"])
    cells = stacked(values, ("system",)).merge(fitted.reset_index(), how="left", on=["system", "label"])
    return Table.of_scores(
        cells.assign(label=cells["label"].map(_group_name)),
        "Gain in accuracy (0 to 1) per doubling.",
        "Phenomenon",
        form=_slope,
        about="It says how well a line fits the points of the training (t on their number minus 2 degrees of "
        "freedom), not what other pairs would give.",
        file="pairs_growth",
    )


def slopes(curves: pd.DataFrame) -> pd.DataFrame:
    """Return the gain in `y` (accuracy) per doubling of `x` (training size), with its interval, by group.

    Groups with too few sizes are absent.
    """
    fits = {
        str(group): _fit(line)
        for group, line in curves.groupby("group", sort=False)
        if line["x"].nunique() >= LEAST
    }
    return pd.DataFrame.from_dict(fits, orient="index", columns=["slope", "se", "ci_low", "ci_high"])


def _fit(line: pd.DataFrame) -> tuple[float, float, float, float]:
    fit = scipy.stats.linregress(np.log2(line["x"]), line["y"])
    margin = t_quantile(0.975, len(line) - 2) * fit.stderr
    return fit.slope, fit.stderr, fit.slope - margin, fit.slope + margin


def published_slopes() -> dict[str, "pd.Series[float]"]:
    """Return the slopes that the paper prints, by model and phenomenon."""
    paper = published("warstadt2020_slopes")
    return {
        str(model): of_model.set_index("phenomenon")["slope"]
        for model, of_model in paper.groupby("model", sort=False)
    }


def pythia_curves(rows: pd.DataFrame) -> PublishedCurves | None:
    """Return the curves of Pythia's models over the paradigms of a model's results; None where it has others."""
    table = published("biderman2023_blimp")
    rows = rows[rows["metric"] == "accuracy"]  # without a context
    paradigms = set(rows.loc[rows["level"] == "paradigm", "value"])
    if not paradigms or not paradigms <= set(table["paradigm"]):
        return None
    table = table[table["paradigm"].isin(paradigms) & ~table["model"].str.endswith("-deduped")]
    table = table.assign(x=positions(table["revision"]))
    groups = [
        table.assign(level="all", value=rows.loc[rows["level"] == "all", "value"].iloc[0]),
        table.assign(level="phenomenon", value=table["phenomenon"]),
    ]
    means = pd.concat(groups).groupby(["level", "value", "model", "x"], sort=False)["accuracy"].mean()
    points = means.reset_index().rename(columns={"model": "line", "accuracy": "y"})
    return PublishedCurves(
        points,
        f"Thin lines: {points['line'].nunique()} Pythia models (70M to 12B parameters) on the same paradigms, at "
        "their steps of 2.1 million tokens (published by Biderman et al. 2023; lm-evaluation-harness, float16).",
    )


def _curves(rows: pd.DataFrame) -> pd.DataFrame:
    """Return columns `model`, `group` (a phenomenon, or `all`), `x` and `y` of the revisions with a training size."""
    rows = rows.assign(x=positions(rows["revision"]), y=rows["score"])
    rows = rows[rows["level"].isin(("phenomenon", "all")) & rows["y"].notna() & rows["x"].gt(0)]
    rows = configs_apart(rows, "model")
    groups = rows["value"].where(rows["level"] != "all", "all")
    return rows.assign(group=groups)[["model", "group", "x", "y"]]


def _group_name(group: str) -> str:
    return "Overall" if group == "all" else phenomenon_name(group)
