"""Which points of the curves over cut-offs are faded."""

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection

from tse_scorers.report.curves import NAMED
from tse_scorers.report.cutoff_charts import FEW_CONTEXTS, cutoff_grid
from tse_scorers.report.line_styles import PAPER, Line

TOP = (0.1, 0.5, 0.9, 1.0)
N = (1, FEW_CONTEXTS - 1, FEW_CONTEXTS, 100)
Y = (0.9, 0.8, 0.7, 0.6)
STYLES = {"m": Line("#871eff", "o")}


def drawn(axes):
    """The points of each line that are shown, and whether they are faded."""
    lines = [line for line in axes.get_lines() if line.get_linestyle() != "None"]
    return {
        line.get_alpha() is not None: [float(y) for y in np.asarray(line.get_ydata(), float) if y == y]
        for line in lines
    }


def hollow(axes):
    """The points that are drawn as not to rely on."""
    marks = [line for line in axes.get_lines() if line.get_markerfacecolor() == PAPER]
    return [float(y) for line in marks for y in np.asarray(line.get_ydata(), float) if y == y]


def curves(**more):
    points = {"cutoff_side": "top", "cutoff": TOP, "n": N, "label": "m", "y": Y, "panel": "Simple"}
    return pd.DataFrame(points | {"ci_low": np.subtract(Y, 0.1), "ci_high": np.add(Y, 0.1)} | more)


def test_points_over_few_contexts_are_faded_and_hollow():
    (axes,) = cutoff_grid(curves(), "EW", STYLES).axes
    # The faded line reaches the first point that rests on enough, so that no piece is missing.
    assert drawn(axes) == {True: [0.9, 0.8, 0.7], False: [0.7, 0.6]}
    assert hollow(axes) == [0.9, 0.8]


def test_points_over_few_units_are_hollow_and_have_no_band():
    """Bands from 0 to 1, over two units, covered the panels of constructions."""
    unsure = curves(n=100, reliable=[False, True, True, True])
    (axes,) = cutoff_grid(unsure, "EW", STYLES).axes
    assert hollow(axes) == [0.9]
    (band,) = axes.collections
    assert min(x for x, _ in band.get_paths()[0].vertices) == 1  # the place of the second cut-off
    (axes,) = cutoff_grid(unsure.assign(reliable=False), "EW", STYLES).axes
    assert hollow(axes) == list(Y) and not axes.collections


def test_the_whole_is_large_and_names_the_lines_once():
    """The whole was the last of ten small panels, and each row repeated the names of the lines."""
    both = pd.concat([curves(n=100), curves(n=100, panel="All of data")])
    large, small = cutoff_grid(both, "EW", STYLES, {"All of data"}).axes
    assert (large.get_title(), small.get_title()) == ("All of data", "Simple")
    assert [text.get_text() for text in large.texts] == ["m"] and not small.texts
    assert len(large.collections) == 1 and not small.collections
    assert [label.get_text() for label in large.get_xticklabels()] == ["100", "50"]


def test_many_systems_are_one_element_of_a_panel():
    """A line for each of 24 systems in ten panels took a fifth of a report's time."""
    many = pd.concat([curves(n=100, label=f"m{i}", y=np.full(4, i / 24)) for i in range(24)])
    (axes,) = cutoff_grid(many, "EW").axes
    (others,) = (each for each in axes.collections if isinstance(each, LineCollection))
    assert len(others.get_segments()) == 24 - NAMED


def test_nothing_is_faded_where_all_points_rest_on_enough():
    (axes,) = cutoff_grid(curves(n=30), "EW", STYLES).axes
    assert drawn(axes) == {False: list(Y)} and not hollow(axes)
