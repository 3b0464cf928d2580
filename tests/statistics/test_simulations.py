"""Error rates of the tests and intervals on simulated data; `interval_simulations.py` says how they are drawn."""

import itertools

import numpy as np
import pytest
from interval_simulations import (
    ABOUT,
    CORRELATION_TESTS,
    CORRELATIONS,
    Design,
    Regime,
    agreement,
    all_groups,
    boundary_lines,
    correlation_coverage,
    correlation_line,
    correlation_test_lines,
    correlation_tests,
    families,
    half_lines,
    mw_lines,
    own_clusters,
    page,
    regimes,
    simulate,
    two_by_two,
)

from tse_scorers.statistics import Units, clustered_mean

UPSTREAM_NEEDED = "Minimal pairs"


@pytest.fixture(scope="module")
def documented(root):
    """The lines of `simulations.md`, which must hold what is simulated here."""
    path = root / "tests" / "statistics" / "simulations.md"
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("heading", [*regimes(None), UPSTREAM_NEEDED])
def test_rates_hold_or_the_row_is_marked(heading, documented, upstream):
    """At most 7 % false positives and at least 93 % coverage, or `reliable` is false."""
    for regime in regimes(upstream)[heading]():
        row = simulate(regime)
        assert row.holds or heading == "Wrong units", row
        if heading == "Units of equal size":
            assert 0.03 <= row.false_positives <= 0.07 and row.power > 0.1, row
            assert row.naive_false_positives > 0.07, (
                "the naive test must fail here, or the units are not needed"
            )
        assert row.line() in documented


@pytest.mark.slow
def test_tables_of_scores_near_1_and_between_0_and_1_are_documented(documented):
    near_1 = boundary_lines()
    assert [line for line in (*near_1, *mw_lines()) if line not in documented] == []
    coverages = [float(cell) for line in near_1 if "units of" in line for cell in line.split("|")[3:7]]
    assert len(coverages) > 50 and min(coverages) >= 93


@pytest.mark.slow
def test_units_that_score_one_half_are_documented_and_hold(documented):
    """Where all units score exactly one half, V is 0: intervals are as wide as the items allow, also crossed ones."""
    lines = half_lines()
    assert [line for line in lines if line not in documented] == []
    rates = [[float(cell) for cell in line.split("|")[3:8]] for line in lines[2:]]
    assert all(errors <= 7 and coverage >= 93 and width > 0 for _, _, errors, coverage, width in rates)


@pytest.mark.slow
def test_groups_of_all_sets_hold_or_are_marked(documented, upstream):
    """Every eighth row of the page's table; all take eighteen minutes."""
    for groups in itertools.islice(all_groups(upstream), 0, None, 8):
        rows = groups.rows()
        assert all(row.holds for row in rows), groups
        assert groups.line(rows) in documented


@pytest.mark.slow
@pytest.mark.parametrize("series", list(families()), ids=str)
def test_families_of_15_hold(series, documented):
    """A series of 15 checkpoints that equal their reference names a difference in at most 7 % of series."""
    found = series.found()
    assert found["after"] <= 0.07 and found["before"] > 0.07
    assert series.line(found) in documented


@pytest.mark.slow
@pytest.mark.parametrize("design", list(two_by_two()), ids=lambda own: own.what)
def test_two_by_two_designs_hold_or_are_marked(design, documented):
    rates = design.rates()
    assert design.holds(rates), rates
    assert design.line(rates) in documented


def test_a_null_series_names_no_difference_more_often_than_stated():
    """Fifteen tests by themselves named one in a third of series; Holm's adjustment is over the whole series."""
    for series in families():
        found = series.found(n=200)
        assert found["after"] <= 0.07 and found["before"] > 0.2, (series.what, found)


def test_conditions_with_few_items_have_few_degrees_of_freedom():
    """Of 24 items, three are in all conditions: a difference had 21 degrees of freedom then."""
    fewer, fewest = (
        own for own in two_by_two() if own.what.startswith("24 items,") and "others in two" in own.what
    )
    rates, marked = fewer.rates(n=200), fewest.rates(n=10)
    assert rates["df difference1"] < 8 and marked["reliable difference1"] == 0
    assert rates["p difference0"] <= 0.07 and rates["coverage difference1"] >= 0.93, rates


def test_a_score_over_conditions_with_few_items_holds():
    """Three of 24 items are in two of the conditions: the interval of all together had 23 degrees of freedom."""
    fewest = next(own for own in two_by_two() if own.what.startswith("24 items, 3 of them"))
    assert min(fewest.rates()[f"coverage score{effect}"] for effect in (0, 1)) >= 0.93


def test_unequal_units_hold_or_are_marked():
    """Counting units gave 11 to 31 % false positives here, and marked every row as reliable."""
    rows = [simulate(regime, n=400) for regime in own_clusters()]
    assert all(row.holds for row in rows), rows
    assert [row.reliable for row in rows[:6]] == [True, True, False, False, True, True]
    assert max(row.old_false_positives for row in rows) > 0.2 > 0.15 > max(1 - row.coverage for row in rows)
    assert all(row.width < 1.1 * row.cr2_width for row in rows[:6])


def test_tse_of_the_default_data_holds():
    """13 verbs, of which one has 40 % of the pairs: 4.9 effective; 22 % false positives before."""
    regime = next(own for own in agreement() if own.sd == (0.25, 1.0))
    row = simulate(regime, n=200)
    assert row.holds and row.reliable and row.old_false_positives > 0.1
    assert row.n_effective == pytest.approx(4.9, abs=0.05)


def test_simulations_use_what_clustered_mean_computes():
    """Sums of cells, of all data sets at once, give the estimates that items give one by one."""
    random = np.random.default_rng(0)
    units = Units(random.integers(0, 5, 60), "x", random.integers(0, 4, 60), random.integers(0, 2, 60))
    design, right = Design.of(units), random.random(60) < 0.7
    kinds, found = design.kinds, clustered_mean(right, units)
    assert found.df == pytest.approx(min(kind.df for kind in kinds))
    assert found.n_effective == pytest.approx(min(kind.n_effective for kind in kinds))
    assert float((design.weight * design.n).sum()) == pytest.approx(1)
    sure = simulate(Regime("all right", design, (0.0, 0.0), 0.0, centre=60.0), n=2)
    expected = clustered_mean(np.ones(60), units)
    assert sure.width == pytest.approx(expected.ci_high - expected.ci_low)


@pytest.mark.slow
@pytest.mark.parametrize("regime", CORRELATIONS, ids=str)
def test_correlations(regime, documented):
    found = correlation_coverage(regime)
    assert found["jackknife"] > found["BCa"] - 0.01 and found["jackknife"] > found["percentile"] - 0.01
    assert not regime.nominal or 0.93 <= found["jackknife"] <= 0.97
    assert correlation_line(regime, found) in documented


@pytest.mark.slow
@pytest.mark.parametrize("regime", CORRELATION_TESTS, ids=str)
def test_tests_of_correlations(regime, documented):
    found = correlation_tests(regime)
    assert not regime.nominal or 0.03 <= found["false positives"] <= 0.07
    assert found["power"] > 0.3 and found["naive false positives"] < 0.03
    assert correlation_test_lines([(regime, found)])[-1] in documented


def test_the_page_has_every_table(documented):
    assert [heading for heading in ABOUT if f"## {heading}" not in documented] == []
    for regime in itertools.chain(own_clusters(), regimes(None)["Units of equal size"]()):
        assert any(line.startswith(f"| {regime.what} |") for line in documented)
    for own in CORRELATION_TESTS:
        assert any(line.startswith(f"| {own.n_templates} | {own.noise} | ") for line in documented)


def test_a_page_is_written_from_few_data_sets():
    few = {"German": [simulate(next(own_clusters()), n=3).line()], "Near 1": boundary_lines(n=3)}
    of_correlations = [(CORRELATIONS[0], correlation_coverage(CORRELATIONS[0], n=2))]
    text = page(few, of_correlations, [(CORRELATION_TESTS[0], correlation_tests(CORRELATION_TESTS[0], n=2))])
    assert text.count("\n| ") >= 25 and "## Near 1" in text
