"""People's and models' scores of the same items as a picture with its correlation and a table."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..report.correlation import correlate
from ..report.plots import MUTED, Picture, lines
from ..report.tables import MISSING, score
from ..suites.variation_sets.section import SETS
from .markup import Cell, picture, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESAMPLES = 1000
"""of the bootstrap intervals"""
Numbers = tuple[list[str], list[list[Cell]]]  # headings, rows


def paradigms(points: pd.DataFrame, system: str) -> str:
    """Return the picture and the table of a model's accuracies beside people's."""
    numbers = [
        [
            Cell(p.item, p.item),
            _share(p.x),
            _share(p.y),
            Cell(_signed(p.y - p.x), p.y - p.x),
            Cell(p.label, p.label),
        ]
        for p in points.itertuples()
    ]
    headings = ["Paradigm", "people", "model", "model − people", "field"]
    return _shown(points, system, "accuracy", "paradigms", (headings, numbers))


def german(points: pd.DataFrame, system: str, kind: str) -> str:
    """Return the picture and the table of a system's cells beside people's."""
    numbers = [
        [Cell(p.item, p.item), _share(p.x), _share(p.y), Cell(_signed(p.y - p.x), p.y - p.x)]
        for p in points.itertuples()
    ]
    headings = ["Case order · roles", "people", "system", "system − people"]
    return _shown(points, system, f"AUC (sets of {SETS[kind]})", "cells", (headings, numbers))


def pairs(points: pd.DataFrame, system: str) -> str:
    """Return the picture and the table of single pairs, the model's difference beside people's choices."""
    points = points.sort_values("y", kind="stable")
    numbers = [
        [
            Cell(p.item, p.item, p.paradigm),
            Cell(score(p.x), p.x, f"{p.n} people"),
            Cell(_signed(p.y), p.y, "✓ right" if p.correct else "✗ not right"),
        ]
        for p in points.itertuples()
    ]
    headings = ["Pair (acceptable ⁄ *unacceptable)", "people who choose the acceptable", "log P difference"]
    return _shown(points, system, None, "pairs", (headings, numbers))


def _shown(points: pd.DataFrame, system: str, what: str | None, unit: str, numbers: Numbers) -> str:
    """Draw points with their correlation, their table below; `what` is the measure that both axes share."""
    x = f"people: {what}" if what else "share of people who choose the acceptable sentence"
    y = f"{system}: {what}" if what else f"{system}: log P(good) − log P(bad)"
    drawn = Picture(
        name="people",
        caption=f"{system} and people. {agreement(points, unit)}",
        alt=f"One point for each of {len(points)} {unit}; the numbers are in the table below.",
        draw=lambda: scatter(points, x, y, shared=what is not None),
    )
    headings, cells = numbers
    return picture(drawn) + table(f"{system} and people, {len(cells)} {unit}.", headings, cells)


def agreement(points: pd.DataFrame, unit: str) -> str:
    """Say how far two columns x and y agree, in words, by the metric's correlations."""
    found = correlate(points["x"], points["y"], n_resamples=RESAMPLES)
    if found is None:
        return f"Too few {unit} for a correlation."
    if not np.isfinite(found["pearson"]):
        return f"No correlation over {found['n']} {unit}: one side is the same everywhere."
    low, high = found["pearson_interval"]
    return (
        f"Pearson's r {score(found['pearson'])} (95 % from {score(low)} to {score(high)}), Spearman's ρ "
        f"{score(found['spearman'])}, {found['n']} {unit}."
    )


def scatter(points: pd.DataFrame, x: str, y: str, shared: bool) -> "Figure":
    """Draw points, one hue and marker per label; `shared` axes are one measure in 0–1, with the line of equality."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 4.4))
    axes = figure.subplots()
    for label, line in lines(sorted(points["label"].unique())).items():
        part = points[points["label"] == label]
        axes.plot(
            part["x"], part["y"], line.marker, color=line.colour, alpha=0.85, markersize=5.5, label=label
        )
    if shared:
        axes.plot([0, 1], [0, 1], color=MUTED, linestyle=(0, (2, 2)), linewidth=0.9)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    else:
        axes.axhline(0, color=MUTED, linestyle=(0, (2, 2)), linewidth=0.9)
    axes.set(xlabel=x, ylabel=y)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _share(value: float) -> Cell:
    return Cell(MISSING if pd.isna(value) else score(value), value)


def _signed(value: float) -> str:
    return MISSING if pd.isna(value) else f"{value:+.2f}".replace("-", "−")
