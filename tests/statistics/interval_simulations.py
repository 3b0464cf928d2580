"""Simulations of the tests and intervals: how often they err, what they find, how wide they are.

    PYTHONPATH=tests/support python tests/statistics/interval_simulations.py tests/statistics/simulations.md UPSTREAM

A design has cells: items that share their units and strata. Each system has effects of units of its own, drawn anew for
each data set, as another set of verbs, nouns, lemmas, words or templates would have other ones; the items of a cell are
then independent. Both systems have the same expected score (false positives), or scores that differ by a gap (power).
All data sets of a row are drawn at once, and the package's formulas work on the sums of their cells.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse, special, stats
from suite_designs import units_of_agreement, units_of_pairs

from tse_scorers.statistics.clustered import (
    Kind,
    Units,
    clustered_mean,
    codes_of,
    count,
    crossed_variance,
    table_of,
)
from tse_scorers.statistics.conditions import condition_contrast
from tse_scorers.statistics.differences import holm, paired_difference
from tse_scorers.statistics.estimate import (
    ACCURACY,
    DIFFERENCE,
    Estimate,
    Range,
    enough_units,
    interval,
    least_weight,
)
from tse_scorers.statistics.jackknife import (
    correlation_of_cells,
    jackknife_correlation,
    pearson,
)

N = 1000
SEED = 0
LEVEL = 0.05
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


@dataclass(frozen=True)
class Design:
    """Cells with their units, strata, number of items, and the weight of one item, each (cells,)."""

    first: np.ndarray
    second: np.ndarray | None
    strata: np.ndarray
    n: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, units: Units) -> "Design":
        """Count the items of a suite's units."""
        columns = [units.clusters, units.crossed, units.strata]
        size = len(np.asarray(units.clusters))
        frame = pd.DataFrame({k: codes_of(np.zeros(size) if c is None else c) for k, c in enumerate(columns)})
        cells = frame.groupby([0, 1, 2], sort=False).size().reset_index(name="n")
        groups = {"items": np.zeros(len(cells), int), "strata": cells[2], "clusters": cells[0]}[
            units.weighting
        ]
        totals = cells["n"].groupby(np.asarray(groups)).transform("sum").to_numpy()
        weight = 1 / (totals * len(np.unique(groups)))
        second = None if units.crossed is None else cells[1].to_numpy()
        return cls(cells[0].to_numpy(), second, cells[2].to_numpy(), cells["n"].to_numpy(), weight)

    @classmethod
    def of_sizes(cls, sizes: list[int]) -> "Design":
        """Clusters of these numbers of items."""
        return cls.of(Units(np.repeat(np.arange(len(sizes)), sizes), "clusters"))

    @property
    def units(self) -> list[np.ndarray]:
        """The codes of one or two kinds of units."""
        return [self.first] if self.second is None else [self.first, self.second]

    @property
    def kinds(self) -> list[Kind]:
        """The formulas for each kind of unit."""
        return [Kind.of(table_of(self.strata, codes, self.weight * self.n)) for codes in self.units]


@dataclass(frozen=True)
class Row:
    """A row of the page: shares of data sets and mean widths of intervals."""

    what: str
    effects: str
    n_units: str
    n_effective: float
    false_positives: float
    old_false_positives: float
    naive_false_positives: float
    coverage: float
    old_coverage: float
    power: float
    old_power: float
    width: float
    naive_width: float
    cr2_width: float
    reliable: bool

    @property
    def holds(self) -> bool:
        """At most 7 % false positives and at least 93 % coverage, or not reliable."""
        return not self.reliable or (self.false_positives <= 0.07 and self.coverage >= 0.93)

    def line(self) -> str:
        """The row in Markdown."""
        shares = self.false_positives, self.old_false_positives, self.naive_false_positives
        shares = (*shares, self.coverage, self.old_coverage)
        cells = [
            self.what,
            self.effects,
            self.n_units,
            f"{self.n_effective:.1f}",
            "yes" if self.reliable else "no",
        ]
        cells += [f"{100 * share:.1f}" for share in (*shares, self.power, self.old_power)]
        cells += [f"{width:.3f}" for width in (self.width, self.naive_width, self.cr2_width)]
        return "| " + " | ".join(cells) + " |"


HEADINGS = [
    "| data | effects | units | effective | reliable | false positives | before | naive | coverage | before | power "
    "| before | width | naive | CR2 |",
    "|---|---|---:|---:|---|" + "---:|" * 10,
]


@dataclass(frozen=True)
class _Sums:
    """Means and sums of residuals of many data sets."""

    mean: np.ndarray
    sums: list[np.ndarray]
    cells: list[np.ndarray]

    @classmethod
    def of(cls, design: Design, kinds: list[Kind], totals: np.ndarray) -> "_Sums":
        weighted = totals * design.weight
        by_stratum = weighted @ _indicators(design.strata)
        sizes = design.weight * design.n
        cells = [weighted - sizes * kind.centres(by_stratum)[:, design.strata] for kind in kinds]
        sums = [own @ _indicators(codes) for own, codes in zip(cells, design.units, strict=True)]
        return cls(weighted.sum(axis=1), sums, cells)

    def variance(self, design: Design, kinds: list[Kind]) -> np.ndarray:
        terms = [kind.variance(own) for kind, own in zip(kinds, self.sums, strict=True)]
        if len(terms) == 1:
            return terms[0]
        pairs = _indicators(codes_of(design.first * (design.second.max() + 1) + design.second))
        one, other = (own @ pairs for own in self.cells)
        return crossed_variance(*terms, (one * other).sum(axis=-1))

    def old_variance(self) -> tuple[np.ndarray, float]:
        """The formula before: units are counted."""
        counts = [own.shape[1] for own in self.sums]
        terms = [n / (n - 1) * (own**2).sum(axis=1) for n, own in zip(counts, self.sums, strict=True)]
        if len(terms) == 2:
            both = terms[0] + terms[1] - (self.cells[0] ** 2).sum(axis=1)
            return np.maximum(both, np.maximum(*terms)), min(counts) - 1
        return terms[0], counts[0] - 1


def _indicators(codes: np.ndarray) -> sparse.csr_matrix:
    return sparse.csr_matrix((np.ones(len(codes)), (np.arange(len(codes)), codes)))


def expected(centre: np.ndarray, spread: float) -> np.ndarray:
    """Means of logistic(centre + spread · z), z standard normal."""
    return special.expit(np.asarray(centre)[..., None] + spread * NODES) @ NODE_WEIGHTS / NODE_WEIGHTS.sum()


def cr2(design: Design, kinds: list[Kind], sums: _Sums) -> np.ndarray:
    """Mean half width of the CR2 interval over the kind with fewer units, with Satterthwaite for effects of units."""
    place = int(np.argmin([kind.n_effective for kind in kinds]))
    w = np.bincount(design.units[place], design.weight * design.n)
    adjusted = (np.diag(w) - np.outer(w, w)) / np.sqrt(1 - w)[:, None]
    squares = adjusted.T @ adjusted
    df = np.trace(squares) ** 2 / (squares**2).sum()
    return special.stdtrit(df, 0.975) * np.sqrt((sums.sums[place] ** 2 / (1 - w)).sum(axis=1))


@dataclass(frozen=True)
class Regime:
    """A kind of data.

    Attributes:
        what: the first column.
        design: cells.
        sd: standard deviations of the effects of each kind of unit, in logits.
        gap: for power, in logits.
        centre: logit of the score.
        fixed: strata differ by up to this many logits from the centre, and stay in all data sets.
        by: what has the effects, (cells,) each; by default, the units.
    """

    what: str
    design: Design = field(repr=False)
    sd: tuple[float, ...]
    gap: float
    centre: float = 1.2
    fixed: float = 0.5
    by: tuple[np.ndarray, ...] = field(default=(), repr=False)


def simulate(regime: Regime, n: int = N) -> Row:
    """Draw `n` data sets of two systems with the same expected score, and `n` with a gap."""
    design, sd, level = regime.design, regime.sd, regime.centre
    random, kinds = np.random.default_rng(SEED), design.kinds
    ends = regime.fixed * (count(design.strata) > 1)
    level = level + np.linspace(-ends, ends, count(design.strata))[design.strata]
    target = float(
        (design.weight * design.n) @ expected(level, float(np.hypot(*sd) if len(sd) > 1 else sd[0]))
    )
    df, effective = min(kind.df for kind in kinds), min(kind.n_effective for kind in kinds)
    n_items = 1 / float((design.weight**2 * design.n).sum())
    least = {kind: float(least_weight(n_items, effective, kind)) for kind in (ACCURACY, DIFFERENCE)}
    found: dict[str, list[np.ndarray]] = {}

    def draw(shift: float, size: int) -> np.ndarray:
        logits = level + shift
        for codes, own in zip(regime.by or design.units, sd, strict=True):
            logits = logits + own * random.normal(size=(size, count(codes)))[:, codes]
        return random.binomial(design.n, special.expit(logits))

    def note(**values: np.ndarray) -> None:
        for name, own in values.items():
            found.setdefault(name, []).append(np.asarray(own, dtype=float))

    step = max(1, 2_000_000 // len(design.n))
    for start in range(0, n, step):
        size = min(step, n - start)
        one, other = draw(0, size), draw(0, size)
        score = _Sums.of(design, kinds, one)
        low, high = interval(score.mean, score.variance(design, kinds), df, ACCURACY, least[ACCURACY])
        old, old_df = score.old_variance()
        half = special.stdtrit(old_df, 0.975) * np.sqrt(old)
        naive = 1.96 * np.sqrt(np.maximum(score.mean * (1 - score.mean), 0) / n_items)
        note(coverage=(low <= target) & (target <= high), width=high - low, naive=2 * naive)
        constant = (score.mean == 1) * (1 - 0.025 ** (1 / (old_df + 1)))  # Clopper and Pearson over units
        note(old_coverage=np.abs(score.mean - target) <= np.maximum(half, constant))
        note(cr2=2 * cr2(design, kinds, score))
        unlike = (one * (design.n - other) + other * (design.n - one)) / design.n  # expected discordant items
        difference = ((one - other) * design.weight).sum(axis=1)
        note(naive_p=np.abs(difference) > 1.96 * np.sqrt((unlike * design.weight**2).sum(axis=1)))
        gap = regime.gap
        for name, totals in (("p", one - other), ("power", draw(gap / 2, size) - draw(-gap / 2, size))):
            difference = _Sums.of(design, kinds, totals)
            variance = difference.variance(design, kinds)
            low, high = interval(difference.mean, variance, df, DIFFERENCE, least[DIFFERENCE])
            old, _ = difference.old_variance()
            found_old = np.abs(difference.mean) > special.stdtrit(old_df, 0.975) * np.sqrt(old)
            note(**{name: (low > 0) | (high < 0), f"old_{name}": found_old})
    means = {name: float(np.concatenate(values).mean()) for name, values in found.items()}
    effects = " x ".join(f"{own:g}" for own in sd)
    n_units = " x ".join(str(count(codes)) for codes in design.units)
    names = (
        "p",
        "old_p",
        "naive_p",
        "coverage",
        "old_coverage",
        "power",
        "old_power",
        "width",
        "naive",
        "cr2",
    )
    return Row(
        regime.what, effects, n_units, effective, *(means[name] for name in names), enough_units(df + 1)
    )


def balanced() -> Iterator[Regime]:
    """Units of equal size."""
    verb, noun = np.indices((20, 50)).reshape(2, -1)
    cells = np.full(1000, 20), np.full(1000, 1 / 20_000)
    design = Design(verb, noun, np.zeros(1000, int), *cells)
    for sd in ((0.1, 0.0), (0.25, 0.0), (0.5, 0.0), (0.5, 0.5)):
        yield Regime("TSE, 20 verbs x 50 nouns, 20 pairs each", design, sd, max(2 * max(sd), 0.4) / 2)
    for shape, sd, gap in (
        ((60, 30), (0.0, 0.5), 0.4),
        ((60, 30), (0.5, 0.0), 0.25),
        ((60, 30), (0.5, 0.5), 0.5),
        ((10, 60), (0.5, 0.5), 0.5),
        ((60, 12), (0.5, 0.5), 0.5),
    ):
        first, second = np.indices(shape).reshape(2, -1)
        size = len(first)
        strata = first % 3 if shape[0] == 60 else np.zeros(size, int)
        cells = Design(first, second, strata, np.full(size, 5), np.full(size, 0.2 / size))
        yield Regime(f"EW, {shape[0]} nouns x {shape[1]} lemmas", cells, sd, gap)
    group, own, lemma = np.indices((3, 20, 20)).reshape(3, -1)
    shared = Design(own, lemma, group, np.full(1200, 5), np.full(1200, 0.2 / 1200))
    yield Regime("EW, 3 x 20 nouns that constructions share", shared, (0.5, 0.0), 0.4)
    for n_units, size, sd in ((67, 1000, 0.6), (50, 36, 0.6), (12, 36, 0.6), (60, 16, 0.5), (20, 50, 0.5)):
        yield Regime(f"one kind, {n_units} units of {size}", Design.of_sizes([size] * n_units), (sd,), 0.3)


def wrong_units() -> Iterator[Regime]:
    """What goes wrong with units that are not those of the effects."""
    group, noun, lemma = np.indices((3, 20, 20)).reshape(3, -1)
    cells = np.full(1200, 5), np.full(1200, 0.2 / 1200)
    within = Design(group * 20 + noun, lemma, group, *cells)
    what = "EW, 3 x 20 shared nouns, unit: noun within construction"
    yield Regime(what, within, (0.5, 0.0), 0.4, by=(noun, lemma))
    group, noun, lemma = np.indices((15, 5, 20)).reshape(3, -1)
    cells = np.full(1500, 5), np.full(1500, 0.2 / 1500)
    fixed = Design(group * 5 + noun, lemma, group, *cells)
    what = "EW, effects of 15 constructions, unit: noun within construction"
    yield Regime(what, fixed, (0.5, 0.0), 0.5, fixed=0.0, by=(group, lemma))


def own_clusters() -> Iterator[Regime]:
    """Clusters of one's own data, in unequal sizes."""
    tail = [20, 15, 12, 10, 8, 6, 5, 4, 3, 2]
    for name, sizes in {
        "12 clusters of 100, 40, 20 … 2": [100, 40, *tail],
        "12 clusters of 200, 60, 20 … 2": [200, 60, *tail],
        "30 clusters of 200/k": [round(200 / k) for k in range(1, 31)],
        "5 clusters of 30": [30] * 5,
        "4 clusters of 30": [30] * 4,
    }.items():
        for sd in (0.5, 1.0):
            yield Regime(name, Design.of_sizes(sizes), (sd,), 1.0)


def agreement() -> Iterator[Regime]:
    """TSE and MW on the default data: whole, the part of `--limit 20`, and each group."""
    for name, limit in (("default data", None), ("--limit 20", 20)):
        for measure, group, units in units_of_agreement(limit=limit):
            if (measure, group) == ("TSE", "all"):
                for sd in ((0.0, 0.1), (0.5, 0.5), (0.25, 1.0)) if limit is None else ((0.25, 0.5),):
                    yield Regime(f"TSE, {name}", Design.of(units), sd, 1.0)
            elif measure == "TSE" and limit is None:
                yield Regime(f"TSE, {group}", Design.of(units), (0.25, 0.5), 1.0)
            elif group == "all":
                yield Regime(f"EW at a cut-off, {name}", Design.of(units), (0.5,), 0.5)
    (few,) = (of for measure, group, of in units_of_agreement(limit=20) if (measure, group) == ("MW", "all"))
    lemmas = np.tile(np.arange(40), len(few.clusters))
    nouns, strata = np.repeat(few.clusters, 40), np.repeat(few.strata, 40)
    yield Regime("EW, --limit 20, 40 lemmas", Design.of(Units(nouns, "x", lemmas, strata)), (0.5, 0.5), 0.5)


def german() -> Iterator[Regime]:
    """AUC over variation sets: 50 templates, or 20, in 36 cells, six comparisons each."""
    template, cell = np.repeat(np.arange(50), 36 * 6), np.tile(np.repeat(np.arange(36), 6), 50)
    for name, chosen in (
        ("German AUC", cell >= 0),
        ("German AUC, one cell", cell == 0),
        ("German AUC, --limit 20", template < 20),
        ("German AUC, one cell, --limit 20", (cell == 0) & (template < 20)),
    ):
        units = Units(template[chosen], "templates", strata=cell[chosen], weighting="strata")
        yield Regime(name, Design.of(units), (0.5,), 0.4)


def regions() -> Iterator[Regime]:
    """Accuracy of a criterion over the items of SyntaxGym's suites, which have 19 to 40."""
    for size in (19, 24, 28, 40):
        yield Regime(f"a criterion over {size} items", Design.of_sizes([1] * size), (1.0,), 1.0)


PARADIGMS = {
    "rublimp": (45, 1000), "zhoblimp": (118, 300), "blimp-nl": (84, 100), "jblimp": (37, 9),
    "freq-blimp": (67, 1000), "syntaxgym-ml": (22, 1000),
}  # fmt: skip
"""Registered sets without a local copy -> paradigms that are their units overall, and pairs of each."""


def designs_of_pairs(upstream: Path, limit: int | None = None) -> Iterator[tuple[str, str, str, Design]]:
    """Yield set, level, group and design of BLiMP and of the registered sets with local copies."""
    for name, level, group, units in units_of_pairs(upstream, limit):
        yield name, level, group, Design.of(units)


def minimal_pairs(upstream: Path) -> Iterator[Regime]:
    """BLiMP and registered sets."""
    unequal = {
        "irregular_plural_subject_verb_agreement_2", "irregular_past_participle_verbs", "phenomenon:irregular_forms",
        "phenomenon:subject_verb_agreement", "phenomenon:anaphor_agreement", "phenomenon:quantifiers",
    }  # fmt: skip
    found: dict[str, dict[str, Design]] = {}
    for name, _, group, design in designs_of_pairs(upstream):
        found.setdefault(name, {})[group] = design
    for name, designs in found.items():
        effective = {group: min(kind.n_effective for kind in own.kinds) for group, own in designs.items()}
        fewest = sorted((own for own in effective if effective[own] >= 2), key=effective.__getitem__)
        ranked = [group for group in fewest if enough_units(effective[group])]
        chosen = {"all"} | (unequal & set(designs)) | {*ranked[:2], *fewest[:1]}
        for group, design in designs.items():
            if group in chosen:
                sd = (1.0,) if design.second is None else (0.5, 0.5)
                yield Regime(f"{name}, {group.replace('_', ' ')}", design, sd, 0.6)
    for name, (paradigms, size) in PARADIGMS.items():
        yield Regime(
            f"{name}, all: {paradigms} paradigms of {size}", Design.of_sizes([size] * paradigms), (1.0,), 0.6
        )


@dataclass(frozen=True)
class Groups:
    """The groups of one level of some data, which are simulated one by one."""

    what: str
    level: str
    regimes: list[Regime] = field(repr=False)

    def rows(self, n: int = N) -> list[Row]:
        """Simulate each group that is marked as reliable; one near a limit, as a few are by chance, longer."""
        reliable = [
            own for own in self.regimes if enough_units(min(kind.df for kind in own.design.kinds) + 1)
        ]
        rows = [simulate(regime, n) for regime in reliable]
        return [
            simulate(regime, 5 * n) if row.false_positives > 0.06 or row.coverage < 0.94 else row
            for regime, row in zip(reliable, rows, strict=True)
        ]

    def line(self, rows: list[Row]) -> str:
        """The row in Markdown: the worst of the groups that are marked as reliable."""
        cells = [self.what, self.level, str(len(self.regimes)), str(len(self.regimes) - len(rows))]
        for most, name in ((max, "false_positives"), (min, "coverage"), (min, "power")):
            shares = [[getattr(row, before + name) for row in rows] for before in ("", "old_")]
            cells += [f"{100 * most(own):.1f}" if own else "–" for own in shares]
        return "| " + " | ".join([*cells, *self._widths(rows)]) + " |"

    @staticmethod
    def _widths(rows: list[Row]) -> list[str]:
        widths = [
            np.median([getattr(row, name) for row in rows]) for name in ("width", "naive_width", "cr2_width")
        ]
        return [f"{width:.3f}" for width in widths] if rows else ["–"] * 3


GROUP_HEADINGS = [
    "| data | level | groups | not reliable | highest false positives | before | lowest coverage | before "
    "| lowest power | before | median width | naive | CR2 |",
    "|---|---|" + "---:|" * 11,
]


def agreement_groups() -> Iterator[Groups]:
    """The constructions of each language, whole and with `--limit 20`; overall, where that is no row of its own."""
    languages = ("german", "french", "russian", "hebrew")
    for name in ("marvin_linzen", *(f"clams_{language}" for language in languages)):
        for limit in (None, 20):
            designs: dict[tuple[str, str], list[Units]] = {}
            for measure, group, units in units_of_agreement(name, limit):
                level = "all" if group == "all" else "construction"
                designs.setdefault((measure, level), []).append(units)
            for (measure, level), own in designs.items():
                called = "TSE" if measure == "TSE" else "EW, MW"
                what = f"{called}, {name}" + (", --limit 20" if limit else "")
                sd, gap = ((0.25, 0.5), 1.0) if measure == "TSE" else ((0.5,), 0.5)
                yield Groups(what, level, [Regime(what, Design.of(units), sd, gap) for units in own])


def groups_of_pairs(upstream: Path, limit: int | None = None) -> Iterator[Groups]:
    """All groups of the sets with local copies, or of the part of `--limit`."""
    found: dict[tuple[str, str], list[Regime]] = {}
    for name, level, group, design in designs_of_pairs(upstream, limit):
        sd = (1.0,) if design.second is None else (0.5, 0.5)
        found.setdefault((name, level), []).append(Regime(group, design, sd, 0.6))
    for (name, level), regimes in found.items():
        yield Groups(name + (f", --limit {limit}" if limit else ""), level, regimes)


def all_groups(upstream: Path) -> Iterator[Groups]:
    """What is simulated group by group."""
    yield from agreement_groups()
    for limit in (None, 20):
        yield from (own for own in groups_of_pairs(upstream, limit) if own.what != "sling")
    yield from (own for own in groups_of_pairs(upstream) if own.what == "sling")  # six minutes


def half_lines(n: int = N) -> list[str]:
    """Units of which each scores nearly one half, because a system prefers one of the two numbers everywhere."""
    first, second = np.indices((20, 12)).reshape(2, -1)
    unequal = np.maximum(1, 100 // (1 + second))
    designs = {
        "20 units of 4": Design.of_sizes([4] * 20),
        "12 units of 40": Design.of_sizes([40] * 12),
        "20 x 12 units, 4 of each pair": Design(
            first, second, np.zeros(240, int), np.full(240, 4), np.full(240, 1 / 960)
        ),
        "20 x 12 units, 200/k of each pair": Design(
            first, second, np.zeros(240, int), 2 * unequal, np.full(240, 1 / (2 * unequal.sum()))
        ),
    }
    lines = [
        "| data | effective | share with the preferred number | V = 0 | false positives | coverage | width | before |",
        "|---|" + "---:|" * 7,
    ]
    for name, design in designs.items():
        kinds = design.kinds
        df, effective = min(kind.df for kind in kinds), min(kind.n_effective for kind in kinds)
        n_items = 1 / float((design.weight**2 * design.n).sum())
        least = [least_weight(n_items, effective, own) for own in (ACCURACY, DIFFERENCE)]
        for share in (0.5, 0.9, 0.99, 1.0):
            random, shape = np.random.default_rng(SEED), (2, n, len(design.n))
            one, other = random.binomial(design.n // 2, share, shape) + random.binomial(
                design.n // 2, 1 - share, shape
            )
            score, difference = (_Sums.of(design, kinds, own) for own in (one, one - other))
            variance = score.variance(design, kinds)
            variance = np.where(variance < 1e-18, 0.0, variance)  # as the package does
            low, high = interval(score.mean, variance, df, ACCURACY, least[0])
            ends = interval(difference.mean, difference.variance(design, kinds), df, DIFFERENCE, least[1])
            old, old_df = score.old_variance()
            shares = [variance == 0, (ends[0] > 0) | (ends[1] < 0), (low <= 0.5) & (0.5 <= high)]
            widths = (high - low).mean(), (2 * special.stdtrit(old_df, 0.975) * np.sqrt(old)).mean()
            cells = [name, f"{effective:.1f}", f"{share:g}", *(f"{100 * own.mean():.1f}" for own in shares)]
            lines.append("| " + " | ".join([*cells, *(f"{width:.3f}" for width in widths)]) + " |")
    return lines


def boundary_lines(n: int = N) -> list[str]:
    """Coverage of one score and false positives of two, near 1, by the correlation of a unit's items."""
    sizes = {
        "20 units of 3": [3] * 20, "67 units of 15": [15] * 67, "12 units of 40": [40] * 12,
        "67 units of 100": [100] * 67, "30 units of 200/k": [round(200 / k) for k in range(1, 31)],
    }  # fmt: skip
    correlations = (0.0, 0.05, 0.1, 0.2)
    lines = [
        "| data | score | " + " | ".join(f"coverage, r = {r:g}" for r in correlations) + " | before, r = 0.1 "
        "| false positives, r = 0.1 | width, r = 0.1 |",
        "|---|---:|" + "---:|" * (len(correlations) + 3),
    ]
    for name, own in sizes.items():
        design = Design.of_sizes(own)
        for p in (0.9, 0.95, 0.99, 0.999, 1.0):
            cells = [_boundary(design, p, r, n) for r in correlations]
            shares = [f"{100 * cell[0]:.1f}" for cell in cells]
            at = cells[2]
            rest = [f"{100 * at[1]:.1f}", f"{100 * at[2]:.1f}", f"{at[3]:.3f}"]
            lines.append("| " + " | ".join([name, f"{p:g}", *shares, *rest]) + " |")
    return lines


def _boundary(design: Design, p: float, r: float, n: int) -> tuple[float, float, float, float]:
    random, kinds = np.random.default_rng(SEED), design.kinds
    shape = (2, n, len(design.n))
    chances = np.full(shape, p)
    if r and p < 1:
        chances = random.beta(p * (1 / r - 1), (1 - p) * (1 / r - 1), shape)
    one, other = random.binomial(design.n, chances)
    score = _Sums.of(design, kinds, one)
    least = [least_weight(design.n.sum(), kinds[0].n_effective, own) for own in (ACCURACY, DIFFERENCE)]
    low, high = interval(score.mean, score.variance(design, kinds), kinds[0].df, ACCURACY, least[0])
    old, df = score.old_variance()
    half = np.maximum(
        special.stdtrit(df, 0.975) * np.sqrt(old), (score.mean == 1) * (1 - 0.025 ** (1 / (df + 1)))
    )
    difference = _Sums.of(design, kinds, one - other)
    ends = interval(difference.mean, difference.variance(design, kinds), kinds[0].df, DIFFERENCE, least[1])
    held = float(((low <= p) & (p <= high)).mean())
    old_held = float((np.abs(score.mean - p) <= half + 1e-12).mean())
    return held, old_held, float(((ends[0] > 0) | (ends[1] < 0)).mean()), float((high - low).mean())


def mw_lines(n: int = N) -> list[str]:
    """MW and other scores between 0 and 1: contexts of a noun share an effect, each context has its own."""
    lines = [
        "| data | mean | false positives | coverage | mean width | t interval's width |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for n_units, size, centre in ((29, 10, 2.0), (10, 40, 2.0), (29, 10, 5.0), (12, 10, 7.0)):
        found, target = [], float(expected(np.array(centre), float(np.hypot(0.5, 0.5))))
        units = Units(np.repeat(np.arange(n_units), size), "subject nouns")
        for random in _generators(n, SEED):
            effects = 0.5 * random.normal(size=(2, n_units)).repeat(size, axis=1)
            one, other = special.expit(centre + effects + 0.5 * random.normal(size=(2, n_units * size)))
            estimate, compared = clustered_mean(one, units), paired_difference(one, other, units)
            t = 2 * special.stdtrit(estimate.df, 0.975) * estimate.se
            held = estimate.ci_low <= target <= estimate.ci_high
            found.append((compared.p < LEVEL, held, estimate.ci_high - estimate.ci_low, t))
        errors, held, width, t = np.mean(found, axis=0)
        numbers = f"{target:.3f} | {100 * errors:.1f} | {100 * held:.1f} | {width:.4f} | {t:.4f}"
        lines.append(f"| {n_units} nouns of {size} contexts | {numbers} |")
    return lines


@dataclass(frozen=True)
class Series:
    """Checkpoints that are as good as the reference; `shared` is the correlation of their units' effects."""

    what: str
    design: Design = field(repr=False)
    sd: tuple[float, ...]
    centre: float = 1.2
    shared: float = 0.0
    groups: int = 1
    checkpoints: int = 15

    def found(self, n: int = N) -> dict[str, float]:
        """Share of series in which a difference is named: after Holm's adjustment, and without it."""
        random, design, kinds = np.random.default_rng(SEED), self.design, self.design.kinds
        df, effective = min(kind.df for kind in kinds), min(kind.n_effective for kind in kinds)
        least = float(least_weight(1 / float((design.weight**2 * design.n).sum()), effective, DIFFERENCE))
        columns = list(np.ndindex(n, self.groups))
        effects = [random.normal(size=(len(columns), count(codes))) for codes in design.units]

        def draw() -> np.ndarray:
            logits = np.full((len(columns), len(design.n)), self.centre)
            for codes, sd, common in zip(design.units, self.sd, effects, strict=True):
                own = random.normal(size=common.shape)
                drawn = np.sqrt(self.shared) * common + np.sqrt(1 - self.shared) * own
                logits += sd * drawn[:, codes]
            return random.binomial(design.n, special.expit(logits))

        reference, rows = draw(), []
        for checkpoint in range(self.checkpoints):
            difference = _Sums.of(design, kinds, draw() - reference)
            se = np.sqrt(difference.variance(design, kinds) + least**2)
            p = 2 * special.stdtr(df, -np.abs(difference.mean) / se)
            rows += [
                (series, group, checkpoint, own) for (series, group), own in zip(columns, p, strict=True)
            ]
        frame = pd.DataFrame(rows, columns=["dataset", "group", "system", "p"])
        series = frame.groupby("dataset")["p"]
        assert set(series.size()) == {self.checkpoints * self.groups}
        names = {"after": series.transform(holm), "before": frame["p"]}
        return {name: float((p < LEVEL).groupby(frame["dataset"]).any().mean()) for name, p in names.items()}

    def line(self, shares: dict[str, float]) -> str:
        """The row in Markdown."""
        tests, effects = self.checkpoints * self.groups, " x ".join(f"{own:g}" for own in self.sd)
        numbers = f"{100 * shares['after']:.1f} | {100 * shares['before']:.1f}"
        return f"| {self.what} | {effects} | {self.shared:g} | {tests} | {numbers} |"


FAMILY_HEADINGS = [
    "| data | effects | correlation of checkpoints | tests | a difference is named | before |",
    "|---|---|---:|---:|---:|---:|",
]


def families() -> Iterator[Series]:
    """Fifteen checkpoints against one reference."""
    noun, lemma = np.indices((20, 40)).reshape(2, -1)
    cells = Design(noun, lemma, np.zeros(800, int), np.full(800, 5), np.full(800, 1 / 4000))
    yield Series("EW, 20 nouns x 40 lemmas", cells, (0.5, 0.5))
    yield Series("EW, 20 nouns x 40 lemmas", cells, (0.5, 0.5), shared=0.8)
    paradigms = Design.of_sizes([15] * 67)
    yield Series("accuracy, 67 paradigms of 15", paradigms, (1.0,))
    yield Series("accuracy, 67 paradigms of 15, near .98", paradigms, (0.5,), centre=4.0)
    yield Series("accuracy, 12 words of 10", Design.of_sizes([10] * 12), (0.5,))
    yield Series(
        "accuracy, 30 clusters of 200/k", Design.of_sizes([round(200 / k) for k in range(1, 31)]), (0.5,)
    )
    yield Series("accuracy, 12 groups of 20 words of 5", Design.of_sizes([5] * 20), (0.5,), groups=12)


@dataclass(frozen=True)
class TwoByTwo:
    """Items in the conditions 0 to 3, which are two factors: 0 and 1 differ in the first, 0 and 2 in the second.

    Attributes:
        what: the first column.
        items: of each row, (rows,).
        conditions: of each row, 0 to 3, (rows,).
        centre: logit of the score; the second factor moves it by 0.4 up and down.
        sd: standard deviations of items, and of their reactions to the first factor.
    """

    what: str
    items: np.ndarray = field(repr=False)
    conditions: np.ndarray = field(repr=False)
    centre: float = 1.2
    sd: tuple[float, float] = (0.5, 0.5)

    def rates(self, n: int = N) -> dict[str, float]:
        """Shares of data sets, `before` with each row as a unit of its own."""
        random, conditions = np.random.default_rng(SEED), self.conditions
        level = self.centre + 0.4 * (2 * (conditions // 2) - 1)
        sign = 2 * (conditions % 2) - 1
        shift = 0.6 * sign * (2 * (conditions // 2) - 1)  # the first factor has contrary effects
        spread = float(np.hypot(self.sd[0], self.sd[1] / 2))
        contrasts = {"difference": {1: 1, 0: -1}, "interaction": {3: 1, 2: -1, 1: -1, 0: 1}}
        units = {"": Units(self.items, "items"), "old ": Units(np.arange(len(self.items)), "rows")}
        found: dict[str, float] = {}
        size = (n, count(self.items))
        for effect in (0, 1):
            own, reaction = (sd * random.normal(size=size)[:, self.items] for sd in self.sd)
            logits = level + effect * shift
            right = random.random(own.shape) < special.expit(logits + own + sign * reaction / 2)
            means = dict(zip(conditions, expected(logits, spread), strict=True))
            for before, of in units.items():
                for name, weights in contrasts.items():
                    first = condition_contrast(right[0], conditions, weights, of)
                    target = sum(k * means[c] for c, k in weights.items())
                    low, high = self._intervals(right, weights, of, first, DIFFERENCE)
                    found[f"{before}p {name}{effect}"] = float(((low > 0) | (high < 0)).mean())
                    found[f"{before}coverage {name}{effect}"] = float(
                        ((low <= target) & (target <= high)).mean()
                    )
                    if not before:
                        found |= {f"reliable {name}{effect}": first.reliable, f"df {name}{effect}": first.df}
                overall = clustered_mean(
                    right[0], Units(of.clusters, of.name, strata=conditions, weighting="strata")
                )
                low, high = self._intervals(right, dict.fromkeys(range(4), 1), of, overall, ACCURACY)
                target = np.mean(list(means.values()))
                found[f"{before}coverage score{effect}"] = float(((low <= target) & (target <= high)).mean())
        return found

    def _intervals(
        self, right: np.ndarray, weights: dict[int, int], units: Units, first: Estimate, kind: Range
    ) -> tuple[np.ndarray, np.ndarray]:
        """Intervals of all data sets, (data sets, rows), from the package's estimate of the first one."""
        used = np.isin(self.conditions, list(weights))
        conditions, clusters = codes_of(self.conditions[used]), codes_of(np.asarray(units.clusters)[used])
        ones, c = np.ones(len(conditions)), len(weights)
        design = Design(clusters, None, conditions, ones, 1 / (np.bincount(conditions)[conditions] * c))
        signs = np.array([weights[own] for own in self.conditions[used]])
        scale = 1 if kind == ACCURACY else c
        sums = _Sums.of(design, design.kinds, right[:, used] * signs)
        variance, least = sums.variance(design, design.kinds), first.least_weight / scale
        low, high = interval(sums.mean, variance, first.df, kind, least)
        assert np.allclose([sums.mean[0] * scale, variance[0] * scale**2], [first.mean, first.variance])
        return low * scale, high * scale

    @staticmethod
    def holds(rates: dict[str, float]) -> bool:
        """At most 7 % false positives and at least 93 % coverage, or not reliable."""
        return (
            all(
                rates[f"reliable {name}1"] == 0
                or (rates[f"p {name}0"] <= 0.07 and rates[f"coverage {name}1"] >= 0.93)
                for name in ("difference", "interaction")
            )
            and min(rates[f"coverage score{effect}"] for effect in (0, 1)) >= 0.93
        )

    def line(self, rates: dict[str, float]) -> str:
        """The row in Markdown."""
        cells = [self.what]
        for name in ("difference", "interaction"):
            reliable = "yes" if rates[f"reliable {name}1"] else "no"
            shares = [f"{key} {name}{at}" for key, at in (("p", 0), ("coverage", 1), ("p", 1))]
            cells += [f"{rates[f'df {name}1']:.1f}", reliable]
            cells += [f"{100 * rates[before + share]:.1f}" for share in shares for before in ("", "old ")]
        cells += [f"{100 * rates[before + 'coverage score1']:.1f}" for before in ("", "old ")]
        return "| " + " | ".join(cells) + " |"


_OF_CONTRAST = "df | reliable | false positives | before | coverage | before | power | before"
TWO_BY_TWO_HEADINGS = [
    f"| data | difference: {_OF_CONTRAST} | interaction: {_OF_CONTRAST} | score: coverage | before |",
    "|---" + 2 * ("|---:|---" + 6 * "|---:") + 2 * "|---:" + "|",
]


def two_by_two() -> Iterator[TwoByTwo]:
    """Items in the four conditions, in some of them, or in one; one or several rows of each."""

    def full(n_items: int, rows: int = 1) -> tuple[np.ndarray, np.ndarray]:
        items, conditions, _ = np.indices((n_items, 4, rows)).reshape(3, -1)
        return items, conditions

    for size in (6, 12, 24):
        yield TwoByTwo(f"{size} items", *full(size))
    yield TwoByTwo("12 items, effects 1 and 1", *full(12), sd=(1.0, 1.0))
    yield TwoByTwo("12 items, 4 rows each", *full(12, 4))
    yield TwoByTwo("12 items, 4 rows each, effects 1 and 1", *full(12, 4), sd=(1.0, 1.0))
    for size in (6, 12, 24):
        yield TwoByTwo(f"{size} items, near .95", *full(size), centre=2.94)
    for size in (12, 24):
        items, conditions = full(size)
        there = (items + conditions) % 4 > 0
        yield TwoByTwo(f"{size} items, each lacks one condition", items[there], conditions[there])
    items, conditions = full(24)
    for few in (6, 3):
        there = (items < few) | (conditions % 2 == 0)
        yield TwoByTwo(
            f"24 items, {few} of them in all conditions, the others in two", items[there], conditions[there]
        )
    there = items % 4 == conditions
    yield TwoByTwo("24 items, each in one condition", items[there], conditions[there])
    there = (items < 8) | (items % 4 == conditions)
    yield TwoByTwo("24 items, 8 in all conditions, 16 in one", items[there], conditions[there])


def _generators(n: int, seed: int) -> Iterator[np.random.Generator]:
    for child in np.random.SeedSequence(seed).spawn(n):
        yield np.random.default_rng(child)


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


def correlation_coverage(regime: Correlation, n: int = 1000, seed: int = 0) -> dict[str, float]:
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
            "jackknife": jackknife_correlation(statistic, size[0])[2:4],
            **{method: _resampled(statistic, size[0], method) for method in ("BCa", "percentile")},
        }
        for method, (low, high) in intervals.items():
            held[method] += low <= target <= high
    return {method: count / n for method, count in held.items()}


def _resampled(statistic: Callable, n_units: int, method: str) -> tuple[float, float]:
    """The 95 % interval of scipy's bootstrap, which draws units with replacement."""
    found = stats.bootstrap(
        (np.arange(n_units),),
        lambda drawn, axis: statistic(np.atleast_2d(drawn)).reshape(drawn.shape[:-1]),
        n_resamples=499,
        method=method,
        vectorized=True,
        random_state=np.random.default_rng(0),
    )
    return found.confidence_interval


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


def correlation_tests(regime: CorrelationTest, n: int = 1000, seed: int = 0) -> dict[str, float]:
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
    tables: dict[str, list[str]],
    correlations: list[tuple[Correlation, dict[str, float]]],
    tests: list[tuple[CorrelationTest, dict[str, float]]],
) -> str:
    """The page of the documentation, Markdown."""
    parts = [f"## {heading}\n\n{ABOUT[heading]}\n\n" + "\n".join(lines) for heading, lines in tables.items()]
    return "\n".join(
        [
            "# Simulated error rates of intervals and tests",
            "",
            PARAGRAPH,
            "",
            "\n\n".join(parts),
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
Made by `python tests/statistics/interval_simulations.py tests/statistics/simulations.md UPSTREAM`, with
`tests/support` in PYTHONPATH. UPSTREAM holds local copies of BLiMP and other sets: {N:,} data sets per row and column,
seed {SEED}. Shares are in %.

- *Effects*: standard deviations of each kind of unit, in logits, drawn anew for each data set and system.
- *Units*, *effective*: counted, and as many of equal size (the smaller number where two kinds cross).
- *False positives*: share of p < 0.05 between two systems with the same expected score; 5 is right. *Coverage*: share
  of 95 % intervals of one system's score that hold its expected score. *Power*: share of p < 0.05 where systems differ
  by 0.2 to 1 logits. *Width*: mean, of one system's interval.
- *Before*: the formulas of this project until now, which counted units. *Naive*: items as independent (McNemar's test).
  *CR2*: bias-reduced variance with Satterthwaite's degrees of freedom for effects of units (Pustejovsky and Tipton
  2018), over the kind with fewer units.
- The Monte-Carlo error of a share is 0.7 points near 5 and 95, 1.6 points near 50."""

ABOUT = {
    "Units of equal size": "False positives stay within 3 to 7 %.",
    "Unequal clusters": "Twelve clusters of 200 to 2 items are worth 2.7: the interval is marked as not reliable.",
    "Default data": "TSE over nouns x verbs, within constructions. Of 121,220 pairs, 48,400 have *is* or *are*. Over "
    "groups, TSE is marked as not reliable where a verb dominates. EW and MW are over nouns; EW at whole "
    "distributions over nouns x lemmas (here 40).",
    "German": "50 templates, 36 cells.",
    "Regions": "Accuracy of a criterion: items are the units.",
    "Minimal pairs": "With their real critical words. Overall, the units are paradigms; within a phenomenon or "
    "paradigm, words. Of each set: the whole, and the paradigms with the fewest effective words. Of sets without a "
    "local copy: overall, where paradigms are the units; their words are not known here.",
    "Group by group": "Each group of each set with a local copy by itself: the highest and lowest shares of the groups "
    "that are marked as reliable. A group with more than 6 % false positives or less than "
    f"94 % coverage is simulated with {5 * N:,} data sets (Monte-Carlo error 0.3 points). Widths: the median.",
    "Near 1": "Items of a unit have the correlation r (beta-binomial). *Before* and the last columns are for r = 0.1. "
    "Intervals assume a correlation of 0.2 or more where a few units hold nearly all errors.",
    "One half": "A system that prefers one number, whatever the subject, is right in half of the items of each unit: "
    "the variance V between units is 0 or nearly so, as at 1. The expected score is 0.5. *Before*: the width "
    "that the interval had.",
    "Scores between 0 and 1": "MW and mean shares: each context has a score, not 0 or 1. Close to 1, interval "
    "and test are cautious: little is found there.",
    "Families of 15": "Fifteen checkpoints of the same expected score as their reference, on the same items. Share of "
    "series in which any difference is named; *before*: each test by itself. What is adjusted together is one family: "
    "all systems x groups under one heading.",
    "2 x 2 designs": "Effects of items, and of their reactions to the first factor, of 0.5 logits; one row for an item "
    "in a condition, unless said otherwise. Differences within a model, and their interaction, over items. False "
    "positives without an effect of the first factor; coverage and power with 1.2 logits, in contrary directions. "
    "*Before*: each row is a unit. *Score*: of all conditions together. Where two conditions have three items only, "
    "the difference that these three decide is not reliable.",
    "Wrong units": "The unit must be what has the effects: a noun in all constructions, not in each of them. An "
    "interval within constructions says nothing about other constructions.",
}


def regimes(upstream: Path | None) -> dict[str, Callable[[], Iterator[Regime]]]:
    """What is simulated under each heading; without local copies of sets, the others."""
    found = {
        "Units of equal size": balanced,
        "Unequal clusters": own_clusters,
        "Default data": agreement,
        "German": german,
        "Regions": regions,
        "Wrong units": wrong_units,
    }
    return found | ({"Minimal pairs": lambda: minimal_pairs(upstream)} if upstream else {})


def correlation_line(regime: Correlation, shares: dict[str, float]) -> str:
    """A row of the table of coverages of correlations."""
    numbers = " | ".join(_percent(share) for share in shares.values())
    return f"| {regime.n_templates} | {regime.r} | {regime.noise} | {numbers} |"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


if __name__ == "__main__":
    tables = {}
    for heading, made in regimes(Path(sys.argv[2])).items():
        tables[heading] = list(HEADINGS)
        for regime in made():
            tables[heading].append(simulate(regime).line())
            print(tables[heading][-1], flush=True)
    tables |= {"Near 1": boundary_lines(), "One half": half_lines(), "Scores between 0 and 1": mw_lines()}
    tables["Group by group"] = [*GROUP_HEADINGS]
    for groups in all_groups(Path(sys.argv[2])):
        tables["Group by group"].append(groups.line(groups.rows()))
        print(tables["Group by group"][-1], flush=True)
    tables["Families of 15"] = [*FAMILY_HEADINGS, *(own.line(own.found()) for own in families())]
    tables["2 x 2 designs"] = [*TWO_BY_TWO_HEADINGS, *(own.line(own.rates()) for own in two_by_two())]
    text = page(
        {heading: tables[heading] for heading in ABOUT},
        [(own, correlation_coverage(own)) for own in CORRELATIONS],
        [(own, correlation_tests(own)) for own in CORRELATION_TESTS],
    )
    Path(sys.argv[1]).write_text(text, encoding="utf-8")
