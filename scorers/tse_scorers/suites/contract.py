"""A suite: which items there are, what is asked about each, and what their scores are. All else is derived.

    class Adverbs(Suite):
        name, title, Options = "adverbs", "Adverbs", AdverbOptions
        measures = (Measure("before", "before the verb", chance=None),)

        def load(self):                          # rows to ask about, before any model is loaded
            return pd.DataFrame({"early": …, "late": …})

        def ask(self, scorer, items, progress):  # the same rows, with a column of scores for each measure
            return items.assign(before=sentence_logprobs(scorer, …) > …)

These six members are enough where scores are means over items.

Derived are: signature, chunks, samples, averages with intervals by group, comparison, items and
conditions, what the report shows, keys in training logs, command line and help.

Besides the six, a suite with several tables, or with groups or samples of its own, needs members about scores: `key`,
`levels`, `columns`, `tables`; `check_scorer`, `describe`, `scored`, `groups`, `more`. The other two can be
skipped until they are needed:

    shown        what the page says of the suite and calls its groups, and the texts of its items (`shown.py`)
    known_data   released data, ids on the Hub, names in headings (`hub_data.py`)

What follows from all these is at the end. `Items` is in `sampling.py`, `Scored` in `items.py`.

An instance holds the data of one run. What needs no data is a class method, so that it works on results from disk.
A suite of another package is an entry point of the group `tse_scorers.suites`, under its name.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ..engine.progress import Progress
from ..io.files import slug
from ..io.result_row import ResultRow
from ..io.runs import ScoreFile, ScoreTables, known_columns, table_named
from ..io.score_columns import Values, described, scores_among
from ..io.store import ROWS, SINGLE
from ..io.table_files import Tables, fingerprint
from ..models.scorer import Scorer
from ..statistics import Units
from .hub_data import KnownData
from .items import Group, ItemScores, Scored, own_units
from .measure import Measure
from .options import SuiteOptions
from .own_columns import data_signature
from .sampling import Items
from .shown import Shown, Text

__all__ = ["Items", "KnownData", "Measure", "Scored", "Shown", "Suite", "Text"]
SMALLEST_CHUNK, LARGEST_CHUNK, MOST_CHUNKS = 1_000, 5_000, 16
"""Items of a chunk: with fewer, batches are padded and shared beginnings parted. Chunks of small data."""


class Suite(ABC):
    """Base class of all suites. Obligatory are `name`, `title`, `Options`, `measures`, `load` and `ask`.

    Made with its options, before any model is loaded, so that bad data costs no model time.

    Attributes:
        name: its name in results and on the command line.
        title: its name in tables and tabs.
        Options: a subclass of `SuiteOptions`, whose fields are its options.
        measures: its headline measures, in the order of tables; where options decide which a run has, `load` sets
            `self.measures` to some of them, and `ask` returns the columns of these.
        options: the values of this run.
        given: those of them that the user gave; None where the suite was made directly from its class.
        key: columns that make an item the same in two runs; by default the first column of `load`. Each item may be
            there once: name several columns where the first one has a value twice.
        levels: columns whose values are groups of results; each item must have a value. The class lists them all, and
            `load` sets `self.levels` to those that are there where some are optional. Groups by any other column, which
            may have gaps, are added in `groups`; or `tse compare --by` compares means by it.
        columns: its tables of scores -> their declared columns, made by `described` of `tse_scorers.io.score_columns`;
            under `rows` the metrics of its rows of results. Scores on disk are checked against them; no column that
            is declared with `Values` can be a condition of a design. By default one table, `scores`, and in it those of
            the measures: scores are 0 to 1, or only 0 and 1.
        tables: names of the tables of this run, by default those of `columns`; where options decide, `load` sets
            `self.tables` to some of them.
        shown: what the report says of the suite: what is asked, names of groups, texts of items.
        known_data: data sets that are known by name or content: their ids on the Hub, and what headings call them.

    Raises:
        ValueError: the data cannot be used.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    Options: ClassVar[type[SuiteOptions]]
    measures: Sequence[Measure]
    options: Any
    given: Mapping[str, object] | None = None

    key: ClassVar[tuple[str, ...]] = ()
    levels: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[Mapping[str, pa.Schema]] = {}
    tables: tuple[str, ...]

    shown: ClassVar[Shown] = Shown()
    known_data: ClassVar[KnownData] = KnownData()

    # What a suite must say, besides its name, title, options and measures.

    @abstractmethod
    def load(self) -> "pd.DataFrame | Items":
        """Return all items to ask about, one row each; raises ValueError where `self.options` or the data are wrong.

        The option `limit` is applied to what it returns. A table of the user's own is `own_table(self.options.data)`:
        a file or a data set of the Hub. `run` writes a data frame to a file first; `make_suite` takes none.
        `require_columns` and `require_words` name the row that is wrong.
        """

    @abstractmethod
    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Progress) -> "pd.DataFrame | Tables":
        """Return the rows of `items` with what the model answered, and the `column` of each measure.

        The columns of `items`, which may be the user's own, keep their values: new ones need names of their own.
        A suite with several tables returns them by name.

        `sentence_logprobs`, `continuation_logprobs` and `word_logprobs` ask a scorer and check what it answers, natural
        logs. `items` may be a chunk of the data. Tokens are counted by `scorer.token_counts(texts)`;
        `check_scorer` refuses a scorer that is no `TokenCounter`.

        Raises:
            ValueError: the scorer does not support the suite's questions.
        """

    # What it may say of its scores.

    def check_scorer(self, scorer: Scorer) -> None:  # noqa: B027
        """Raise ValueError where a scorer cannot answer what the suite asks; called before any model runs."""

    def describe(self, scorer: Scorer) -> dict[str, object]:
        """Return what decides the scores besides the suite and the scorer, as comparisons read it.

        By default, the options and the data. A suite whose scores also depend on something else, such as the version of
        its metric, adds it: `super().describe(scorer) | {"version": "1.1"}`. Scores on disk are reused while this stays
        the same, so use `--overwrite` while you change a suite.
        """
        options = {name: str(value) for name, value in asdict(self.options).items() if value is not None}
        return {
            "dataset": self.config,
            "suite_options": options,
            "n_items": self.n_items,
            **data_signature(self.items.frame.astype(str), ()),
        }

    @classmethod
    def scored(cls, tables: ScoreTables, measures: Sequence[Measure] | None = None) -> Iterator[Scored]:
        """Yield the items of measures from tables of scores: the one enumeration of results and comparisons.

        Overridden for several tables. `tables["scores"].select(["sentence", "label"])` is
        a `pyarrow.Table`, in memory or from disk; its `to_pandas()` a data frame.

        Args:
            tables: what `ask` returned, by name, with tables that a later command has added.
            measures: some of `measures`; None: all, at all their points, with those that are not headlines.

        Raises:
            CannotAggregateError: a table is missing.
        """
        for measure in cls.measures if measures is None else measures:
            if measure not in cls.measures:
                expected = ", ".join(map(str, cls.measures))
                raise ValueError(
                    f"The suite {cls.name} has no scores of {measure}; expected one of {expected}."
                )
            table = table_named(tables, measure.table)
            if measure.score_column not in table.column_names:
                continue  # the options of the run left it out
            key = cls.key or (table.column_names[0],)
            items = known_columns(table, table.column_names)
            scores = items.assign(score=items[measure.score_column].astype(float))
            yield Scored({measure: "score"}, scores, cls.groups, key, about={"n_ties": 0})

    @classmethod
    def groups(cls, items: pd.DataFrame) -> Iterator[Group]:
        """Yield all items, then each value of each level; a unit is the same one in all groups.

        Units of intervals are the values of a column `cluster` or of a repeated `item`, else each item by itself.

        A suite adds groups by a column that is not in `levels` like this:

            @classmethod
            def groups(cls, items):
                whole, *others = super().groups(items)
                yield from (whole, *others)
                for value in items["register"].dropna().unique() if "register" in items else ():
                    is_value = (items["register"] == value).to_numpy()
                    yield Group("register", value, items[is_value], whole.units.of(is_value))

        `items` has all columns of the table of scores: the user's, what `ask` added, and `score`, the scores of the
        measure that is averaged. Comparisons add `reference_score`, and leave out items that only one model scored.
        """
        if (user_units := own_units(items.assign(_row=np.arange(len(items))), "_row")) is not None:
            name, units = user_units
        else:
            name, units = "items", pd.Series(np.arange(len(items)), index=items.index)
        yield Group("all", "", items, Units(units.to_numpy(), name))
        for level in [level for level in cls.levels if level in items]:
            for value, rows in items.groupby(level, sort=False):
                yield Group(level, str(value), rows, Units(units[rows.index].to_numpy(), name))

    @classmethod
    def more(cls, tables: ScoreTables) -> list[ResultRow]:
        """Return rows of results that are of no measure: correlations, interactions, scores over parts of a list."""
        return []

    # What follows: the data of a run.

    def __init_subclass__(cls) -> None:
        """Name the keys in training logs after the suite: `adverbs/before`."""
        if "measures" in vars(cls):
            cls.measures = tuple(
                replace(measure, live_key=f"{cls.name}/{measure}") if measure.live_key == "" else measure
                for measure in cls.measures
            )

    def __init__(self, options: SuiteOptions) -> None:
        self.options = options
        self.tables = tuple(table for table in self.columns if table != ROWS) or (SINGLE,)
        loaded = self.load()
        items = loaded if isinstance(loaded, Items) else Items(loaded)
        data: str | None = getattr(options, "data", None)
        self.dataset = items.dataset or (self.name if data is None else data)
        config = items.config or (self.name if data is None else slug(Path(data).stem))
        is_own_file = self.dataset == str(data) and data not in options.data_names()
        # One's own blimp.csv is not BLiMP.
        self.config = f"own-{config}" if is_own_file and config in self.known_data.config_names else config
        self.findings = items.findings
        items = replace(items, spread=items.spread or next(iter(self.levels), ""))
        self.items = items.limited(getattr(options, "limit", None))
        self.is_first = True

    @property
    def n_items(self) -> int:
        """The number of items."""
        return self.items.n_items

    def asked(self) -> dict[str, object]:
        """Return what is asked, known before any model is loaded: suite, options, and the content of the data."""
        options = {
            name: str(value)
            for name, value in asdict(self.options).items()
            if value is not None and name not in ("data", "source")
        }
        about = {"suite": self.name, "dataset": self.dataset, "config": self.config}
        return {**about, "options": options, "data": fingerprint(self.items.frame)}

    def chunks(self, at_least: int = 1) -> list[NDArray[np.intp]]:
        """Return the places of the rows of each chunk; the data alone decide, and no `shard_by` is parted.

        Evaluation during training asks for at least one chunk for each process.
        """
        n = max(-(-self.n_items // LARGEST_CHUNK), min(MOST_CHUNKS, self.n_items // SMALLEST_CHUNK), at_least)
        belongs = self.items.together(self.items.shard_by)
        chunk = belongs * n // (belongs.max(initial=0) + 1)
        return [places for number in range(n) if len(places := np.flatnonzero(chunk == number))]

    @classmethod
    def joined(cls, chunks: Sequence[Tables]) -> Tables:
        """Return whole tables from those of all chunks."""
        return {
            name: pa.concat_tables([tables[name] for tables in chunks], promote_options="permissive")
            for name in chunks[0]
        }

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` pairs, spread evenly; the same seed keeps the same ones.

        Evaluation during training calls it.

        Raises:
            ValueError: the budget is too small for anything to be scored.
        """
        self.items = self.items.sampled(budget, seed)

    def signature(self, scorer: Scorer) -> dict[str, object]:
        """Return what decided the scores, the scorer's signature included."""
        return {"suite": self.name, **self.describe(scorer), **scorer.signature}

    def score(self, scorer: Scorer, progress: Progress, rows: "NDArray[np.intp] | None" = None) -> Tables:
        """Return scores per item of a chunk (None: of all items), one table per name in `tables`.

        Raises:
            ValueError: the scorer does not support the suite's questions.
        """
        self.is_first = rows is None or rows[0] == 0
        frame = self.items.frame if rows is None else self.items.frame.iloc[rows]
        answers = self.ask(scorer, frame.reset_index(drop=True), progress)
        if isinstance(answers, pd.DataFrame):
            columns = [measure.score_column for measure in self.measures]
            scores = answers.astype(dict.fromkeys(columns, float))
            answers = {SINGLE: pa.Table.from_pandas(scores, preserve_index=False)}
        return {name: answers[name] for name in self.tables}

    # What follows: scores from disk.

    @classmethod
    def aggregate(cls, tables: ScoreTables) -> list[ResultRow]:
        """Return the averages of scores per item: rows with `group` (`all` first), `metric`, `score`, `n` and counts.

        Raises:
            CannotAggregateError: a table is missing.
        """
        rows: list[ResultRow] = []
        sources: set[str] = set()
        for scored in cls.scored(tables):
            rows += scored.rows()
            sources |= {measure.table for measure in scored.columns}
        if len(sources) > 1:  # scores of one group stand together
            places: dict[tuple[str, str], int] = {}
            rows.sort(key=lambda row: places.setdefault((row.level, row.value), len(places)))
        return rows + cls.more(tables)

    @classmethod
    def measure(cls, name: str) -> Measure | None:
        """Return the measure of this name: a headline, or one at another point (`ew@top-0.9`); None if there is none.

        Raises:
            ValueError: there is one, but its name is followed by no point of its axes.
        """
        points = [measure for measure in cls.measures if measure.name == name.partition("@")[0]]
        headlines = (measure for measure in points if name == str(measure))
        return next(headlines, None) or (points[0].parsed(name) if points else None)

    @classmethod
    def compared_items(
        cls, file: ScoreFile, measures: Sequence[Measure] | None = None
    ) -> Mapping[str, ItemScores]:
        """Return the items for `tse compare` from a file of scores, by the label of their measure.

        The groups of items have the names of the groups of results.

        Args:
            file: of one table of scores.
            measures: some of the suite's, each at its point; None: its headline measures.
        """
        compared = [
            measure
            for measure in (cls.measures if measures is None else measures)
            if measure.table == file.table
        ]
        return {
            measure.label: scored.item_scores(measure)
            for scored in (cls.scored(file.record_tables(), compared) if compared else ())
            for measure in scored.columns
        }

    @classmethod
    def item_table(cls, file: ScoreFile) -> pd.DataFrame | None:
        """Return the rows of a file of scores, as `shown` has them."""
        return cls.shown.item_table(file)

    @classmethod
    def declared_columns(cls, table: str) -> pa.Schema:
        """Return the declared columns of a table of scores, or the metrics of `rows`."""
        if table in cls.columns:
            return cls.columns[table]
        if table == ROWS:
            columns = [(measure.name, measure, Values.SHARE) for measure in cls.measures]
        else:
            columns = [
                (measure.column, measure, Values.RIGHT_OR_WRONG if measure.right_or_wrong else Values.SHARE)
                for measure in cls.measures
                if measure.table == table
            ]
        return described(*((name, "double", measure.label, values) for name, measure, values in columns))

    @classmethod
    def score_columns(cls, file: ScoreFile) -> set[str]:
        """Return the columns of a file that are scores, and so no conditions of a design."""
        return scores_among(file.column_names, cls.declared_columns(file.table))
