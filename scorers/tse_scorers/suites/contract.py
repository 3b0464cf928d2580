"""A suite: which items there are, what is asked about each, and what their scores are. All else is derived.

    class WordOrder(Suite):
        name, title, Options = "word_order", "Order of words", WordOrderOptions
        measures = (Measure("in_order", "in order", chance=None),)

        def load(self):                          # rows to ask about; checked, before any model is loaded
            return pd.DataFrame({"sentence": …, "length": …})

        def ask(self, scorer, items, progress):  # the same rows, with a column of scores for each measure
            return items.assign(in_order=sentence_logprobs(scorer, …) > …)

These six members are enough, where scores are means over items or a measure says how they are estimated.
`examples/word_order` is this suite as a package. The data of `examples/judgments` is a table of the user's own (the
option `data`, `identifying_columns`, and `tse_scorers.suites.hub_data.own_table`), and its measure is a correlation.

Derived are: signature, shards, samples, averages with intervals by group, comparison, items for mixed models and
conditions, what report and explorer show, keys in training logs, command line and help. A suite with
several tables, or with groups of its own, says in `scored` which items its measures have, and in `more` which rows of
results are of no measure. All other members have a default that says what it is for.

An instance holds the data of one run. What needs no data is a class method, so that it works on results from disk.
Outside its folder, no file contains a suite's name. A suite of another package is an entry point of the group
`tse_scorers.suites`, under its name:

    [project.entry-points."tse_scorers.suites"]
    garden_paths = "my_package.suite:GardenPaths"
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ..engine.progress import Progress
from ..io.files import slug
from ..io.records import ROWS, SINGLE
from ..io.result_row import ResultRow, Scalar
from ..io.score_columns import Values, described, scores_among
from ..io.signatures import Signature
from ..io.table_files import Tables, require_columns
from ..models.base import PairScorer, Scorer
from ..models.options import Question
from ..report.blocks import ScoredItems, Section, View
from ..report.inputs import Runs, ScoreFile, ScoreTables, configs_apart, known_columns, table_named
from ..report.measure import Measure
from ..report.names import plain_group
from ..statistics import Units
from ..statistics.clustered import means_of_groups
from ..statistics.estimate import ACCURACY, Estimate, Range
from ..statistics.units import own_units
from .checks import Finding
from .hub_data import ReleasedData, released_dataset
from .item_files import compared_items
from .items import Group, ItemScores, MixedModel, TwoWayChoices
from .options import SuiteOptions
from .own_columns import data_signature
from .registry import all_suites
from .sampling import check_budget, limited, share, stratified_sample
from .standard_view import OVERALL, standard_section

__all__ = ["Items", "Measure", "Scored", "Suite"]


@dataclass(frozen=True)
class Items:
    """The rows that a suite asks about. Limits, samples and shards belong to the runner.

    Attributes:
        frame: the rows, with the user's own columns.
        dataset: the data's name in results; by default the option `data`, or the suite's name.
        config: the data's configuration; by default as the option `data`, or the suite's name.
        own_columns: names of the user's own columns in `frame`, for a suite whose `ask` does not return its rows.
        shard_by: columns of rows that no shard parts (a template, a context); () for each row by itself.
        sample_by: columns of rows that no limit and no sample parts; () for each row by itself.
        spread: column over whose values limits and samples are even; by default the first of the suite's levels.
        pairs_each: pairs of a budget that the rows of one `sample_by` use.
        findings: warnings about unusual data.
    """

    frame: pd.DataFrame
    dataset: str = ""
    config: str = ""
    own_columns: tuple[str, ...] = ()
    shard_by: tuple[str, ...] = ()
    sample_by: tuple[str, ...] = ()
    spread: str = ""
    pairs_each: int = 1
    findings: tuple[Finding, ...] = ()

    def together(self, columns: Sequence[str]) -> NDArray[np.intp]:
        """Return the number of what each row belongs to, from 0, in order of appearance, (rows,)."""
        if not columns:
            return np.arange(len(self.frame))
        return self.frame.groupby(list(columns), sort=False, dropna=False).ngroup().to_numpy()

    def of(self, is_marked: NDArray[np.bool_]) -> "Items":
        """Return the marked rows, (rows,)."""
        return replace(self, frame=self.frame[is_marked])

    def limited(self, limit: int | None) -> "Items":
        """Return at most so many of each value of `spread`, the same at every call."""
        belongs = self.together(self.sample_by)
        chosen = limited(self._spread(belongs), "spread", limit)["belongs"]
        return replace(self, frame=self.frame[np.isin(belongs, chosen)].reset_index(drop=True))

    def sampled(self, budget: int, seed: int) -> "Items":
        """Return a sample that uses at most so many pairs, spread evenly; ValueError where that leaves nothing."""
        check_budget(budget, smallest=self.pairs_each)
        belongs = self.together(self.sample_by)
        units = self._spread(belongs)
        chosen = units.loc[stratified_sample(units["spread"], budget // self.pairs_each, seed), "belongs"]
        return self.of(np.isin(belongs, chosen))

    def _spread(self, belongs: NDArray[np.intp]) -> pd.DataFrame:
        values = self.frame[self.spread].to_numpy() if self.spread else ""
        units = pd.DataFrame({"belongs": belongs, "spread": values}).drop_duplicates("belongs")
        return units.reset_index(drop=True)


@dataclass(frozen=True)
class Scored:
    """Items with their scores on measures: what averages, intervals, comparisons and exports are made of.

    Where scores are estimated in another way than by their means, or rows of results say more about them, a subclass
    overrides `estimates`, `counts` or `details`, which are functions of a group.

    Attributes:
        columns: measures, each at its point -> the column of `items` with its scores.
        items: one row each, with scores, NaN for none, and columns for `groups`; of `tie` and `nonfinite`, if there,
            rows of results have the sums.
        groups: gives the groups of all items, or of some of them, with their units.
        key: columns that make an item the same in two runs.
        score_range: the least and greatest score.
        about: further columns of the rows of results.
        mixed_model: how a mixed model is fitted to the scores.
    """

    columns: Mapping[Measure, str]
    items: pd.DataFrame
    groups: Callable[[pd.DataFrame], Iterable[Group]]
    key: tuple[str, ...] = ()
    score_range: Range = ACCURACY
    about: Mapping[str, Scalar] = field(default_factory=dict)
    mixed_model: MixedModel = field(default_factory=MixedModel)

    def rows(self) -> Iterator[ResultRow]:
        """Yield a row of results for each group and measure."""
        groups = list(self.groups(self.items))
        for group, means in zip(groups, self.means(groups), strict=True):
            of_group = {**self.about, **self.counts(group)}
            for measure, estimate in self.estimates(group, means).items():
                details = self.details(group, measure, estimate)
                yield group.row(measure.name, estimate, **of_group | details, **measure.at)

    def means(self, groups: Sequence[Group]) -> list[dict[Measure, Estimate]]:
        """Return the means over each group of the measures that are means; all are computed at once."""
        columns = {measure: column for measure, column in self.columns.items() if measure.estimate is None}
        scores = [
            np.array([group.items[column] for column in columns.values()], dtype=float).reshape(
                len(columns), len(group.items)
            )
            for group in groups
        ]
        estimates = means_of_groups(scores, [group.units for group in groups], self.score_range)
        return [dict(zip(columns, of_group, strict=True)) for of_group in estimates]

    def estimates(self, group: Group, means: Mapping[Measure, Estimate]) -> dict[Measure, Estimate]:
        """Return the estimate of each measure over a group of the items, of which `means` has the means."""
        estimates = dict(means)
        for measure, column in self.columns.items():
            if measure.estimate is not None:
                is_scored = group.items[column].notna().to_numpy()
                estimates[measure] = measure.estimate(group.items[is_scored], group.units.of(is_scored))
        return estimates

    def counts(self, group: Group) -> dict[str, Scalar]:
        """Return what all rows of a group count."""
        return {
            f"n_{kind}": int(group.items[column].to_numpy().sum())
            for kind, column in (("ties", "tie"), ("nonfinite", "nonfinite"))
            if column in group.items
        }

    def details(self, group: Group, measure: Measure, estimate: Estimate) -> dict[str, Scalar]:
        """Return what else the row of an estimate says."""
        return {}

    def item_scores(self, measure: Measure) -> ItemScores:
        """Return the items with their scores on one measure for comparisons, each once."""
        key = list(self.key)
        others = {"tie", "nonfinite", *self.columns.values()} - {self.columns[measure]}
        items = self.items.drop(columns=[*others], errors="ignore").drop_duplicates(key).set_index(key)
        return ItemScores(
            items.rename(columns={self.columns[measure]: "score"}),
            lambda shared: self.groups(shared.reset_index()),
            self.mixed_model,
            measure.estimate,
        )


def _with_derived(items: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """Return the rows of a whole table with the measure's column, if that is derived from all of them."""
    if measure.derived is None:
        return items
    scores = np.asarray(measure.derived(items), dtype=float)
    if scores.shape != (len(items),):
        raise ValueError(
            f"`derived` of the measure {measure} returned an array of shape {scores.shape}; expected one score for "
            f"each of {len(items)} rows, NaN for none."
        )
    return items.assign(**{measure.column: scores})


def _changed_columns(rows: pd.DataFrame, answers: pd.DataFrame) -> list[str]:
    """Return the columns of `rows`, whose index counts from 0, that have other values in as many rows of `answers`."""
    if set(answers.index) == set(rows.index):
        answers = answers.loc[rows.index]  # `ask` may sort its rows

    def values(column: "pd.Series[Any]") -> list[object]:
        return (
            column.astype(object).where(column.notna(), None).tolist()
        )  # 1, 1.0 and True are the same value

    return [
        str(name)
        for name in rows.columns.intersection(answers.columns, sort=False)
        if not rows[name].equals(answers[name]) and values(rows[name]) != values(answers[name])
    ]


class Suite(ABC):
    """Base class of all suites. Obligatory are `name`, `title`, `Options`, `measures`, `load` and `ask`.

    Made with its options, before any model is loaded, so that bad data costs no model time.

    Attributes:
        name: its name in results and on the command line.
        title: its name in tables and tabs.
        Options: a subclass of `SuiteOptions`, whose fields are its options.
        measures: its headline measures, in the order of tables; where options decide which a run has, `load` sets
            `self.measures` to these.
        options: the values of this run.
        key: columns that make an item the same in two runs; by default the first column of `load`. Name it where the
            table is the user's.
        levels: columns whose values are groups of results; each item must have a value. The class lists them all, and
            `load` sets `self.levels` to those that are there where some are optional. Groups by any other column, which
            may have gaps, are added in `groups`; or `tse compare --by` compares means by it.
        question: what is asked of a model, in a sentence; first on the page.
        lead: what is tested, for somebody who has never heard of it.
        terms: the measures and what they mean.
        source: the papers that it follows.
        hub_id: the data's id on the Hub, where it is there.
        released: fingerprint of the data, as the key `dataset_fingerprint` of a signature has it -> the released data
            set with this content, whatever its file or folder is called.
        config_names: configurations -> what headings call them, where that is not their name in results.
        asks: the kinds of questions that a model is asked: `sentence` (log P of texts) and `gap` (the distribution at a
            gap). Its options that decide the answers to others have no effect.
        columns: its tables of scores -> their declared columns, made by `described` of `tse_scorers.io.score_columns`;
            under `rows` the metrics of its rows of results. Scores on disk are checked against them; no column that
            is declared with `Values` can be a condition of a design. By default one table, `scores`, and in it those of
            the measures: of a mean, scores are 0 to 1, or only 0 and 1.
        tables: names of the tables of this run, by default those of `columns`; where options decide, `load` sets
            `self.tables` to some of them.
        renamed: columns of the user's table -> what the tables of scores call them.
        live_groups: the level of the groups that are logged during training on request; "" for all levels.
        live_options: options with which the suite is made for evaluation during training.

    Raises:
        ValueError: `load` gives no rows, lacks a declared column, or has an item twice.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    Options: ClassVar[type[SuiteOptions]]
    measures: Sequence[Measure]
    options: Any
    key: ClassVar[tuple[str, ...]] = ()
    levels: ClassVar[tuple[str, ...]] = ()
    question: ClassVar[str] = ""
    lead: ClassVar[str] = ""
    terms: ClassVar[Mapping[str, str]] = {}
    source: ClassVar[str] = ""
    hub_id: ClassVar[str] = ""
    released: ClassVar[Mapping[str, ReleasedData]] = {}
    config_names: ClassVar[Mapping[str, str]] = {}
    asks: frozenset[Question] = frozenset({"sentence"})
    columns: ClassVar[Mapping[str, pa.Schema]] = {}
    tables: tuple[str, ...]
    renamed: ClassVar[Mapping[str, str]] = {}
    live_groups: ClassVar[str] = ""
    live_options: ClassVar[Mapping[str, object]] = {}

    def __init_subclass__(cls) -> None:
        """Name the keys in training logs after the suite: `word_order/in_order`."""
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
        key = self.key or (() if loaded is items else (str(items.frame.columns[0]),))
        if unknown := [level for level in self.levels if level not in type(self).levels]:
            raise ValueError(
                f"{type(self).__name__}.load set the levels {', '.join(self.levels)}; expected some of those of the "
                f"class ({', '.join(type(self).levels) or 'none'}), by which results on disk are read. List "
                f"{', '.join(unknown)} in its `levels`."
            )
        data: str | None = getattr(options, "data", None)
        self.dataset = items.dataset or (self.name if data is None else data)
        config = items.config or (self.name if data is None else slug(Path(data).stem))
        is_own_file = self.dataset == str(data) and data not in options.data_names()
        # One's own blimp.csv is not BLiMP.
        self.config = f"own-{config}" if is_own_file and config in self.config_names else config
        self.findings = items.findings
        items = replace(items, spread=items.spread or next(iter(self.levels), ""))
        self._require_items(items.frame, key)
        self.items = items.limited(getattr(options, "limit", None))
        self._share: NDArray[np.bool_] | slice = slice(None)
        self.is_first_share = True

    def _require_items(self, items: pd.DataFrame, key: Sequence[str]) -> None:
        """Raise ValueError where there are no items, a declared column is missing, or an item is there twice."""
        table = f"The data of the suite {self.name!r}"
        if not len(items):
            raise ValueError(f"{table} has no rows.")
        require_columns(items, [*key, *self.levels], table)
        if key and (is_repeated := items.duplicated(list(key))).any():
            raise ValueError(
                f"{table} has {int(is_repeated.sum())} items more than once (columns {', '.join(key)}), the first: "
                f"{items.loc[is_repeated, list(key)].iloc[0].tolist()}. Each item may occur once; remove repetitions."
            )

    # What a suite must say, besides its name, title, options and measures.

    @abstractmethod
    def load(self) -> "pd.DataFrame | Items":
        """Return all items to ask about, one row each; raises ValueError where `self.options` or the data are wrong.

        The option `limit` is applied to what it returns. A table of the user's own is `own_table(self.options.data)`
        (`tse_scorers.suites.hub_data`): a file or a data set of the Hub. `run` writes a data frame to a file first;
        `make_suite` takes none. `require_columns` and `require_text` of `tse_scorers.io.table_files` name the row that
        is wrong.
        """

    @abstractmethod
    def ask(self, scorer: Scorer, items: pd.DataFrame, progress: Progress) -> "pd.DataFrame | Tables":
        """Return the rows of `items` with what the model answered, and the `column` of each measure.

        The columns of `items`, which may be the user's own, keep their values: new ones need names of their own.
        A suite with several tables returns them by name. A column `context_id` numbers contexts from 0; `tse merge`
        continues the numbers from shard to shard.

        The functions of `tse_scorers.models.answers` ask a scorer and check what it answers. Log-probabilities are
        natural logs. Without a model (`tse estimate`), all answers are 0. `items` may be a share of the data
        (`--shard`): a score that depends on other items is `derived` by its measure.

        Raises:
            ValueError: the scorer does not support the suite's questions.
        """

    # What it may say besides.

    def check_scorer(self, scorer: Scorer) -> None:  # noqa: B027
        """Raise ValueError where a scorer cannot answer what the suite asks; called before any model runs."""

    def describe(self, scorer: Scorer) -> dict[str, object]:
        """Return what decides the scores besides the suite and the scorer; the same for every shard.

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
            key = cls.key or (table.column_names[0],)
            columns = dict.fromkeys([*key, *cls.levels, "cluster", "item", measure.score_column])
            has_own_groups = any("groups" in vars(base) for base in cls.__mro__[: cls.__mro__.index(Suite)])
            needs_all = has_own_groups or measure.estimate is not None or measure.derived is not None
            items = _with_derived(known_columns(table, table.column_names if needs_all else columns), measure)
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

        `items` then has all columns of the table of scores: the user's, what `ask` added, and `score`, the scores of
        the measure that is averaged. Comparisons add `reference_score`, and leave out items that only one model scored.
        Without a `groups` of its own, a suite reads only the declared columns for a measure that is a mean.
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

    def two_way_choices(self) -> TwoWayChoices:
        """Return the data as choices between two continuations, for `tse export lm-eval` and `tse import`.

        Raises:
            ValueError: its items are not such choices, or not compared by their log-probabilities alone.
        """
        suites = [suite.name for suite in all_suites() if suite.two_way_choices is not Suite.two_way_choices]
        raise ValueError(
            f"The scores of the suite {self.name} are not choices between two texts, which other tools compare; "
            f"expected {' or '.join(suites)}. Choose one with --suite."
        )

    def looked_up(self, scorer: PairScorer, only_outcomes: bool) -> tuple[dict[str, object], Tables]:
        """Return signature and scores of choices that another tool has made, for `tse import`.

        Args:
            scorer: returns the log-probabilities of both sides of each row of `items`.
            only_outcomes: whether these only say which side is the more probable one.

        Raises:
            ValueError: the scores are not those of such choices, or need the log-probabilities.
        """
        raise ValueError(f"Scores of other tools cannot be imported for the suite {self.name}.")

    @classmethod
    def title_of(cls, configs: Collection[str | None]) -> str:
        """Return the title of results on data of these configurations."""
        return cls.title

    @classmethod
    def group_name(cls, level: str, value: str) -> str:
        """Return what a group is called in headings and sentences."""
        return plain_group(cls.name, level, value)

    @classmethod
    def item_table(cls, file: ScoreFile) -> pd.DataFrame | None:
        """Return the rows of a file of scores, with what is needed to read them; None if its rows are not items."""
        rows = file.read_table().to_pandas()
        for measure in cls.measures:
            if measure.table == file.table:
                rows = _with_derived(rows, measure)
        return rows

    @classmethod
    def labelled(cls, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the suite's rows of results in the order of tables, with `label`, what these call the group.

        With a column `is_repeated`, groups that it marks are left out where another level has the same scores.
        """
        rows = configs_apart(rows)
        return rows.assign(label=rows["value"].where(rows["level"] != "all", OVERALL))

    @classmethod
    def scored_items(cls, runs: Runs, measure: Measure, rows: pd.DataFrame) -> ScoredItems | None:
        """Return the items behind rows of results, `labelled`; None where they are not shown.

        By default, an item is shown by what makes it the same in two runs, with its score; those of headline measures
        that are means. A suite that shows more of them reads its scores, for instance a sentence beside its reversal:

            @classmethod
            def scored_items(cls, runs, measure, rows):
                def read(system):
                    items = read_files(files_of(runs, cls.name, system), ["sentence", "reversal", "length", "in_order"])
                    return items.rename(columns={"sentence": "good", "reversal": "bad", "in_order": "score"})

                return ScoredItems(cls.name, items_of_rows(rows), read, {"score": measure.label}, "sentences")

        The three functions are in `tse_scorers.suites.item_files`. The columns of groups, here `length`, tell which
        items belong to a row.
        """
        if measure.estimate is not None or measure not in cls.measures:
            return None
        return compared_items(runs, cls, measure, rows)

    @classmethod
    def more_views(cls, runs: Runs) -> Iterable[View]:
        """Return what report and explorer show besides scores by group."""
        return ()

    @classmethod
    def hub_dataset(cls, row: Mapping[str, Scalar], organization: str | None) -> str:
        """Return the id on the Hub of the data that a row of results is about, for entries of a model's card.

        Where it is known which version the scores are of, `@` and its commit follow.

        Args:
            row: of `results.json`.
            organization: the organization that hosts the released data sets, or None.

        Raises:
            ValueError: the data is the user's own, or no organization was given.
        """
        return cls.hub_id or released_dataset(row, cls.released.values(), organization)

    @classmethod
    def released_data(cls, signature: Signature) -> ReleasedData | None:
        """Return the released data set whose content was scored; None for any other.

        Args:
            signature: of one model, from `results.json`.
        """
        return cls.released.get(str(signature.get("dataset_fingerprint")))

    # What follows.

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
        return described(
            *(
                (name, "double", measure.label, Values.ANY if measure.estimate else values)
                for name, measure, values in columns
            )
        )

    @classmethod
    def score_columns(cls, file: ScoreFile) -> set[str]:
        """Return the columns of a file that are scores, and so no conditions of a design."""
        return scores_among(file.column_names, cls.declared_columns(file.table))

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.items.frame)

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one of `of` shares of the data for `score`; together they are the whole. A share may be empty."""
        self._share = share(pd.Series(self.items.together(self.items.shard_by)), number, of).to_numpy()
        self.is_first_share = number == 1

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` pairs, spread evenly; the same seed keeps the same ones.

        `tse estimate --budget` and evaluation during training call it.

        Raises:
            ValueError: the budget is too small for anything to be scored.
        """
        self.items, self._share = self.items.sampled(budget, seed), slice(None)

    def keep_items(self, is_marked: NDArray[np.bool_]) -> None:
        """Keep the marked rows, (rows,)."""
        frame = self.items.frame[is_marked].reset_index(drop=True)
        self.items, self._share = replace(self.items, frame=frame), slice(None)

    def signature(self, scorer: Scorer) -> dict[str, object]:
        """Return everything that decides the scores, the scorer's signature included; the same for every shard."""
        return {"suite": self.name, **self.describe(scorer), **scorer.signature}

    def score(self, scorer: Scorer, progress: Progress) -> Tables:
        """Return scores per item, one table per name in `tables`; of an empty share, tables without rows.

        Raises:
            ValueError: the scorer does not support the suite's questions.
        """
        rows = self.items.frame[self._share]
        tables = self._asked(scorer, rows if len(rows) else self.items.frame[:1], progress)
        return tables if len(rows) else {name: table.slice(0, 0) for name, table in tables.items()}

    def _asked(self, scorer: Scorer, rows: pd.DataFrame, progress: Progress) -> Tables:
        answers = self.ask(scorer, rows.reset_index(drop=True), progress)
        if not isinstance(answers, pd.DataFrame):
            return answers
        columns = [measure.score_column for measure in self.measures if measure.derived is None]
        if missing := [column for column in columns if column not in answers]:
            raise ValueError(
                f"{type(self).__name__}.ask returned no column {', '.join(missing)}, the scores of a measure; it has "
                f"{', '.join(answers)}. Add the column, name another one in `Measure.column`, or return the scores in "
                "`Measure.derived`, if they depend on other items."
            )
        if len(answers) != len(rows):
            raise ValueError(
                f"{type(self).__name__}.ask returned {len(answers)} rows; expected those {len(rows)} that it got."
            )
        if changed := _changed_columns(rows.reset_index(drop=True), answers):
            raise ValueError(
                f"{type(self).__name__}.ask returned other values in {', '.join(changed)}, which the data already has; "
                "expected the rows as they are, with further columns. Rename these columns in the data or in `ask`."
            )
        answers = answers.astype(dict.fromkeys(columns, float))
        return {SINGLE: pa.Table.from_pandas(answers, preserve_index=False)}

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
    def views(cls, runs: Runs) -> Section | None:
        """Return what report and explorer show: scores by group, `more_views`, and the analyses of other packages."""
        return standard_section(cls, runs)
