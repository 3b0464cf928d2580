"""What the metrics' pages say: intervals and counts beside scores, with as many digits as n bears."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

METRICS = Path(__file__).resolve().parents[2] / "metrics"


def page_of(name):
    pytest.importorskip("gradio", reason="needs gradio (pip install 'refined-tse[test]')")
    spec = importlib.util.spec_from_file_location(f"page_{name}", METRICS / name / "app.py")
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    return page


def test_the_accuracy_of_pairs_has_its_interval():
    """Only those of groups were there."""
    page = page_of("minimal_pair_accuracy")
    text, table = page.score(pd.DataFrame(page.EXAMPLE, columns=page.COLUMNS))
    assert "Accuracy 0.50** over 6 pairs" in text and "1 ties" in text  # as many digits as six pairs bear
    assert "95 % Wilson interval: 0.19 to 0.81" in text
    island = table.data.set_index("name").loc["island effects"]
    assert (island["accuracy"], island["pairs"]) == (0.5, 2) and 0 < island["low"] < 0.5 < island["high"] < 1
    without = pd.DataFrame({"good": [-1.0] * 900 + [-3.0] * 300, "bad": -2.0, "paradigm": None})
    text, _ = page.score(without)
    low, high = binomtest(900, 1200).proportion_ci(method="wilson")
    assert "Accuracy 0.750** over 1200 pairs" in text and f"{low:.3f} to {high:.3f}" in text


def test_the_interval_of_a_mean_over_paradigms_has_the_pairs_of_small_ones():
    """The mean over a paradigm of 4 pairs and one of 400 is nearly as unsure as the small one's half."""
    page = page_of("minimal_pair_accuracy")
    shares = {"by_paradigm": {"small": {"n": 4}, "large": {"n": 400}}, "n": 404}
    assert page.effective_pairs(shares) == pytest.approx(4 / (1 / 4 + 1 / 400))
    weights = np.repeat([1 / 2 / 4, 1 / 2 / 400], [4, 400])
    assert page.effective_pairs(shares) == pytest.approx(1 / (weights**2).sum())  # Kish
    for right, n in ((0, 5), (3, 7), (9, 9)):
        assert page.wilson(right / n, n) == pytest.approx(binomtest(right, n).proportion_ci(method="wilson"))


def test_verbs_have_an_interval_a_count_and_a_third_digit_from_a_thousand_on():
    page = page_of("refined_tse")
    few = pd.DataFrame([["are", "is", 0.6, 0.05], ["exist", "exists", 0.1, 0.25]], columns=page.COLUMNS)
    text, _ = page.score(few)
    assert "EW 0.50**: the share of these 2 verbs" in text and "interval 0.09 to 0.91" in text
    many = pd.DataFrame(
        [["a", "b", 2e-4, 1e-4]] * 1000 + [["a", "b", 1e-4, 2e-4]] * 500, columns=page.COLUMNS
    )
    text, _ = page.score(many)
    assert "EW 0.667**: the share of these 1500 verbs" in text and re.search(r"MW 0\.\d{3}\*\*", text)


def test_sets_have_an_interval_over_templates_and_counts():
    page = page_of("minimal_variation_auc")
    text, overall, cells = page.score(page.example(), None, "1-6")
    assert "AUC 0.66** [0.45, 0.87] (1-6) over 144 sets of 4 templates; 84 ties" in text
    assert list(overall.data.columns) == ["set", "AUC", "interval", "sets", "ties"] and len(cells.data) == 7
    assert page.interval([0.5, 0.6, 0.7, 0.8], "{:.3f}").count(".") == 2


def test_correlations_have_intervals_and_the_number_of_items():
    page = page_of("human_correlation")
    text, table = page.score(pd.DataFrame(page.EXAMPLE, columns=page.COLUMNS))
    assert text.startswith("6 items, 0 excluded") and {"low", "high", "p-value"} < set(table.data.columns)
    assert (table.data["low"] <= table.data["correlation"]).all()
    values = np.random.default_rng(0).random((1000, 2)).tolist()
    _, table = page.score(pd.DataFrame(values, columns=page.COLUMNS))
    assert re.search(r">-?0\.\d{3}</td>", table.to_html())
