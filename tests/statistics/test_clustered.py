"""Cluster-robust standard errors against statsmodels and literal loops; what must not change them."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tse_scorers.statistics.clustered import Units, clustered_mean
from tse_scorers.statistics.estimate import mean_of_strata


def _items(seed, n=200, first=13, second=7):
    random = np.random.default_rng(seed)
    g, k = random.integers(0, first, n), random.integers(0, second, n)
    y = (
        0.5
        + 0.1 * random.normal(size=first)[g]
        + 0.1 * random.normal(size=second)[k]
        + 0.1 * random.normal(size=n)
    )
    return np.clip(y, 0, 1), g, k


def _literal_two_way(y, g, k):
    """The formula of the module, one loop per sum."""
    n, r = len(y), y - np.mean(y)
    one, other = sorted(set(g)), sorted(set(k))
    first = sum(sum(r[i] for i in range(n) if g[i] == a) ** 2 for a in one)
    second = sum(sum(r[i] for i in range(n) if k[i] == b) ** 2 for b in other)
    both = sum(sum(r[i] for i in range(n) if g[i] == a and k[i] == b) ** 2 for a in one for b in other)
    first *= len(one) / (len(one) - 1) / n**2
    second *= len(other) / (len(other) - 1) / n**2
    return max(first + second - both / n**2, first, second)


@pytest.mark.parametrize("seed", range(5))
def test_one_way_equals_statsmodels(seed):
    """Statsmodels multiplies by G/(G-1) · (N-1)/(N-K); with an intercept alone K = 1, so the second factor is 1."""
    y, g, _ = _items(seed)
    fit = sm.OLS(y, np.ones(len(y))).fit(cov_type="cluster", cov_kwds={"groups": g}, use_t=True)
    plain = sm.OLS(y, np.ones(len(y))).fit(
        cov_type="cluster", cov_kwds={"groups": g, "use_correction": False}, use_t=True
    )
    ours = clustered_mean(y, Units(g, "g"))
    n_clusters, n_items, n_parameters = len(set(g)), len(y), 1
    factor = n_clusters / (n_clusters - 1) * (n_items - 1) / (n_items - n_parameters)
    assert ours.mean == pytest.approx(fit.params[0], abs=1e-12)
    assert ours.se == pytest.approx(fit.bse[0], rel=1e-10)
    assert ours.se == pytest.approx(plain.bse[0] * math.sqrt(factor), rel=1e-10)
    assert (ours.ci_low, ours.ci_high) == pytest.approx(tuple(fit.conf_int()[0]), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_two_way_equals_a_literal_triple_loop(seed):
    y, g, k = _items(seed)
    ours = clustered_mean(y, Units(g, "g x k", crossed=k))
    assert ours.se**2 == pytest.approx(_literal_two_way(y, g, k), rel=1e-10)
    assert ours.df == min(len(set(g)), len(set(k))) - 1


def test_two_way_is_floored_at_the_larger_one_way_term():
    """One item per cell, and residuals that cancel within rows and columns: the difference is below zero."""
    y, g, k = np.array([1, 0, 0, 1, 0.5]), np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2])
    literal = _literal_two_way(y, g, k)
    alone = [clustered_mean(y, Units(own, "own")).se ** 2 for own in (g, k)]
    assert literal == max(alone)
    assert clustered_mean(y, Units(g, "g x k", crossed=k)).se ** 2 == pytest.approx(literal)


def test_single_items_give_students_t():
    y = np.random.default_rng(0).random(30)
    ours = clustered_mean(y, Units(np.arange(30), "items"))
    low, high = stats.t.interval(0.95, 29, y.mean(), stats.sem(y))
    assert (ours.se, ours.ci_low, ours.ci_high) == pytest.approx((stats.sem(y), low, high))


def test_strata_are_estimated_one_by_one():
    """V = Σ_s W_s² V_s, with W_s the stratum's share (pooled) or 1/S (mean of strata's means)."""
    y, g, s = _items(1)
    g = g + 100 * s  # nested
    parts = {name: clustered_mean(y[s == name], Units(g[s == name], "g")) for name in set(s)}
    for weighting, weight in (
        ("items", lambda name: np.mean(s == name)),
        ("strata", lambda name: 1 / len(parts)),
    ):
        ours = clustered_mean(y, Units(g, "g", strata=s, weighting=weighting))
        assert ours.mean == pytest.approx(sum(weight(name) * part.mean for name, part in parts.items()))
        assert ours.se**2 == pytest.approx(sum((weight(name) * part.se) ** 2 for name, part in parts.items()))
        assert ours.df == len(set(g)) - len(parts)


def test_strata_that_cut_across_clusters_only_centre_the_residuals():
    y, verb, construction = _items(2)
    centred = y - np.array([y[construction == own].mean() for own in construction])
    ours = clustered_mean(y, Units(verb, "verbs", strata=construction))
    assert ours.se == pytest.approx(clustered_mean(centred, Units(verb, "verbs"), (-1, 1)).se)
    assert ours.df == len(set(verb)) - 1


def test_a_stratum_of_one_cluster_is_centred_at_the_overall_mean():
    y, s, g = np.array([0.0, 1, 0, 0.8]), [0, 0, 0, 1], [0, 0, 1, 2]
    first, mean = y[:3].mean(), y.mean()
    inside = 2 * ((y[:2] - first).sum() ** 2 + (y[2] - first) ** 2)
    expected = (inside + (y[3] - mean) ** 2) / 16
    assert clustered_mean(y, Units(g, "g", strata=s)).se ** 2 == pytest.approx(expected)


def test_mean_of_clusters_equals_t_over_their_means():
    y, g, _ = _items(3)
    means = np.array([y[g == own].mean() for own in sorted(set(g))])
    ours = clustered_mean(y, Units(g, "paradigms", weighting="clusters"))
    assert (ours.mean, ours.se) == pytest.approx((means.mean(), stats.sem(means)))


def test_one_cluster_has_no_interval():
    ours = clustered_mean([1, 0, 1], Units(["a"] * 3, "nouns"))
    assert ours.mean == pytest.approx(2 / 3) and ours.n_units == 1 and not ours.reliable
    assert all(map(math.isnan, (ours.se, ours.ci_low, ours.ci_high)))
    crossed = clustered_mean([1, 0, 1], Units(["a"] * 3, "nouns x verbs", crossed=[1, 2, 3]))
    assert math.isnan(crossed.se) and crossed.n_crossed == 3 and not crossed.reliable


def test_no_items():
    for values in ([], [math.nan, math.nan]):
        ours = clustered_mean(values, Units(["a"] * len(values), "nouns"))
        assert (ours.n_items, ours.n_units) == (0, 0) and math.isnan(ours.mean) and math.isnan(ours.ci_low)


@pytest.mark.parametrize(
    ("value", "n", "low", "high"), [(1, 20, 0.025 ** (1 / 20), 1), (0, 10, 0, 1 - 0.025**0.1)]
)
def test_equal_outcomes_get_clopper_and_pearsons_interval_over_units(value, n, low, high):
    ours = clustered_mean([value] * 100, Units(np.arange(100) % n, "nouns"))
    assert ours.se == 0 and (ours.ci_low, ours.ci_high) == pytest.approx((low, high))
    assert (low, high) == pytest.approx(tuple(stats.binomtest(value * n, n).proportion_ci()))


def test_interval_is_cut_at_the_range_and_the_margin_is_not():
    ours = clustered_mean([1, 1, 1, 1, 0.2], Units(range(5), "nouns"))
    assert ours.ci_high == 1 < ours.mean + ours.margin and ours.ci_low == pytest.approx(
        ours.mean - ours.margin
    )


def test_fewer_than_ten_units_are_not_reliable():
    y = np.linspace(0, 1, 60)
    assert clustered_mean(y, Units(np.arange(60) % 10, "a")).reliable
    assert not clustered_mean(y, Units(np.arange(60) % 9, "a")).reliable
    assert not clustered_mean(y, Units(np.arange(60) % 20, "a x b", crossed=np.arange(60) % 3)).reliable


def test_missing_scores_are_left_out_with_their_units():
    ours = clustered_mean([1, 0, math.nan, 0.5], Units(["a", "b", "c", "b"], "nouns"))
    assert (ours.n_units, ours.n_items, ours.mean) == (2, 3, 0.5)


@pytest.mark.parametrize(
    ("units", "message"),
    [
        (Units(["a", None], "nouns"), "1 of 2 items have no unit"),
        (Units(["a"], "nouns"), "2 scores came with 1 labels"),
        (Units(["a", "b"], "nouns", weighting="strata"), "give strata"),
    ],
)
def test_units_that_do_not_fit_are_refused(units, message):
    with pytest.raises(ValueError, match=message):
        clustered_mean([1, 0], units)


@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_order_and_names_do_not_matter(seed, two_way, stratified):
    y, g, k = _items(seed % 1000, n=60)
    random = np.random.default_rng(seed)
    strata = g % 3 if stratified else None
    order, names = random.permutation(len(y)), random.permutation(100)
    one = clustered_mean(y, Units(g, "u", k if two_way else None, strata))
    renamed = [f"unit {names[own]}" for own in g[order]]
    other = clustered_mean(
        y[order],
        Units(
            renamed,
            "u",
            names[k[order]] if two_way else None,
            None if strata is None else names[strata[order]],
        ),
    )
    assert (one.mean, one.se, one.ci_low, one.ci_high) == pytest.approx(
        (other.mean, other.se, other.ci_low, other.ci_high), rel=1e-9
    )
    assert (one.df, one.n_units, one.n_crossed) == (other.df, other.n_units, other.n_crossed)


@given(st.integers(0, 1000), st.integers(2, 5))
def test_repeating_items_within_clusters_adds_no_precision(seed, times):
    """K copies of each item say nothing new: mean and standard error stay."""
    y, g, k = _items(seed, n=50)
    for crossed in (None, k):
        one = clustered_mean(y, Units(g, "u", crossed))
        repeated = Units(np.repeat(g, times), "u", None if crossed is None else np.repeat(crossed, times))
        other = clustered_mean(np.repeat(y, times), repeated)
        assert (one.mean, one.se) == pytest.approx((other.mean, other.se), rel=1e-9)


def test_estimates_of_strata_give_the_estimate_that_their_items_give():
    """The report has the precision of each paradigm, not the pairs behind it."""
    generator = np.random.default_rng(0)
    strata = np.repeat(np.arange(3), 40)
    words = 100 * strata + generator.integers(0, 9, 120)
    values = generator.random(120) + 0.3 * (words % 2)
    whole = clustered_mean(values, Units(words, "words", strata=strata, weighting="strata"), (0.0, 2.0))
    own = [
        clustered_mean(values[strata == s], Units(words[strata == s], "words"), (0.0, 2.0)) for s in range(3)
    ]
    known = [(each.mean, each.se, each.n_units) for each in own]
    found = mean_of_strata(known, "words")
    assert (found.mean, found.se, found.df) == pytest.approx((whole.mean, whole.se, whole.df))
    less = mean_of_strata(known, "words", minus=1)
    assert less.mean == pytest.approx((own[0].mean + own[1].mean) / 2 - own[2].mean)
    assert less.se == pytest.approx(math.sqrt((own[0].se ** 2 + own[1].se ** 2) / 4 + own[2].se ** 2))
    assert math.isnan(mean_of_strata([(0.5, math.nan, math.nan)], "words").ci_low)
    with pytest.raises(ValueError, match="leave none"):
        mean_of_strata(known, "words", minus=3)
