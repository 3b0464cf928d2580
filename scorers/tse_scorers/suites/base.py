"""A suite: which items there are, what is asked about each, and what their scores are. All else follows.

A suite is a frozen dataclass: its fields are its options in Python and on the command line, and the text below a field
is its help. `run("gpt2", MySuite(data="mine.csv"))` runs it; an entry point of the group `tse_scorers.suites` makes it
known as `tse run`'s `my_suite`. `examples/grammaticality.py` is one, and `docs/architecture.md` builds a smaller one.

Tables have one row an item, with the user's own columns. Columns with a meaning: those of `levels`, and own ones with
few values, are groups of results; `cluster`, or an `item` that is in several rows, is the unit of intervals; `good` and
`bad` are texts of a pair; `ties` counts ties; `row` is the place in the data; `stands_for` is how many items of the
data a sampled one stands for.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..engine.progress import Progress
from ..io.files import slug
from ..io.suggestions import did_you_mean, unknown_name
from ..io.tables import fingerprint
from ..models.options import check_options
from ..models.scorer import Scorer
from ..statistics import Estimate, Units, mean, means
from .data import name_of, numbers, own_levels

Tables = Mapping[str, pd.DataFrame]
Row = dict[str, Any]
Places = NDArray[np.intp]
ALL, ITEMS, ROW, WEIGHT = "all", "items", "row", "stands_for"
SMALLEST_CHUNK, LARGEST_CHUNK, MOST_CHUNKS = 1_000, 5_000, 16
"""Items of a chunk: with fewer, batches are padded and shared beginnings parted. Chunks of small data."""
SEED = 0
SUITES: dict[str, type["Suite"]] = {}
"""Name -> class, of all suites that are imported."""


@dataclass(frozen=True)
class Measure:
    """A number that stands for a suite or one of its groups. Greater is better, unless it is no share.

    >>> at_cutoff = Measure("ew@top-0.9", label="EW")
    >>> at_cutoff.label, at_cutoff.base, at_cutoff.headline
    ('EW@top-0.9', 'ew', False)

    Attributes:
        name: its name in results: `ew`, or away from the headline point `ew@top-0.9`.
        column: the column of its items' scores, NaN for none; by default its name.
        label: what tables call it; by default its name. A point is added.
        table: the table with its items.
        headline: whether terminal, comparison and page show it unasked; by default where it has no point.
        leads: whether a page's first sentence is about it; by default the first measure does.
        bounded: whether scores are shares, 0 to 1; only these are compared between models and conditions.
        levels: the only levels that it has; None for `all` and those of the suite and of the user's own columns.
        words: what it measures, the second line of a heading.
        digits: the decimals with which it is printed.
        chance: the score of guessing; None where there is none.
        right_or_wrong: whether the score of an item is 0 or 1.
        over_lemmas: whether it averages over the lemma list, so that it compares only with scores over the same one.
        main_level: the level that a page compares first; by default the suite's first.
        counted: what its items are, in the plural.
        why_excluded: why items have no score.
    """

    name: str
    column: str = ""
    label: str = ""
    table: str = ITEMS
    headline: bool | None = None
    leads: bool = False
    bounded: bool = True
    levels: Sequence[str] | None = None
    words: str = ""
    digits: int = 2
    chance: float | None = 0.5
    right_or_wrong: bool = False
    over_lemmas: bool = False
    main_level: str = ""
    counted: str = "items"
    why_excluded: str = ""

    def __post_init__(self) -> None:
        _, at, point = self.name.partition("@")
        derived: dict[str, Any] = {"column": self.column or self.name}
        derived["label"] = (self.label or self.base) + at + point
        derived["headline"] = not point if self.headline is None else self.headline
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def base(self) -> str:
        """Its name without a point."""
        return self.name.partition("@")[0]


@dataclass(frozen=True)
class Text:
    """What the section of a suite says on a page.

    Attributes:
        question: what is asked of a model, in a sentence; first on the page.
        lede: what a model is given and what is counted, in two sentences, for somebody who has never heard of it.
        terms: the measures and what they mean.
        source: the papers that it follows.
    """

    question: str = ""
    lede: str = ""
    terms: Mapping[str, str] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Suite(ABC):
    """Base class of suites; subclasses are frozen dataclasses, whose fields are the options.

    Obligatory are `name`, `title`, `needs`, `measures`, `load` and `ask`.

    Attributes:
        name: its name in results and on the command line.
        title: its name in headings.
        needs: columns by which a table of the user's own is known as data of this suite.
        other_needs: other such columns, or keys of a JSON file.
        measures: its measures, headlines in the order of tables.
        levels: columns of the tables that are groups of results, where they are there; the finest last.
        key: columns that make an item the same in two runs.
        together: columns of rows that no sample and no chunk parts.
        order: columns by which items are asked about, so that those with the same beginning are together.
        known: columns that the suite itself reads or writes, besides those named above: they are no conditions.
        datasets: names that `data` knows -> (data set, configuration) in results.
        titles: configuration -> what titles call it; by default its name.
        text: what a page says of it.
        paper: the file of `papers/` with the tables and figures of its section.
    """

    data: Any = None
    """a name, a data set of the Hub (org/name), a table of yours (CSV, TSV, JSON lines, Parquet), in Python also a
    data frame, a Dataset or a list of dicts"""
    groups: list[str] | None = None
    """only these groups of the data; repeatable [all]"""
    limit: int | None = None
    """at most this many items of each group; scores then estimate those of the whole [all]"""

    name: ClassVar[str]
    title: ClassVar[str]
    needs: ClassVar[Sequence[str]]
    other_needs: ClassVar[Sequence[Sequence[str]]] = ()
    measures: ClassVar[Sequence[Measure]]
    levels: ClassVar[Sequence[str]] = ()
    key: ClassVar[Sequence[str]] = ()
    together: ClassVar[Sequence[str]] = ()
    order: ClassVar[Sequence[str]] = ()
    known: ClassVar[Sequence[str]] = ()
    datasets: ClassVar[Mapping[str, tuple[str, str]]] = {}
    titles: ClassVar[Mapping[str, str]] = {}
    text: ClassVar[Text] = Text()
    paper: ClassVar[str] = ""

    # What a suite must say.

    @abstractmethod
    def load(self) -> pd.DataFrame:
        """Return all items to ask about, one row each; ValueError where options or data are wrong.

        `groups` and `limit` are applied to what it returns. `read(self.data)` reads a table of the user's own.
        """

    @abstractmethod
    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Progress | None = None) -> Tables:
        """Return tables of scores of some of the items; no score may depend on which others there are.

        Raises:
            ValueError: the scorer cannot answer.
        """

    # What it may say.

    def check_scorer(self, scorer: Scorer) -> None:  # noqa: B027
        """Raise ValueError where a scorer cannot answer; called before any model runs."""

    def facts(self, scorer: Scorer) -> Row:
        """Return what else decides the scores of a model and is found when it is loaded, for comparisons."""
        return {}

    @classmethod
    def items_of(cls, tables: Tables, table: str) -> pd.DataFrame:
        """Return the items of measures with this `table`; overridden where they are not the rows of a stored one."""
        return tables.get(table, pd.DataFrame())

    @classmethod
    def units(cls, items: pd.DataFrame, measure: Measure, level: str) -> Units:
        """Return the units of all items of a measure, for scores of groups of a level.

        By default those that the user's table names (`own_units`), else each item by itself. `stands_for` are weights.
        """
        name, labels = own_units(items) or ("items", np.arange(len(items)))
        return Units(labels, name, weights=weights_of(items))

    @classmethod
    def cells(
        cls, sides: Sequence[pd.DataFrame], measure: Measure, units: Units, condition: Any = None
    ) -> tuple[list[Any], Units, Any]:
        """Return what is averaged on each side, with its units and conditions; by default the items' scores.

        Overridden where an average is over more than items (EW: lemmas, too).
        """
        return [items[measure.column] for items in sides], units, condition

    @classmethod
    def pair_up(cls, one: Tables, other: Tables, measure: Measure) -> tuple[pd.DataFrame, pd.DataFrame, Row]:
        """Return the items that two models were both asked, row by row, and columns for their comparison.

        Raises:
            ValueError: the measure of the two does not compare; the message says why, without a full stop.
        """
        items, others = (cls.items_of(tables, measure.table) for tables in (one, other))
        keys = [column for column in cls.key if column in items and column in others]
        if not keys:
            keys = [column for column in items if column in others and items[column].is_unique][:1]
        numbered = [of[keys].assign(**{name: range(len(of))}) for of, name in ((items, "_0"), (others, "_1"))]
        both = numbered[0].merge(numbered[1], on=keys)
        sides = [of.iloc[both[name]].reset_index(drop=True) for of, name in ((items, "_0"), (others, "_1"))]
        return sides[0], sides[1], {}

    @classmethod
    def over_common(cls, systems: Mapping[str, Tables]) -> dict[str, Tables]:
        """Return the tables of systems with the leading measure over the lemmas that all of them score.

        By default, and where they have no lemma in common, none.
        """
        return {}

    @classmethod
    def once(cls, items: pd.DataFrame, measure: Measure) -> Places:
        """Return the places of the items that count in `all`."""
        return np.arange(len(items))

    @classmethod
    def group_name(cls, level: str, value: str) -> str:
        """Return what a group is called."""
        return ALL if level == ALL else value.replace("_", " ")

    @classmethod
    def title_of(cls, config: str) -> str:
        """Return the title of results on a configuration of data."""
        return cls.title if config in ("", cls.name) else f"{cls.title}: {cls.titles.get(config, config)}"

    # What follows: the items of a run.

    def __init_subclass__(cls) -> None:
        """Make a suite known by its name, so that its stored scores can be read."""
        if "name" in vars(cls):
            SUITES[cls.name] = cls

    def __new__(cls, **options: Any) -> "Suite":
        """Refuse an option that there is not, with the one that was probably meant."""
        names = [option.name for option in fields(cls)]
        if unknown := [name for name in options if name not in names]:
            more = did_you_mean(unknown[0], names) or f" It has: {', '.join(names)}."
            raise TypeError(f"{cls.__name__} has no option {unknown[0]!r}.{more}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        check_options(self)

    @cached_property
    def items(self) -> pd.DataFrame:
        """The items that are asked about, after `groups` and `limit`, numbered by `row`."""
        items = self.load().reset_index(drop=True)
        weights = {WEIGHT: numbers(items, WEIGHT, self.dataset)} if WEIGHT in items else {}
        items = items.assign(**weights, **{ROW: np.arange(len(items))})
        if self.groups:
            columns = [level for level in self.levels if level in items]
            there = dict.fromkeys(str(value) for of in columns for value in items[of].dropna().unique())
            if unknown := [group for group in self.groups if group not in there]:
                raise ValueError(unknown_name("group", unknown[0], there))
            items = items[items[columns].astype(str).isin(self.groups).any(axis=1)].reset_index(drop=True)
        return items if self.limit is None else self.limited(items, self.limit)

    @property
    def dataset(self) -> str:
        """The data set's name in results."""
        return self.datasets[self.data][0] if self._is_named else name_of(self.data, self.name)

    @property
    def config(self) -> str:
        """The configuration's name in results; one's own blimp.csv is not BLiMP."""
        if self._is_named:
            return self.datasets[self.data][1]
        name = slug(Path(self.dataset).stem)
        return f"own-{name}" if name in {config for _, config in self.datasets.values()} else name

    @property
    def _is_named(self) -> bool:
        return isinstance(self.data, str) and self.knows(self.data)

    @classmethod
    def knows(cls, data: str) -> bool:
        """Whether `data` is the name of a data set of this suite."""
        return data in cls.datasets

    def asked(self) -> Row:
        """Return what is asked, known before any model is loaded: the suite, its options, the content of the data."""
        options = {}
        for option in fields(self):
            value, default = getattr(self, option.name), option.default
            is_default = value is default or (np.isscalar(value) and value == default)
            if not is_default and option.name not in ("data", "source"):  # whose content is hashed
                is_plain = isinstance(value, str | int | float | list)
                options[option.name] = value if is_plain else name_of(value, option.name)
        about = {"suite": self.name, "dataset": self.dataset, "config": self.config, "options": options}
        return {**about, "n_items": len(self.items), "data": fingerprint(self.items)}

    @property
    def own_levels(self) -> list[str]:
        """The user's own columns that are groups of results."""
        known = {*self.known, *self.needs, *self.levels, *self.key, ROW, WEIGHT, "item", "cluster"}
        return own_levels(self.items, known)

    def limited(self, items: pd.DataFrame, limit: int) -> pd.DataFrame:
        """Return at most so many wholes (`together`) of each group of the finest level, with what each stands for."""
        return self._sample(items, limit=limit)

    def sampled(self, budget: int, seed: int = SEED) -> "Suite":
        """Return the suite over at most `budget` items, spread evenly over groups; the same seed keeps the same ones.

        Raises:
            ValueError: the budget is too small for anything to be scored.
        """
        items, sample = self.items, copy.copy(self)
        if budget < len(items):
            items = self._sample(items, seed, at_most=budget)
            if items.empty:
                n = np.bincount(self.wholes(self.items)).min()
                raise ValueError(
                    f"A budget of {budget} items leaves nothing to score: the smallest part of {self.name} has {n}. "
                    "Increase the budget, or remove the suite."
                )
        vars(sample)["items"] = items
        return sample

    def _sample(
        self, items: pd.DataFrame, seed: int = SEED, limit: float = np.inf, at_most: float = np.inf
    ) -> pd.DataFrame:
        """Return at most `limit` wholes of each group, or `at_most` items in all, with what each stands for.

        All groups' first wholes are taken, then their second ones, …: a group with few leaves the rest to the others,
        and a smaller sample is part of a larger one.
        """
        whole, finest = self.wholes(items), next((of for of in reversed(self.levels) if of in items), None)
        group = np.zeros(len(items), int) if finest is None else pd.factorize(items[finest])[0]
        group = group[np.unique(whole, return_index=True)[1]]  # of each whole
        shuffled = pd.Series(group).sample(frac=1.0, random_state=seed)
        turn = shuffled.groupby(shuffled).cumcount().sort_values(kind="stable")
        sizes = np.bincount(whole)
        turn = turn[sizes[turn.index] <= at_most]
        kept = turn.index[(turn < limit) & (np.cumsum(sizes[turn.index]) <= at_most)]
        n, n_kept = (np.bincount(of, minlength=len(group)) for of in (group, group[kept]))
        inside = np.isin(whole, kept)
        of_row = group[whole[inside]]
        return items[inside].assign(**{WEIGHT: n[of_row] / n_kept[of_row]}).reset_index(drop=True)

    def wholes(self, items: pd.DataFrame) -> Places:
        """Return the number of the whole that each row belongs to, from 0, in order of appearance, (rows,)."""
        if not self.together:
            return np.arange(len(items))
        return items.groupby(list(self.together), sort=False, dropna=False).ngroup().to_numpy()

    def chunks(self, at_least: int = 1) -> list[pd.DataFrame]:
        """Cut the items, neighbours in `order`, by the data alone; no whole (`together`) is parted."""
        items = self.items.sort_values([*self.order, ROW], kind="stable") if self.order else self.items
        n = max(-(-len(items) // LARGEST_CHUNK), min(MOST_CHUNKS, len(items) // SMALLEST_CHUNK), at_least)
        order = np.argsort(whole := self.wholes(items), kind="stable")  # parts of a whole together
        items, whole = items.iloc[order], whole[order]
        starts = np.flatnonzero(np.diff(whole, prepend=-1))
        cuts = np.searchsorted(starts, np.linspace(0, len(items), n + 1)[1:-1])
        edges = [*np.unique([0, *starts[np.minimum(cuts, len(starts) - 1)]]), len(items)]
        return [items.iloc[low:high] for low, high in pairwise(edges) if high > low]

    def joined(self, chunks: Sequence[Tables]) -> dict[str, pd.DataFrame]:
        """Return whole tables from those of all chunks, in the order of the data; a table without rows of it, once."""
        tables = dict(chunks[0])
        for name in [name for name, table in tables.items() if ROW in table]:
            whole = pd.concat([of[name] for of in chunks], ignore_index=True)
            tables[name] = whole.sort_values(ROW, kind="stable", ignore_index=True)
        return tables

    # What follows: scores.

    @classmethod
    def rows(cls, tables: Tables, levels: Sequence[str] = ()) -> list[Row]:
        """Return the rows of results: each measure over each group, headlines first.

        Args:
            tables: of scores.
            levels: the user's own columns that are groups.
        """
        names = dict.fromkeys(measure.table for measure in cls.measures)
        rows = [row for name in names for row in cls._rows(tables, name, levels)]
        return sorted(rows, key=lambda row: not cls.measure(row["measure"]).headline)

    @classmethod
    def _rows(cls, tables: Tables, table: str, levels: Sequence[str]) -> Iterator[Row]:
        items = cls.items_of(tables, table)
        there = [m for m in cls.measures if m.table == table and m.column in items]
        there = [m for m in there if items[m.column].notna().any()]
        others = [m for m in there if not m.headline]  # they share their units
        for measures in [*([m] for m in there if m.headline), *([others] if others else [])]:
            units: dict[str, Units] = {}
            for level, value, places in cls.groups_of(items, measures[0], levels):
                if level not in units:
                    units[level] = cls.units(items, measures[0], level).coded()
                inside, of_group = items.iloc[places], units[level].of(places)
                scores = inside[[m.column for m in measures]].to_numpy(float).T
                found = means(scores, of_group, measures[0].bounded)
                if len(measures) == 1:
                    found = [cls.estimate(inside, measures[0], of_group, found[0])]
                about: Row = {"level": level, "value": value}
                n_ties = int(inside["ties"].sum()) if "ties" in inside else None
                for measure, of in zip(measures, found, strict=True):
                    row = about | {"measure": measure.name, "score": of.mean, "n": of.n_items}
                    row |= {"n_excluded": len(inside) - of.n_items, "n_ties": n_ties, **of.columns()}
                    row |= {"n_lemmas": int(inside["n_lemmas"].max())} if measure.over_lemmas else {}
                    yield from [row] if of.n_items else []

    @classmethod
    def estimate(cls, items: pd.DataFrame, measure: Measure, units: Units, found: Estimate) -> Estimate:
        """Return the score of some items and its precision; `found` is their mean over `units`.

        Overridden where a score is no mean, of headline measures: others that share a table are means.
        """
        kept = items[measure.column].notna().to_numpy()
        (values,), cells, _ = (
            cls.cells([items[kept]], measure, units.of(kept)) if kept.any() else ([None], units, None)
        )
        if values is None or len(values) == kept.sum():
            return found
        return mean(values, cells, measure.bounded)._replace(mean=found.mean, n_items=found.n_items)

    @classmethod
    def groups_of(
        cls, items: pd.DataFrame, measure: Measure, levels: Sequence[str] = ()
    ) -> Iterator[tuple[str, str, Places]]:
        """Yield level, value and places of all items (`all` and ""), then of each value of each level."""
        if measure.levels is None:
            yield ALL, "", cls.once(items, measure)
        for level in (*cls.levels, *levels) if measure.levels is None else measure.levels:
            if level in items:
                codes, values = pd.factorize(items[level])
                order = np.argsort(codes, kind="stable")
                starts = np.searchsorted(codes[order], np.arange(len(values)))
                for value, places in zip(values, np.split(order, starts)[1:], strict=True):
                    yield level, str(value), places

    @classmethod
    def measure(cls, name: str) -> Measure:
        """Return the measure of this name; ValueError names those that there are."""
        names = {measure.name: measure for measure in cls.measures}
        if name not in names:
            raise ValueError(unknown_name(f"measure of {cls.name}", name, names))
        return names[name]

    @classmethod
    def leading(cls) -> Measure:
        """Return the measure that a page leads with."""
        return next((measure for measure in cls.measures if measure.leads), cls.measures[0])


def own_units(items: pd.DataFrame, otherwise: str = ROW) -> tuple[str, NDArray[Any]] | None:
    """Return the units that a user's table names, and the unit of each row: `cluster`, or a repeated `item`.

    Args:
        items: the rows.
        otherwise: the column that names the unit of a row without a value.

    >>> own_units(pd.DataFrame({"item": [1, 1, None], "row": [0, 1, 2]}))
    ('items', array(['1.0', '1.0', '2'], dtype=object))
    """
    for column in ("cluster", "item"):
        if column in items and (column == "cluster" or items[column].dropna().duplicated().any()):
            labels = items[column].astype(object)
            return f"{column}s", labels.where(labels.notna(), items[otherwise]).map(str).to_numpy(object)
    return None


def weights_of(items: pd.DataFrame) -> NDArray[Any] | None:
    """Return of how many items each stands for; None where nothing was sampled."""
    return items[WEIGHT].to_numpy(float) if WEIGHT in items else None
