"""Contrasts of conditions: paired where conditions share items, else of independent samples."""

import numpy as np
import pytest
from scipy import stats

from tse_scorers.statistics import Units
from tse_scorers.statistics.conditions import condition_contrast


def test_contrasts_pair_the_items_that_conditions_share():
    """In a balanced design, the variance is that of the items' own contrasts: the paired t test."""
    rng = np.random.default_rng(1)
    items, scores = np.tile(np.arange(30), 4), rng.random(120)
    conditions = np.repeat(["a", "b", "c", "d"], 30)
    a, b, c, d = scores.reshape(4, 30)
    units = Units(items, "items")
    for weights, by_item in (
        ({"a": 1, "b": -1}, a - b),
        ({"a": 1, "b": -1, "c": -1, "d": 1}, (a - b) - (c - d)),
    ):
        found = condition_contrast(scores, conditions, weights, units)
        assert found.mean == pytest.approx(by_item.mean())
        assert np.sqrt(found.variance) == pytest.approx(stats.sem(by_item))
        assert (found.df, found.n_units) == (pytest.approx(29), 30)


def test_contrasts_of_other_items_are_independent_samples():
    rng = np.random.default_rng(2)
    scores = rng.random(50)
    found = condition_contrast(
        scores, ["a"] * 20 + ["b"] * 30, {"a": 1, "b": -1}, Units(np.arange(50), "items")
    )
    expected = np.hypot(stats.sem(scores[:20]), stats.sem(scores[20:]))
    assert np.sqrt(found.variance) == pytest.approx(expected)


def test_a_condition_with_one_unit_has_no_interval():
    found = condition_contrast([1, 0, 1], ["a", "a", "b"], {"a": 1, "b": -1}, Units([1, 2, 3], "items"))
    assert found.mean == -0.5 and np.isnan([found.se, found.ci_low, found.ci_high]).all()
