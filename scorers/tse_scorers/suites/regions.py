"""Regions: surprisals of parts of sentences, and which items fulfil which criteria (SyntaxGym; Hu et al. 2020).

S(region) = sum over its tokens of -log2 P(token | tokens before). The regions of a sentence are joined by one space,
empty ones skipped. A token belongs to the region in which it begins, also where it reaches into the next one, and the
space between two regions to the later one, also as a token of its own, as in SyntaxGym. The end of the sentence, where
a model scores it, belongs to the last region with words.

Where the names of four conditions cross two factors (`match_near`, `mismatch_near`, `match_far`, `mismatch_far`), each
region has an interaction: (a1 b1 - a1 b2) - (a2 b1 - a2 b2) in bits, levels in the order in which they first occur.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..engine.progress import Progress
from ..io.files import read_text
from ..io.tables import require_columns, tables_in
from ..models.scorer import ScoredTokens, Scorer, ask_tokens
from ..models.text import part_of_token
from ..statistics import Estimate, Units
from .base import ROW, WEIGHT, Measure, Row, Suite, Tables, Text, weights_of
from .data import check, is_hub_id, numbers, read, refuse
from .formulas import WHOLE, Formula, Reference

NAMES = {"item_number": "item", "condition_name": "condition", "region_name": "region", "content": "text"}
"""SyntaxGym's names of columns -> ours."""
RELATIONS = {"greaterthan": ">", "lessthan": "<", "equals": "="}
SENTENCE, PLACE = ["suite", "item", "condition"], ["suite", "condition", "region_number"]
CRITERIA, REGIONS, INTERACTIONS = "criteria", "regions", "interactions"


class Part(NamedTuple):
    """A suite of regions: its name, a row per item, condition and region, and its criteria by name."""

    name: str
    regions: pd.DataFrame
    formulas: dict[str, Formula]


@dataclass(frozen=True, kw_only=True)
class Regions(Suite):
    """Surprisals of regions, and criteria over them (SyntaxGym); causal models, LSTMs and n-gram models."""

    data: Any = None
    """a suite of SyntaxGym (JSON), a table of yours with item, condition, region and text, or a folder of such files"""
    criteria: list[str] | None = None
    """what items should fulfil, such as "(2;%mismatch%) > (2;%match%)" or "name: …"; repeatable [those of the suite]"""

    name, title, needs, paper = "regions", "Regions", ("item", "condition", "text"), "hu2020"
    other_needs = (("item_number", "condition_name", "content"), ("region_meta", "items"))
    measures = (
        Measure("criterion_accuracy", "correct", "criteria", CRITERIA, words="share of the criteria that items fulfil",
                main_level="suite", chance=None, right_or_wrong=True, counted="tested criteria",
                why_excluded="a region has no surprisal"),
        *(
            Measure(name, column, label, table, headline=False, bounded=False, levels=(level,), chance=None)
            for name, column, label, table, level in (
                ("region_surprisal", "surprisal_bits", "surprisal", REGIONS, "region"),
                ("region_interaction", "bits", "interaction", INTERACTIONS, "interaction"),
            )
        ),
    )  # fmt: skip
    levels, together = ("suite", "criterion"), ("suite", "item")
    key = ("suite", "criterion", "item", "condition", "region_number")
    known = (*NAMES, "region", "text", "n_tokens", "logprob", "surprisal_bits", "correct", "ties")
    text = Text(
        question="Is the model surprised at the words where a sentence becomes ungrammatical or hard?",
        lede=(
            "Each item is a sentence in several conditions, some of which become ungrammatical or hard at a certain "
            "region. We count how often the surprisals of its regions fulfil a criterion that compares conditions."
        ),
        terms={
            "Surprisal": "−log2 of the probability of a region's tokens given what precedes them, in bits, summed over "
            "the region. A token that extends into the next region counts towards the region in which it begins.",
            "Criterion": "A comparison that an item fulfils or not. Accuracy is the share of items that fulfil it. "
            "Chance depends on the criterion: 0.5 for one comparison, less for several at once.",
            "Interaction": "In a 2 x 2 design, how much more the one factor changes the surprisal at one level of the "
            "other factor than at the other level, in bits.",
        },
        source="Hu, Gauthier, Qian, Wilcox & Levy (2020), A Systematic Assessment of Syntactic Generalization in "
        "Neural Language Models.",
    )

    @cached_property
    def parts(self) -> list[Part]:
        """The suites of regions with their criteria; ValueError where a file or a criterion cannot be used."""
        if self.data is None:
            raise ValueError(
                "The suite regions has no data of its own. Name a suite of SyntaxGym (JSON), a table with the columns "
                "item, condition, region and text, or a folder of such files with data (--data)."
            )
        is_path = isinstance(self.data, str | Path) and not is_hub_id(self.data)
        parts = [self._part(source) for source in (tables_in(Path(self.data)) if is_path else [self.data])]
        names = [part.name for part in parts]
        if len(set(names)) < len(names) or (self.criteria and len(names) > 1):
            expected = "one, since criteria are for one" if self.criteria else "each name once"
            raise ValueError(
                f"{self.data} has the suites {', '.join(names)}; expected {expected}. Name a file."
            )
        for number, text in enumerate(self.criteria or (), len(parts[0].formulas) + 1):
            name, colon, formula = text.partition(":")
            name, formula = (name.strip(), formula) if colon and "%" not in name else (str(number), text)
            if name in parts[0].formulas:
                raise ValueError(f"Two criteria are called {name!r}. Give each its own name.")
            parts[0].formulas[name] = Formula(formula.strip())
        return parts

    def _part(self, source: Any) -> Part:
        if isinstance(source, Path) and source.suffix == ".json":
            return read_syntaxgym(source)
        name, title = (source.stem, str(source)) if isinstance(source, Path) else (self.config, self.config)
        return Part(name, as_regions(read(source, ("text", "content")), name, title), {})

    def load(self) -> pd.DataFrame:
        """Read the regions; every item must have those that its criteria name."""
        for part in self.parts:
            items = part.regions["item"].unique()
            for name, formula in part.formulas.items():
                for region, condition in formula.references:
                    found = named(part.regions, (region, condition))
                    n = found.groupby("item").size().reindex(items, fill_value=0)
                    wrong = (n == 0) | ((n > 1) & (region != WHOLE))
                    if wrong.any():
                        raise ValueError(
                            f"{self.dataset}: item {wrong.idxmax()} of {part.name} has {n[wrong.idxmax()]} regions "
                            f"{region} in condition {condition!r}, which criterion {name} names; expected one. "
                            f"Conditions are {', '.join(part.regions['condition'].unique())}. Correct one of the two."
                        )
        return pd.concat([part.regions for part in self.parts], ignore_index=True)

    def asked(self) -> Row:
        """Return what is asked, with all criteria."""
        formulas = [(part.name, *of) for part in self.parts for of in part.formulas.items()]
        return {**super().asked(), "criteria": [f"{suite}/{name}: {of.text}" for suite, name, of in formulas]}

    def check_scorer(self, scorer: Scorer) -> None:
        """Raise ValueError where a scorer does not score tokens from left to right."""
        if not scorer.can("token_logprobs"):
            raise ValueError(
                f"{scorer.name} has no surprisals, for which a model must read from left to right: a causal model, an "
                "LSTM or an n-gram model."
            )

    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Progress | None = None) -> Tables:
        """Return the surprisal of each region, and whether each item fulfils each criterion."""
        regions = score_regions(scorer, items, progress)
        about = each_item(regions)
        criteria = [about.iloc[:0].assign(criterion="", correct=np.nan, ties=False)]
        for suite, _, formulas in self.parts:
            of_suite, of_items = (of[of["suite"] == suite] for of in (regions, about))
            for name, formula in formulas.items() if len(of_items) else ():
                sums = {
                    of: named(of_suite, of).groupby("item")["surprisal_bits"] for of in formula.references
                }
                bits = {  # a region without a number leaves its sum without one
                    of: by.agg(lambda part: part.sum(skipna=False))[of_items["item"]].to_numpy(float)
                    for of, by in sums.items()
                }
                holds, ties = formula.evaluate(bits)
                correct = np.where(np.isnan([*bits.values()]).any(axis=0), np.nan, holds)
                criteria.append(of_items.assign(criterion=f"{suite}/{name}", correct=correct, ties=ties))
        has_criteria = any(part.formulas for part in self.parts)
        return {REGIONS: regions} | ({CRITERIA: pd.concat(criteria[1:] or criteria)} if has_criteria else {})

    @classmethod
    def items_of(cls, tables: Tables, table: str) -> pd.DataFrame:
        """Return criteria, regions by suite, condition and place, or the interactions of these."""
        items = super().items_of(tables, REGIONS if table == INTERACTIONS else table)
        if table == CRITERIA or items.empty:
            return items
        if table == INTERACTIONS:
            return interactions(items)
        return items.assign(region=items["suite"] + "/" + items["condition"] + "/" + labels(items, PLACE))

    @classmethod
    def units(cls, items: pd.DataFrame, measure: Measure, level: str) -> Units:
        """Return items; over several suites, these are fixed and count the same, whatever their size."""
        names, weights = (items["suite"] + "/" + items["item"]).to_numpy(), weights_of(items)
        if level in (*cls.levels, *(measure.levels or ())) or items["suite"].nunique() < 2:
            return Units(names, "items", weights=weights)
        return Units(names, "items", None, items["suite"].to_numpy(), "strata", weights)

    @classmethod
    def estimate(cls, items: pd.DataFrame, measure: Measure, units: Units, found: Estimate) -> Estimate:
        """Return a mean; none where an item has probability 0, since its surprisal is infinite and not missing."""
        estimate = super().estimate(items, measure, units, found)
        if np.isinf(items[measure.column].to_numpy(float)).any():
            return estimate._replace(mean=math.nan, se=math.nan, low=math.nan, high=math.nan)
        return estimate


def read_syntaxgym(path: Path) -> Part:
    """Read a suite of SyntaxGym (JSON): its regions, and its predictions as criteria."""
    try:
        content = json.loads(read_text(path))
        meta, names = content.get("meta", {}), content["region_meta"]
        rows = [
            (str(item["item_number"]), str(condition["condition_name"]), region["region_number"],
             names.get(str(region["region_number"])), region["content"])
            for item in content["items"] for condition in item["conditions"] for region in condition["regions"]
        ]  # fmt: skip
        texts = [_formula(prediction) for prediction in content["predictions"]]
        if meta.get("metric", "sum") not in ("sum", "all"):
            raise ValueError('its metric is not "sum", the sum over the tokens of a region')
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise ValueError(
            f"{path} is not a suite of SyntaxGym ({why!s:.200}). Correct it, or write a CSV with the columns item, "
            "condition, region and text."
        ) from error
    name = str(meta.get("name") or path.stem)
    frame = pd.DataFrame(rows, columns=["item", "condition", "region_number", "region", "text"])
    formulas = {str(number): Formula(text) for number, text in enumerate(texts, 1)}
    return Part(name, as_regions(frame, name, str(path)), formulas)


def _formula(prediction: Row) -> str:
    if "formula" in prediction:
        return str(prediction["formula"])
    left, right = (f"({prediction['region_number']};%{prediction[f'{side}_operand']}%)" for side in "lr")
    return f"{left} {RELATIONS[prediction['relation']]} {right}"


def as_regions(frame: pd.DataFrame, suite: str, title: str) -> pd.DataFrame:
    """Check a table and return its regions, those of a sentence in order, with the user's own columns.

    A region's number is by default its place in the sentence, from 1, and its name the number. `text` may be empty.
    """
    frame = frame.rename(columns={old: new for old, new in NAMES.items() if new not in frame})
    require_columns(frame.fillna({"text": ""}), ["item", "condition", "text"], title)
    texts = frame["text"].astype(object).where(frame["text"].notna(), "")
    check(pd.DataFrame({"text": texts.replace("", "–")}), title, texts=["text"])  # where it is not empty
    frame = frame.assign(suite=suite, text=texts.str.split().str.join(" "))
    frame = frame.assign(**{of: frame[of].map(str).astype(object) for of in ("item", "condition", "text")})
    sentence = frame.groupby(SENTENCE, sort=False).ngroup()
    if "region_number" in frame:
        number = numbers(frame, "region_number", title, whole=True)
    else:
        expected = "the regions of a sentence one after the other, or a column region_number"
        refuse(sentence.diff() < 0, frame, title, "item", expected)
        number = sentence.groupby(sentence).cumcount() + 1
    frame["region_number"] = number
    repeated = frame.duplicated([*SENTENCE, "region_number"])
    refuse(repeated, frame, title, "region_number", "each number once in an item and condition")
    region = frame["region"] if "region" in frame else frame["region_number"]
    frame["region"] = region.astype(object).where(region.notna(), frame["region_number"]).map(str)
    columns = [*SENTENCE, "region_number", "region", "text"]
    own = [name for name in frame if name not in (*columns, *Regions.known, *Regions.levels, ROW)]
    return frame[[*columns, *own]].iloc[np.lexsort([frame["region_number"], sentence])].reset_index(drop=True)


def named(regions: pd.DataFrame, reference: Reference) -> pd.DataFrame:
    """Return the rows that a formula names, by number, name or `*`."""
    region, condition = reference
    inside = regions[regions["condition"] == condition]
    names = inside["region_number"].astype(str) if region.isdecimal() else inside["region"]
    return inside if region == WHOLE else inside[names == region]


def score_regions(scorer: Scorer, regions: pd.DataFrame, progress: Progress | None = None) -> pd.DataFrame:
    """Return regions with `n_tokens`, `logprob` (natural log) and `surprisal_bits`.

    A sentence that occurs several times is scored once. NaN for a region with a token that cannot be scored, such as
    the first one of a model without a start token.
    """
    sentence = regions.groupby(SENTENCE, sort=False).ngroup().to_numpy()
    order = np.argsort(sentence, kind="stable")
    places = np.split(order, np.flatnonzero(np.diff(sentence[order])) + 1)
    parts = [regions["text"].to_numpy()[rows] for rows in places]
    tokens = ask_tokens(scorer, [" ".join(filter(None, part)) for part in parts], progress)
    sums = np.zeros((len(regions), 2))
    for rows, part, of_sentence in zip(places, parts, tokens, strict=True):
        sums[rows] = region_sums(part, of_sentence)
    n_tokens, logprob = sums[:, 0].astype(np.int64), sums[:, 1]
    return regions.assign(n_tokens=n_tokens, logprob=logprob, surprisal_bits=0.0 - logprob / math.log(2))


def region_sums(regions: Iterable[str], tokens: ScoredTokens) -> NDArray[np.float64]:
    """Return the number and the log-probability of the tokens of each region of one sentence, (regions, 2).

    >>> tokens = ScoredTokens(np.array([0, 4, 8]), np.array([3, 7, 14]), np.array([-1.0, -2.0, -4.0]))
    >>> region_sums(["The cat", "", "sat", "down"], tokens).tolist()
    [[2.0, -3.0], [0.0, 0.0], [1.0, -4.0], [0.0, 0.0]]
    """
    lengths = np.array([len(text) for text in regions])
    filled = np.flatnonzero(lengths)
    ends = np.cumsum(lengths[filled] + 1) - 1
    place = filled[part_of_token(ends, tokens.starts + 1)]
    sums = [np.bincount(place, of, len(lengths)) for of in (np.ones(len(place)), tokens.logprobs)]
    return np.stack(sums, axis=1)


def each_item(regions: pd.DataFrame) -> pd.DataFrame:
    """Return a row per item, with what its regions share."""
    own = [name for name in regions if name not in (*SENTENCE, "region_number", *Regions.known)]
    by_item = regions.groupby(["suite", "item"], sort=False)
    items = by_item[own].first().where(by_item[own].nunique(dropna=False) == 1)
    return items.assign(**{ROW: by_item[ROW].min()}).reset_index()


def labels(regions: pd.DataFrame, group: list[str]) -> "pd.Series[str]":
    """Return the number of each region, and its name if all rows of its group have the same."""
    number = regions["region_number"].astype(str)
    is_name = regions.groupby(group)["region"].transform("nunique").eq(1) & regions["region"].ne(number)
    return (number + " " + regions["region"]).where(is_name, number)


def interactions(regions: pd.DataFrame) -> pd.DataFrame:
    """Return the 2 x 2 interaction of each item and region that all conditions have: `interaction` (where), `bits`."""
    label = labels(regions, ["suite", "region_number"])
    regions, parts = regions.assign(interaction=regions["suite"] + "/" + label), []
    for _, of_suite in regions.groupby("suite", sort=False):
        if factors := two_factors(of_suite["condition"]):
            (a1, a2), (b1, b2) = factors
            keys = ["suite", "item", "region_number", "interaction", *({WEIGHT} & {*regions})]
            bits = of_suite.pivot(index=keys, columns="condition", values="surprisal_bits")
            first, second = (bits[f"{a}_{b1}"] - bits[f"{a}_{b2}"] for a in (a1, a2))
            found = (first - second).rename("bits").reset_index()
            n_conditions = of_suite.groupby("region_number")["condition"].nunique()
            parts.append(found[found["region_number"].map(n_conditions) == 4])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def two_factors(conditions: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the levels of the two factors that four conditions cross by their names, or None.

    >>> two_factors(["match_sing", "mismatch_sing", "match_plural", "mismatch_plural"])
    (('match', 'mismatch'), ('sing', 'plural'))
    >>> two_factors(["plaus", "implaus"])
    """
    names = [name.split("_") for name in dict.fromkeys(conditions)]
    for place in range(1, min(map(len, names))) if len(names) == 4 else ():
        pairs = [("_".join(name[:place]), "_".join(name[place:])) for name in names]
        first, second = (tuple(dict.fromkeys(side)) for side in zip(*pairs, strict=True))
        if len(first) == len(second) == 2:
            return first, second
    return None
