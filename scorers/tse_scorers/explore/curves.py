"""Scores against cut-offs, one line per model for one construction or the other way round."""

import numpy as np
import pandas as pd

from ..report.charts import cutoff_curves
from ..report.inputs import Runs
from ..report.plots import Picture, lines
from ..report.tables import MISSING, score
from ..suites.agreement.section import labelled
from ..suites.agreement.section_cutoffs import line_of
from .markup import Cell, picture, table

MEASURES = {
    "EW and MW": {"ew": "EW", "mw": "MW"},
    "probability that the listed verbs cover": {"covered_mass": "covered mass"},
    "contexts without a verb": {"share_without_lemmas": "share of contexts"},
}


def curve_rows(runs: Runs) -> pd.DataFrame:
    """Return the results under cut-offs, with `label`, the row of Table 2."""
    rows = runs.suite("agreement")
    return labelled(rows[rows["cutoff"].notna()])


def curves(rows: pd.DataFrame, measure: str, column: str, value: str) -> str:
    """Return the picture of some curves with its numbers, as HTML.

    Args:
        rows: as `curve_rows` returns them.
        measure: a key of `MEASURES`.
        column: what is held fixed: `system` or `label` (the construction).
        value: the one system or construction to be shown.

    Raises:
        ValueError: there are no such results.
    """
    metrics = MEASURES[measure]
    other = "label" if column == "system" else "system"
    shown = rows[(rows[column] == value) & rows["metric"].isin(metrics)]
    if shown.empty:
        raise ValueError(f"{value} was not scored under cut-offs. Choose another one.")
    shown = shown.drop(columns="label").assign(label=shown[other])
    labels = list(dict.fromkeys(shown["label"]))
    styles = {label: line_of(label) for label in labels} if column == "system" else lines(labels)
    scores = shown.loc[shown["metric"].isin(["ew", "mw"]), "score"]
    lowest = float(np.floor(10 * scores.min()) / 10) if scores.notna().any() else 0.0
    drawn = Picture(
        name="curves",
        caption=f"{value}: {measure} against the cut-off; least probable verbs on the left, most probable right.",
        alt=f"One line per {'construction' if column == 'system' else 'model'}; the numbers are below.",
        draw=lambda: cutoff_curves(shown, metrics, styles, lowest),
    )
    return picture(drawn, "".join(_numbers(shown, metric, name) for metric, name in metrics.items()))


def _numbers(rows: pd.DataFrame, metric: str, name: str) -> str:
    wide = rows[rows["metric"] == metric].pivot_table(
        index="label", columns=["cutoff_side", "cutoff"], values="score", sort=False, dropna=False
    )
    wide = wide[sorted(wide.columns, key=lambda cutoff: (cutoff[0] == "top", cutoff[1]))]
    headings = [f"{side} {100 * cutoff:g} %" for side, cutoff in wide.columns]
    cells = [
        [Cell(str(label), str(label)), *(Cell(MISSING if pd.isna(v) else score(v), v) for v in values)]
        for label, values in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    return table(f"{name} by cut-off.", ["", *headings], cells)
