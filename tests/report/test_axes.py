"""Marks of horizontal axes, lines that are told apart, and what captions say of bands."""

from dataclasses import replace
from io import BytesIO

import pandas as pd
import pytest
from matplotlib.figure import Figure

from tse_scorers.report.blocks import Chart
from tse_scorers.report.charts import draw
from tse_scorers.report.curves import small_multiples
from tse_scorers.report.line_styles import PAPER, colours_of, lines
from tse_scorers.report.plots import style, to_svg
from tse_scorers.report.scales import scale_axis


def seen(axes):
    low, high = axes.get_xlim()
    return [float(tick) for tick in axes.get_xticks() if low <= tick <= high]


def test_the_marks_of_small_panels_do_not_widen_their_axis():
    """Steps 1 to 143,000 were drawn on an axis from 0.01 to 1M."""
    steps = [1, 512, 1000, 143000]
    points = pd.concat(
        pd.DataFrame({"label": label, "x": steps, "y": 0.5, "ci_low": 0.4, "ci_high": 0.6})
        for label in "abcdef"
    )
    axes = small_multiples(points, "a", "step", "score", logarithmic=True).axes[0]
    low, high = axes.get_xlim()
    assert 0.3 < low < 1 and 143_000 < high < 400_000
    assert 2 <= len(seen(axes)) <= 4


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((0, 3, 5, 7), [0, 3, 5, 7]),
        ((0, 1000, 2000, 20000), [0, 1000, 2000, 5000, 10000, 20000]),
        ((0, 1, 512, 143000), [0, 1, 10, 100, 1000, 10000, 100000]),
        ((0, *range(300, 400, 10)), [0, 300, 370]),
    ],
)
def test_a_series_from_0_has_marks(steps, expected):
    """(0, 3, 5, 7) had the single mark 0."""
    axes = Figure().subplots()
    axes.plot(steps, steps)
    scale_axis(axes, pd.Series(steps, dtype=float), logarithmic=True)
    assert seen(axes) == expected


def test_21_systems_differ_without_markers():
    """Figures over cut-offs draw no markers: the first and the fifteenth system had the same line there."""
    systems = [f"s{i}" for i in range(21)]
    with colours_of(systems):
        drawn = [str((line.colour, line.style()["linestyle"])) for line in lines(systems).values()]
    assert len(set(drawn)) == 21


@pytest.mark.parametrize("kind", ["lines", "whiskers", "multiples"])
def test_points_over_few_units_are_hollow_and_have_no_interval(kind):
    """They were drawn as all others, with intervals that nobody can rely on."""
    points = pd.DataFrame({"label": "a", "x": [1, 2, 3, 4], "y": [0.5, 0.6, 0.7, 0.8]})
    points = points.assign(
        ci_low=points["y"] - 0.1, ci_high=points["y"] + 0.1, reliable=[True, False, True, True]
    )
    points.loc[2, ["ci_low", "ci_high"]] = float("nan")
    chart = Chart(kind, "c", {"x": points}, "Scores.", x="x", y="y", whole="a")
    axes = draw(chart).axes[0]
    (hollow,) = (line for line in axes.lines if line.get_markerfacecolor() == PAPER)
    assert list(hollow.get_xdata()) == [2, 3]
    assert chart.title == "Scores. Hollow: over too few units for an interval to rely on."
    sure = replace(chart, panels={"x": points.assign(reliable=True).drop(index=2)})
    assert sure.title == "Scores." and not [
        line
        for line in draw(sure).axes[0].lines
        if len(line.get_xdata()) and line.get_markerfacecolor() == PAPER
    ]


@pytest.mark.parametrize("kind", ["heat", "dots", "lines", "cutoffs"])
def test_a_figure_is_drawn_once_as_saving_it_draws_it(kind, monkeypatch):
    """Saving drew each figure twice, first only to place its parts: a fifth of a report's time."""
    points = pd.DataFrame(
        {"label": "a long name of a system", "x": [0.1, 0.5, 1.0], "y": [0.5, 0.6, 0.7], "n": 99}
    )
    points = points.assign(side="top", ci_low=0.4, ci_high=0.8)
    scores = pd.DataFrame({"m": [0.5, 0.6]}, index=["a", "Across an object relative clause"])
    panel = points if kind in ("lines", "cutoffs") else scores
    chart = Chart(kind, "c", {"x": panel}, "Scores.", x="x", y="y")
    saved = BytesIO()
    with style():
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        draw(chart).savefig(saved, format="svg", metadata=metadata)
        figure = draw(chart)
    drawings = []
    drawn = Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda figure, renderer: drawings.append(drawn(figure, renderer)))
    with style():
        assert to_svg(figure) == saved.getvalue().decode()
    assert len(drawings) == 1
