"""Error rates of the tests and intervals on simulated data; `interval_simulations.py` says how they are drawn."""

import pytest
from interval_simulations import (
    CORRELATION_TESTS,
    CORRELATIONS,
    REGIMES,
    correlation_coverage,
    correlation_line,
    correlation_test_lines,
    correlation_tests,
    page,
    rates,
    table_lines,
)


@pytest.fixture(scope="module")
def documented(root):
    """The lines of the page of the documentation, which must hold what is simulated here."""
    path = root / "docs" / "concepts" / "statistics-simulations.md"
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(
    "regime", [own for own in REGIMES if own.nominal], ids=lambda own: f"{own.measure}: {own.what}"
)
def test_rates_are_nominal(regime, documented):
    found = rates(regime)
    assert 0.03 <= found.false_positives <= 0.07
    assert 0.93 <= found.coverage <= 0.97
    assert found.reliable
    assert found.power > 0.3, "a test that finds nothing is never wrong"
    assert found.naive_false_positives > 0.07, "the naive test must fail here, or the units are not needed"
    assert table_lines([found])[-1] in documented


@pytest.mark.slow
@pytest.mark.parametrize("regime", [own for own in REGIMES if not own.nominal], ids=lambda own: own.what)
def test_limits_are_flagged_or_as_documented(regime, documented):
    found = rates(regime)
    nominal = 0.03 <= found.false_positives <= 0.07 and 0.93 <= found.coverage <= 0.97
    assert not found.reliable or not nominal, "this regime is nominal after all: move it to the others"
    assert table_lines([found], remarks=True)[-1] in documented


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


def test_the_page_has_every_regime(documented):
    assert [own.what for own in REGIMES if f"| {own.what} |" not in "\n".join(documented)] == []
    for own in CORRELATION_TESTS:
        assert any(line.startswith(f"| {own.n_templates} | {own.noise} | ") for line in documented)


def test_a_page_is_written_from_few_data_sets():
    few = [rates(own, n=3) for own in (REGIMES[0], REGIMES[-1])]
    of_correlations = [(CORRELATIONS[0], correlation_coverage(CORRELATIONS[0], n=2))]
    text = page(few, of_correlations, [(CORRELATION_TESTS[0], correlation_tests(CORRELATION_TESTS[0], n=2))])
    assert REGIMES[-1].remark in text and text.count("\n| ") >= 5
