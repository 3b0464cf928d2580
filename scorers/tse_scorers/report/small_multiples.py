"""A grid of small panels, one per line, each beside the line of the whole: for more lines than one panel can show."""

from typing import TYPE_CHECKING

import pandas as pd

from .curves import draw_line
from .line_styles import FAINT, INK, Line
from .plots import figure_size
from .scales import scale_axis
from .systems import shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ACROSS = 5
_TICKS = 4
"""Marks of a horizontal axis for which a panel has room."""
_OWN, _WHOLE = Line(INK, ""), Line(FAINT, "", width=1.2)


def small_multiples(
    points: pd.DataFrame, whole: str, x_axis: str, y_axis: str, logarithmic: bool
) -> "Figure":
    """Draw one panel per label with its band, and the line of the label `whole` in grey in all of them.

    Args:
        points: columns label, x, y, low, high.
        whole: the label that all others are compared with; it has a panel of its own, the first.
        x_axis: name of the horizontal axes.
        y_axis: name of the vertical axis, which all share.
        logarithmic: whether the horizontal axes are.
    """
    from matplotlib.figure import Figure

    labels = sorted(pd.unique(points["label"]), key=lambda label: label != whole)
    across = min(_ACROSS, len(labels))
    down = -(-len(labels) // across)
    figure = Figure(figsize=figure_size(1.92 * across, 1.35 * down + 0.4))
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes, label in zip(grid.flat, labels, strict=False):
        if label != whole:
            draw_line(axes, points[points["label"] == whole], whole, _WHOLE, with_band=False)
        draw_line(axes, points[points["label"] == label], label, _OWN, with_band=True)
        axes.set_title(shortened(label, 28), fontsize=7.5, fontweight="normal")
    for axes in list(grid.flat)[len(labels) :]:
        axes.set_visible(False)
    for axes in list(grid.flat)[len(labels) - across : len(labels)]:  # the last panel of each column
        axes.tick_params(axis="x", labelbottom=True)
    scale_axis(grid[0][0], points["x"], logarithmic, most=_TICKS)
    figure.supxlabel(x_axis, fontsize=9.5)
    figure.supylabel(y_axis, fontsize=9.5)
    return figure
