"""No formatter prints a number as 1 or 0 that is not: in the terminal, tables and the page."""

import re
from functools import partial

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tse_scorers.report.differences import overview
from tse_scorers.report.latex import to_latex
from tse_scorers.report.leaderboard import leaderboard
from tse_scorers.report.measure import Measure
from tse_scorers.report.tables import (
    Table,
    decimals,
    note_on_intervals,
    p_value,
    score,
    signed,
    with_interval,
)

FORMS = {
    "score": score,
    "score_3": partial(score, digits=3),
    "signed": signed,
    "with_interval": lambda value: with_interval(value, value, value).split(" ")[0],
    "with_interval_3": lambda value: with_interval(value, value, value, partial(score, digits=3)).split(" ")[
        0
    ],
    "decimals_2": lambda value: decimals(value, 2),
    "decimals_3": lambda value: decimals(value, 3),
    "p_value": lambda value: p_value(abs(value)),
}
ALMOST_ONE = st.floats(0.9, 1, exclude_max=True).filter(lambda value: value < 1 - 1e-9)
ONE = re.compile(r"[+−-]?1(\.0+)?")
"""1, 1.00"""


@given(ALMOST_ONE)
@example(0.9996)
@example(0.99951)
@pytest.mark.parametrize("form", FORMS)
def test_only_one_is_printed_as_one(form, value):
    printed = FORMS[form]
    assert not ONE.fullmatch(printed(value)) and not ONE.fullmatch(printed(-value))
    assert ONE.fullmatch(printed(1.0))


@given(st.floats(0, 1, exclude_min=True))
@example(1e-300)
def test_a_p_value_is_never_printed_as_zero(value):
    for text in (p_value(value), decimals(value, 4)):
        assert float(text.lstrip("<>")) > 0 or text.startswith(">")


@given(ALMOST_ONE, st.floats(1e-300, 1e-4))
def test_a_comparison_prints_neither(almost, p):
    row = {"suite": "s", "measure": "m", "system": "a"}
    row |= dict.fromkeys(["score", "reference_score", "difference", "ci_low"], almost)
    row |= {"ci_high": almost, "p_adjusted": p, "minimum_detectable": almost, "unit": "nouns", "n_units": 12}
    frame = pd.DataFrame([row | {"n_lemmas": None, "reliable": True}])
    for digits in (2, 3):
        texts = overview(frame, {"s": [Measure("m", digits=digits)]}).iloc[0]
        numbers = [text for cell in texts for text in re.findall(r"(?<![\d.<>])[+−]?\d[\d.]*", cell)]
        assert not [text for text in numbers if ONE.fullmatch(text)]
        assert texts["p"] == "<0.001"


@given(ALMOST_ONE)
def test_tables_for_papers_print_the_cells_of_the_page(value):
    values = pd.DataFrame({"EW": [value]}, index=["m"])
    cell = score(value)
    text = to_latex(Table("caption", values, values.map(score)))
    assert (cell.startswith(">")) == (">" in text or "textgreater" in text) and "1.00" not in text


def test_the_note_says_why_a_score_has_no_interval_only_where_one_lacks_it():
    """1.00 stood between 1.00 [0.16, 1.00] and 1.00 [0.16, 1.00] without a word."""
    known = {"score": 1.0, "ci_low": 0.2, "n_units": 4.0, "n_lemmas": 2.0}
    single_verb = known | {"ci_low": float("nan"), "n_lemmas": 1.0}
    single_noun = known | {"ci_low": float("nan"), "n_units": 1.0, "n_lemmas": float("nan")}
    old = known | {"ci_low": float("nan"), "n_units": float("nan"), "n_lemmas": float("nan")}
    said = [
        "single unit" in note_on_intervals(pd.DataFrame({"m": ["1.00 [0.16, 1.00]"]}), pd.DataFrame(rows))
        for rows in ([known], [known, old], [known, single_verb], [single_noun])
    ]
    assert said == [False, False, True, True]


def test_the_note_says_why_no_score_has_an_interval():
    """Where all scores lacked it, the note was empty."""
    row = {"score": 1.0, "ci_low": float("nan"), "n_units": 1.0, "n_lemmas": float("nan")}
    assert note_on_intervals(pd.DataFrame({"m": ["1.00"]}), pd.DataFrame([row]), "Over items.") == (
        "A score over a single unit has no interval."
    )
    assert note_on_intervals(pd.DataFrame({"m": ["0.50 ± 0.02"]}), None, "Over items.") == (
        "± is half the width of the 95 % interval. Over items."
    )


def test_the_ends_of_an_interval_near_1_are_not_rounded_to_a_false_one():
    """>0.999 stood beside the interval 0.999–0.999, whose upper end is below the score."""
    line = {
        "suite": "minimal_pairs", "suite_name": "minimal_pairs", "config": "blimp", "measure": "accuracy", "digits": 3,
        "place": 0, "leads": True,
        "score": 0.9998, "n": 5000.0, "n_excluded": 0.0, "n_ties": 0.0, "n_units": 67.0, "n_units_effective": 67.0,
        "reliable": True, "over_lemmas": False, "chance": 0.5, "counted": "pairs",
    }  # fmt: skip
    ends = {"a": (0.9996, 0.9999), "b": (0.963, 0.9999), "c": (0.9996, 1.0), "d": (0.963, 1.0)}
    lines = [line | {"system": name, "ci_low": low, "ci_high": high} for name, (low, high) in ends.items()]
    board = leaderboard(pd.DataFrame(lines), {})
    assert {name: cells[0].margin for name, cells in board.rows.items()} == {
        "a": "[>0.999, >0.999]", "b": "[0.963, >0.999]", "c": "[>0.999, 1.000]", "d": "[0.963, 1.000]"
    }  # fmt: skip


def test_halves_of_an_interval_may_differ_by_two_hundredths():
    """The boundary itself is printed with ± and the longer half; beyond it, both ends are printed."""
    assert with_interval(0.5, 0.45, 0.57) == with_interval(0.5, 0.43, 0.55) == "0.50 ± 0.07"
    assert with_interval(0.5, 0.45, 0.5701) == "0.50 [0.45, 0.57]"
