"""Cluster-robust standard errors against statsmodels and a literal implementation; what must not change them."""

import math
from itertools import pairwise
from operator import attrgetter

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tse_scorers.statistics.clustered import Units, clustered_mean, clustered_means
from tse_scorers.statistics.differences import paired_difference
from tse_scorers.statistics.estimate import ACCURACY, DIFFERENCE, Stratum, mean_of_strata


def _items(seed, n=200, first=13, second=7):
    random = np.random.default_rng(seed)
    g, k = random.integers(0, first, n), random.integers(0, second, n)
    y = (
        0.5
        + 0.1 * random.normal(size=first)[g]
        + 0.1 * random.normal(size=second)[k]
        + 0.1 * random.normal(size=n)
    )
    return np.clip(y, 0, 1), g, k


def _shares(units, strata, weights):
    """Return {stratum: {unit: weight}}; strata with a single unit are one stratum, None."""
    found = {}
    for unit, stratum, weight in zip(units, strata, weights, strict=True):
        found.setdefault(stratum, {}).setdefault(unit, 0.0)
        found[stratum][unit] += weight
    single = [stratum for stratum, own in found.items() if len(own) == 1]
    for stratum in single:
        merged = found.setdefault(None, {})
        for unit, weight in found.pop(stratum).items():
            merged[unit] = merged.get(unit, 0.0) + weight
    return found, set(single)


def _literal_kind(y, units, strata, weights):
    """Residuals, variance, degrees of freedom and effective number of one kind of unit, by loops over dictionaries."""
    n = range(len(y))
    shares, single = _shares(units, strata, weights)
    of = [None if s in single else s for s in strata]
    overall = sum(weights[i] * y[i] for i in n)
    centre = {
        s: overall
        if len(own) == 1
        else sum(weights[i] * y[i] for i in n if of[i] == s) / sum(weights[i] for i in n if of[i] == s)
        for s, own in shares.items()
    }
    residuals = [weights[i] * (y[i] - centre[of[i]]) for i in n]
    names = sorted(set(units))
    sums = {u: sum(residuals[i] for i in n if units[i] == u) for u in names}
    w = {u: sum(weights[i] for i in n if units[i] == u) for u in names}
    squares = sum(own**2 for own in w.values())
    if len(names) < 2:
        return residuals, math.nan, 0, 1 / squares
    if all(sum(u in own for own in shares.values()) == 1 for u in names):
        variance, terms = 0.0, []
        for own in shares.values():
            total = sum(own.values())
            q = [weight / total for weight in own.values()]
            second, third = sum(v**2 for v in q), sum(v**3 for v in q)
            c = second / (second - 2 * third + second**2) if len(q) > 1 else 1.0
            variance += c * sum(sums[u] ** 2 for u in own)
            terms.append((total**2 * second, max(1 / second - 1, 1)))
        df = sum(a for a, _ in terms) ** 2 / sum(a**2 / own for a, own in terms)
        return residuals, variance, df, 1 / squares
    distance = 0.0
    for u in names:
        for v in names:
            m = sum(own.get(u, 0) * own.get(v, 0) / sum(own.values()) for own in shares.values())
            distance += ((w[u] if u == v else 0) - m) ** 2
    variance = squares / distance * sum(own**2 for own in sums.values())
    return residuals, variance, max(1 / squares - 1, 1), 1 / squares


def literal(y, g, k=None, strata=None, weights=None, difference=False):
    """Mean, standard error, interval, degrees of freedom and effective number as the modules' texts define them."""
    n = len(y)
    strata = [0] * n if strata is None else list(strata)
    weights = [1 / n] * n if weights is None else list(weights)
    first = _literal_kind(y, list(g), strata, weights)
    variance, df, effective = first[1:]
    if k is not None:
        second = _literal_kind(y, list(k), strata, weights)
        pairs = set(zip(g, k, strict=True))
        cells = [
            [sum(own[i] for i in range(n) if (g[i], k[i]) == pair) for own in (first[0], second[0])]
            for pair in pairs
        ]
        both = first[1] + second[1] - sum(one * other for one, other in cells)
        variance = max(first[1], second[1], both)
        df, effective = min(df, second[2]), min(effective, second[3])
    mean = sum(w * own for w, own in zip(weights, y, strict=True))
    items = 1 / sum(w**2 for w in weights)
    epsilon = 1 / (items / (1 + (0.05 if difference else 0.2) * (items / effective - 1)) + 2)
    squares = sum(w * own**2 for w, own in zip(weights, y, strict=True))
    sizes = sum(w * abs(own) for w, own in zip(weights, y, strict=True))
    kappa = epsilon * math.sqrt((squares - mean**2 + epsilon) / (sizes - mean**2 + epsilon))
    t = stats.t.ppf(0.975, df)
    if difference:
        se = math.sqrt(variance + kappa**2)
        low, high = max(-1, mean - t * se), min(1, mean + t * se)
        return mean, se, low, high, df, effective
    moved = mean + kappa * (1 - 2 * mean)
    spread = variance + (moved - mean) ** 2 if variance > 0 else kappa**2
    size = moved * (1 - moved) / spread * (stats.norm.ppf(0.975) / t) ** 2
    low = stats.beta.ppf(0.025, size * mean, size * (1 - mean) + 1) if mean > 0 else 0.0
    high = stats.beta.ppf(0.975, size * mean + 1, size * (1 - mean)) if mean < 1 else 1.0
    return mean, math.sqrt(variance), low, high, df, effective


def _numbers(found):
    return found.mean, found.se, found.ci_low, found.ci_high, found.df, found.n_effective


def test_equal_clusters_equal_statsmodels():
    """Statsmodels multiplies by G/(G-1) · (N-1)/(N-K); with an intercept alone K = 1, so the second factor is 1."""
    y, _, _ = _items(0)
    g = np.arange(200) % 10
    fit = sm.OLS(y, np.ones(200)).fit(cov_type="cluster", cov_kwds={"groups": g}, use_t=True)
    ours = clustered_mean(y, Units(g, "g"))
    assert ours.mean == pytest.approx(fit.params[0], abs=1e-12)
    assert ours.se == pytest.approx(fit.bse[0], rel=1e-10)
    assert (ours.df, ours.n_effective) == pytest.approx((9, 10))


DESIGNS = {
    "one kind": lambda y, g, k: {"g": g},
    "crossed": lambda y, g, k: {"g": g, "k": k},
    "units nested in strata": lambda y, g, k: {"g": g, "strata": g % 4},
    "units in several strata": lambda y, g, k: {"g": g, "strata": k},
    "crossed, in several strata": lambda y, g, k: {"g": g, "k": k, "strata": (g * k) % 3},
    "one stratum of one unit": lambda y, g, k: {"g": g, "strata": np.minimum(g, 1)},
    "three strata of one unit": lambda y, g, k: {"g": g, "k": k, "strata": np.minimum(g, 3)},
}


@pytest.mark.parametrize("difference", [False, True])
@pytest.mark.parametrize("right_or_wrong", [False, True])
@pytest.mark.parametrize("design", DESIGNS)
def test_estimates_equal_a_literal_implementation(design, right_or_wrong, difference):
    """Loops over dictionaries, from the definitions: no array and no function is shared with the package."""
    for seed in range(3):
        y, g, k = _items(seed, n=120)
        if right_or_wrong:
            y = (y > 0.45).astype(float)
        if difference:
            y = y - (np.random.default_rng(seed).random(120) < 0.6)
        about = DESIGNS[design](y, g, k)
        units = Units(about["g"], "u", about.get("k"), about.get("strata"))
        ours = clustered_mean(y, units, DIFFERENCE if difference else (0.0, 1.0))
        expected = literal(y, **about, difference=difference)
        assert _numbers(ours) == pytest.approx(expected, rel=1e-9, abs=1e-12)  # scipy's beta.ppf is the limit
        exact = (0, 1, 4, 5) if not difference else range(6)
        assert [_numbers(ours)[i] for i in exact] == pytest.approx(
            [expected[i] for i in exact], rel=1e-12, abs=1e-12
        )


def test_a_sum_of_terms_below_the_largest_is_not_used():
    """One item per cell, and residuals that cancel: V₁ + V₂ - Σ cells² is below V₁, even below zero."""
    y, g, k = np.array([1, 0, 0, 1, 0.5]), np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2])
    alone = [clustered_mean(y, Units(own, "own")).se ** 2 for own in (g, k)]
    assert sum(alone) - ((y - 0.5) ** 2).sum() / 25 < max(alone)
    assert clustered_mean(y, Units(g, "g x k", crossed=k)).se ** 2 == pytest.approx(max(alone))
    random = np.random.default_rng(8)  # and where V₁ is above 0
    y = np.array([[1, 0, 0, 1], [0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1]], float) + 0.1 * random.random(
        (4, 4)
    )
    y = y / 2
    one, other = np.indices((4, 4)).reshape(2, -1)
    alone = [clustered_mean(y.ravel(), Units(own, "own")).se ** 2 for own in (one, other)]
    total = sum(alone) - ((y - y.mean()) ** 2).sum() / 16**2
    assert 0 < max(alone) > total
    assert clustered_mean(y.ravel(), Units(one, "x", crossed=other)).se ** 2 == pytest.approx(max(alone))


def test_unequal_units_are_fewer_than_counted():
    """A verb with 48,400 of 121,220 pairs decides TSE: 13 verbs are worth 4.9 of equal size."""
    sizes = [10640, 3600, 80, 10640, 3600, 48400, 80, 7580, 10720, 10640, 7580, 7580, 80]
    verbs = np.repeat(np.arange(13), np.array(sizes) // 20)
    ours = clustered_mean(np.arange(len(verbs)) % 3 > 0, Units(verbs, "verbs"))
    assert (ours.n_units, ours.n_effective, ours.df) == pytest.approx((13, 4.906, 3.906), abs=0.001)
    assert ours.reliable and not clustered_mean([1, 0, 1, 0, 1], Units(list("aaabc"), "verbs")).reliable


@pytest.mark.parametrize(("n_units", "size"), [(20, 3), (12, 40), (5, 10)])
def test_an_interval_does_not_jump_at_the_boundary(n_units, size):
    """54 of 54 had [0.66, 1] and 53 of 54 [0.94, 1]: a model with an error looked more certain than one without."""
    units, n = Units(np.repeat(np.arange(n_units), size), "items"), n_units * size
    found = [clustered_mean([0.0] * wrong + [1.0] * (n - wrong), units) for wrong in (0, 1, 2)]
    widths = [own.ci_high - own.ci_low for own in found]
    assert all(0.9 < later / before < 2 for before, later in pairwise(widths)), widths
    assert found[0].ci_low > found[1].ci_low - 0.1 * widths[0] and found[0].ci_high == 1 >= found[1].ci_high
    near = [clustered_mean([1 - tiny] * n, units) for tiny in (0, 1e-7, 1e-3)]
    assert near[1].ci_low == pytest.approx(near[0].ci_low, abs=1e-4)
    assert near[2].ci_low == pytest.approx(near[0].ci_low, abs=0.05)


def test_equal_systems_have_the_width_that_their_items_allow():
    """Equal models had the widest interval of a comparison, ±0.119, as if nothing was known of them."""
    right = np.random.default_rng(0).random(67 * 15) < 0.8
    few = paired_difference(right[:60], right[:60], Units(np.repeat(np.arange(20), 3), "items"))
    many = paired_difference(right, right, Units(np.repeat(np.arange(67), 15), "paradigms"))
    assert (few.p, few.estimate.mean, many.p) == (1, 0, 1)
    assert (few.estimate.ci_high, many.estimate.ci_high) == pytest.approx((0.0369, 0.0034), abs=0.0002)
    assert -few.estimate.ci_low == few.estimate.ci_high


@pytest.mark.parametrize("weighting", ["items", "strata", "clusters"])
def test_items_that_are_all_right_have_a_mean_of_exactly_one(weighting):
    rng = np.random.default_rng(0)
    clusters, strata = rng.integers(0, 30, 41_211), rng.integers(0, 7, 41_211)
    units = Units(clusters, "nouns", strata=strata, weighting=weighting)
    assert clustered_mean(np.ones(41_211), units).mean == 1


def test_single_items_give_students_t():
    y = np.random.default_rng(0).random(30)
    ours = clustered_mean(y, Units(np.arange(30), "items"))
    assert (ours.se, ours.df) == pytest.approx((stats.sem(y), 29))
    low, high = stats.t.interval(0.95, 29, y.mean(), stats.sem(y))
    assert (ours.ci_low, ours.ci_high) == pytest.approx((low, high), abs=0.03)


def test_strata_are_estimated_one_by_one():
    """V = Σ_s W_s² V_s, with W_s the stratum's share (pooled) or 1/S (mean of strata's means)."""
    y, g, s = _items(1)
    g = g + 100 * s  # nested
    parts = {name: clustered_mean(y[s == name], Units(g[s == name], "g")) for name in set(s)}
    for weighting, weight in (
        ("items", lambda name: np.mean(s == name)),
        ("strata", lambda name: 1 / len(parts)),
    ):
        ours = clustered_mean(y, Units(g, "g", strata=s, weighting=weighting))
        assert ours.mean == pytest.approx(sum(weight(name) * part.mean for name, part in parts.items()))
        assert ours.se**2 == pytest.approx(sum((weight(name) * part.se) ** 2 for name, part in parts.items()))
        shares = np.array([weight(name) ** 2 / part.n_effective for name, part in parts.items()])
        df = np.array([part.df for part in parts.values()])
        assert ours.df == pytest.approx(shares.sum() ** 2 / (shares**2 / df).sum())
        assert ours.n_effective == pytest.approx(1 / shares.sum())


def test_equal_units_in_equal_strata_lose_a_degree_of_freedom_per_stratum():
    units = np.repeat(np.arange(30), 4)
    ours = clustered_mean(np.arange(120) % 7 > 2, Units(units, "words", strata=units % 3))
    assert (ours.df, ours.n_effective) == pytest.approx((27, 30))


def test_a_stratum_of_one_cluster_is_centred_at_the_overall_mean():
    y, s, g = np.array([0.0, 1, 0, 0.8]), [0, 0, 0, 1], [0, 0, 1, 2]
    first, mean = y[:3].mean(), y.mean()
    second, third = (2 / 3) ** 2 + (1 / 3) ** 2, (2 / 3) ** 3 + (1 / 3) ** 3
    factor = second / (second - 2 * third + second**2)
    inside = factor * ((y[:2] - first).sum() ** 2 + (y[2] - first) ** 2)
    expected = (inside + (y[3] - mean) ** 2) / 16
    assert clustered_mean(y, Units(g, "g", strata=s)).se ** 2 == pytest.approx(expected)


def test_mean_of_clusters_equals_t_over_their_means():
    y, g, _ = _items(3)
    means = np.array([y[g == own].mean() for own in sorted(set(g))])
    ours = clustered_mean(y, Units(g, "paradigms", weighting="clusters"))
    assert (ours.mean, ours.se) == pytest.approx((means.mean(), stats.sem(means)))


def test_one_cluster_has_no_interval():
    ours = clustered_mean([1, 0, 1], Units(["a"] * 3, "nouns"))
    assert ours.mean == pytest.approx(2 / 3) and ours.n_units == 1 and not ours.reliable
    assert all(map(math.isnan, (ours.se, ours.ci_low, ours.ci_high)))
    crossed = clustered_mean([1, 0, 1], Units(["a"] * 3, "nouns x verbs", crossed=[1, 2, 3]))
    assert math.isnan(crossed.se) and crossed.n_crossed == 3 and not crossed.reliable


def test_no_items():
    for values in ([], [math.nan, math.nan]):
        ours = clustered_mean(values, Units(["a"] * len(values), "nouns"))
        assert (ours.n_items, ours.n_units) == (0, 0) and math.isnan(ours.mean) and math.isnan(ours.ci_low)


def test_fewer_than_four_effective_units_are_not_reliable():
    y = np.linspace(0, 1, 60)
    assert clustered_mean(y, Units(np.arange(60) % 4, "a")).reliable
    assert not clustered_mean(y, Units(np.arange(60) % 3, "a")).reliable
    assert not clustered_mean(y, Units(np.arange(60) % 20, "a x b", crossed=np.arange(60) % 3)).reliable
    two_by_two = Units(np.arange(60) % 4, "a", strata=np.arange(60) % 2)
    assert not clustered_mean(y, two_by_two).reliable, "two strata of two units: two degrees of freedom"


OF_ESTIMATE = attrgetter(
    *("mean", "se", "ci_low", "ci_high", "df", "n_units", "n_items", "n_crossed", "n_effective", "variance"),
    *("least_weight", "unit"),
)


@pytest.mark.parametrize("score_range", [ACCURACY, DIFFERENCE])
def test_several_scores_at_once_are_each_by_itself(score_range):
    """Some have the same items, some have others, and one has none."""
    random = np.random.default_rng(0)
    scores = random.random((6, 40))
    scores[1, :9] = scores[4, :9] = np.nan
    scores[2, 20:] = scores[5] = np.nan
    units = Units(random.integers(0, 9, 40), "x", random.integers(0, 5, 40), random.integers(0, 3, 40))
    for found, values in zip(clustered_means(scores, units, score_range), scores, strict=True):
        alone = clustered_mean(values, units, score_range)
        (*numbers, unit), (*expected, name) = (OF_ESTIMATE(own) for own in (found, alone))
        assert unit == name and numbers == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_missing_scores_are_left_out_with_their_units():
    ours = clustered_mean([1, 0, math.nan, 0.5], Units(["a", "b", "c", "b"], "nouns"))
    assert (ours.n_units, ours.n_items, ours.mean) == (2, 3, 0.5)


@pytest.mark.parametrize(
    ("units", "message"),
    [
        (Units(["a", None], "nouns"), "1 of 2 .*no unit"),
        (Units(["a"], "nouns"), "2 scores came with 1 labels"),
        (Units(["a", "b"], "nouns", weighting="strata"), "give strata"),
    ],
)
def test_units_that_do_not_fit_are_refused(units, message):
    with pytest.raises(ValueError, match=message):
        clustered_mean([1, 0], units)


@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_order_and_names_do_not_matter(seed, two_way, stratified):
    y, g, k = _items(seed % 1000, n=60)
    random = np.random.default_rng(seed)
    strata = g % 3 if stratified else None
    order, names = random.permutation(len(y)), random.permutation(100)
    one = clustered_mean(y, Units(g, "u", k if two_way else None, strata))
    renamed = [f"unit {names[own]}" for own in g[order]]
    other = clustered_mean(
        y[order],
        Units(
            renamed,
            "u",
            names[k[order]] if two_way else None,
            None if strata is None else names[strata[order]],
        ),
    )
    assert (one.mean, one.se, one.ci_low, one.ci_high) == pytest.approx(
        (other.mean, other.se, other.ci_low, other.ci_high), rel=1e-9
    )
    assert one.df == pytest.approx(other.df)
    assert (one.n_units, one.n_crossed) == (other.n_units, other.n_crossed)


@given(st.integers(0, 1000), st.integers(2, 5))
def test_repeating_items_within_clusters_adds_no_precision(seed, times):
    """K copies of each item say nothing new: mean and standard error stay."""
    y, g, k = _items(seed, n=50)
    for crossed in (None, k):
        one = clustered_mean(y, Units(g, "u", crossed))
        repeated = Units(np.repeat(g, times), "u", None if crossed is None else np.repeat(crossed, times))
        other = clustered_mean(np.repeat(y, times), repeated)
        assert (one.mean, one.se) == pytest.approx((other.mean, other.se), rel=1e-9)


def test_estimates_of_strata_give_the_estimate_that_their_items_give():
    """The report has the precision of each paradigm, not the pairs behind it."""
    generator = np.random.default_rng(0)
    strata = np.repeat(np.arange(3), 40)
    words = 100 * strata + generator.integers(0, 9, 120)
    values = (generator.random(120) < 0.6 + 0.3 * (words % 2)).astype(float)
    whole = clustered_mean(values, Units(words, "words", strata=strata, weighting="strata"))
    own = [clustered_mean(values[strata == s], Units(words[strata == s], "words")) for s in range(3)]
    known = [Stratum(each.mean, each.se, each.n_units, each.n_effective, each.n_items) for each in own]
    found = mean_of_strata(known, "words")
    assert _numbers(found) == pytest.approx(_numbers(whole))
    less = mean_of_strata(known, "words", minus=1)
    assert less.mean == pytest.approx((own[0].mean + own[1].mean) / 2 - own[2].mean)
    variance = (own[0].se ** 2 + own[1].se ** 2) / 4 + own[2].se ** 2
    assert less.se == pytest.approx(math.sqrt(variance + less.least_weight**2))
    assert math.isnan(mean_of_strata([Stratum(0.5, *[math.nan] * 4)], "words").ci_low)
    with pytest.raises(ValueError, match="leave none"):
        mean_of_strata(known, "words", minus=3)


def test_units_that_all_score_a_half_still_have_an_interval():
    """A model that always prefers one number scores 0.5 on each item, and its interval had no width."""
    found = clustered_mean([1, 0] * 10, Units(np.repeat(np.arange(10), 2), "items"))
    assert found.mean == 0.5 and found.ci_high - found.ci_low > 0.15
