"""Labels and numbers in figures for a paper, and what their captions say."""

from functools import partial

import pandas as pd
import pytest

from tse_scorers.report.blocks import Chart, Section, View
from tse_scorers.report.charts import draw
from tse_scorers.report.labels import line_name, line_names, row_labels
from tse_scorers.report.line_styles import colours_of
from tse_scorers.report.paper import write_paper
from tse_scorers.report.plots import PAPER_WIDTH, draw_pdf


@pytest.fixture
def narrow():
    """Labels as in a paper's column."""
    token = PAPER_WIDTH.set(3.03)
    yield
    PAPER_WIDTH.reset(token)


def test_rows_of_a_figure_are_told_apart_by_their_labels():
    """In a column's width, three models were "EleutherAI/…0m-deduped"."""
    names = [f"EleutherAI/pythia-{size}-deduped" for size in ("70m", "160m", "410m")]
    token = PAPER_WIDTH.set(3.03)
    try:
        assert list(row_labels(names).values()) == [name.partition("/")[2] for name in names]
        assert list(row_labels(["a/m", "b/m"]).values()) == ["a/m", "b/m"]
    finally:
        PAPER_WIDTH.reset(token)


def test_long_labels_of_a_column_are_broken_and_none_look_the_same(narrow):
    """Two constructions were "Across subje…tive clause"."""
    names = [
        "German DistilBERT (published)",
        "Across subject relative clause",
        "Across object relative clause",
    ]
    assert list(row_labels(names, 2).values()) == [
        "German DistilBERT\n(published)", "Across subject\nrelative clause", "Across object\nrelative clause"
    ]  # fmt: skip
    alike = [f"a-model-of-a-long-name-{middle}-trained-on-words-of-children" for middle in "ab"]
    assert len(set(row_labels(alike).values())) == len(set(row_labels(alike, 2).values())) == 2


def test_rows_of_a_page_have_whole_names_beside_their_counts():
    """Two rows of the first figure were "Across object relativ… (n 3,040 to 21,280)"."""
    names = [f"Across object relative {kind} (n 3,040 to 21,280)" for kind in ("clause", "(no that)")]
    assert list(row_labels(names, 2).values()) == names
    assert len(set(row_labels(names).values())) == 2


def test_the_axis_of_a_column_is_named_inside_of_it(narrow):
    """`difference from tiny-masked` was cut at the right, and labels were broken inside words."""
    long = ["Determiner noun agreement with adj irregular 2", "overall"]
    rows = pd.DataFrame({"label": long, "difference": 0.1, "ci_low": -0.9, "ci_high": 0.9, "is_clear": False})
    figure = draw(Chart("forest", "c", {"accuracy": rows}, "c", x="difference from a-model-of-a-long-name"))
    figure.canvas.draw()
    (name,) = (text for text in figure.texts if "difference" in text.get_text())
    box = name.get_window_extent()
    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
    assert row_labels(long, 2)[long[0]] == "Determiner noun agreement\nwith adj irregular 2"


def test_a_model_has_one_name_in_all_figures_of_a_paper(narrow):
    """It was "pythia-70m-deduped" in rows and "EleutherAI/pythia-70m-deduped" in legends."""
    with colours_of(["org/a", "other/b"]):
        assert line_name("org/a") == row_labels(["org/a"])["org/a"] == line_names(["org/a"])["org/a"] == "a"
        assert row_labels(["and/or"])["and/or"] == "and/or"  # no system
    with colours_of(["org/a", "other/a"]):
        assert line_name("org/a") == row_labels(["org/a"])["org/a"] == "org/a"


@pytest.mark.parametrize(("n_columns", "has_numbers"), [(4, True), (12, False)])
def test_heat_maps_of_a_column_have_numbers_or_say_where_they_are(tmp_path, n_columns, has_numbers):
    values = pd.DataFrame(
        0.5, ["org/model-a", "org/model-b"], [f"construction {i}" for i in range(n_columns)]
    )
    chart = Chart("heat", "m", {"": values}, "C.", x="score")
    write_paper(tmp_path, [Section("s", "S", "", {}, [View("P", "", [chart])])])
    said = (tmp_path / "paper" / "figures.tex").read_text()
    assert ("The numbers are in the table." not in said) == has_numbers
    figure = partial(draw, chart)
    assert draw_pdf(figure, 3.03).lacks_numbers != has_numbers and not draw_pdf(figure, 6.3).lacks_numbers
