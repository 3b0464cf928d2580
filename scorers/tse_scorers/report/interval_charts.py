"""Lines with the 95 % intervals of their points, one panel per table."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .labels import line_name
from .legend import legend
from .line_styles import MUTED, Line, lines
from .plots import figure_size
from .systems import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def lines_with_intervals(
    panels: Mapping[str, pd.DataFrame],
    x_axis: str,
    y_axis: str,
    ticks: Sequence[str] | None = None,
    chance: float | None = None,
) -> "Figure":
    """Draw one panel per entry, each with one line per label and whiskers at its points.

    Args:
        panels: title -> columns label, x, y, low, high; no whisker where an end is missing.
        x_axis: name of the horizontal axes.
        y_axis: name of the vertical axis, which all share.
        ticks: names of the x values 0, 1, …; None shows numbers.
        chance: where guessing lies, or None.
    """
    from matplotlib.figure import Figure

    labels = list(dict.fromkeys(label for panel in panels.values() for label in panel["label"]))
    across = min(len(panels), 2)
    down = -(-len(panels) // 2)
    figure = Figure(figsize=figure_size(7.2, 2.9 * down + 0.2 * -(-len(labels) // 2) + 0.2))
    grid = figure.subplots(down, across, sharey=True, sharex=True, squeeze=False)
    styles = lines(labels)
    for axes, (title, panel) in zip(grid.flat, panels.items(), strict=False):
        _draw_lines(axes, panel, styles, beside=0.06 if ticks is not None else 0.0)
        if chance is not None:
            axes.axhline(chance, color=MUTED, linestyle=(0, (2, 2)), linewidth=0.9)
        axes.set_title(shortened(title, 34))
        axes.set_xlabel(x_axis)
        if ticks is not None:
            axes.set_xticks(range(len(ticks)), list(ticks))
            for tick in axes.get_xticklabels():
                tick.set(rotation=30, ha="right", rotation_mode="anchor")
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for row in grid:
        row[0].set_ylabel(y_axis)
    legend(figure, grid, "outside lower center")
    return figure


def _draw_lines(axes: "Axes", panel: pd.DataFrame, styles: Mapping[str, Line], beside: float) -> None:
    """Draw the lines of one panel, each a little beside the other: whiskers at the same place hide each other."""
    for number, (label, line) in enumerate(styles.items()):
        one = panel[panel["label"] == label]
        x = one["x"].to_numpy(dtype=float) + beside * (number - (len(styles) - 1) / 2)
        y = one["y"].to_numpy(dtype=float)
        ends = np.abs(one[["low", "high"]].to_numpy(dtype=float).T - y)
        axes.errorbar(x, y, yerr=np.nan_to_num(ends), label=line_name(label), elinewidth=0.9, **line.style())
