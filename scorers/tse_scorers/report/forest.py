"""Forest plots: differences from a reference with their intervals."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .charts import MANY
from .differences import ALPHA
from .labels import line_name, row_inches, row_labels
from .line_styles import INK, MUTED
from .names import Names
from .plots import figure_size
from .systems import shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def forest(rows: pd.DataFrame, reference: str) -> "Figure":
    """Draw differences with their intervals, one panel per system and measure; the height follows the rows."""
    from matplotlib.figure import Figure

    by_system = rows["system"].nunique() > MANY
    rows = rows if "named" in rows else with_group_names(rows, Names())
    panels = list(rows.groupby(panel_columns(rows), sort=False))
    rows_of = "system" if by_system else "named"
    shown = row_labels([str(name) for name in rows[rows_of]], 2)
    labels = [[shown[str(name)] for name in own[rows_of]] for _, own in panels]
    row = max(row_inches(own, 0.24) for own in labels)
    heights = [len(own) + 2.4 for _, own in panels]
    figure = Figure(figsize=figure_size(7.6, row * sum(heights) + 0.5))
    grid = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)  # each its own scale
    for axes, (names, own), named in zip(grid.flat, panels, labels, strict=True):
        place = np.arange(len(own))
        is_clear = _counts(own)
        axes.axvline(0, color=MUTED, linewidth=1.0)
        axes.hlines(place, 100 * own["ci_low"], 100 * own["ci_high"], color=INK, linewidth=1.3)
        for chosen, fill in ((is_clear, INK), (~is_clear, "none")):
            axes.scatter(
                100 * own["difference"][chosen], place[chosen], s=26, color=fill, edgecolor=INK, zorder=3
            )
        axes.set_yticks(place, named, fontsize=8.5)
        axes.set_ylim(len(own) - 0.4, -0.6)
        axes.set_title(": ".join(shortened(str(name)) for name in names), fontsize=9)
        axes.grid(axis="y", visible=False)
    grid[-1][0].set_xlabel(f"difference from {line_name(reference)} (percentage points)")
    return figure


def _counts(rows: pd.DataFrame) -> np.ndarray:
    """Mark the differences that count: a test over too few units does not."""
    p = rows["p_adjusted"].to_numpy(dtype=float)
    return (p < ALPHA) & rows["reliable"].to_numpy(dtype=bool)


def panel_columns(rows: pd.DataFrame) -> list[str]:
    """Return the columns that name a panel: with many systems, they are the rows of one panel per measure."""
    return ["measure"] if rows["system"].nunique() > MANY else ["measure", "system"]


def with_group_names(rows: pd.DataFrame, names: Names) -> pd.DataFrame:
    """Add `named`: what the suite calls the group."""
    suites = rows["suite"] if "suite" in rows else [""] * len(rows)
    groups = zip(suites, rows["level"].astype(str), rows["value"].astype(str), strict=True)
    return rows.assign(named=["overall" if group[1] == "all" else names.group(*group) for group in groups])
