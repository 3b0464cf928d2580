"""What is said and drawn of the rows of a comparison."""

import pandas as pd
import pytest

from tse_scorers.report.charts import forest
from tse_scorers.report.comparison import (
    answers,
    best_first,
    findings,
    forest_panels,
    section,
    without_repeated,
)
from tse_scorers.report.differences import overview, units
from tse_scorers.report.measure import Measure


def family_rows(reliable, p_adjusted, level="paradigm", systems=("b",)):
    """Rows of one family of a comparison, as far as they say how many differ."""
    rows = {
        "group": [f"g{i}" for i in range(len(reliable))],
        "value": [f"g{i}" for i in range(len(reliable))],
        "system": [systems[i % len(systems)] for i in range(len(reliable))],
        "measure": "EW",
        "level": level,
        "test": "t",
        "n_units_effective": [20.0 if is_reliable else 2.0 for is_reliable in reliable],
        "n_family": len(reliable),
    }
    return pd.DataFrame(
        rows | {"different": "", "reliable": reliable, "p": p_adjusted, "p_adjusted": p_adjusted}
    )


@pytest.mark.parametrize(
    "reliable, systems, said",
    [
        (
            [True, True],
            ["b"],
            "EW, paradigms: 1 of 2 differs (p below 0.05 after Holm's adjustment of 2 tests).",
        ),
        ([True, True], ["b", "c"], "EW, paradigms x 2 models: 1 of 2 differs"),
        ([False, True], ["b"], "EW, paradigms: 0 of 1 differ"),
        ([False, True], ["b"], "1 has too few units to count."),
        ([False, False], ["b"], "EW, paradigms: too few units for a test of any of 2."),
    ],
)
def test_sentences_count_the_differences_of_one_family(reliable, systems, said):
    """One sentence pooled systems and measures, and counted tests that another sentence called unreliable."""
    assert said in " ".join(findings(family_rows(reliable, [0.01, 0.9], systems=systems)))


def compared_rows(*differences):
    """Rows of a comparison with `a`: (system, measure, difference, half its interval, adjusted p)."""
    numbers = {
        "suite": "s",
        "config": None,
        "reference": "a",
        "unit": "nouns",
        "n_units": 20,
        "n_lemmas": None,
    }
    more = {"minimum_detectable": 0.1, "se": 0.01, "score": 0.5, "reference_score": 0.5, "n_items": 9}
    rows = [
        family_rows([True], [p]).iloc[0].to_dict()
        | numbers
        | more
        | {"level": "all", "group": "all", "system": system, "measure": measure, "difference": value}
        | {"ci_low": value - half, "ci_high": value + half}
        for system, measure, value, half, p in differences
    ]
    return pd.DataFrame(rows)


def test_the_first_screen_says_what_paired_differences_show():
    """It said that no model is better by overlapping intervals, above a table of a clear difference."""
    none = compared_rows(
        ("b", "TSE", -0.01, 0.1, 0.9), ("c", "TSE", 0.02, 0.1, 0.8), ("b", "EW", 0.5, 0.6, 0.1)
    )
    (said,) = answers(none, {}).values()
    assert "".join(said[:2]) == (
        "No difference from a in TSE is shown: the largest is +0.020 [−0.080, +0.120] (c). In other measures, 0 of 1 "
        "differences have p below 0.05 (adjusted)."
    )
    clear = compared_rows(
        ("b", "TSE", -0.01, 0.1, 0.9), ("b", "EW", -0.2, 0.1, 0.01), ("c", "EW", 0.1, 0.05, 0.02)
    )
    measures = {"s": [Measure("tse", "TSE"), Measure("ew", "EW", leads=True)]}
    finding, more, system, named = answers(clear, measures)["s"]
    # Which is better comes before the larger difference of b.
    assert (finding, system, named) == ("c is above a in EW", "c", ("EW",))
    assert more == (
        ", by +0.100 [+0.050, +0.150] on the same items. With p below 0.05 (adjusted), 1 of 2 are above a, and "
        "1 below. In other measures, 0 of 1 differences have p below 0.05 (adjusted)."
    )
    assert answers(clear, {})["s"].words == "No difference from a in TSE is shown", (
        "the leading measure, not the largest"
    )
    (worse,) = answers(clear.iloc[1:2], {}).values()
    assert "".join(worse[:2]) == "b is below a in EW, by −0.200 [−0.300, −0.100] on the same items."
    assert answers(clear.assign(different="data set"), {}) == answers(clear.assign(reliable=False), {}) == {}
    assert answers(clear.iloc[:0], {}) == {}


def test_differences_come_before_method():
    """A paragraph on what is compared and one on tests stood before the first difference."""
    rows = compared_rows(("b", "TSE", 0.01, 0.1, 0.9), ("c", "TSE", 0.3, 0.1, 0.01))
    shown = section(rows, pd.DataFrame(columns=["suite", "config", "reference"]))
    (view,) = shown.views
    assert shown.lead == "" and "both models scored" in shown.terms["Score, reference"]
    assert view.text.startswith("TSE, models: ") and "test over" not in view.text
    assert view.blocks[0].note == "Test: t." and [block.name for block in view.blocks[1:]] == ["comparison_1"]


def test_the_rows_of_a_comparison_go_measure_by_measure():
    """TSE of two models was followed by EW and MW of the first, and then by those of the second."""
    rows = compared_rows(*[(of, name, 0.1, 0.1, 0.5) for of in "bc" for name in ("TSE", "EW")])
    (view,) = section(rows, pd.DataFrame(columns=["suite", "config", "reference"])).views
    assert list(view.blocks[0].text.index) == ["TSE", "TSE", "EW", "EW"]
    assert list(view.blocks[0].text["model"]) == ["b", "c", "b", "c"]
    other = rows[rows["measure"] == "EW"].assign(config="other")
    ordered = best_first(pd.concat([other, rows], ignore_index=True))
    assert list(zip(ordered["config"].eq("other"), ordered["measure"], strict=True)) == [
        (True, "EW"), (True, "EW"), (False, "TSE"), (False, "TSE"), (False, "EW"), (False, "EW"),
    ], "of several data, each by itself"  # fmt: skip


def test_the_forest_plot_fills_only_what_is_counted_as_different():
    """A group whose test was not reliable was filled, although no group was counted as different."""
    rows = family_rows([True, False, True, True], [0.01, 0.01, 0.2, 0.01])
    rows.loc[3, "group"] = "all"
    numbers = {
        "suite": "agreement",
        "system": "b",
        "p": [0.01] * 4,
        "difference": 0.1,
        "ci_low": 0.0,
        "ci_high": 0.2,
    }
    figure = forest(forest_panels(rows.assign(**numbers)), "difference")
    filled, hollow = figure.axes[0].collections[1:]  # the first holds the intervals
    assert filled.get_offsets()[:, 1].tolist() == [0, 3] and len(filled.get_facecolors()) == 1
    assert hollow.get_offsets()[:, 1].tolist() == [1, 2] and len(hollow.get_facecolors()) == 0


def test_unlike_runs_are_told_as_in_other_reports():
    rows = family_rows([True, True], [0.5, 0.5]).assign(
        different=["data set, --pll", ""], system="b", reference="a"
    )
    told = "b was run on a different data set and with a different --pll than a; do not compare their scores."
    assert findings(rows)[1:] == [told]


def units_row(n_units, second, n_lemmas):
    unit = f"subject nouns x {second} (these constructions)"
    return {"n_units": n_units, "unit": unit, "n_lemmas": n_lemmas, "reliable": True}


def test_units_say_whose_lemmas_they_are():
    """EW was 0.78 in the run and 0.80 in the comparison, which did not say why."""
    row = units_row(29, "lemmas", 766)
    assert units(row) == "29 subject nouns x 766 lemmas that both have (these constructions)"
    assert (
        units(row | {"n_lemmas_own": 872})
        == "29 subject nouns x 766 lemmas that all have (these constructions)"
    )


def test_units_are_counted_in_words_that_fit():
    """It said "2 subject nouns x 1 verbs"."""
    row = units_row(2, "verbs", 1)
    assert units(row) == "2 subject nouns x 1 verb (these constructions)"
    assert (
        units(row | {"n_units": 1, "n_lemmas": 1951}) == "1 subject noun x 1,951 verbs (these constructions)"
    )


def test_the_only_paradigm_is_not_shown_beside_the_whole():
    """Its row repeats the overall one, unless it lacks some of the items."""
    about = {
        "suite": "minimal_pairs",
        "config": "mine",
        "reference": "a",
        "measure": "accuracy",
        "system": "b",
    }
    rows = pd.DataFrame(
        [about | {"level": level, "group": level, "n_items": 12} for level in ("all", "paradigm")]
    )
    assert list(without_repeated(rows)["group"]) == ["all"]
    rows.loc[1, "n_items"] = 9
    assert list(without_repeated(rows)["group"]) == ["all", "paradigm"]


@pytest.mark.parametrize(("reliable", "interval"), [(True, "[0.000, +0.200]"), (False, "[0.000, +0.200]*")])
def test_an_interval_not_to_rely_on_has_the_sign_of_other_tables(reliable, interval):
    """A sentence below the table said it, and nothing at the interval."""
    row = {
        "suite": "s", "measure": "m", "system": "b", "score": 0.6, "reference_score": 0.5, "difference": 0.1,
        "ci_low": 0.0, "ci_high": 0.2, "p_adjusted": 0.05, "minimum_detectable": 0.1, "n_units": 8, "unit": "verbs",
        "n_units_effective": 2.7, "n_lemmas": None, "reliable": reliable,
    }  # fmt: skip
    assert overview(pd.DataFrame([row]), {}).loc[0, "95 % interval"] == interval
