"""Which points of the curves over cut-offs are faded."""

import numpy as np
import pandas as pd

from tse_scorers.report.cutoff_charts import FEW_CONTEXTS, cutoff_curves, cutoff_grid
from tse_scorers.report.line_styles import Line
from tse_scorers.suites.agreement.show.section_cutoffs import ROW_LINES

TOP = (0.1, 0.5, 0.9, 1.0)
N = (1, FEW_CONTEXTS - 1, FEW_CONTEXTS, 100)
Y = (0.9, 0.8, 0.7, 0.6)


def drawn(figure):
    """The points of each line that are shown, and whether they are faded."""
    lines = [line for line in figure.axes[0].get_lines() if len(line.get_ydata()) > 1]
    return {
        line.get_alpha() is not None: [float(y) for y in np.asarray(line.get_ydata(), float) if y == y]
        for line in lines
    }


def test_points_over_few_contexts_are_faded_in_both_kinds_of_figures():
    points = {"cutoff_side": "top", "cutoff": TOP, "n": N, "label": "m"}
    styles = {"m": Line("#871eff", "o")}
    of_one = cutoff_curves(pd.DataFrame(points | {"metric": "ew", "score": Y}), {"ew": "EW"}, styles, 0.0)
    interval = {"ci_low": np.nan, "ci_high": np.nan}
    grid = cutoff_grid(pd.DataFrame(points | interval | {"panel": "Simple", "y": Y}), "EW", styles)
    # The faded line reaches the first point that rests on enough, so that no piece is missing.
    assert drawn(of_one) == drawn(grid) == {True: [0.9, 0.8, 0.7], False: [0.7, 0.6]}


def test_constructions_have_lines_of_their_own():
    """Constructions with and without `that` share a hue; no two share a marker."""
    assert len({line.marker for line in ROW_LINES.values()}) == len(ROW_LINES)
    for name in ("Across object relative", "In object relative"):
        whole, short = ROW_LINES[f"{name} clause"], ROW_LINES[f"{name} (no that)"]
        assert whole.colour == short.colour and not whole.dashes and short.dashes
    assert len({line.colour for line in ROW_LINES.values()}) == len(ROW_LINES) - 2


def test_nothing_is_faded_where_all_points_rest_on_enough():
    points = {"cutoff_side": "top", "cutoff": TOP, "n": 30, "label": "m", "metric": "ew", "score": Y}
    figure = cutoff_curves(pd.DataFrame(points), {"ew": "EW"}, {"m": Line("#871eff", "o")}, 0.0)
    assert drawn(figure) == {False: list(Y)}
