"""Bootstrap intervals: against scipy on plain data, and units that are drawn whole."""

import numpy as np
import pytest
from scipy import stats

from tse_scorers.statistics.bootstrap import (
    bootstrap_interval,
    correlation_of_cells,
    jackknife_correlation,
    mean_of_units,
    pearson,
)


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_mean_equals_scipys_interval(method):
    values = np.random.default_rng(0).gamma(2, size=40)
    ours = bootstrap_interval(mean_of_units(values), 40, method, n_resamples=999, seed=3)
    expected = stats.bootstrap(
        (values,), np.mean, method=method, n_resamples=999, random_state=np.random.default_rng(3)
    )
    assert ours.value == pytest.approx(values.mean())
    assert ours[1:4] == pytest.approx((expected.standard_error, *expected.confidence_interval))


def test_repeatable():
    statistic = mean_of_units(np.linspace(0, 1, 12))
    assert bootstrap_interval(statistic, 12) == bootstrap_interval(statistic, 12)
    assert bootstrap_interval(statistic, 12) != bootstrap_interval(statistic, 12, seed=1)


def test_correlation_of_cells_draws_units_with_all_their_cells():
    random = np.random.default_rng(1)
    model, human = random.random((2, 30, 36))
    model[3, 5] = np.nan
    drawn = random.integers(0, 30, (4, 30))
    expected = [np.corrcoef(np.nanmean(model[own], axis=0), human[own].mean(axis=0))[0, 1] for own in drawn]
    assert correlation_of_cells(model, human)(drawn) == pytest.approx(expected)
    fixed = human.mean(axis=0)
    expected = [np.corrcoef(np.nanmean(model[own], axis=0), fixed)[0, 1] for own in drawn]
    assert correlation_of_cells(model, fixed)(drawn) == pytest.approx(expected)


def test_jackknife_leaves_out_each_unit_once():
    random = np.random.default_rng(2)
    cells = random.normal(size=36)
    model = 0.7 * cells + random.normal(size=(20, 36))
    z = np.arctanh(np.corrcoef(model.mean(axis=0), cells)[0, 1])
    without = [np.arctanh(np.corrcoef(np.delete(model, i, 0).mean(axis=0), cells)[0, 1]) for i in range(20)]
    pseudo = 20 * z - 19 * np.array(without)
    low, high = stats.t.interval(0.95, 19, pseudo.mean(), stats.sem(pseudo))
    ours = jackknife_correlation(correlation_of_cells(model, cells), 20)
    assert (ours.value, ours.ci_low, ours.ci_high) == pytest.approx(np.tanh([z, low, high]))


def test_jackknife_corrects_the_bias_that_resampling_doubles():
    """Cells that people and model rank alike (true r = 1): every resample is noisier, so that none reaches r."""
    random = np.random.default_rng(2)
    cells = random.normal(size=36)
    statistic = correlation_of_cells(cells + random.normal(size=(50, 36)), cells)
    percentile, own = bootstrap_interval(statistic, 50, "percentile"), jackknife_correlation(statistic, 50)
    assert percentile.ci_high < own.value + 0.002 and own.ci_high > 0.99 > own.value


def test_one_unit_or_none_has_no_interval():
    assert np.isnan(bootstrap_interval(mean_of_units([0.5]), 1).ci_low)
    assert np.isnan(bootstrap_interval(mean_of_units([]), 0).value)
    alone = correlation_of_cells(np.arange(8.0).reshape(2, 4), np.array([0, 1, 3, 2.0]))
    assert np.isnan(jackknife_correlation(alone, 2).ci_low) and np.isfinite(
        jackknife_correlation(alone, 2).value
    )


def test_resamples_without_a_value_leave_the_percentiles_of_the_others():
    """A correlation of constant cells has no value; here that happens if one unit is never drawn."""
    model = np.zeros((6, 4))
    model[0] = [0, 1, 2, 4]
    ours = bootstrap_interval(correlation_of_cells(model, np.array([0, 1, 2, 3.0])), 6, n_resamples=199)
    assert ours.ci_low == pytest.approx(ours.value) and np.isfinite(ours.ci_high)


def test_constant_units_and_sides():
    assert bootstrap_interval(mean_of_units([0.5] * 8), 8)[2:4] == (0.5, 0.5)
    assert np.isnan(pearson(np.ones(4), np.arange(4.0)))
