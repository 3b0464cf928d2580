"""Simulations of the tests and intervals: how often they err, and what they find.

    python tests/statistics/interval_simulations.py docs/concepts/statistics-simulations.md

Each regime draws data sets with random effects at the level of its units, anew for each data set, as another set of
verbs, nouns, lemmas, words or templates would have other ones. Both systems have the same expected score (false
positives), or scores that differ by `gap` logits (power). Coverage is of one system's interval.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import special, stats

from tse_scorers.statistics import CellSums, Units, cell_sums, clustered_mean, crossed_mean
from tse_scorers.statistics.bootstrap import (
    bootstrap_interval,
    correlation_of_cells,
    jackknife_correlation,
    pearson,
)
from tse_scorers.statistics.differences import crossed_difference, paired_difference

N = 1000
LEVEL = 0.05
CENTRE = 1.2
"""logit of a usual score: 0.77"""
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


@dataclass(frozen=True)
class Outcome:
    """What one simulated data set gave: p of the clustered and of the naive test, whether the interval holds."""

    p: float
    naive_p: float
    held: bool
    reliable: bool


@dataclass(frozen=True)
class Regime:
    """A kind of data; `draw(random, gap)` gives one data set's outcome.

    `nominal` says whether rates must be near their nominal values; if not, `remark` says why.
    """

    measure: str
    what: str
    draw: Callable[[np.random.Generator, float], Outcome]
    gap: float
    nominal: bool = True
    remark: str = ""


@dataclass(frozen=True)
class Rates:
    """Shares of data sets, 0 to 1."""

    regime: Regime
    false_positives: float
    naive_false_positives: float
    coverage: float
    power: float
    naive_power: float
    reliable: bool


def expected_score(spread: float, centre: float = CENTRE) -> float:
    """Mean of logistic(centre + spread · z), z standard normal."""
    return float(NODE_WEIGHTS @ special.expit(centre + spread * NODES) / NODE_WEIGHTS.sum())


def rates(regime: Regime, n: int = N, seed: int = 0) -> Rates:
    """Draw `n` data sets without and `n` with a difference."""
    equal = [regime.draw(random, 0.0) for random in _generators(n, seed)]
    unequal = [regime.draw(random, regime.gap) for random in _generators(n, seed + 1)]
    return Rates(
        regime,
        float(np.mean([own.p < LEVEL for own in equal])),
        float(np.mean([own.naive_p < LEVEL for own in equal])),
        float(np.mean([own.held for own in equal])),
        float(np.mean([own.p < LEVEL for own in unequal])),
        float(np.mean([own.naive_p < LEVEL for own in unequal])),
        all(own.reliable for own in equal),
    )


def _generators(n: int, seed: int) -> Iterator[np.random.Generator]:
    for child in np.random.SeedSequence(seed).spawn(n):
        yield np.random.default_rng(child)


def mcnemar_p(wins: int, losses: int) -> float:
    """The exact test of the items on which two systems disagree."""
    n = wins + losses
    return min(1.0, 2 * float(special.bdtr(min(wins, losses), n, 0.5))) if n else 1.0


def t_test_p(differences: np.ndarray) -> float:
    """Test that assumes independent items; for many items it equals sign flips by item."""
    n = len(differences)
    se = differences.std(ddof=1) / np.sqrt(n)
    return float(2 * special.stdtr(n - 1, -abs(differences.mean()) / se)) if se else 1.0


def tse(n_verbs: int, n_nouns: int, per_cell: int, verb_sd: float, noun_sd: float):
    """Verbs x subject nouns, crossed; each system has effects of its own."""
    target = expected_score(np.hypot(verb_sd, noun_sd))

    def draw(random, gap):
        chances = [
            special.expit(
                CENTRE
                + shift
                + verb_sd * random.normal(size=(n_verbs, 1))
                + noun_sd * random.normal(size=n_nouns)
            )
            for shift in (gap / 2, -gap / 2)
        ]
        right = [random.random((per_cell, n_verbs, n_nouns)) < chance for chance in chances]
        own, other = (values.sum(axis=0).astype(float) for values in right)
        weights = np.full_like(own, per_cell)
        labels = np.arange(n_verbs).astype(object)
        cells = [CellSums(sums, weights, labels, int(weights.sum())) for sums in (own, other)]
        compared = crossed_difference(*cells, "verbs x subject nouns")
        naive = mcnemar_p(int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()))
        estimate = crossed_mean(cells[0], "verbs x subject nouns")
        return Outcome(compared.p, naive, estimate.ci_low <= target <= estimate.ci_high, estimate.reliable)

    return draw


def ew(n_groups: int, n_nouns: int, n_lemmas: int, sd: dict[str, float], unit: str = "noun"):
    """Contexts x lemmas: 5 contexts of each subject noun in each construction."""
    target = expected_score(float(np.sqrt(sum(own**2 for own in sd.values()))))
    construction = np.repeat(np.arange(n_groups), n_nouns * 5)
    noun = np.tile(np.repeat(np.arange(n_nouns), 5), n_groups)
    within = construction * n_nouns + noun
    clusters = {"noun": within, "construction": construction, "shared noun": noun}[unit]

    def effects(random):
        own = sd.get("construction", 0) * random.normal(size=n_groups)[construction]
        own = own + sd.get("noun", 0) * random.normal(size=n_groups * n_nouns)[within]
        own = own + sd.get("shared noun", 0) * random.normal(size=n_nouns)[noun]
        return own[:, None] + sd.get("lemma", 0) * random.normal(size=n_lemmas)

    def draw(random, gap):
        right = [
            random.random((len(noun), n_lemmas), dtype=np.float32)
            < special.expit(CENTRE + shift + effects(random))
            for shift in (gap / 2, -gap / 2)
        ]
        cells = [cell_sums(own, clusters) for own in right]
        compared = crossed_difference(*cells, "subject nouns x lemmas")
        naive = t_test_p(right[0].mean(axis=1) - right[1].mean(axis=1))
        estimate = crossed_mean(cells[0], "subject nouns x lemmas")
        return Outcome(compared.p, naive, estimate.ci_low <= target <= estimate.ci_high, estimate.reliable)

    return draw


def mw(n_clusters: int, per_cluster: int):
    """Contexts clustered by subject noun; each context has a score between 0 and 1."""
    clusters = np.repeat(np.arange(n_clusters), per_cluster)
    target = expected_score(np.hypot(0.5, 0.5), 2)
    units = Units(clusters, "subject nouns")

    def draw(random, gap):
        own, other = (
            special.expit(
                2
                + shift
                + 0.5 * random.normal(size=n_clusters)[clusters]
                + 0.5 * random.normal(size=len(clusters))
            )
            for shift in (gap / 2, -gap / 2)
        )
        estimate = clustered_mean(own, units)
        held = estimate.ci_low <= target <= estimate.ci_high
        return Outcome(paired_difference(own, other, units).p, t_test_p(own - other), held, estimate.reliable)

    return draw


def blimp_overall(sd: float):
    """67 paradigms of 1,000 pairs; the systems' difference in a paradigm has this standard deviation."""

    def draw(random, gap):
        mean = random.beta(8, 2, 67) * 0.9 + 0.05
        difference = sd * random.normal(size=67) + gap
        one, other = (np.clip(mean + sign * difference / 2, 0, 1) for sign in (1, -1))
        right = [random.random((67, 1000), dtype=np.float32) < own[:, None] for own in (one, other)]
        units = Units(np.arange(67), "paradigms")
        accuracies = [own.mean(axis=1) for own in right]
        compared = paired_difference(*accuracies, units)
        naive = mcnemar_p(int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()))
        estimate = clustered_mean(random.binomial(1000, mean) / 1000, units)
        held = estimate.ci_low <= 0.05 + 0.9 * 0.8 <= estimate.ci_high
        return Outcome(compared.p, naive, held, estimate.reliable)

    return draw


def blimp_words(n_paradigms: int, n_words: int, sd: float):
    """Paradigms as strata, with fixed means; pairs clustered on critical words of unequal frequency."""
    frequency = 1 / np.sqrt(np.arange(1, n_words + 1))  # about 0.8 n_words effective words, as in BLiMP
    centres = np.linspace(0.4, 2, n_paradigms)
    target = float(np.mean([expected_score(sd, centre) for centre in centres]))
    n_pairs = 1000

    def draw(random, gap):
        words = random.choice(n_words, (n_paradigms, n_pairs), p=frequency / frequency.sum())
        words = words + np.arange(n_paradigms)[:, None] * n_words
        paradigm = np.repeat(np.arange(n_paradigms), n_pairs)
        right = [
            random.random(n_paradigms * n_pairs)
            < special.expit(
                centres[paradigm] + shift + sd * random.normal(size=n_words * n_paradigms)[words.ravel()]
            )
            for shift in (gap / 2, -gap / 2)
        ]
        units = Units(words.ravel(), "critical words", strata=paradigm, weighting="strata")
        compared = paired_difference(*right, units)
        naive = mcnemar_p(int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()))
        estimate = clustered_mean(right[0], units)
        return Outcome(compared.p, naive, estimate.ci_low <= target <= estimate.ci_high, estimate.reliable)

    return draw


def german(n_templates: int, sd: float):
    """AUC of 36 sets of six comparisons in each template."""
    target = expected_score(sd, 0.6)

    def draw(random, gap):
        own, other = (
            random.binomial(
                6, special.expit(0.6 + shift + sd * random.normal(size=(n_templates, 1))), (n_templates, 36)
            )
            / 6
            for shift in (gap / 2, -gap / 2)
        )
        units = Units(np.arange(n_templates), "templates")
        compared = paired_difference(own.mean(axis=1), other.mean(axis=1), units)
        estimate = clustered_mean(own.mean(axis=1), units)
        held = estimate.ci_low <= target <= estimate.ci_high
        return Outcome(compared.p, t_test_p((own - other).ravel()), held, estimate.reliable)

    return draw


def own_data(n_clusters: int, sd: float, centre: float = CENTRE, size: int | None = None):
    """Clusters of unequal size."""
    sizes = np.linspace(5, 40, n_clusters).round().astype(int) if size is None else np.full(n_clusters, size)
    clusters = np.repeat(np.arange(n_clusters), sizes)
    target = expected_score(sd, centre)
    units = Units(clusters, "cluster")

    def draw(random, gap):
        right = [
            random.random(len(clusters))
            < special.expit(centre + shift + sd * random.normal(size=n_clusters)[clusters])
            for shift in (gap / 2, -gap / 2)
        ]
        naive = mcnemar_p(int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()))
        estimate = clustered_mean(right[0], units)
        held = estimate.ci_low <= target <= estimate.ci_high
        return Outcome(paired_difference(*right, units).p, naive, held, estimate.reliable)

    return draw


REGIMES = [
    *(
        Regime("TSE", f"20 verbs x 50 nouns, 20 pairs each; verbs {sd}", tse(20, 50, 20, sd, 0), 2 * sd)
        for sd in (0.1, 0.25, 0.5)
    ),
    Regime("TSE", "20 verbs x 50 nouns, 20 pairs each; verbs 0.5, nouns 0.5", tse(20, 50, 20, 0.5, 0.5), 0.7),
    Regime("EW", "60 nouns x 100 lemmas; lemmas 0.5", ew(3, 20, 100, {"lemma": 0.5}), 0.25),
    Regime("EW", "60 nouns x 100 lemmas; nouns 0.5", ew(3, 20, 100, {"noun": 0.5}), 0.25),
    Regime("EW", "60 nouns x 100 lemmas; nouns 0.5, lemmas 0.5", ew(3, 20, 100, {"noun": 0.5, "lemma": 0.5}), 0.3),
    Regime("EW", "10 nouns x 100 lemmas; nouns 0.5, lemmas 0.5", ew(1, 10, 100, {"noun": 0.5, "lemma": 0.5}), 0.5),
    Regime("EW", "60 nouns x 12 lemmas; nouns 0.5, lemmas 0.5", ew(3, 20, 12, {"noun": 0.5, "lemma": 0.5}), 0.5),
    Regime(
        "EW", "15 constructions x 100 lemmas, unit construction; constructions 0.5",
        ew(15, 5, 100, {"construction": 0.5}, "construction"), 0.5,
    ),
    Regime("MW", "147 nouns, 10 contexts each", mw(147, 10), 0.2),
    Regime("MW", "10 nouns, 40 contexts each", mw(10, 40), 0.6),
    *(
        Regime("BLiMP overall", f"67 paradigms x 1,000 pairs; paradigms' differences {sd}", blimp_overall(sd), 0.3 * sd)
        for sd in (0.02, 0.05, 0.115)
    ),
    Regime("BLiMP paradigm", "60 critical words; words 0.5", blimp_words(1, 60, 0.5), 0.25),
    Regime("BLiMP paradigm", "20 critical words; words 0.5", blimp_words(1, 20, 0.5), 0.4),
    Regime("BLiMP phenomenon", "4 paradigms (strata) of 60 words; words 0.5", blimp_words(4, 60, 0.5), 0.15),
    Regime("German AUC", "50 templates; templates 0.6", german(50, 0.6), 0.3),
    Regime("German AUC", "12 templates; templates 0.6", german(12, 0.6), 0.6),
    Regime(
        "own data", "30 clusters of 5 to 40 items; clusters 0.5", own_data(30, 0.5), 0.5,
    ),
    Regime(
        "EW", "3 x 20 nouns that all constructions share, unit noun; nouns 0.5",
        ew(3, 20, 100, {"shared noun": 0.5}, "shared noun"), 0.4,
    ),
    Regime(
        "EW", "3 x 20 nouns that all constructions share, unit noun within construction; nouns 0.5",
        ew(3, 20, 100, {"shared noun": 0.5}), 0.4, False,
        "effects of a noun that are the same in each construction: the noun itself must be the unit",
    ),
    Regime(
        "EW", "15 constructions x 100 lemmas, unit noun within construction; constructions 0.5",
        ew(15, 5, 100, {"construction": 0.5}), 0.5, False,
        "constructions are fixed in this unit: the interval is of these constructions, not of others",
    ),
    Regime(
        "TSE", "4 verbs x 20 nouns, 20 pairs each; verbs 0.5, nouns 0.5", tse(4, 20, 20, 0.5, 0.5), 1.5, False,
        "fewer than 10 verbs: flagged as not reliable",
    ),
    Regime(
        "EW", "5 nouns x 5 lemmas; nouns 0.5, lemmas 0.5", ew(1, 5, 5, {"noun": 0.5, "lemma": 0.5}), 1.5, False,
        "fewer than 10 units: flagged as not reliable",
    ),
    Regime(
        "own data", "12 clusters of 10 items near the ceiling (0.993); clusters 0.5", own_data(12, 0.5, 5, 10),
        1.0, False,
        "hardly an error in a data set: test and interval are cautious, and little can be found",
    ),
]  # fmt: skip


@dataclass(frozen=True)
class Correlation:
    """Templates that fill 36 cells for model and people; `noise` is that of one template in one cell."""

    n_templates: int
    r: float
    noise: float
    nominal: bool = True


CORRELATIONS = [
    Correlation(50, 0.6, 1),
    Correlation(50, 0.8, 1),
    Correlation(30, -0.3, 1),
    Correlation(50, 0.95, 1, False),
    Correlation(50, 0.8, 3, False),
]


def correlation_coverage(regime: Correlation, n: int = N, seed: int = 0) -> dict[str, float]:
    """Share of the intervals that hold the r of the cells without noise, by method."""
    held = {"jackknife": 0, "BCa": 0, "percentile": 0}
    size = (regime.n_templates, 36)
    for random in _generators(n, seed):
        people = random.normal(size=36)
        model = regime.r * people + np.sqrt(1 - regime.r**2) * random.normal(size=36)
        target = float(pearson(people, model))
        filled = [
            own + regime.noise * random.normal(size=size) + 0.5 * random.normal(size=(size[0], 1))
            for own in (people, model)
        ]
        statistic = correlation_of_cells(*filled)
        intervals = {
            "jackknife": jackknife_correlation(statistic, size[0]),
            "BCa": bootstrap_interval(statistic, size[0], "BCa", 499),
            "percentile": bootstrap_interval(statistic, size[0], "percentile", 499),
        }
        for method, own in intervals.items():
            held[method] += own.ci_low <= target <= own.ci_high
    return {method: count / n for method, count in held.items()}


@dataclass(frozen=True)
class CorrelationTest:
    """A test of "the cells do not correlate" with this many templates; power is for a true r of `r`."""

    n_templates: int
    noise: float
    r: float
    nominal: bool = True


CORRELATION_TESTS = [
    CorrelationTest(50, 1, 0.1),
    CorrelationTest(20, 1, 0.15),
    CorrelationTest(50, 3, 0.3, nominal=False),
]


def correlation_tests(regime: CorrelationTest, n: int = N, seed: int = 0) -> dict[str, float]:
    """Share of data sets whose interval excludes 0, and of p < 0.05 of the t test of 36 independent cells."""
    size = (regime.n_templates, 36)
    shares = {}
    for name, r in (("false positives", 0.0), ("power", regime.r)):
        found = []
        for random in _generators(n, seed):
            drawn = np.column_stack([np.ones(36), random.normal(size=(36, 2))])
            people, other = np.linalg.qr(drawn)[0].T[1:]  # their means and their r are exactly 0
            model = 6 * (r * people + np.sqrt(1 - r**2) * other)  # standard deviation 1
            filled = [
                own + regime.noise * random.normal(size=size) + 0.5 * random.normal(size=(size[0], 1))
                for own in (6 * people, model)
            ]
            own = jackknife_correlation(correlation_of_cells(*filled), size[0])
            naive = stats.pearsonr(*(values.mean(axis=0) for values in filled)).pvalue
            found.append((not own.ci_low <= 0 <= own.ci_high, naive < LEVEL))
        shares[name], shares[f"naive {name}"] = np.mean(found, axis=0).tolist()
    return shares


def correlation_test_lines(found: list[tuple[CorrelationTest, dict[str, float]]]) -> list[str]:
    """The table of `correlation_tests`, Markdown."""
    return [
        "| templates | noise of a template in a cell | false positives | naive | true r | power | naive power |",
        "|---:|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {own.n_templates} | {own.noise} | {_percent(shares['false positives'])} | "
            f"{_percent(shares['naive false positives'])} | {own.r} | {_percent(shares['power'])} | "
            f"{_percent(shares['naive power'])} |"
            for own, shares in found
        ),
    ]


TEST_PARAGRAPH = """\
Test of "the cells do not correlate": the jackknife interval excludes 0. *Naive*: the t test of Pearson's r, for which
the 36 cells are a random sample. They are not: the same cells would be in another study, only the templates differ. So
the naive test finds too little. In the last row, cells are mainly noise: the jackknife is too short there."""


def page(
    found: list[Rates],
    correlations: list[tuple[Correlation, dict[str, float]]],
    tests: list[tuple[CorrelationTest, dict[str, float]]],
) -> str:
    """The page of the documentation, Markdown."""
    return "\n".join(
        [
            "# Simulated error rates of intervals and tests",
            "",
            PARAGRAPH,
            "",
            "## Regimes that the units are made for",
            "",
            *table_lines([own for own in found if own.regime.nominal]),
            "",
            "## Limits",
            "",
            *table_lines([own for own in found if not own.regime.nominal], remarks=True),
            "",
            "## Correlation of 36 cells with people",
            "",
            "Coverage of the r that cells without noise have. A resample adds the cells' noise once more, so that",
            "percentile and BCa intervals lie too low. The jackknife holds unless r is close to 1 or the cells are "
            "mainly noise.",
            "",
            "| templates | r | noise of a template in a cell | jackknife | BCa | percentile |",
            "|---:|---:|---:|---:|---:|---:|",
            *(correlation_line(*own) for own in correlations),
            "",
            TEST_PARAGRAPH,
            "",
            *correlation_test_lines(tests),
            "",
        ]
    )


PARAGRAPH = f"""\
Made by `python tests/statistics/interval_simulations.py docs/concepts/statistics-simulations.md`: {N:,} data sets per
row and column, with random effects drawn anew for each data set (standard deviations in logits, for BLiMP overall in
accuracy). *False positives*: share of p < 0.05 between two systems with the same expected score; 5 % is right.
*Coverage*: share of 95 % intervals of one system's score that hold its expected score. *Power*: share of p < 0.05 where
the systems differ. *Naive*: the exact McNemar test of items (TSE, BLiMP, own data) or the t test of contexts or sets
(EW, MW, German), which assume that items are independent; its power means nothing where it has many false positives.
Each rate has a standard error of at most {100 * (0.05 * 0.95 / N) ** 0.5:.1f} points near 5 and 95 %."""


def correlation_line(regime: Correlation, shares: dict[str, float]) -> str:
    """A row of the table of coverages of correlations."""
    numbers = " | ".join(_percent(share) for share in shares.values())
    return f"| {regime.n_templates} | {regime.r} | {regime.noise} | {numbers} |"


def table_lines(found: list[Rates], remarks: bool = False) -> list[str]:
    """A table of rates, with its two lines of headings."""
    heads = ["measure", "data", "false positives", "naive", "coverage", "power", "naive power", "reliable"]
    heads += ["why"] * remarks
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * 5 + "---|" * (1 + remarks)]
    for own in found:
        shares = (own.false_positives, own.naive_false_positives, own.coverage, own.power, own.naive_power)
        cells = [own.regime.measure, own.regime.what, *map(_percent, shares), "yes" if own.reliable else "no"]
        lines.append("| " + " | ".join(cells + [own.regime.remark] * remarks) + " |")
    return lines


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


if __name__ == "__main__":
    text = page(
        [rates(own) for own in REGIMES],
        [(own, correlation_coverage(own)) for own in CORRELATIONS],
        [(own, correlation_tests(own)) for own in CORRELATION_TESTS],
    )
    Path(sys.argv[1]).write_text(text, encoding="utf-8")
