"""How often intervals and tests err, on data whose truth is known.

    python benchmarks/intervals.py [DESIGN ...] [--sets 1000] [--blimp FOLDER]

A design says which items there are and which units they share. Models are drawn again and again: each unit (a noun, a
word, a template) makes its items easier or harder by a normal effect in logits, half of its variance shared by all
models and half a model's own; given the effects, each item is right or wrong by itself. One set is what one sample of
nouns would have given, and the expected score over all such samples is the truth. Counted are

* how many 95 % intervals of a score, and of a difference of two models, contain the truth (95 is right);
* how often two equal models differ with p < .05 (5 is right), and how often models of the two scores do (power);
* the median width of both intervals, and how many are marked as not reliable (`*`). Marked ones count nowhere else.

It prints one Markdown table, in %; with 1,000 sets, the standard error is .7 near 95. DESIGN is a part of a name.
"""

import argparse
import multiprocessing
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special
from tqdm import tqdm

from tse_scorers.statistics import Estimate, Units, contrast, correlation, difference, holm, mean

ROOT = Path(__file__).resolve().parents[1]
BLIMP: list[Path] = []  # the folder of --blimp
BATCH = 20  # sets that a process draws at a time
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(80)  # for means over a normal effect
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
Found = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Design:
    """Items, and how models score on them."""

    what: str
    make: Callable[[], Units]
    score: float  # expected score of a model: that of the score's interval, and of both equal models
    other: float  # expected score of the model that differs
    sd: tuple[float, ...] = (1.0,)  # standard deviation of the effects of each kind of unit, in logits
    count: "Callable[[Design, np.random.Generator], Found] | None" = None  # draws a set, says what came out
    option: Any = None  # of `count`
    within: bool = False  # whether a unit has other effects in each stratum
    trials: int = 1  # an item's score is the mean of so many outcomes; 0 for as many as it weighs
    shared: float = 0.5  # share of the effects' variance that all models have
    sets: int = 1000  # at most so many are drawn

    @property
    def name(self) -> str:
        """What it is, and both scores."""
        return f"{self.what}, {self.score:g} / {self.other:g}"

    @cached_property
    def units(self) -> Units:
        """The units of the items, with numbers as labels, strata and weights."""
        made = self.make()
        ones = np.ones(len(np.asarray(made.labels)))
        labels, crossed, strata = (
            None if of is None else pd.factorize(np.asarray(of))[0]
            for of in (made.labels, made.crossed, ones if made.strata is None else made.strata)
        )
        weights = ones if made.weights is None else np.asarray(made.weights, float)
        return Units(labels, made.name, crossed, strata, made.weighting, weights)

    @cache  # noqa: B019
    def centre(self, score: float) -> float:
        """Return the logit at which a model has this expected score, over all samples of units."""
        share, strata = np.asarray(self.units.weights, float), np.asarray(self.units.strata)
        if self.units.weighting != "items":
            inside = strata if self.units.weighting == "strata" else np.asarray(self.units.labels)
            share = share / np.bincount(inside, share)[inside]
        share, spread = np.bincount(strata, share) / share.sum(), np.linalg.norm(self.sd)
        offsets, (low, high) = np.linspace(-0.5, 0.5, len(share)), (-30.0, 30.0 if score < 1 else np.inf)
        while np.isfinite(high) and high - low > 1e-9:
            middle = (low + high) / 2
            means = special.expit(middle + offsets[:, None] + spread * NODES) @ NODE_WEIGHTS
            low, high = (middle, high) if share @ means < score else (low, middle)
        return high

    def models(self, random: np.random.Generator, *scores: float) -> np.ndarray:
        """Draw the outcomes of models of these expected scores, (models, items)."""
        strata = np.asarray(self.units.strata)
        offsets = np.linspace(-0.5, 0.5, strata.max() + 1)  # strata are fixed, and unlike
        logits = np.array([self.centre(score) for score in scores])[:, None] + offsets[strata]
        for labels, sd in zip((self.units.labels, self.units.crossed), self.sd, strict=False):
            codes = np.asarray(labels)
            unit = pd.factorize(codes * len(offsets) + strata)[0] if self.within else codes
            effects = random.normal(size=(len(scores) + 1, unit.max() + 1))  # first what all models share
            effects = np.sqrt(self.shared) * effects[0] + np.sqrt(1 - self.shared) * effects[1:]
            logits += sd * effects[:, unit]
        trials = self.trials or np.asarray(self.units.weights, int)
        return random.binomial(trials, special.expit(logits)) / trials


def interval(name: str, found: Estimate, truth: float) -> Found:
    """Say whether an interval contains the truth, if it is not marked."""
    covers = found.low - 1e-9 <= truth <= found.high + 1e-9 if found.reliable else None
    rates = {"covers": covers, "width": found.high - found.low, "marked": not found.reliable}
    return {f"{name} {key}": rate for key, rate in rates.items()}


def significant(found: Estimate) -> bool | None:
    """Say whether a difference is significant, if its interval is not marked."""
    return found.p < 0.05 if found.reliable else None


def two_models(design: Design, random: np.random.Generator) -> Found:
    """Compare two equal models, and one that differs."""
    one, equal, unlike = design.models(random, design.score, design.score, design.other)
    found = difference(unlike, one, design.units)
    rates = {"equal": significant(difference(one, equal, design.units)), "power": significant(found)}
    rates |= interval("difference", found, design.other - design.score)
    return rates | interval("score", mean(one, design.units), design.score)


def family(design: Design, random: np.random.Generator) -> Found:
    """Compare `option` models with a further one, adjusted by Holm's method: is any difference significant?"""
    rates: Found = {}
    for name, score in (("equal", design.score), ("power", design.other)):
        reference, *models = design.models(random, design.score, *[score] * design.option)
        found = [difference(model, reference, design.units) for model in models]
        rates[name] = bool((holm([of.p for of in found]) < 0.05).any())
    return rates


CONTRASTS = {"difference": {0: 1, 1: -1}, "interaction": {0: 1, 1: -1, 2: -1, 3: 1}}


def two_by_two(design: Design, random: np.random.Generator) -> Found:
    """Compare conditions of each item: 0 and 3 have one score, 1 and 2 the same or the other one."""
    condition, weights, rates = np.arange(len(design.units.labels)) % 4, CONTRASTS[design.option], {}
    for name, lower in (("equal", design.score), ("power", design.other)):
        values = np.where(condition % 3 == 0, *design.models(random, design.score, lower))
        found = contrast(values, design.units, condition, weights)
        rates[name] = significant(found)
    return rates | interval("difference", found, (design.score - design.other) * len(weights) / 2)


def cells(design: Design, random: np.random.Generator) -> Found:
    """Correlate 36 cells of people and of a model, whose templates have noise (`option`); the cells have r `score`."""
    size, rates = (len(design.units.labels), 36), {}
    for name, r in (("equal", design.other), ("power", design.score)):
        drawn = np.column_stack([np.ones(36), random.normal(size=(36, 2))])
        people, unlike = 6 * np.linalg.qr(drawn)[0].T[1:]  # uncorrelated, mean 0, standard deviation 1
        noise = design.option * random.normal(size=size) + random.normal(size=(size[0], 1)) / 2
        found = correlation(r * people + np.sqrt(1 - r**2) * unlike + noise, people, "templates")
        rates |= {name: not found.low <= 0 <= found.high if found.reliable else None}
    return rates | interval("score", found, r)


def blocks(*sizes: int) -> Units:
    """Return units of these numbers of items."""
    return Units(np.repeat(np.arange(len(sizes)), sizes))


def crossed(n_one: int, n_other: int) -> Units:
    """Return two kinds of units that cross, with one item for each pair."""
    one, other = np.indices((n_one, n_other)).reshape(2, -1)
    return Units(one, crossed=other)


def strata(n_strata: int, n_units: int, nested: bool = False) -> Units:
    """Return strata that count the same, with an item of each unit; the same units in all of them, or others."""
    stratum, unit = np.indices((n_strata, n_units)).reshape(2, -1)
    return Units(unit + n_units * stratum * nested, strata=stratum, weighting="strata")


@cache
def agreement() -> pd.DataFrame:
    """Return the pairs of Marvin & Linzen with their units."""
    from tse_scorers.suites.agreement.subjects import subject_clusters, verb_lemmas

    pairs = pd.read_parquet(ROOT / "datasets" / "agreement_templates" / "marvin_linzen" / "test.parquet")
    return pairs.assign(noun=subject_clusters(pairs), verb=verb_lemmas(pairs))


def tse(group: str = "", prefixes: int = 0) -> Units:
    """Return the pairs of a group, or those of some prefixes of each construction, which then stand for all."""
    pairs, weights, name = agreement(), None, "subject nouns x verbs"
    pairs = pairs[pairs["group"] == group] if group else pairs
    if prefixes:
        each = pairs.drop_duplicates(["construction", "prefix"]).groupby("construction")["prefix"]
        sample = each.sample(prefixes, random_state=0)
        chosen = pairs["construction"].str.cat(sample)
        pairs = pairs[pairs["construction"].str.cat(pairs["prefix"]).isin(chosen)]
        weights = pairs["construction"].map(each.size()) / prefixes
    return Units(pairs["noun"], name, pairs["verb"], pairs["construction"], weights=weights)


def ew(n_lemmas: int) -> Units:
    """Return nouns within constructions x lemmas, weighted by their contexts."""
    by_noun = agreement().drop_duplicates(["construction", "prefix"]).groupby(["construction", "noun"])
    nouns, lemmas = by_noun.size().reset_index(name="n"), np.tile(np.arange(n_lemmas), len(by_noun))
    nouns = nouns.loc[nouns.index.repeat(n_lemmas)]
    return Units(nouns["noun"], "subject nouns x lemmas", lemmas, nouns["construction"], weights=nouns["n"])


def blimp(level: str, value: str) -> Units:
    """Return pairs of BLiMP with their critical words as units; a word is one unit in all paradigms."""
    from tse_scorers.suites.minimal_pairs.critical_words import critical_words

    pairs = pd.concat([pd.read_json(path, lines=True) for path in sorted(BLIMP[0].glob("*.jsonl"))])
    pairs = pairs[pairs[level] == value].reset_index(drop=True)
    return Units(critical_words(pairs), "critical words", None, pairs["UID"], "strata")


# fmt: off
def equal(*rows: tuple[int, int, float, float, float]) -> list[Design]:
    """Return designs of units with the same number of items, from: units, items of each, SD, both scores."""
    return [Design(f"{n} units x {size}, SD {sd}", partial(blocks, *[size] * n), one, other, (sd,))
            for n, size, sd, one, other in rows]


DESIGNS = {
    "near the ceiling": [
        *equal((20, 50, 2, 0.98, 1), (20, 50, 2, 0.95, 1), (20, 50, 2, 0.97, 0.85), (67, 30, 2, 0.98, 1)),
        *equal((67, 30, 2, 0.95, 1), (67, 30, 1, 0.99, 0.999), (40, 1, 2, 0.95, 1), (40, 1, 2, 0.97, 0.85)),
        Design("29 x 13 crossed", lambda: crossed(29, 13), 0.97, 1, (1, 1)),
        Design("10 x 200 crossed", lambda: crossed(10, 200), 0.98, 0.9, (1, 1)),
        Design("67 paradigms x 1,000", lambda: blocks(*[1000] * 67), 0.99, 0.95, sets=300),
    ],
    "scores": [
        *equal((67, 30, 4, 0.97, 0.85), (20, 50, 2, 0.9, 0.75), (20, 50, 2, 0.98, 0.9), (20, 50, 2, 0.999, 0.98)),
        *equal((40, 1, 2, 0.95, 0.75), (8, 4, 1, 0.9, 0.6), (15, 4, 1, 0.8, 0.6)),
        Design("15 units of 100/k", lambda: blocks(*[round(100 / k) for k in range(1, 16)]), 0.85, 0.65),
        Design("19 x 600 crossed", lambda: crossed(19, 600), 0.95, 0.9, (0.5, 0.5), sets=300),
        Design("29 x 13 crossed", lambda: crossed(29, 13), 0.999, 0.97, (0.5, 0.5)),
        Design("67 paradigms x 1,000", lambda: replace(blocks(*[1000] * 67), weighting="units"), 0.85, 0.75, sets=300),
    ],
    "Marvin & Linzen": [
        Design("TSE, all pairs", tse, 0.9, 0.75, (0.5, 0.5), sets=300),
        Design("TSE, all pairs", tse, 0.98, 1, (0.5, 0.5), sets=300),
        Design("TSE, one construction", lambda: tse("Across prepositional phrase"), 0.9, 0.75, (0.5, 0.5), sets=300),
        Design("TSE, 20 prefixes a construction", lambda: tse(prefixes=20), 0.9, 0.75, (0.5, 0.5)),
        Design("EW, 29 nouns x 200 lemmas", lambda: ew(200), 0.9, 0.8, (0.5, 0.5), trials=0, sets=300),
    ],
    "BLiMP": [
        *(
            Design(f"{value}, words {how} paradigms", partial(blimp, level, value), 0.85, other, within=how == "within",
                   sets=300)
            for level, value, other in (("field", "morphology", 0.8), ("linguistics_term", "irregular_forms", 0.65),
                                        ("linguistics_term", "subject_verb_agreement", 0.8))
            for how in ("across", "within")
        ),
        Design("a paradigm", partial(blimp, "UID", "irregular_plural_subject_verb_agreement_2"), 0.85, 0.65),
    ],
    "German, regions, own data": [
        Design("50 templates x 36 cells", lambda: strata(36, 50), 0.75, 0.7, trials=6),
        Design("50 templates, one cell", lambda: blocks(*[1] * 50), 0.75, 0.6, trials=6),
        Design("6 suites of 24 items", lambda: strata(6, 24, nested=True), 0.8, 0.65),
        *equal((8, 1, 1, 0.8, 0.2), (15, 1, 1, 0.8, 0.4), (24, 1, 1, 0.8, 0.4), (40, 1, 1, 0.8, 0.5)),
        Design("12 clusters of 100, 40, 20 … 2", partial(blocks, 100, 40, 20, 15, 12, 10, 8, 6, 5, 4, 3, 2), 0.8, 0.6),
        Design("30 clusters of 200/k", lambda: blocks(*(round(200 / k) for k in range(1, 31))), 0.8, 0.65),
        Design("12 constructions, each of one word with 20 items",
               lambda: replace(blocks(*[20] * 12), strata=np.repeat(np.arange(12), 20)), 0.8, 0.6),
    ],
    "2 x 2 designs": [
        Design(f"{of}, {n} items in four conditions", lambda n=n: blocks(*[4] * n), 0.85, 0.5, (1,), two_by_two, of)
        for of in CONTRASTS for n in (8, 15, 40)
    ],
    "families of tests": [
        Design(f"{n} {what}", lambda: blocks(*[50] * 20), score, other, (1,), family, n, shared=shared, sets=400)
        for what, n, shared in (("models", 2, 0.5), ("models", 10, 0.5), ("models", 24, 0.5), ("revisions", 10, 0.8))
        for score, other in ((0.85, 0.75), (0.97, 0.9))
    ],
    "Pearson's r of 36 cells with people": [
        Design(f"{n} templates, noise {noise}", lambda n=n: blocks(*[1] * n), r, 0, (1,), cells, noise)
        for n in (10, 20, 50) for r in (0.5, 0.8, 0.95) for noise in (1, 2, 3)
    ],
}
COLUMNS = {
    "score covers": "score: covers", "score width": "width", "score marked": "`*`",
    "difference covers": "difference: covers", "difference width": "width", "difference marked": "`*`",
    "equal": "equal models: p < .05", "power": "power",
}
# fmt: on


def some_sets(task: tuple[str, int, int, int]) -> tuple[str, list[Found]]:
    """Draw some sets of a design; which ones is decided by its name and a number."""
    heading, place, start, n = task
    design = DESIGNS[heading][place]
    random = np.random.default_rng([zlib.crc32(design.name.encode()), start])
    return f"{heading}: {design.name}", [(design.count or two_models)(design, random) for _ in range(n)]


def main() -> None:
    """Draw the sets of designs in two processes, and print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("designs", nargs="*", metavar="DESIGN", help="part of a name. Default: all designs")
    parser.add_argument("--sets", type=int, default=1000, help="most sets of a design. Default: 1000")
    parser.add_argument("--blimp", type=Path, help="folder of its 67 files. Default: without its words")
    options = parser.parse_args()
    BLIMP.extend([options.blimp] if options.blimp else [])
    tasks = [
        (heading, place, start, min(BATCH, n - start))
        for heading, designs in DESIGNS.items()
        for place, design in enumerate(designs)
        if any(part in f"{heading}: {design.name}" for part in options.designs or [""])
        and (BLIMP or heading != "BLiMP")
        for n in [min(options.sets, design.sets)]
        for start in range(0, n, BATCH)
    ]
    sets: dict[str, list[Found]] = {}
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for name, some in tqdm(pool.imap(some_sets, tasks), total=len(tasks)):
            sets.setdefault(name, []).extend(some)
    rates = {}  # shares of sets in %, and median widths; what is None is not counted
    for name, of_design in sets.items():
        columns = pd.DataFrame(of_design).astype(float).items()
        rates[name] = {key: float(x.median() if "width" in key else 100 * x.mean()) for key, x in columns}
    print("| design | " + " | ".join(COLUMNS.values()) + " |\n|---|" + "---:|" * len(COLUMNS))
    for name, of_design in rates.items():
        numbers = [(of_design.get(column, np.nan), 3 if "width" in column else 1) for column in COLUMNS]
        print(f"| {name} | " + " | ".join("–" if np.isnan(x) else f"{x:.{n}f}" for x, n in numbers) + " |")


if __name__ == "__main__":
    main()
