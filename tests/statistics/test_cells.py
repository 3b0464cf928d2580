"""The matrix contexts x lemmas against the long table and a literal loop; packed bits; missing outcomes."""

import time

import numpy as np
import pytest

from tse_scorers.statistics import Units, cell_sums, clustered_mean, crossed_mean
from tse_scorers.statistics.differences import crossed_difference, paired_difference


@pytest.fixture
def matrix():
    random = np.random.default_rng(1)
    clusters = random.integers(0, 11, 90)
    effects = 0.2 * random.normal(size=11)[clusters][:, None] + 0.2 * random.normal(size=17)
    outcomes = random.random((90, 17)) < 0.5 + effects
    return outcomes, np.array([f"noun {own}" for own in clusters])


def _long(outcomes, clusters):
    """Items and units of a matrix, one row per outcome."""
    lemmas = np.broadcast_to(np.arange(outcomes.shape[1]), outcomes.shape)
    rows = np.broadcast_to(clusters[:, None], outcomes.shape)
    return outcomes.astype(float).ravel(), Units(rows.ravel(), "x", crossed=lemmas.ravel())


def test_matrix_equals_a_literal_triple_loop(matrix):
    outcomes, clusters = matrix
    residual = outcomes - outcomes.mean()
    names, n_lemmas = sorted(set(clusters)), outcomes.shape[1]
    sums = {
        (name, lemma): sum(residual[c, lemma] for c in range(len(clusters)) if clusters[c] == name)
        for name in names
        for lemma in range(n_lemmas)
    }
    first = sum(sum(sums[name, lemma] for lemma in range(n_lemmas)) ** 2 for name in names)
    second = sum(sum(sums[name, lemma] for name in names) ** 2 for lemma in range(n_lemmas))
    both = sum(own**2 for own in sums.values())
    w = [sum(clusters == name) / len(clusters) for name in names]
    squares, cubes = sum(own**2 for own in w), sum(own**3 for own in w)
    first *= squares / (squares - 2 * cubes + squares**2)
    second *= n_lemmas / (n_lemmas - 1)
    variance = first + second - both
    assert variance > max(first, second)
    ours = crossed_mean(cell_sums(outcomes, clusters), "x")
    assert ours.se**2 == pytest.approx(variance / outcomes.size**2, rel=1e-10)
    assert (ours.n_units, ours.n_crossed, ours.n_items) == (len(names), n_lemmas, len(clusters))


def test_bits_floats_and_the_long_table_agree(matrix):
    outcomes, clusters = matrix
    plain = crossed_mean(cell_sums(outcomes, clusters), "x")
    assert crossed_mean(cell_sums(np.packbits(outcomes, axis=1), clusters, 17), "x") == plain
    values, units = _long(outcomes, clusters)
    for other in (
        crossed_mean(cell_sums(outcomes.astype(float), clusters), "x"),
        clustered_mean(values, units),
    ):
        assert (other.mean, other.se, other.df) == pytest.approx((plain.mean, plain.se, plain.df), rel=1e-10)


def test_contexts_with_missing_outcomes_weigh_the_same(matrix):
    outcomes, clusters = matrix
    values = np.where(np.random.default_rng(2).random(outcomes.shape) < 0.3, np.nan, outcomes.astype(float))
    values[5] = np.nan
    by_context = crossed_mean(cell_sums(values, clusters), "x")
    assert by_context.mean == pytest.approx(
        np.nanmean([np.nanmean(row) for row in np.delete(values, 5, axis=0)])
    )
    assert by_context.n_items == len(clusters) - 1


def test_strata_of_clusters_agree_with_the_long_table(matrix):
    outcomes, clusters = matrix
    cells = cell_sums(outcomes, clusters)
    stratum = {name: int(name.split()[1]) % 3 for name in cells.clusters}
    values, units = _long(outcomes, clusters)
    long = clustered_mean(
        values, Units(units.clusters, "x", units.crossed, strata=[stratum[own] for own in units.clusters])
    )
    ours = crossed_mean(cells, "x", strata=[stratum[name] for name in cells.clusters])
    assert (ours.mean, ours.se, ours.df) == pytest.approx((long.mean, long.se, long.df), rel=1e-10)


def test_differences_of_sums_are_sums_of_differences(matrix):
    outcomes, clusters = matrix
    reference = np.random.default_rng(3).random(outcomes.shape) < 0.5
    ours = crossed_difference(cell_sums(outcomes, clusters), cell_sums(reference, clusters), "x")
    values, units = _long(outcomes, clusters)
    long = paired_difference(values, reference.astype(float).ravel(), units)
    assert (ours.estimate.mean, ours.estimate.se, ours.p) == pytest.approx(
        (long.estimate.mean, long.estimate.se, long.p), rel=1e-9
    )
    assert ours.score - ours.reference_score == pytest.approx(ours.estimate.mean)


def test_unlike_matrices_are_refused(matrix):
    outcomes, clusters = matrix
    with pytest.raises(ValueError, match="different contexts or lemmas"):
        cell_sums(outcomes, clusters).minus(cell_sums(outcomes[::-1], clusters[::-1]))
    with pytest.raises(ValueError, match="90 contexts came with 89 labels"):
        cell_sums(outcomes, clusters[1:])


def test_blocks_do_not_change_the_sums(matrix, monkeypatch):
    outcomes, clusters = matrix
    values = np.where(np.random.default_rng(2).random(outcomes.shape) < 0.3, np.nan, outcomes.astype(float))
    whole = [cell_sums(own, clusters) for own in (outcomes, values)]
    monkeypatch.setattr("tse_scorers.statistics.cells._BLOCK_VALUES", 17 * 7)
    for one, own in zip(whole, (outcomes, values), strict=True):
        other = cell_sums(own, clusters)
        assert np.allclose(one.sums, other.sums) and np.allclose(one.weights, other.weights)
        assert one.n_items == other.n_items


def test_the_whole_data_set_takes_well_under_a_second():
    random = np.random.default_rng(0)
    packed = random.integers(0, 256, (74_160, 125), dtype=np.uint8)
    clusters = random.integers(0, 146, 74_160)
    start = time.process_time()
    crossed_mean(cell_sums(packed, clusters, 1000), "x")
    assert time.process_time() - start < 1


def test_nothing_scored():
    ours = crossed_mean(cell_sums(np.full((4, 3), np.nan), list("aabb")), "x")
    assert ours.n_items == 0 and np.isnan(ours.mean) and np.isnan(ours.se)
