"""A suite in six members; all else is derived from them, for suites whose scores are means over items.

    class WordOrder(DeclaredSuite[WordOrderOptions]):
        name, title, Options = "word_order", "Order of words", WordOrderOptions
        measures = (measure("in_order", "in order", chance=None),)

        def load(self):                        # rows to ask about; checked, before any model is loaded
            return pd.DataFrame({"sentence": …, "length": …})

        def ask(self, scorer, items, progress):  # the same rows, with a column of scores for each measure
            return items.assign(in_order=sentence_logprobs(scorer, …) > …)

`examples/word_order` is this suite as a package. The data of `examples/judgments` is a table of the user's own (the
options `data` and `own_columns`, and `tse_scorers.suites.hub_data.own_table`), and its measure is a correlation.

Derived are: signature, shards, samples, averages with intervals by group, comparison, items for mixed models and
conditions, section of the report, tab of the explorer, keys in training logs, command line and help. A suite that needs
more implements the protocol `tse_scorers.suites.base.Suite` itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from ..engine.progress import Progress
from ..io.files import slug
from ..io.records import SINGLE
from ..io.result_row import ResultRow
from ..io.table_files import Tables, require_columns
from ..models.base import Scorer
from ..models.options import Question
from ..report.inputs import Runs, ScoreFile, configs_apart
from ..report.measure import Measure
from ..report.section import Part, Section
from ..report.tables import Basis, Intervals, Table, formatted_with_intervals, note_on_intervals
from ..report.tables import percent as in_percent
from ..report.tables import score as as_proportion
from ..statistics import Units, clustered_mean
from ..statistics.estimate import Estimate
from ..statistics.units import own_units
from .base import Control, Items, SideBySide, Tab
from .checks import Findings
from .hub_data import shipped_dataset
from .item_files import compared_items
from .items import Group, ItemScores
from .options import SuiteOptions
from .own_columns import data_signature
from .sampling import limited, sampled, score_share, share
from .side_by_side import CELLS

OptionsT = TypeVar("OptionsT", bound=SuiteOptions)
Estimator = Callable[[pd.DataFrame, Units], Estimate]
"""Gives a measure's estimate over items and their units; the items have all columns of `ask`."""


@dataclass(frozen=True)
class ItemMeasure(Measure):
    """A headline measure of a declared suite, made by `measure`.

    Attributes:
        name: its name in results.
        column: the items' scores, in what `ask` returns.
        estimate: None for the mean.
    """

    name: str = ""
    column: str = ""
    estimate: Estimator | None = None


def measure(
    name: str,
    label: str = "",
    *,
    column: str = "",
    estimate: Estimator | None = None,
    percent: bool = False,
    chance: float | None = 0.5,
    right_or_wrong: bool = False,
    why_excluded: str = "",
) -> ItemMeasure:
    """Declare a measure.

    Args:
        name: its name in results.
        label: what tables call it; by default its name.
        column: the column of scores that `ask` adds; by default its name. The score of an item is NaN where it has
            none, and 0 to 1 or bool if the measure is a mean.
        estimate: how items become one number; called for all items and for each group with those that have a score,
            with all columns of `ask`, and with their units. For Matthews' correlation, which is Pearson's of two
            columns of 0 and 1: `lambda items, units: correlation(items["label"], items["accepted"], units)`, with
            `tse_scorers.statistics.correlation`. By default the mean, with an interval over units. `tse compare`
            compares only means: beside a correlation, declare an accuracy.
        percent: whether tables show it in percent.
        chance: the score of guessing (of a correlation, 0); None where there is none.
        right_or_wrong: whether the score of an item is 0 or 1.
        why_excluded: why items have no score.
    """
    return ItemMeasure(
        label or name, {"metric": name}, percent=percent, chance=chance, right_or_wrong=right_or_wrong,
        why_excluded=why_excluded, name=name, column=column or name, estimate=estimate,
    )  # fmt: skip


class DeclaredSuite(ABC, Generic[OptionsT]):
    """Base class of suites that declare their items, and what is asked about them.

    Obligatory are `name`, `title`, `Options` (a subclass of `SuiteOptions`), `measures`, `load` and `ask`.

    Attributes:
        options: the values of this run.
        key: columns that make an item the same in two runs; by default the first column of `load`. Name it where the
            table is the user's.
        levels: columns whose values are groups of results; limits and samples are even over the first one's. Where a
            column is optional, `load` sets `self.levels` to those that are there.
        unit: column whose values are the units of intervals; by default a column `cluster` or a repeated `item`, or
            each item by itself.
        lead: what is tested, for somebody who has never heard of it: first sentence of the section.
        dataset: the data's name in results: that of the suite, or the option `data`; `load` may set it.
        config: the data's configuration; `load` may set it.
        hub_id: the data's id on the Hub, where it is there.
        findings: what is remarkable about the data; `load` may set it.

    Raises:
        ValueError: `load` gives no rows, lacks a declared column, or has an item twice.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    Options: ClassVar[type[SuiteOptions]]
    measures: ClassVar[Sequence[ItemMeasure]]
    key: ClassVar[tuple[str, ...]] = ()
    levels: ClassVar[tuple[str, ...]] = ()
    unit: ClassVar[str] = ""
    lead: ClassVar[str] = ""
    hub_id: ClassVar[str] = ""
    asks: ClassVar[frozenset[Question]] = frozenset({"sentence"})
    live_groups: ClassVar[str] = ""
    live_options: ClassVar[Mapping[str, Any]] = {}
    tables: tuple[str, ...] = (SINGLE,)
    findings: Findings = ()

    def __init_subclass__(cls) -> None:
        """Name the keys in training logs after the suite: `word_order/in_order`."""
        if "measures" in vars(cls):
            named = [replace(own, live_key=f"{cls.name}/{own.name}") for own in cls.measures]
            cls.measures = tuple(named)

    def __init__(self, options: OptionsT) -> None:
        self.options = options
        own: str | None = getattr(options, "data", None)
        self.dataset = self.name if own is None else own
        self.config = self.name if own is None else slug(Path(own).stem)
        items = self.load()
        what = f"The data of the suite {self.name!r}"
        if not len(items):
            raise ValueError(f"{what} has no rows.")
        self._key = list(self.key) or [str(items.columns[0])]
        require_columns(items, [*self._key, *self.levels, *([self.unit] if self.unit else [])], what)
        twice = items.duplicated(self._key)
        if twice.any():
            raise ValueError(
                f"{what} has {int(twice.sum())} items more than once (columns {', '.join(self._key)}), the first: "
                f"{items.loc[twice, self._key].iloc[0].tolist()}. Each item may occur once; remove repetitions."
            )
        self._items = limited(self._spread(items), "_spread", getattr(options, "limit", None))
        self._kept: Any = slice(None)

    def _spread(self, items: pd.DataFrame) -> pd.DataFrame:
        return items.assign(_spread=items[self.levels[0]] if self.levels else "")

    @abstractmethod
    def load(self) -> pd.DataFrame:
        """Return all items to ask about, one row each; raises ValueError where `self.options` or the data are wrong.

        The option `limit` is applied to what it returns. A table of the user's own is `own_table(self.options.data)`
        (`tse_scorers.suites.hub_data`): a file or a data set of the Hub; from Python, a data frame that was written to
        a file. `require_columns` and `require_text` of `tse_scorers.io.table_files` name the row that is
        wrong.
        """

    @abstractmethod
    def ask(self, scorer: Any, items: pd.DataFrame, progress: Progress) -> pd.DataFrame:
        """Return the rows of `items` with what the model answered, and a column of scores for each measure.

        The functions of `tse_scorers.models.answers` ask a scorer and check what it answers. Log-probabilities are
        natural logs. Without a model (`tse estimate`), all answers are 0. `items` may be a share of the data
        (`--shard`): a score that depends on other items, such as a median, belongs into a measure's `estimate`.
        """

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self._items)

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one share: consecutive items."""
        self._kept = share(pd.Series(range(len(self._items))), number, of).to_numpy()

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` items, spread evenly over the groups of the first level."""
        self._items = sampled(self._items, "_spread", budget, seed)

    def signature(self, scorer: Scorer) -> dict[str, Any]:
        """Return the suite, its options, a fingerprint of the items and the scorer's signature."""
        given = {name: str(value) for name, value in asdict(self.options).items() if value is not None}
        of_data = data_signature(self._items.drop(columns="_spread").astype(str), ())
        about = {"suite": self.name, "dataset": self.config, "suite_options": given, "n_items": self.n_items}
        return about | of_data | scorer.signature

    def score(self, scorer: Scorer, progress: Progress) -> Tables:
        """Return the items with their scores."""

        def scored(items: pd.DataFrame) -> Tables:
            found = self.ask(scorer, items.drop(columns="_spread").reset_index(drop=True), progress)
            require_columns(found, [own.column for own in self.measures], f"{type(self).__name__}.ask")
            if len(found) != len(items):
                raise ValueError(
                    f"{type(self).__name__}.ask returned {len(found)} rows; expected those {len(items)} that it got."
                )
            found = found.astype({own.column: float for own in self.measures})
            return {SINGLE: pa.Table.from_pandas(found, preserve_index=False)}

        return score_share(scored, self._items, self._kept)

    @classmethod
    def aggregate(cls, tables: Tables) -> list[ResultRow]:
        """Return each measure over all items and by group."""
        (table,) = tables.values()
        items = table.to_pandas()
        return [
            group.row(own.name, found, n_ties=0)
            for own in cls.measures
            for group in cls._groups(items)
            for found in [cls._estimate(own, group)]
        ]

    @staticmethod
    def _estimate(own: ItemMeasure, group: Group) -> Estimate:
        scored = group.items[own.column].notna().to_numpy()
        estimate = own.estimate or (lambda items, units: clustered_mean(items[own.column], units))
        return estimate(group.items[scored], group.units.of(scored))

    @classmethod
    def _groups(cls, items: pd.DataFrame) -> Iterator[Group]:
        """Yield all items, then each value of each level; a unit is the same one in all groups."""
        if cls.unit:
            name, units = f"values of {cls.unit}", items[cls.unit]
        elif (own := own_units(items.assign(_row=np.arange(len(items))), "_row")) is not None:
            name, units = own
        else:
            name, units = "items", pd.Series(np.arange(len(items)), index=items.index)
        yield Group("all", "", items, Units(units.to_numpy(), name))
        for level in [level for level in cls.levels if level in items]:
            for value, rows in items.groupby(level, sort=False):
                yield Group(level, str(value), rows, Units(units[rows.index].to_numpy(), name))

    @classmethod
    def compared_items(cls, file: ScoreFile) -> Items:
        """Return the scores of items for each measure that is a mean."""
        key = list(cls.key) or file.columns()[:1]
        known = dict.fromkeys([*key, *cls.levels, *filter(None, [cls.unit]), "cluster", "item"])
        means = [own for own in cls.measures if own.estimate is None]
        items = file.read_known([*known, *(own.column for own in means)]).set_index(key)
        scores = [own.column for own in means]
        return {
            own.label: ItemScores(
                items.drop(columns=scores).assign(score=items[own.column]),
                lambda shared: cls._groups(shared.reset_index()),
            )
            for own in means
        }

    @classmethod
    def _rows(cls, runs: Runs, own: ItemMeasure) -> pd.DataFrame:
        rows = configs_apart(runs.suite(cls.name))
        rows = rows[rows["metric"] == own.name]
        return rows.assign(label=rows["value"].where(rows["level"] != "all", "Overall"))

    @classmethod
    def section(cls, runs: Runs) -> Section | None:
        """Return a table of each measure: groups down, systems across, with intervals."""
        parts = []
        for own in cls.measures:
            rows = cls._rows(runs, own)
            if len(rows):
                parts.append(Part(own.label, "", [_table(rows, own, f"{cls.name}_{own.name}")]))
        return Section(cls.name, cls.title, "", {}, parts, question=cls.lead) if parts else None

    @classmethod
    def tabs(cls, runs: Runs) -> list[Tab]:
        """Return one tab with a choice of the measure and of the level of groups."""
        measures = {own.label: own for own in cls.measures if len(cls._rows(runs, own))}
        if not measures:
            return []
        of_levels = set(pd.concat([cls._rows(runs, own)["level"] for own in measures.values()]))
        controls = [
            Control("Measure", measures),
            Control("By", {"all": "", **{name: name for name in cls.levels if name in of_levels}}),
        ]
        headlines = {label: (label, "all") for label in measures}
        return [Tab(cls.title, controls, partial(cls._side_by_side, runs), headlines=headlines)]

    @classmethod
    def _side_by_side(cls, runs: Runs, own: ItemMeasure, level: str) -> SideBySide:
        rows = cls._rows(runs, own)
        shown, is_mean = rows[rows["level"].isin((level, "all"))], own.estimate is None
        return SideBySide(
            shown.reindex(columns=CELLS), f"{cls.title}: {own.heading}.", level or "Group", "items",
            percent=own.percent, totals=["Overall"], measure=own.label, limited_to=f"by {level}" if level else "",
            compared=own.label if is_mean else "",
            items=compared_items(runs, cls.name, cls.compared_items, own.label, shown) if is_mean else None,
        )  # fmt: skip

    @classmethod
    def hub_dataset(cls, row: Mapping[str, Any], organization: str | None) -> str:
        """Return `hub_id`; raises ValueError where there is none."""
        return cls.hub_id or shipped_dataset(row, {}, organization)


def _table(rows: pd.DataFrame, own: ItemMeasure, file: str) -> Table:
    def spread(column: str) -> pd.DataFrame:
        wide = rows.pivot_table(index="label", columns="system", values=column, sort=False, dropna=False)
        return wide.astype(float).rename_axis(index="Group", columns=None)

    values, basis = spread("score"), Basis.of(spread)
    form = in_percent if own.percent else as_proportion
    text = formatted_with_intervals(values, Intervals(spread("ci_low"), spread("ci_high")), form, basis)
    note = note_on_intervals(text, rows, f"Over {rows['unit'].iloc[0]}.")
    return Table(f"{own.heading} of groups.", values, text, note=note, file=file, basis=basis)
