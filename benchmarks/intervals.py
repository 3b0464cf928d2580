"""How often intervals and tests err on data whose truth is known.

    python benchmarks/intervals.py [DESIGN ...] [--sets 1000] [--blimp FOLDER] [--json FILE]

A design says which items there are and which units they share. Models are drawn again and again: each unit (a noun, a
word, a template) makes its items easier or harder by a normal effect in logits, half of whose variance all models share
and half of which is a model's own; given the effects, items are right independently of each other. So another set is
what another sample of nouns would have given, and the expected score over all of them is the truth. Counted are

* how many 95 % intervals of a score, and of a difference of two models, contain the truth (95 is right);
* how often two equal models differ with p < .05 (5 is right), and how often models of the two scores do (power);
* the median width of both intervals, and how many are marked as not reliable (`*`); marked ones are not counted above.

One Markdown table is printed, in %, with a standard error of .7 points near 95 (1,000 sets). DESIGN is a part of a name.
"""

import argparse
import json
import multiprocessing
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special
from tqdm import tqdm

from tse_scorers.statistics import Estimate, Units, contrast, correlation, difference, holm, mean

ROOT = Path(__file__).resolve().parents[1]
SHARED = 0.5  # of the variance of effects, between models
BATCH = 20  # sets that one process draws at a time
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
Found = dict[str, Any]


class Design(NamedTuple):
    """Items, and how two models score on them.

    Attributes:
        what: a name.
        units: makes the units of the items; called when the design is drawn.
        score: expected score of a model: that of the score's interval, and of both equal models.
        other: expected score of the model that differs.
        sd: standard deviation of the effects of each kind of unit, in logits.
        draw: how one set is drawn and counted.
        effects: what has effects, where that is not the units: makes labels of the items, of one or more kinds.
        trials: an item's score is the mean of so many outcomes, a number or one for each item.
        sets: how many sets at most.
        option: of `draw`: number of models, number of templates, …
    """

    what: str
    units: Callable[[], Units]
    score: float
    other: float
    sd: tuple[float, ...] = (1.0,)
    draw: "Callable[[Design, np.random.Generator], Found] | None" = None
    effects: Callable[[Units], list[Any]] | None = None
    trials: Callable[[Units], Any] | int = 1
    sets: int = 1000
    option: Any = None

    @property
    def name(self) -> str:
        """What it is, and both scores."""
        return f"{self.what}, {self.score:g} / {self.other:g}"


class Drawn(NamedTuple):
    """A design with numbers as labels; `offsets` are the fixed differences of strata, `share` the items' weights."""

    units: Units
    effects: list[tuple[np.ndarray, float]]
    offsets: np.ndarray
    share: np.ndarray
    trials: Any


@cache
def drawn(design: Design) -> Drawn:
    """Return a design's items."""
    made = design.units()
    texts = {"labels": made.labels, "crossed": made.crossed, "strata": made.strata}
    units = replace(
        made, **{name: pd.factorize(np.asarray(x))[0] for name, x in texts.items() if x is not None}
    )
    labels = (
        design.effects(units)
        if design.effects
        else [x for x in (units.labels, units.crossed) if x is not None]
    )
    share = np.ones(len(labels[0])) if units.weights is None else np.asarray(units.weights, float)
    offsets = np.zeros(len(share))
    if units.strata is not None:
        strata = np.asarray(units.strata)
        offsets = np.linspace(-0.5, 0.5, strata.max() + 1)[strata]
    if units.weighting != "items":
        inside = np.asarray(units.strata if units.weighting == "strata" else units.labels)
        share = share / np.bincount(inside, share)[inside]
    effects = [(pd.factorize(np.asarray(x))[0], sd) for x, sd in zip(labels, design.sd, strict=True)]
    trials = design.trials(units) if callable(design.trials) else design.trials
    return Drawn(units, effects, offsets, share / share.sum(), trials)


def expected(logits: np.ndarray | float, sd: float) -> Any:
    """Return the means of logistic(logits + sd z), z standard normal."""
    return special.expit(np.asarray(logits)[..., None] + sd * NODES) @ NODE_WEIGHTS / NODE_WEIGHTS.sum()


@cache
def centre(design: Design, score: float) -> float:
    """Return the logit at which a model has this expected score."""
    items = drawn(design)
    if score == 1:
        return np.inf
    spread = float(np.sqrt(sum(sd**2 for _, sd in items.effects)))
    offsets, place = np.unique(items.offsets, return_inverse=True)
    share, low, high = np.bincount(place, items.share), -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if share @ expected(middle + offsets, spread) < score else (low, middle)
    return low


def outcomes(
    design: Design, random: np.random.Generator, scores: list[float], shared: float = SHARED
) -> np.ndarray:
    """Draw models of these expected scores on the same items, (models, items)."""
    items = drawn(design)
    logits = np.array([centre(design, score) for score in scores])[:, None] + items.offsets
    for labels, sd in items.effects:
        common, own = (
            random.normal(size=labels.max() + 1),
            random.normal(size=(len(scores), labels.max() + 1)),
        )
        logits += sd * (np.sqrt(shared) * common + np.sqrt(1 - shared) * own)[:, labels]
    return random.binomial(items.trials, special.expit(logits)) / items.trials


def of_interval(name: str, found: Estimate, truth: float) -> Found:
    """Return what is counted of an interval."""
    covers = found.low - 1e-9 <= truth <= found.high + 1e-9
    return {
        f"{name} covers": covers if found.reliable else None,
        f"{name} covers, all": covers,
        f"{name} width": found.high - found.low,
        f"{name} marked": not found.reliable,
    }


def of_test(name: str, found: Estimate) -> Found:
    """Return whether a difference is significant, if its interval is not marked."""
    return {name: found.p < 0.05 if found.reliable else None, f"{name}, all": found.p < 0.05}


def two_models(design: Design, random: np.random.Generator) -> Found:
    """Draw two equal models and one that differs."""
    units, score, other = drawn(design).units, design.score, design.other
    one, equal, unlike = outcomes(design, random, [score, score, other])
    found = difference(unlike, one, units)
    return {
        **of_interval("score", mean(one, units), score),
        **of_interval("difference", found, other - score),
        **of_test("equal", difference(one, equal, units)),
        **of_test("power", found),
    }


def family(design: Design, random: np.random.Generator) -> Found:
    """Draw equal models and test all against the last, adjusted by Holm's method: is any significant?"""
    units, (n_models, shared) = drawn(design).units, design.option
    rates = {}
    for name, score in (("equal", design.score), ("power", design.other)):
        *models, last = outcomes(design, random, [score] * (n_models - 1) + [design.score], shared)
        found = [difference(one, last, units) for one in models]
        rates[name] = bool((holm([one.p for one in found]) < 0.05).any())
    return {**rates, "difference marked": not found[0].reliable}


CONTRASTS = {"difference": {0: 1, 1: -1}, "interaction": {0: 1, 1: -1, 2: -1, 3: 1}}


def two_by_two(design: Design, random: np.random.Generator) -> Found:
    """Draw a model on items in four conditions; `score` is that of all, where the contrast is 0, or of 1 and 2."""
    items, weights = drawn(design), CONTRASTS[design.option]
    condition = np.arange(len(items.offsets)) % 4
    rates = {}
    for name, lower in (("equal", design.score), ("power", design.other)):
        better, worse = outcomes(design, random, [design.score, lower])
        values = np.where(np.isin(condition, [0, 3]), better, worse)
        found = contrast(values, items.units, condition, weights)
        rates |= of_test(name, found)
    return rates | of_interval(
        "difference", found, (design.score - design.other) * sum(weights[k] == 1 for k in weights)
    )


def cells(design: Design, random: np.random.Generator) -> Found:
    """Draw 36 cells of people and of a model, and the model's templates in them; the truth is r without their noise."""
    n_templates, noise = design.option
    rates: Found = {}
    for name, r in (("equal", 0.0), ("power", design.score)):
        constant = np.column_stack([np.ones(36), random.normal(size=(36, 2))])
        people, other = np.linalg.qr(constant)[0].T[1:]  # exactly uncorrelated, with the mean 0
        of_model = 6 * (r * people + np.sqrt(1 - r**2) * other)  # with the standard deviation 1
        templates = random.normal(size=(n_templates, 1)) / 2
        found = correlation(
            of_model + templates + noise * random.normal(size=(n_templates, 36)), people, "templates"
        )
        rates[name] = not found.low <= 0 <= found.high if found.reliable else None
    return rates | of_interval("score", found, r)


def blocks(n_units: int, size: int) -> Callable[[], Units]:
    """Return units of the same number of items."""
    return lambda: Units(np.repeat(np.arange(n_units), size))


def unequal(sizes: Any) -> Callable[[], Units]:
    """Return units of these numbers of items."""
    return lambda: Units(np.repeat(np.arange(len(sizes)), sizes))


def crossed(n_one: int, n_other: int) -> Callable[[], Units]:
    """Return two kinds of units that cross, one item for each pair."""
    return lambda: Units(np.repeat(np.arange(n_one), n_other), crossed=np.tile(np.arange(n_other), n_one))


def strata(n_strata: int, n_units: int, nested: bool = False) -> Callable[[], Units]:
    """Return units in strata of equal weight; the same units in all of them, or others in each."""
    stratum, unit = np.indices((n_strata, n_units)).reshape(2, -1)
    return lambda: Units(unit + n_units * stratum * nested, strata=stratum, weighting="strata")


@cache
def agreement() -> pd.DataFrame:
    """Return the pairs of Marvin & Linzen with their units."""
    from tse_scorers.suites.agreement.subjects import subject_clusters, verb_lemmas

    pairs = pd.read_parquet(ROOT / "datasets" / "agreement_templates" / "marvin_linzen" / "test.parquet")
    return pairs.assign(noun=subject_clusters(pairs), verb=verb_lemmas(pairs))


def tse(group: str = "", prefixes: int = 0) -> Callable[[], Units]:
    """Return the pairs of a group, or those of some prefixes of each construction, which then stand for all."""

    def make() -> Units:
        pairs = agreement()
        pairs, weights = pairs[pairs["group"] == group] if group else pairs, None
        if prefixes:
            each = pairs.drop_duplicates(["construction", "prefix"]).groupby("construction")
            sample = each.sample(prefixes, random_state=0).assign(
                stands_for=lambda x: x["construction"].map(each.size()) / prefixes
            )
            pairs = pairs.merge(sample[["construction", "prefix", "stands_for"]])
            weights = pairs["stands_for"].to_numpy()
        return Units(
            pairs["noun"], "subject nouns x verbs", pairs["verb"], pairs["construction"], weights=weights
        )

    return make


def ew(n_lemmas: int) -> Callable[[], Units]:
    """Return nouns within constructions x lemmas; `weights` is how many contexts each has."""

    def make() -> Units:
        contexts = agreement().drop_duplicates(["construction", "prefix"])
        cells = contexts.groupby(["construction", "noun"]).size().reset_index(name="n")
        cells, lemmas = cells.loc[cells.index.repeat(n_lemmas)], np.tile(np.arange(n_lemmas), len(cells))
        return Units(
            cells["noun"], "subject nouns x lemmas", lemmas, cells["construction"], weights=cells["n"]
        )

    return make


BLIMP: list[Path] = []  # the folder of --blimp


def blimp(level: str = "", value: str = "") -> Callable[[], Units]:
    """Return the pairs of BLiMP, with critical words as units within a field, phenomenon or paradigm."""

    def make() -> Units:
        from tse_scorers.suites.minimal_pairs.critical_words import critical_words

        if not level:
            return Units(np.repeat(np.arange(67), 1000), "paradigms", weighting="units")
        columns = {"UID": "paradigm", "linguistics_term": "phenomenon"}
        pairs = pd.concat(
            [pd.read_json(path, lines=True) for path in sorted(BLIMP[0].glob("*.jsonl"))]
        ).rename(columns=columns)
        pairs = pairs[pairs[level] == value].reset_index(drop=True)
        words = critical_words(pairs)
        return Units(words, "critical words", None, pairs["paradigm"], "strata")

    return make


def own_of_strata(units: Units) -> list[Any]:
    """Return labels of units within strata: effects that a unit has in one stratum only."""
    return [np.asarray(units.labels) * 1000 + np.asarray(units.strata)]


BOTH, WIDE, NARROW = (0.5, 0.5), (2.0,), (1.0,)
WORD: dict[str, Any] = {"sets": 300, "sd": NARROW}
UNLIKE = WORD | {"effects": own_of_strata}
ROW, SVA, IRREGULAR = "Across prepositional phrase", "subject_verb_agreement", "irregular_forms"
DESIGNS: dict[str, dict[str, Design]] = {
    "near the ceiling": [
        Design("20 units x 50", blocks(20, 50), 0.98, 1, WIDE),
        Design("20 units x 50", blocks(20, 50), 0.95, 1, WIDE),
        Design("20 units x 50", blocks(20, 50), 0.97, 0.85, WIDE),
        Design("67 units x 30", blocks(67, 30), 0.98, 1, WIDE),
        Design("67 units x 30", blocks(67, 30), 0.95, 1, WIDE),
        Design("67 units x 30", blocks(67, 30), 0.99, 0.999, NARROW),
        Design("40 items once", blocks(40, 1), 0.95, 1, WIDE),
        Design("40 items once", blocks(40, 1), 0.97, 0.85, WIDE),
        Design("29 x 13 crossed", crossed(29, 13), 0.97, 1, (1.0, 1.0)),
        Design("10 x 200 crossed", crossed(10, 200), 0.98, 0.9, (1.0, 1.0)),
        Design("67 paradigms x 1,000", blocks(67, 1000), 0.99, 0.95, NARROW, sets=300),
    ],
    "scores": [
        Design("67 units x 30, SD 4", blocks(67, 30), 0.97, 0.85, (4.0,)),
        Design("20 units x 50", blocks(20, 50), 0.9, 0.75, WIDE),
        Design("20 units x 50", blocks(20, 50), 0.98, 0.9, WIDE),
        Design("20 units x 50", blocks(20, 50), 0.999, 0.98, WIDE),
        Design("40 items once", blocks(40, 1), 0.95, 0.75),
        Design("8 units x 4", blocks(8, 4), 0.9, 0.6),
        Design("15 units x 4", blocks(15, 4), 0.8, 0.6),
        Design("15 unequal units", unequal([round(100 / k) for k in range(1, 16)]), 0.85, 0.65),
        Design("19 x 600 crossed", crossed(19, 600), 0.95, 0.9, (0.5, 0.5), sets=300),
        Design("29 x 13 crossed", crossed(29, 13), 0.999, 0.97, (0.5, 0.5)),
    ],
    "Marvin & Linzen": [
        Design("TSE, all pairs", tse(), 0.9, 0.75, BOTH, sets=300),
        Design("TSE, all pairs", tse(), 0.98, 1, BOTH, sets=300),
        Design("TSE, one row of the table", tse(ROW), 0.9, 0.75, BOTH, sets=300),
        Design("TSE, 20 prefixes of each construction", tse(prefixes=20), 0.9, 0.75, BOTH),
        Design(
            "EW, 29 nouns x 200 lemmas",
            ew(200),
            0.9,
            0.8,
            BOTH,
            trials=lambda units: np.asarray(units.weights),
            sets=300,
        ),
    ],
    "BLiMP": [
        Design("all", blimp(), 0.85, 0.8, **WORD),
        Design("morphology, words alike in all paradigms", blimp("field", "morphology"), 0.85, 0.75, **WORD),
        Design("morphology, words unlike in paradigms", blimp("field", "morphology"), 0.85, 0.75, **UNLIKE),
        Design("subject-verb agreement, words alike", blimp("phenomenon", SVA), 0.85, 0.75, **WORD),
        Design("subject-verb agreement, words unlike", blimp("phenomenon", SVA), 0.85, 0.75, **UNLIKE),
        Design("irregular forms, words alike", blimp("phenomenon", IRREGULAR), 0.85, 0.65, **WORD),
        Design(
            "irregular plural subject verb agreement 2",
            blimp("paradigm", "irregular_plural_subject_verb_agreement_2"),
            0.85,
            0.65,
            NARROW,
        ),
    ],
    "German, regions, own data": [
        Design("50 templates x 36 cells", strata(36, 50), 0.75, 0.7, trials=6),
        Design("50 templates, one cell", blocks(50, 1), 0.75, 0.6, trials=6),
        Design("a criterion on 24 items", blocks(24, 1), 0.8, 0.4),
        Design("6 suites of 24 items", strata(6, 24, nested=True), 0.8, 0.65),
        Design("8 items once", blocks(8, 1), 0.8, 0.2),
        Design("15 items once", blocks(15, 1), 0.8, 0.4),
        Design("40 items once", blocks(40, 1), 0.8, 0.5),
        Design(
            "12 clusters of 100, 40, 20 … 2", unequal([100, 40, 20, 15, 12, 10, 8, 6, 5, 4, 3, 2]), 0.8, 0.6
        ),
        Design("30 clusters of 200/k", unequal([round(200 / k) for k in range(1, 31)]), 0.8, 0.65),
        Design(
            "12 constructions with a word of 20 items each",
            lambda: Units(np.repeat(np.arange(12), 20), strata=np.repeat(np.arange(12), 20)),
            0.8,
            0.6,
        ),
    ],
    "2 x 2 designs": [
        Design(
            f"{contrasted}, {size} items in four conditions",
            blocks(size, 4),
            0.85,
            0.5,
            draw=two_by_two,
            option=contrasted,
        )
        for contrasted in CONTRASTS
        for size in (8, 15, 40)
    ],
    "families of tests": [
        *(
            Design(f"{n} models", blocks(20, 50), score, other, draw=family, option=(n, SHARED), sets=400)
            for score, other in ((0.85, 0.75), (0.97, 0.9))
            for n in (2, 10, 24)
        ),
        Design(
            "10 revisions of a model", blocks(20, 50), 0.85, 0.75, draw=family, option=(10, 0.8), sets=400
        ),
    ],
    "Pearson's r of 36 cells with people": [
        Design(f"{n} templates, noise {noise}", blocks(n, 1), r, 0, draw=cells, option=(n, noise))
        for n in (10, 20, 50)
        for r in (0.5, 0.8, 0.95)
        for noise in (1, 2)
    ],
}


def some_sets(task: tuple[str, int, int, int]) -> tuple[str, int, list[Found]]:
    """Draw some sets of a design; which ones is decided by its name and a number."""
    heading, place, start, n = task
    design = DESIGNS[heading][place]
    random = np.random.default_rng([zlib.crc32(design.name.encode()), start])
    return heading, place, [(design.draw or two_models)(design, random) for _ in range(n)]


def summary(found: list[Found]) -> dict[str, float]:
    """Return shares of sets in %, and median widths; what is None is not counted."""
    columns = pd.DataFrame(found).astype(float).items()
    return {
        name: float(column.median() if "width" in name else 100 * column.mean()) for name, column in columns
    }


COLUMNS = {
    "score covers": "score: covers", "score width": "width", "score marked": "`*`", "difference covers": "difference: covers",
    "difference width": "width", "difference marked": "`*`", "equal": "equal models: p < .05", "power": "power",
}  # fmt: skip
"""What is counted -> heading."""


def row(name: str, rates: dict[str, float]) -> str:
    """Return a row of the table; – where there is nothing to count."""
    values = [(rates.get(column, np.nan), "width" in column) for column in COLUMNS]
    cells = [
        "–" if np.isnan(value) else f"{value:.3f}" if is_width else f"{value:.1f}"
        for value, is_width in values
    ]
    return "| " + " | ".join([name, *cells]) + " |"


def main() -> None:
    """Simulate designs in two processes and print their table."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument(
        "designs", nargs="*", metavar="DESIGN", help="part of a heading or a name. Default: all"
    )
    parser.add_argument(
        "--sets", type=int, default=1000, help="sets of each design; of large data at most 300. Default: 1000"
    )
    parser.add_argument(
        "--blimp", type=Path, help="folder with BLiMP's 67 files. Default: leave designs with its words out"
    )
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    BLIMP.extend([options.blimp] if options.blimp else [])
    found: dict[tuple[str, int], list[Found]] = {}
    tasks = []
    for heading, designs in DESIGNS.items():
        for place, design in enumerate(designs):
            is_named = any(part in f"{heading}: {design.name}" for part in options.designs or [""])
            if is_named and (BLIMP or heading != "BLiMP"):
                n = min(options.sets, design.sets)
                tasks += [(heading, place, start, min(BATCH, n - start)) for start in range(0, n, BATCH)]
    with multiprocessing.Pool(2) as pool:
        for heading, place, sets in tqdm(
            pool.imap(some_sets, tasks), total=len(tasks), unit=f" x {BATCH} sets"
        ):
            found.setdefault((heading, place), []).extend(sets)
    rates = {
        (heading, DESIGNS[heading][place].name): summary(sets) for (heading, place), sets in found.items()
    }
    print(
        "\n".join(
            [row("design", {})[:9] + " | ".join(COLUMNS.values()) + " |", "|---|" + "---:|" * len(COLUMNS)]
        )
    )
    for (heading, name), of_design in rates.items():
        print(row(f"{heading}: {name}", of_design))
    if options.json:
        options.json.write_text(
            json.dumps({f"{heading}: {name}": x for (heading, name), x in rates.items()}, indent=1)
        )


if __name__ == "__main__":
    main()
