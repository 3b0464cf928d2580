"""Scores against cut-offs → a picture with its numbers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..report.cutoff_charts import cutoff_curves
from ..report.plots import Picture, lines
from ..report.tables import MISSING, score
from ..suites.base import Curves
from .markup import Cell, picture, table


def curves(view: Curves) -> str:
    """Return the picture of some curves, and their numbers folded below it, as HTML."""
    points = view.points.rename(
        columns={"measure": "metric", "side": "cutoff_side", "x": "cutoff", "y": "score"}
    )
    measures: Sequence[str] = list(dict.fromkeys(points["metric"]))
    labels = list(dict.fromkeys(points["label"]))
    styles = {label: view.lines.get(label, line) for label, line in lines(labels).items()}
    lowest = float(np.floor(10 * points["score"].min()) / 10) if points["score"].notna().any() else 0.0
    drawn = Picture(
        name="curves",
        caption=view.caption,
        alt=f"One line for each of {', '.join(labels)}; the numbers are below.",
        draw=lambda: cutoff_curves(points, {measure: measure for measure in measures}, styles, lowest),
    )
    return picture(drawn, "".join(_numbers(points, measure) for measure in measures))


def _numbers(points: pd.DataFrame, measure: str) -> str:
    wide = points[points["metric"] == measure].pivot_table(
        index="label", columns=["cutoff_side", "cutoff"], values="score", sort=False, dropna=False
    )
    wide = wide[sorted(wide.columns, key=lambda cutoff: (cutoff[0] == "top", cutoff[1]))]
    headings = [f"{side} {100 * cutoff:g} %" for side, cutoff in wide.columns]
    rows = [
        [Cell(str(label), str(label)), *(Cell(MISSING if pd.isna(v) else score(v), v) for v in values)]
        for label, values in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    return table(f"{measure} by cut-off.", ["", *headings], rows)
