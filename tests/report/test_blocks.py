"""Tables and figures of scores: what is best, how numbers are printed, and that names are only text."""

import re

import numpy as np
import pandas as pd
import pytest
from hostile import HOSTILE, UNSEEN
from rich.console import Console

from tse_scorers.report.blocks import Plain, Plot, Table
from tse_scorers.report.draw import draw

NAMES = pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())


def scores(*rows, **more) -> pd.DataFrame:
    """Tidy rows from (system, label, score, low, high)."""
    frame = pd.DataFrame(rows, columns=["system", "label", "score", "ci_low", "ci_high"])
    about = {
        "measure": "EW",
        "source": "run",
        "reliable": True,
        "usable": True,
        "n": 100,
        "digits": 2,
        "chance": 0.5,
    }
    return frame.assign(**{"n_units_effective": 9.0, **about, **more})


def best_of(frame: pd.DataFrame) -> set[tuple[str, str]]:
    best = frame[Table("t", "T", frame).marks]
    return set(zip(best["system"], best["label"], strict=True))


def test_the_best_is_told_apart_from_each_other_one_among_all_pairs_of_the_column():
    two = [("a", "x", 0.9, 0.85, 0.95), ("b", "x", 0.8, 0.7, 0.84)]
    assert best_of(scores(*two)) == {("a", "x")}  # 0.1 is more than the root of 0.05² + 0.04²
    assert best_of(scores(two[0], ("b", "x", 0.8, 0.7, 0.89))) == set()
    rows = [(system, f"x{n}", *ends) for n in range(20) for system, _, *ends in two]
    assert best_of(scores(*rows)) == set()  # of twenty rows, one would be so by chance
    assert best_of(scores(*two, *((system, "x", 0.7, 0.65, 0.75) for system in "cdefg"))) == set()


def test_equal_models_are_rarely_told_apart():
    """A page named a difference in 22 % of tables of 67 rows of two equal models."""
    random, found = np.random.default_rng(0), 0
    for _ in range(200):
        se, rows = 0.03, [(system, f"x{n}") for n in range(67) for system in "ab"]
        means = random.normal(0.7, se, len(rows))
        frame = scores(
            *((*row, mean, mean - 2.31 * se, mean + 2.31 * se) for row, mean in zip(rows, means, strict=True))
        )
        found += bool(best_of(frame))
    assert found <= 15


def test_scores_that_are_printed_alike_are_best_together_but_not_alone():
    two = [("a", "x", 0.981, 0.97, 0.99), ("b", "x", 0.979, 0.97, 0.99)]
    assert best_of(scores(*two, ("c", "x", 0.7, 0.6, 0.8))) == {("a", "x"), ("b", "x")}
    assert best_of(scores(*two)) == set()


def test_what_does_not_compare_is_never_best_and_does_not_keep_another_one_from_it():
    frame = scores(("a", "x", 0.9, 0.85, 0.95), ("b", "x", 0.8, 0.7, 0.84), ("c", "x", 0.99, 0.98, 1.0))
    assert best_of(frame.assign(usable=[True, True, False])) == {("a", "x")}
    assert best_of(frame.assign(source=["run", "run", "paper"])) == {("a", "x")}


def test_a_cell_has_its_score_interval_and_doubt():
    frame = scores(
        ("a", "x", 0.9996, 0.9, 1.0), ("b", "x", 0.5, 0.4, 0.6), ("b", "y", np.nan, np.nan, np.nan)
    )
    text = Table("t", "T", frame.assign(reliable=[True, False, True])).text()
    assert text.loc["x", "a"] == ">0.99 [0.90, 1.00]" and text.loc["x", "b"] == "0.50 [0.40, 0.60]*"
    assert text.loc["y", "a"] == text.loc["y", "b"] == "–"
    doubtful = Table("t", "T", frame.assign(reliable=False, unlike=[False, True, False]), intervals=False)
    assert list(doubtful.text().loc["x"]) == [">0.99*", "0.50*†"]
    assert r"0.50*$\dagger$" in doubtful.latex()
    assert "tables.csv has the intervals." in doubtful.latex(), "a paper has no hover"


def test_rows_and_columns_are_in_the_order_of_the_scores():
    frame = scores(("b", "z", 0.1, 0, 1), ("a", "y", 0.2, 0, 1), ("a", "z", 0.3, 0, 1), ("b", "y", 0.4, 0, 1))
    values = Table("t", "T", frame).pivot("score")
    assert list(values.index) == ["z", "y"] and list(values) == ["b", "a"]
    wide = Table("t", "T", frame, columns=("measure", "system"))
    assert wide.headings() == [[("EW", 2)], [("b", 1), ("a", 1)]]


def test_latex_has_the_best_in_bold_and_rules():
    text = Table("t1", "A & B.", scores(("a", "x_1", 0.9, 0.85, 0.95), ("b", "x_1", 0.8, 0.7, 0.84))).latex()
    assert r"\bfseries 0.90" in text and r"\bfseries 0.80" not in text
    assert (
        r"x\_1" in text and r"\toprule" in text and r"\caption{A \& B. " in text and r"\label{tab:t1}" in text
    )


@NAMES
def test_a_name_is_only_text_in_latex(name):
    frame = scores((name, name, 0.9, 0.85, 0.95))
    for text in (
        Table("t", name, frame, note=name).latex(),
        Plain("p", name, frame.set_index("label")).latex(),
    ):
        assert not UNSEEN.search(text)
        inside = text.replace(r"\textbackslash ", "").replace(r"\begin", "").replace(r"\end", "")
        assert not re.search(r"\\(input|immediate|write)", inside) and "^^" not in inside
        assert not re.search(r"(?<!\\)\$", inside)


@NAMES
def test_a_name_is_only_text_in_a_figure_and_a_terminal(name):
    points = pd.DataFrame(
        {"label": [name, "b"], "series": [name, "b"], "panel": name, "x": [1, 2], "y": [0.1, 0.9]}
    )
    for kind in ("dots", "lines", "heat"):
        texts = [
            text.get_text()
            for text in draw(Plot("p", name, kind, points)).findobj(lambda of: hasattr(of, "get_text"))
        ]
        assert not any(UNSEEN.search(text) for text in texts if text)
    console = Console(width=200, record=True, force_terminal=True, color_system=None, file=None, quiet=False)
    with console.capture() as captured:
        console.print(Table("t", name, scores((name, name, 0.9, 0.85, 0.95))).rich())
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1a\x7f-\x9f\u202a-\u202e\u2066-\u2069]", captured.get())


def test_a_caption_is_escaped_as_a_cell_is():
    text = Table("t", "50 % of a_b & {c}", scores(("a", "x", 0.9, 0.85, 0.95))).latex()
    assert r"\caption{50 \% of a\_b \& \{c\} " in text


def test_lines_without_a_colour_are_thin_and_grey():
    points = pd.DataFrame(
        {"label": [f"m{n}" for n in range(9) for _ in (0, 1)], "x": [0, 1] * 9, "y": 0.5, "source": "run"}
    )
    axes = draw(Plot("p", "P", "lines", points, chance=None)).axes[0]
    widths = [
        line.get_linewidth()
        for line in axes.lines
        if len(line.get_xdata()) == 2 and line.get_linestyle() == "-"
    ]
    assert sorted(set(widths)) == [0.6, 1.4] and widths.count(1.4) == 7
