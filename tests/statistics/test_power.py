"""Variance components, power and designs; noise ceiling; effective number of lemmas."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from tse_scorers.statistics import CellSums, Units, cell_sums, clustered_mean, crossed_mean
from tse_scorers.statistics.estimate import DIFFERENCE, effective_number
from tse_scorers.statistics.noise_ceiling import noise_ceiling, rating_matrix
from tse_scorers.statistics.power import (
    Components,
    components_of,
    components_of_items,
    fewest_clusters,
    power,
    power_of_t,
    variance_components,
)


def test_components_are_found_again():
    random = np.random.default_rng(0)
    found = [
        variance_components(
            random.normal(0, 0.3, (40, 1)) + random.normal(0, 0.2, (1, 30)) + random.normal(0, 0.5, (40, 30))
        )
        for _ in range(200)
    ]
    assert np.mean(found, axis=0) == pytest.approx([0.09, 0.04, 0.25], rel=0.05)


def test_components_predict_the_standard_error():
    random = np.random.default_rng(1)
    chance = 0.5 + 0.15 * random.normal(size=(30, 1)) + 0.15 * random.normal(size=(1, 40))
    outcomes = random.random((30, 40)) < chance
    cells = cell_sums(outcomes, np.arange(30))
    assert components_of(cells).se(30, 40) == pytest.approx(crossed_mean(cells, "x").se, rel=0.05)


def test_missing_cells_leave_out_rows_or_columns():
    cells = np.random.default_rng(2).random((6, 5))
    cells[2, 3] = np.nan
    assert variance_components(cells) == variance_components(np.delete(cells, 2, axis=0))
    with pytest.raises(ValueError, match="the matrix has 1 x 5"):
        variance_components(cells[:1])


@pytest.mark.parametrize(("effect", "n"), [(0.1, 20), (0.5, 20), (0.8, 12), (0, 10)])
def test_power_equals_statsmodels(effect, n):
    assert power_of_t(effect, 1 / math.sqrt(n), n - 1) == pytest.approx(
        TTestPower().power(effect, n, 0.05), abs=1e-6
    )


def test_power_is_one_far_out_and_without_noise():
    assert power_of_t(1, 1e-4, 30) == 1 == power_of_t(0.1, 0, 5)
    assert power_of_t(0, 0, 5) == 0


def _noncentral_t(difference, variances, n_clusters, n_lemmas):
    """Power from the formulas in the module's text and scipy's noncentral t distribution."""
    between, of_lemmas, of_cells = variances
    se = math.sqrt(between / n_clusters + of_lemmas / n_lemmas + of_cells / (n_clusters * n_lemmas))
    df = min(n_clusters, n_lemmas) - 1
    critical, shifted = stats.t.ppf(0.975, df), stats.nct(df, difference / se)
    return shifted.sf(critical) + shifted.cdf(-critical)


@pytest.mark.parametrize(("n_clusters", "n_lemmas"), [(3, 50), (50, 3), (20, 20)])
def test_power_has_one_degree_of_freedom_less_than_the_fewer_units(n_clusters, n_lemmas):
    """The kind with fewer units decides, and one more degree of freedom was not noticed."""
    variances = (0.02, 0.01, 0.1)
    expected = _noncentral_t(0.3, variances, n_clusters, n_lemmas)
    assert power(0.3, Components(*variances), n_clusters, n_lemmas) == pytest.approx(expected, rel=1e-9)


def test_smallest_design_is_the_smallest():
    """All smaller numbers of clusters are tried, by a computation that shares no function with the package."""
    components = Components(0.02, 0.01, 0.1)
    few, many = (fewest_clusters(0.05, components, n_lemmas) for n_lemmas in (50, 400))
    # 20 lemmas are too few for any number of templates.
    assert [fewest_clusters(0.05, components, n_lemmas) for n_lemmas in (2, 20)] == [None, None]
    for n_clusters, n_lemmas in ((few, 50), (many, 400)):
        tried = (n for n in range(2, 1000) if _noncentral_t(0.05, components, n, n_lemmas) >= 0.8)
        assert n_clusters == next(tried)
    assert few > many


def test_noise_ceiling_finds_the_reliability():
    """Items of variance 1, raters of variance 4: the mean of 12 raters has reliability 1 / (1 + 4/12) = 0.75."""
    random = np.random.default_rng(0)
    ratings = random.normal(size=(3000, 1)) + 2 * random.normal(size=(3000, 12))
    found = noise_ceiling(ratings, n_splits=50)
    assert found.reliability == pytest.approx(0.75, abs=0.03)
    assert found.ceiling == pytest.approx(math.sqrt(found.reliability))
    assert found == noise_ceiling(ratings, n_splits=50)


def test_noise_ceiling_without_data():
    assert noise_ceiling(np.ones((5, 1))).n_splits == 0
    assert math.isnan(noise_ceiling(np.full((5, 4), np.nan), 5).ceiling)


def test_effective_number():
    assert effective_number(np.full(955, 1 / 955)) == pytest.approx(955)
    assert effective_number([0, 3, 0]) == 1 and math.isnan(effective_number([0, 0]))


def test_components_with_missing_cells_are_found_again():
    """A third of the cells is empty, and the others have different weights."""
    random = np.random.default_rng(3)
    found = []
    for _ in range(200):
        effects = random.normal(0, 0.3, (40, 1)) + random.normal(0, 0.2, (1, 30))
        weights = random.integers(1, 4, (40, 30)) * (random.random((40, 30)) > 1 / 3)
        sums = weights * (0.5 + effects + random.normal(0, 0.5, (40, 30)))
        found.append(components_of(CellSums(sums, weights.astype(float), np.arange(40).astype(object), 40)))
    assert np.mean(found, axis=0) == pytest.approx([0.09, 0.04, 0.25], rel=0.08)


def test_no_component_is_negative_where_cells_are_missing():
    """Without interaction, the method of moments puts its variance below 0, which is no variance: it is 0 then."""
    cluster, lemma = np.repeat(np.arange(4), 4), np.tile(np.arange(4), 4)
    there = ~np.isin(np.arange(16), (0, 5))
    random = np.random.default_rng(1)
    values = (random.normal(size=4)[cluster] + random.normal(size=4)[lemma])[there]
    units = Units(cluster[there].astype(str), "nouns", lemma[there].astype(str))
    found = components_of_items(values, units, clustered_mean(values, units))
    assert found.clusters > 0 and found.lemmas > 0 and found.cells == 0


def test_components_of_items_equal_those_of_cells():
    random = np.random.default_rng(4)
    values = random.normal(size=(12, 9, 5)) + random.normal(size=(12, 1, 1))
    noun, verb, stratum = np.indices(values.shape)
    units = Units(noun.ravel(), "nouns x verbs", verb.ravel(), stratum.ravel())
    centred = values - values.mean(axis=(0, 1))
    estimate = clustered_mean(values.ravel(), units, DIFFERENCE)
    assert components_of_items(values.ravel(), units, estimate) == pytest.approx(
        variance_components(centred.mean(axis=2))
    )
    alone = replace(estimate, variance=0.01, n_effective=8)
    found = components_of_items(values.ravel(), Units(noun.ravel(), "nouns"), alone)
    assert found == pytest.approx((0.08, 0, 0)) and found.se(8) == pytest.approx(0.1)


def test_two_items_have_no_noise_ceiling():
    """The ratings of two items are always correlated by 1 or -1."""
    few = noise_ceiling([[1, 2, 3, 4], [2, 3, 5, 7]])
    assert math.isnan(few.ceiling) and few.n_splits == 0
    assert noise_ceiling([[1, 2, 3, 4], [2, 3, 5, 7], [3, 4, 7, 9]]).n_splits > 0


def test_a_rating_matrix_has_raters_or_random_places():
    table = pd.DataFrame({"item": ["a", "b", "a", "b"], "rater": [1, 1, 2, 2], "rating": [1, 2, 3, 4]})
    assert rating_matrix(table).tolist() == [[1, 3], [2, 4]]
    others = table.assign(rater=[1, 2, 3, 4])
    assert np.sort(rating_matrix(others), axis=1).tolist() == [[1, 3], [2, 4]]
    for changes, message in (
        ({"rater": [1, 1, 1, 2]}, "Rater 1 rated the item 'a' twice"),
        ({"rating": [1, "good", 3, 4]}, "1 ratings are not numbers, the first: 'good'"),
    ):
        with pytest.raises(ValueError, match=message):
            rating_matrix(table.assign(**changes))
    with pytest.raises(ValueError, match="has no column rater"):
        rating_matrix(table.drop(columns="rater"))
