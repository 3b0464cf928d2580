"""Paired differences and Holm's adjustment against scipy and statsmodels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from tse_scorers.statistics import Units, paired_difference
from tse_scorers.statistics.differences import holm, minimum_detectable_difference


def test_single_items_give_the_paired_t_test():
    random = np.random.default_rng(0)
    one, other = random.random((2, 40))
    ours = paired_difference(one, other, Units(range(40), "templates"))
    differences, n = one - other, 40
    centre = differences.mean() ** 2
    share = (differences.var() + 1 / 42) / (np.abs(differences).mean() - centre + 1 / 42)
    se = math.sqrt(differences.var(ddof=1) / n + share / 42**2)  # one more pair of each kind
    assert ours.p == pytest.approx(2 * stats.t.sf(abs(differences.mean()) / se, 39))
    interval = stats.ttest_rel(one, other).confidence_interval()
    ends = ours.estimate.ci_low, ours.estimate.ci_high
    assert ends == pytest.approx((interval.low, interval.high), abs=0.01)


def test_only_items_that_both_scored_count():
    ours = paired_difference([1, 0, math.nan, 1, 1], [0, 0, 1, math.nan, 0], Units(list("abcda"), "nouns"))
    assert (ours.score, ours.reference_score, ours.n_excluded) == (pytest.approx(2 / 3), 0, 2)
    assert ours.estimate.n_items == 3 and ours.estimate.mean == pytest.approx(2 / 3)


def test_items_that_neither_system_scored_are_not_excluded_by_the_comparison():
    """Only an item with a score of one of the two is lost because they are compared."""
    nan = math.nan
    ours = paired_difference([1, 0, nan, nan], [0, 1, 1, nan], Units(list("abcd"), "nouns"))
    assert (ours.n_excluded, ours.estimate.n_items) == (1, 2)


def test_equal_systems_do_not_differ():
    ours = paired_difference([1, 0, 1], [1, 0, 1], Units(list("abc"), "nouns"))
    assert ours.p == 1 and ours.estimate.variance == 0 < ours.estimate.se
    assert ours.estimate.ci_low < 0 < ours.estimate.ci_high


def test_one_cluster_has_no_p():
    ours = paired_difference([1, 0], [0, 0], Units(["a", "a"], "nouns"))
    assert math.isnan(ours.p) and math.isnan(ours.minimum_detectable)


def test_minimum_detectable_difference_has_80_percent_power():
    """Against statsmodels' power of the t test; the sum of quantiles is within a percent of it."""
    se, n = 0.02, 67
    difference = minimum_detectable_difference(se, n - 1)
    assert TTestPower().power(difference / (se * math.sqrt(n)), n, 0.05) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("n", [1, 2, 13, 67])
def test_holm_equals_statsmodels(n):
    p = np.random.default_rng(n).random(n).round(1) ** 3  # with ties
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_holm_passes_over_missing_p():
    assert holm([math.nan, 0.02, math.nan, 0.01])[[1, 3]].tolist() == [0.02, 0.02]
    assert np.isnan(holm([math.nan])).all() and len(holm([])) == 0


@given(st.integers(0, 1000))
def test_exchanging_the_systems_changes_the_sign_alone(seed):
    random = np.random.default_rng(seed)
    one, other = random.random((2, 30))
    units = Units(random.integers(0, 6, 30), "u", crossed=random.integers(0, 5, 30))
    forth, back = paired_difference(one, other, units), paired_difference(other, one, units)
    assert forth.estimate.mean == pytest.approx(-back.estimate.mean)
    assert (forth.p, forth.estimate.ci_low) == pytest.approx((back.p, -back.estimate.ci_high))
