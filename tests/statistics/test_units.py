"""Means over units: against literal loops that leave out one unit at a time, statsmodels and scipy."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from tse_scorers.statistics import Units, correlation, difference, mean, means


def items(seed, n=240, n_units=12, n_crossed=7):
    """Scores that are right or wrong, with units and a second kind of units that have effects."""
    random = np.random.default_rng(seed)
    unit, crossed = random.integers(0, n_units, n), random.integers(0, n_crossed, n)
    logit = random.normal(0.7, 1, n_units)[unit] + random.normal(0, 0.6, n_crossed)[crossed]
    return (random.random(n) < 1 / (1 + np.exp(-logit))).astype(float), unit, crossed


def weighted(y, w):
    return sum(a * b for a, b in zip(w, y, strict=True)) / sum(w)


def item_weights(units, y):
    """The weight of each item, with the sum 1."""
    w = [1.0] * len(y) if units.weights is None else list(units.weights)
    if units.weighting != "items":
        same = list(units.strata if units.weighting == "strata" else units.labels)
        w = [
            a / sum(b for b, other in zip(w, same, strict=True) if other == of)
            for a, of in zip(w, same, strict=True)
        ]
    return [a / sum(w) for a in w]


def without_single(strata, labels):
    """Strata with one unit become one; a single one joins the first other stratum."""
    units_of = {s: {u for u, t in zip(labels, strata, strict=True) if t == s} for s in strata}
    lonely = [s for s in units_of if len(units_of[s]) == 1]
    others = [s for s in units_of if s not in lonely]
    if not lonely or (len(lonely) == 1 and not others):
        return list(strata)
    target = lonely[0] if len(lonely) > 1 else others[0]
    return [target if s in lonely else s for s in strata]


def literal(y, units, labels):
    """V, degrees of freedom and effective number by leaving out one unit at a time, with loops over lists."""
    w, places = item_weights(units, y), range(len(y))
    strata = without_single([0] * len(y) if units.strata is None else list(units.strata), list(labels))
    of_stratum = {s: sum(w[i] for i in places if strata[i] == s) for s in strata}
    n_units = {s: len({labels[i] for i in places if strata[i] == s}) for s in strata}
    squares_of, shares, lost = [], [], []
    for left_out in dict.fromkeys(labels):
        without = 0.0
        for s, share in of_stratum.items():
            inside = [i for i in places if strata[i] == s and labels[i] != left_out]
            without += share * weighted([y[i] for i in inside], [w[i] for i in inside])
        parts = {s: sum(w[i] for i in places if (labels[i], strata[i]) == (left_out, s)) for s in strata}
        shares.append(sum(parts.values()))
        lost.append(sum(part * (1 - 1 / n_units[s]) for s, part in parts.items()) / shares[-1])
        squares_of.append(lost[-1] * (without - weighted(y, w)) ** 2)
    a = []
    for s, share in of_stratum.items():
        inside = [sum(w[i] for i in places if (labels[i], strata[i]) == (u, s)) / share for u in set(labels)]
        squares = sum(part**2 for part in inside)
        a.append((share**2 * squares, max(1 / squares - 1, 1)))
    over_strata = sum(b for b, _ in a) ** 2 / sum(b**2 / df for b, df in a)
    n_effective = 1 / sum(share**2 for share in shares)
    df = min(n_effective * sum(s * f for s, f in zip(shares, lost, strict=True)), over_strata)
    centres = {}
    for s in of_stratum:
        inside = [i for i in places if strata[i] == s]
        centres[s] = weighted([y[i] for i in inside], [w[i] for i in inside])
    residuals = [w[i] * (y[i] - centres[strata[i]]) for i in places]
    variance = sum(squares_of)
    kurtosis = sum(v**2 for v in squares_of) / sum(share**4 for share in shares)
    kurtosis /= (variance / sum(share**2 for share in shares)) ** 2
    added = max(0, 1 - sum(r**2 for r in residuals) / (1 - 1 / len(y)) / variance)
    tails = 1 / (1 + added * max(kurtosis - 3, 0) / 2)
    return variance, df, n_effective, tails, residuals


DESIGNS = {
    "one kind": lambda g, k: Units(g),
    "strata that units are nested in": lambda g, k: Units(g, strata=g % 3),
    "strata that count the same": lambda g, k: Units(g, strata=g % 3, weighting="strata"),
    "units in several strata": lambda g, k: Units(g, strata=k, weighting="strata"),
    "units that count the same": lambda g, k: Units(g, weighting="units"),
    "items with weights": lambda g, k: Units(g, weights=1.0 + k),
    "one stratum of one unit": lambda g, k: Units(g, strata=np.minimum(g, 1)),
    "three strata of one unit": lambda g, k: Units(g, strata=np.minimum(g, 3)),
    "crossed": lambda g, k: Units(g, crossed=k),
    "crossed, in strata": lambda g, k: Units(g, crossed=k, strata=(g + k) % 3),
    "crossed, with weights": lambda g, k: Units(g, crossed=k, strata=k % 2, weights=1.0 + g),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_a_mean_is_that_of_literal_loops(design):
    y, g, k = items(0)
    units = DESIGNS[design](g, k)
    found, w = mean(y, units), item_weights(units, y)
    variance, df, n_effective, tails, residuals = literal(y, units, g)
    if units.crossed is not None:
        second, both = literal(y, units, k), 0.0
        for pair in set(zip(g, k, strict=True)):
            inside = [i for i in range(len(y)) if (g[i], k[i]) == pair]
            both += sum(residuals[i] for i in inside) * sum(second[4][i] for i in inside)
        variance = max(variance, second[0], variance + second[0] - both)
        df, n_effective, tails = (
            min(pair) for pair in zip((df, n_effective, tails), second[1:4], strict=True)
        )
    p, n = weighted(y, w), 1 / sum(v**2 for v in w)
    least = 0.1 if units.crossed is None else 0.02
    kappa = 1 / (n / (1 + least * max(n / n_effective - 1, 0)) + 2)
    assert found.mean == pytest.approx(p, abs=1e-14)
    assert found.se == pytest.approx(math.sqrt(variance + (kappa * (1 - 2 * p)) ** 2), rel=1e-10)
    assert found.n_effective == pytest.approx(n_effective, rel=1e-10)
    assert found.df == pytest.approx(df, rel=1e-10)
    moved, t = p + kappa * (1 - 2 * p), stats.t.ppf(0.975, max(df * tails, min(df, 2)))
    size = moved * (1 - moved) / found.se**2 * (stats.norm.ppf(0.975) / t) ** 2
    ends = stats.beta.ppf([0.025, 0.975], [size * p, size * p + 1], [size * (1 - p) + 1, size * (1 - p)])
    assert (found.low, found.high) == pytest.approx(tuple(ends), rel=1e-9)


def test_few_units_that_fail_make_a_score_less_sure():
    """Sixty units without an error and four that fail: another sample may have none of these, or more."""
    y = np.r_[np.ones(60 * 10), np.tile([0.0] * 8 + [1.0] * 2, 4)]
    found = mean(y, Units(np.repeat(np.arange(64), 10)))
    symmetric = stats.t.ppf(0.975, found.df) * found.se
    assert found.df == pytest.approx(63) and found.reliable
    assert found.high - found.low > 2.1 * symmetric


def test_equal_units_have_the_standard_error_of_statsmodels():
    y, _, _ = items(0, 200)
    for sizes in ([20] * 10, [5] * 20 + [50, 50]):
        n_units, g = len(sizes), np.repeat(np.arange(len(sizes)), sizes)
        fit = sm.OLS(y, np.ones(200)).fit(cov_type="cluster", cov_kwds={"groups": g})
        found = mean(y, Units(g), bounded=False)
        # A large unit draws the mean, and so its residual, to itself. Leaving it out does not.
        share, residuals = np.bincount(g) / 200, np.bincount(g, y - y.mean())
        ratio = math.sqrt(((residuals / (1 - share)) ** 2).sum() / (residuals**2).sum()) * (1 - 1 / n_units)
        assert found.se == pytest.approx(fit.bse[0] * ratio, rel=1e-10)
        assert (ratio == pytest.approx(1)) == (len(set(sizes)) == 1)


def test_a_score_of_one_is_exactly_one():
    cells = np.tile(np.arange(50), 36), np.repeat(np.arange(36), 50)
    for n, units in (
        (41_200, Units(np.arange(41_200) % 7, crossed=np.arange(41_200) % 11, strata=np.arange(41_200) % 3)),
        (1800, Units(cells[0], strata=cells[1], weighting="strata")),
        (1800, Units(cells[1], weighting="units", weights=np.linspace(0.1, 3, 1800))),
    ):
        found = mean(np.ones(n), units)
        assert (found.mean, found.high) == (1.0, 1.0)
        assert 0.5 < found.low < 1 and found.se > 0


def test_intervals_are_continuous_near_the_ends():
    """54 of 54 right and 53 of 54 have similar intervals, and what is wrong is as sure as what is right."""
    y = np.ones(54)
    whole, one_less = (mean(of, Units(range(54))) for of in (y, np.r_[y[1:], 0]))
    assert whole.low - one_less.low < 0.04 and one_less.high < 1
    none = mean(1 - y, Units(range(54)))
    assert (none.low, none.high) == pytest.approx((1 - whole.high, 1 - whole.low))


def test_items_without_a_score_and_the_order_do_not_matter():
    y, g, k = items(3)
    y[::5] = np.nan
    units, kept = Units(g, crossed=k, strata=k % 2), np.isfinite(y)
    order = np.random.default_rng(0).permutation(len(y))
    expected = np.array(mean(y[kept], units.of(kept))[:5])
    named = Units([f"noun {i}" for i in g], crossed=k, strata=k % 2)
    for found in (mean(y, units), mean(y[order], units.of(order)), means([1 - y, y], named)[1]):
        assert np.array(found[:5]) == pytest.approx(expected, rel=1e-9)
        assert found.n_items == kept.sum()


def test_a_stratum_of_one_unit_is_no_certainty():
    """Twelve constructions with one word each are twelve units, not none."""
    words = np.repeat(np.arange(12), 3)
    y = np.repeat([1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1], 3).astype(float)
    found = mean(y, Units(words, strata=words, weighting="strata"))
    assert found.df == pytest.approx(11) and found.se == pytest.approx(mean(y, Units(words)).se)


def test_too_few_units_have_no_interval_or_no_reliable_one():
    alone = mean([1.0, 0.0, 1.0], Units(["a"] * 3))
    assert alone.mean == pytest.approx(2 / 3) and np.isnan([alone.se, alone.low, alone.high]).all()
    assert not alone.reliable and not mean([1, 0, 1], Units(list("abc"))).reliable
    assert mean([1, 0, 1, 1], Units(list("abcd"))).reliable
    two = mean([1.0, 4.0], Units(["a", "b"]), bounded=False)  # have an interval, a wide one
    assert (two.low, two.high) == pytest.approx(stats.t.interval(0.95, 1, 2.5, stats.sem([1.0, 4.0])))
    assert not two.reliable
    empty = mean([np.nan], Units(["a"]))
    assert np.isnan(empty.mean) and empty.n_items == 0 and not empty.reliable
    constant = mean([3.5] * 4, Units(range(4)), bounded=False)
    assert constant.se == 0 and np.isnan(constant.low) and not constant.reliable


def test_scores_that_are_no_shares_have_students_interval():
    y = np.random.default_rng(5).normal(40, 9, 25)
    found = mean(y, Units(range(25)), bounded=False)
    assert found.se == pytest.approx(stats.sem(y), rel=1e-12) and 20 < found.df < 24 + 1e-9
    ends = stats.t.interval(0.95, found.df, y.mean(), stats.sem(y))
    assert (found.low, found.high) == pytest.approx(ends)


@pytest.mark.parametrize("labels", [["a", None, "b"], ["a", "b"]])
def test_each_item_needs_a_unit(labels):
    for estimate in (
        lambda units: mean([1, 0, 1], units),
        lambda units: difference([1, 0, 1], [1, 1, 1], units),
    ):
        with pytest.raises(ValueError, match=r"3 items have 2 labels of units \(nouns\): give each item one"):
            estimate(Units(labels, "nouns"))


def test_a_correlation_leaves_out_one_unit_at_a_time():
    random = np.random.default_rng(1)
    people = random.random(36)
    scores = 0.7 * people + random.normal(0, 0.3, (12, 36))
    scores[random.random((12, 36)) < 0.1] = np.nan
    found = correlation(scores, people, "templates")
    r, *without = (
        stats.pearsonr(np.nanmean(rows, axis=0), people)[0]
        for rows in (scores, *(np.delete(scores, g, axis=0) for g in range(12)))
    )
    centre = 12 * r - 11 * np.mean(without)
    half = stats.t.ppf(0.975, 11) * math.sqrt(11 / 12 * sum((of - np.mean(without)) ** 2 for of in without))
    assert (found.mean, found.low, found.high) == pytest.approx(
        (r, min(r, centre - half), min(1, centre + half))
    )
    assert found.reliable and not correlation(scores + random.normal(0, 3, (12, 36)), people, "t").reliable
    for constant in (np.ones((12, 36)), np.tile(people, (12, 1))):
        nothing = correlation(constant, people, "templates")
        assert np.isnan([nothing.se, nothing.low]).all() and not nothing.reliable
        assert (nothing.n_units, nothing.n_items) == (found.n_units, found.n_items) == (12, 36)
