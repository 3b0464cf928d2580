"""Correlations of cell means: a unit is drawn or left out with all of its cells."""

import numpy as np
import pytest
from scipy import stats

from tse_scorers.statistics.jackknife import (
    correlation_of_cells,
    jackknife_correlation,
    pearson,
)


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
    correlation = jackknife_correlation(statistic, 50)
    resampled = statistic(random.integers(0, 50, (499, 50)))
    assert np.quantile(resampled, 0.975) < correlation.value + 0.002
    assert correlation.ci_high > 0.99 > correlation.value


def test_two_units_have_no_interval():
    alone = correlation_of_cells(np.arange(8.0).reshape(2, 4), np.array([0, 1, 3, 2.0]))
    assert np.isnan(jackknife_correlation(alone, 2).ci_low) and np.isfinite(
        jackknife_correlation(alone, 2).value
    )


def test_a_constant_side_has_no_correlation():
    assert np.isnan(pearson(np.ones(4), np.arange(4.0)))
