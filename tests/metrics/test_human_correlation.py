"""The metric `human_correlation`: scipy's values, defined edges, and the published German correlations."""

import csv
import json
import warnings

import evaluate
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tse_scorers.io.bundle import metric_modules

formulas = metric_modules("human_correlation").definitions
correlations = formulas.correlations
NAMES = ("pearson", "spearman", "kendall")

# Pearson's r between human and model AUCs, (1-6) minimal variation sets: Rochereau et al. (2020), Table 5.
TABLE_5 = {"unigram": "-0.26", "bigram": "0.58", "lstm": "0.71", "bert": "0.73", "distilbert": "0.81"}

items = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=3, max_size=25)


def point(x, y):
    return correlations(x, y, n_resamples=0)


@pytest.fixture(scope="module")
def metric(root):
    return evaluate.load(str(root / "metrics" / "human_correlation"))


@pytest.mark.parametrize(("system", "printed"), TABLE_5.items())
def test_table_5_of_the_german_paper(root, metric, system, printed):
    path = root / "push_scripts" / "sources" / "published_results" / "rochereau2020_auc.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["variation_set"] == "1-6"]
    cells = {
        name: {
            (row["case_order"], row["role_assignment"]): float(row["auc"])
            for row in rows
            if row["system"] == name
        }
        for name in ("human", system)
    }
    assert len(cells["human"]) == 36 and cells["human"].keys() == cells[system].keys()
    human, model = zip(*((cells["human"][cell], cells[system][cell]) for cell in cells["human"]), strict=True)
    result = metric.compute(predictions=list(model), references=list(human), n_resamples=100)
    assert f"{result['pearson']:.2f}" == printed
    assert result["n"] == 36


def test_worked_example():
    """Ranks 1 2 3 4 against 1 3 2 4: rho = 1 - 6 * 2 / (4 * 15) = 0.8; 5 of 6 pairs concordant: tau = 4/6."""
    result = point([1, 2, 3, 5], [1, 3, 2, 4])
    assert result["spearman"] == pytest.approx(0.8)
    assert result["kendall"] == pytest.approx(2 / 3)
    # deviations -7/4 -3/4 1/4 9/4 and -3/2 1/2 -1/2 3/2: 5.5 / sqrt(8.75 * 5)
    assert result["pearson"] == pytest.approx(5.5 / np.sqrt(8.75 * 5))


def test_values_and_p_values_are_scipys():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 8, 40)  # with ties
    y = x + rng.normal(0, 3, 40).round()
    result = point(x, y)
    for name, function in zip(NAMES, (stats.pearsonr, stats.spearmanr, stats.kendalltau), strict=True):
        assert result[name] == pytest.approx(function(x, y).statistic, abs=1e-12)
        assert result[f"{name}_pvalue"] == pytest.approx(function(x, y).pvalue, abs=1e-12)


@given(items)
@settings(deadline=None)
def test_sides_may_be_exchanged_and_a_sign_turned(rows):
    x, y = np.array(rows, dtype=float).T
    forth, back, turned = point(x, y), point(y, x), point(-x, y)
    for name in NAMES:
        assert forth[name] == pytest.approx(back[name], nan_ok=True, abs=1e-9)
        assert forth[name] == pytest.approx(-turned[name], nan_ok=True, abs=1e-9)


@given(items)
@settings(deadline=None)
def test_units_do_not_matter(rows):
    """Pearson survives any change of unit; the rank correlations any increasing change."""
    x, y = np.array(rows, dtype=float).T
    plain, scaled, curved = point(x, y), point(3 * x - 7, y / 2), point(x**3, y)
    for name in NAMES:
        assert plain[name] == pytest.approx(scaled[name], nan_ok=True, abs=1e-9)
    for name in ("spearman", "kendall"):
        assert plain[name] == pytest.approx(curved[name], nan_ok=True, abs=1e-9)


def test_intervals_are_near_fishers():
    """For 200 normal items, the bootstrap's interval of r is near tanh(atanh r ± 1.96 / sqrt(n - 3))."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    y = x + rng.normal(size=200)
    result = correlations(x, y)
    fisher = np.tanh(np.arctanh(result["pearson"]) + np.array([-1.96, 1.96]) / np.sqrt(197))
    assert result["pearson_interval"] == pytest.approx(fisher, abs=0.03)
    for name in NAMES:
        low, high = result[f"{name}_interval"]
        assert low < result[name] < high


def test_intervals_are_those_of_a_literal_bootstrap():
    """The same draws, one at a time through scipy's own correlations."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 12))
    random, drawn = np.random.default_rng(5), {name: [] for name in NAMES}
    for name, function in zip(NAMES, (stats.pearsonr, stats.spearmanr, stats.kendalltau), strict=True):
        random = np.random.default_rng(5)
        for _ in range(200):
            places = random.integers(0, 12, 12)
            drawn[name].append(function(x[places], y[places]).statistic)
    result = correlations(x, y, n_resamples=200, seed=5, confidence_level=0.9)
    for name in NAMES:
        expected = np.quantile(drawn[name], [0.05, 0.95])
        assert result[f"{name}_interval"] == pytest.approx(expected, abs=1e-12)


def test_the_seed_decides_the_intervals():
    x, y = np.random.default_rng(4).normal(size=(2, 30))
    first, again, other = (correlations(x, y, n_resamples=200, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first["pearson_interval"] != other["pearson_interval"]
    assert first["pearson"] == other["pearson"]


def test_constant_resamples_are_left_out_of_few_items():
    """Of three items, one resample in nine holds a single item."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = correlations([1, 2, 3], [1, 2, 4])
    for name in NAMES:
        low, high = result[f"{name}_interval"]
        assert -1 <= low <= high <= 1


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([1, 1, 1], [1, 2, 3], "predictions are constant"),
        ([1, 2, 3], [0, 0, 0], "references are constant"),
        ([1, 1, 1], [0, 0, 0], "predictions and references are constant"),
    ],
)
def test_a_constant_side_has_no_correlation(x, y, reason):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = correlations(x, y)
    assert result["undefined"].startswith(reason)
    for name in NAMES:
        assert np.isnan([result[name], result[f"{name}_pvalue"], *result[f"{name}_interval"]]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None])
def test_what_is_not_finite_is_left_out_and_counted(bad):
    result = point([1, 2, 3, 5, bad], [1, 3, 2, 4, 9])
    assert (result["n"], result["n_excluded"]) == (4, 1)
    assert result["spearman"] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"predictions": [1, 2, 3], "references": [1, 2]},
            "3 predictions and 2 references",
        ),
        ({"predictions": [1, 2], "references": [1, 2]}, "2 of 2 .*at least 3"),
        ({"predictions": [], "references": []}, "0 of 0 items"),
        ({"predictions": [1, 2, np.nan], "references": [1, 2, 3]}, "2 of 3 items"),
        (
            {"predictions": ["a", 2, 3], "references": [1, 2, 3]},
            "predictions are not a list of numbers: .*'a'",
        ),
        ({"predictions": [[1, 2, 3]], "references": [1, 2, 3]}, "predictions are not a list of numbers"),
        ({"predictions": [1, 2, 3], "references": [1, 2, 4], "confidence_level": 95}, "range"),
        ({"predictions": [1, 2, 3], "references": [1, 2, 4], "n_resamples": -1}, "n_resamples"),
        ({"predictions": [1, 2, 3], "references": [1, 2, 4], "seed": -1}, "non-negative"),
    ],
)
def test_bad_input_is_refused(metric, arguments, message):
    with pytest.raises(ValueError, match=message):
        correlations(**arguments)
    with pytest.raises(ValueError, match=message):
        metric.compute(**arguments)


def test_a_missing_side_is_an_error(metric):
    with pytest.raises(ValueError, match="references are not a list of numbers"):
        metric.compute(predictions=[1.0, 2.0, 3.0])
    with pytest.raises(TypeError):  # which side is which is always said, as everywhere in `evaluate`
        metric.add_batch([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])


def test_the_evaluate_module_gives_the_same_as_the_formulas(metric):
    x, y = np.random.default_rng(6).normal(size=(2, 50))
    result = metric.compute(predictions=x, references=y, n_resamples=50, seed=3)
    signature = result.pop("signature")
    assert (signature["metric"], signature["n"], signature["seed"]) == ("human_correlation", 50, 3)
    assert signature["version"] == formulas.VERSION
    assert result == correlations(x, y, n_resamples=50, seed=3)
    json.dumps(result | signature)


def test_many_items_are_taken_in_chunks():
    """100,000 items in 20 resamples, chunk by chunk."""
    x = np.arange(100_000.0)
    assert correlations(x, x, n_resamples=20)["pearson_interval"] == pytest.approx([1, 1])
