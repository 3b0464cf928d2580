"""Differences and contrasts: p and interval agree, near the ends too; Holm's adjustment and power of statsmodels."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from tse_scorers.statistics import Units, contrast, difference, holm, mean


def right(random, logits):
    return (random.random(len(logits)) < 1 / (1 + np.exp(-logits))).astype(float)


def two(seed, n_units=20, per=10, shift=0.5):
    """Two systems' scores of the same items, with shared and own effects of units."""
    random = np.random.default_rng(seed)
    g, shared = np.repeat(np.arange(n_units), per), random.normal(1, 1, n_units)
    return *(right(random, (shared + random.normal(by, 0.5, n_units))[g]) for by in (shift, 0)), g


@pytest.mark.parametrize("shift", [0, 0.5, 1, 3])
def test_p_is_below_a_level_where_the_interval_excludes_no_difference(shift):
    decided = []
    for seed in range(25):
        one, other, g = two(seed, shift=shift)
        found = difference(one, other, Units(g))
        assert (found.p < 0.05) == (found.low > 0 or found.high < 0)
        assert found.low <= found.mean <= found.high and found.mean == pytest.approx(
            one.mean() - other.mean()
        )
        assert found.scores == pytest.approx((one.mean(), other.mean()))
        decided.append(found.p < 0.05)
    assert shift < 3 or all(decided)


def test_a_difference_has_no_direction():
    one, other, g = two(1)
    found, turned = difference(one, other, Units(g)), difference(other, one, Units(g))
    assert (turned.mean, turned.low, turned.high) == pytest.approx((-found.mean, -found.high, -found.low))
    assert (turned.p, turned.se) == pytest.approx((found.p, found.se))


def test_equal_scores_do_not_differ_but_are_not_sure_of_it():
    one, _, g = two(2)
    for scores in (one, np.ones(len(one))):
        found = difference(scores, scores, Units(g))
        assert (found.mean, found.p) == (0, 1) and found.low < 0 < found.high


def test_a_model_without_errors_has_an_asymmetric_interval():
    """The other's errors lie in one unit of twenty: another sample may have none, or twice as many."""
    g = np.repeat(np.arange(20), 50)
    found = difference(np.ones(1000), (g > 0).astype(float), Units(g))
    assert found.mean == pytest.approx(0.05) and found.high - found.mean > found.mean - found.low
    assert found.low < 0


def test_only_items_that_both_have_are_compared():
    one, other, g = two(4)
    one[:30], other[20:60] = np.nan, np.nan
    assert difference(one, other, Units(g)) == difference(one[60:], other[60:], Units(g[60:]))
    nothing = difference([np.nan, 1], [1, np.nan], Units(list("ab")))
    assert np.isnan([nothing.mean, nothing.p]).all() and nothing.n_items == 0


def test_the_arms_of_both_scores_make_a_difference():
    """Square-and-add, literally, of two scores whose intervals have the same degrees of freedom."""
    random = np.random.default_rng(0)
    one, other = right(random, np.full(60, 1.5)), right(random, np.full(60, 0.5))
    units, found = Units(range(60)), difference(one, other, Units(range(60)))
    a, b = (mean(scores, units) for scores in (one, other))
    assert a.df == b.df == found.df
    variances = [np.var(of, ddof=1) for of in (one, other, one - other)]
    r = (variances[0] + variances[1] - variances[2]) / (2 * np.sqrt(variances[0] * variances[1]))
    lower, upper = a.mean - a.low, b.high - b.mean
    assert found.mean - found.low == pytest.approx(np.sqrt(lower**2 + upper**2 - 2 * r * lower * upper))


def test_conditions_that_share_units_are_paired():
    one, other, g = two(6)
    scores, condition = np.r_[one, other], np.repeat(["a", "b"], len(g))
    paired = contrast(scores, Units(np.r_[g, g]), condition, {"a": 1, "b": -1})
    assert np.array(paired[:4]) == pytest.approx(np.array(difference(one, other, Units(g))[:4]), rel=0.02)
    apart = contrast(scores, Units(np.r_[g, g + 100]), condition, {"a": 1, "b": -1})
    assert apart.se > paired.se and apart.n_units == 40
    assert contrast(scores, Units(np.r_[g, g]), condition, {"a": 1}).mean == pytest.approx(one.mean())


def test_an_interaction_is_a_difference_of_differences():
    y = (np.random.default_rng(7).random(120) < 0.7).astype(float)
    units, cells = Units(np.tile(np.arange(30), 4)), np.repeat(list("abcd"), 30)
    found = contrast(y, units, cells, {"a": 1, "b": -1, "c": -1, "d": 1})
    a, b, c, d = y.reshape(4, 30)
    each = a - b - c + d
    assert found.mean == pytest.approx(each.mean()) and found.se >= each.std(ddof=1) / np.sqrt(30)
    assert -2 <= found.low < found.high <= 2 and (found.p < 0.05) == (found.low > 0 or found.high < 0)


def test_a_condition_without_items_is_named_and_one_unit_is_not_enough():
    with pytest.raises(ValueError, match="No item with a score has the condition 'far'"):
        contrast([1, 0], Units(list("ab")), ["near", "near"], {"near": 1, "far": -1})
    single = contrast([1, 0, 1, 1], Units(list("abca")), ["near"] * 3 + ["far"], {"near": 1, "far": -1})
    assert single.mean == pytest.approx(-1 / 3) and np.isnan([single.se, single.p]).all()


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_holm_is_that_of_statsmodels(n):
    p = np.random.default_rng(n).random(n) ** 3
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])
    with_gap = holm(np.insert(p, 0, np.nan))
    assert np.isnan(with_gap[0]) and with_gap[1:] == pytest.approx(holm(p))


@pytest.mark.parametrize("n", [10, 40, 200])
def test_the_detectable_difference_is_found_in_four_of_five_samples(n):
    one, other, _ = two(8, n, 1)
    found = difference(one, other, Units(np.arange(n)))
    effect = found.minimum_detectable / (found.se * np.sqrt(n))
    assert TTestPower().power(effect, n, 0.05) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(("centre", "is_crossed"), [(1, False), (4, False), (1, True)])
def test_equal_models_differ_in_one_sample_of_twenty(centre, is_crossed):
    """Of 300 samples; `benchmarks/intervals.py` has more designs, and what intervals contain."""
    random, significant = np.random.default_rng(9), 0
    unit, second = np.repeat(np.arange(20), 13), np.tile(np.arange(13), 20)
    for _ in range(300):
        logits = random.normal(centre, 1, 20)[unit] + random.normal(0, 0.7, 13)[second] * is_crossed
        one, other = (right(random, logits + random.normal(0, 0.5, 20)[unit]) for _ in range(2))
        units = Units(unit, crossed=second if is_crossed else None)
        significant += difference(one, other, units).p < 0.05
    assert significant <= 300 * 0.07 + 2 * np.sqrt(300 * 0.05 * 0.95)
