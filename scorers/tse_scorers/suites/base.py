"""The contract between a suite's folder and the code that runs, reports and compares suites.

A suite is one class. An instance holds the data of one run. What needs no data (averages, the report's section, the
explorer's tabs, the items of a comparison) is static, so that it works on results from disk. Outside a suite's folder,
only one line of `suites/registry.py` contains its name. A suite in another package is declared as an entry point of the
group `tse_scorers.suites`, under the suite's name:

    [project.entry-points."tse_scorers.suites"]
    garden_paths = "my_package.suite:GardenPaths"

The options of `tse run` and `make_suite` are the fields of its dataclass `Options`, see `tse_scorers.suites.options`; a
suite is made with an instance of it. An option that it does not have is refused by name.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import pandas as pd

from ..engine.progress import Progress
from ..io.result_row import ResultRow
from ..io.table_files import Tables
from ..models.base import Scorer
from ..report.inputs import Runs, ScoreFile
from ..report.measure import Measure
from ..report.section import Section
from .items import ItemScores
from .options import SuiteOptions

__all__ = [
    "Control",
    "Curves",
    "ItemScores",
    "Items",
    "Measure",
    "Points",
    "ResultRow",
    "ScoredItems",
    "SideBySide",
    "Suite",
    "SuiteOptions",
    "Tab",
]

Items = Mapping[str, "ItemScores | pd.Series[float]"]
"""Label of a measure -> scores of its items; a series of scores stands for items that are units by themselves."""


@dataclass(frozen=True)
class Control:
    """A choice in a tab of the explorer: label -> value, the first one chosen at the start."""

    label: str
    choices: Mapping[str, Any]


@dataclass(frozen=True)
class ScoredItems:
    """The items behind the scores of a table; they are read when somebody opens a score.

    Attributes:
        name: the same for tables that show the same items with the same scores; letters, digits, `.`, `-` and `_`.
        rows: label of a row of the table -> the values, by column of `read`, that its items have; {} for all items.
        read: returns the items of a system: `good` and `bad` (two texts, or a text and ""), `score` (0 to 1, NaN for
            none), the columns of `values`, `people` (0 to 1) if there are judgments, and columns of texts that
            describe the item, those of `rows` among them.
        words: returns what a system finds probable and is wrong, for the items that `read` returns: `item` (its row
            there), `word`, `instead` (the right one in its place), and the probabilities of both, `share` and
            `share_instead`, the heaviest of an item first; None where this is not stored.
        values: column of numbers -> its heading; `logprob_good` and `logprob_bad` get a margin.
        unit: what an item is, in the plural.
        people: what the judgments in the column `people` are, as its heading.
        averaged: column of texts (`paradigm`) whose values have a mean each, over which a score is the mean; "" where
            a score is the mean of its items.

    Raises:
        ValueError: by `read`, if the system's scores of items are not there; the message replaces the items.
    """

    name: str
    rows: Mapping[str, Mapping[str, str]]
    read: Callable[[str], pd.DataFrame]
    values: Mapping[str, str]
    unit: str = "items"
    people: str = "people"
    averaged: str = ""
    words: Callable[[str], pd.DataFrame] | None = None


@dataclass(frozen=True)
class SideBySide:
    """A table with one column per system.

    Attributes:
        cells: one row per cell: `label` (the table's row), `system`, `score` (0 to 1, NaN for none), `n`, `n_excluded`,
            `n_ties` (NaN for scores published by others), `ci_low` and `ci_high` (95 %, NaN for none), `config` and
            `group` (what the score is of, as in `results.json`; empty for scores published by others).
        caption: its content and unit.
        corner: heading of the first column.
        unit: name of the counted items: contexts, pairs, sets.
        percent: whether scores are shown in percent.
        totals: labels of the rows that are averages of the other rows; they stay last however the table is sorted.
        ties: what a tie does to the score, the end of a sentence about "ties, which …".
        items: what the scores are means of, None where a suite stores none.
        measure: heading of the scores in a download.
        compared: label of the measure in `Suite.compared_items` whose scores these are; "" where they are not compared.
        limited_to: what the view is limited to (a cut-off), as the name of a download says it.
    """

    cells: pd.DataFrame
    caption: str
    corner: str
    unit: str
    percent: bool = False
    totals: Collection[str] = ()
    ties: str = "are never correct"
    items: ScoredItems | None = None
    measure: str = "score"
    compared: str = ""
    limited_to: str = ""


@dataclass(frozen=True)
class Curves:
    """Scores against cut-offs or another number, one line per `label`.

    Attributes:
        points: one row per point: `measure` names the panel's vertical axis, `side` is `top` or `bottom` of a cut-off,
            `x` the cut-off or number, `y` the score (0 to 1, NaN for none), `n` the items that it rests on, `ci_low`
            and `ci_high` its 95 % interval (NaN for none).
        caption: what the picture shows.
        axis: name of the horizontal axis.
        unit: name of the counted items.
        limited_to: what the view is limited to, as the name of a download says it.
    """

    points: pd.DataFrame
    caption: str
    axis: str = "verbs within"
    unit: str = "contexts"
    limited_to: str = ""


@dataclass(frozen=True)
class Points:
    """Two measurements of the same items: columns `item`, `label` (its group), `x`, `y`, and more for the table.

    Attributes:
        points: one row per item.
        caption: what the picture and the table show; the correlation is added to it.
        x: name of the horizontal axis.
        y: name of the vertical axis.
        unit: what an item is, in the plural.
        headings: the columns of the table with their headings, in order; all columns where it is empty.
        same_scale: whether x and y are the same measure, 0 to 1; then the table has their difference as well.
        limited_to: what the view is limited to, as the name of a download says it.
    """

    points: pd.DataFrame
    caption: str
    x: str
    y: str
    unit: str = "items"
    headings: Mapping[str, str] = field(default_factory=dict)
    same_scale: bool = False
    limited_to: str = ""


@dataclass(frozen=True)
class Tab:
    """A tab of the explorer: controls, and what is shown for their values.

    Tabs with the same title, also those of different suites, become one tab with a choice between their parts.

    Attributes:
        title: title of the tab, also in the addresses of links.
        controls: from top to bottom.
        view: called with one value per control; if it raises a ValueError, its message replaces the view.
        terms: what the scores mean, shown folded.
        part: the name of the part, if several tabs have the same title.
        name: what the page shows in place of the title, if the title does not suit the data.
        headlines: label of a headline measure -> the choice of each control that shows its scores.
    """

    title: str
    controls: Sequence[Control]
    view: Callable[..., "SideBySide | Curves | Points"]
    terms: Mapping[str, str] = field(default_factory=dict)
    part: str = ""
    name: str = ""
    headlines: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Suite(Protocol):
    """One suite with its data; made before any model is loaded, so that bad data costs no model time.

    Attributes:
        name: its name in results and on the command line.
        title: its name in tables and tabs.
        Options: its options; the suite is made with an instance, its only argument.
        measures: its headline measures, in the order of tables.
        live_groups: the level of the groups that are logged during training on request; "" for all levels.
        live_options: options with which the suite is made for evaluation during training.
        dataset: the data's name in results.
        config: the data's configuration.
        tables: names of the tables that `score` returns and a record holds: `contexts`, `pairs`; `scores` for a single
            table. `rows` is taken by the averages.
        n_items: how many items (pairs, sentences) are scored.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    Options: ClassVar[type[SuiteOptions]]
    measures: ClassVar[Sequence[Measure]]
    live_groups: ClassVar[str]
    live_options: ClassVar[Mapping[str, Any]]
    dataset: str
    config: str
    tables: tuple[str, ...]

    @property
    def n_items(self) -> int: ...  # noqa: D102

    def signature(self, scorer: Scorer) -> dict[str, Any]:
        """Return everything that decides the scores, the scorer's signature included; the same for every shard."""
        ...

    def keep_shard(self, number: int, of: int) -> None:
        """Keep one of `of` shares of the data for `score`; together they are the whole, and no context is in two.

        A share may be empty; then `score` returns tables without rows.
        """
        ...

    def keep_sample(self, budget: int, seed: int) -> None:
        """Keep at most `budget` pairs, spread evenly over the groups; the same seed keeps the same ones.

        Raises:
            ValueError: the budget is too small for anything to be scored.
        """
        ...

    def score(self, scorer: Scorer, progress: Progress) -> Tables:
        """Return scores per item, one table per name in `tables`.

        A column `context_id` numbers contexts from 0; `tse merge` continues the numbers from shard to shard.

        Raises:
            ValueError: the scorer does not support the suite's queries.
        """
        ...

    @staticmethod
    def aggregate(tables: Tables) -> list[ResultRow]:
        """Return the averages of scores per item: rows with `group` (`all` first), `metric`, `score`, `n` and counts.

        Rows may have `se`, `ci_low`, `ci_high` (95 %), `unit` (what varies) and `n_units`, as
        `tse_scorers.statistics` gives them.

        Args:
            tables: what `score` returned, by name, with tables that a later command has added.

        Raises:
            CannotAggregateError: a table is missing.
        """
        ...

    @staticmethod
    def compared_items(file: ScoreFile) -> Items:
        """Return the items for `tse compare` from a file of scores; empty if it does not use the file.

        The keys are labels of `measures`. The groups of items have the names of the groups of results.
        """
        ...

    @staticmethod
    def section(runs: Runs) -> Section | None:
        """Return the suite's section of the report, None where no run has results of it."""
        ...

    @staticmethod
    def tabs(runs: Runs) -> list[Tab]:
        """Return the suite's tabs of the explorer, none where no run has results of it."""
        ...

    @staticmethod
    def hub_dataset(row: Mapping[str, Any], organization: str | None) -> str:
        """Return the id on the Hub of the data that a row of results is about, for entries of a model's card.

        Args:
            row: of `results.json`.
            organization: the organization that hosts the shipped data sets, or None.

        Raises:
            ValueError: the data is the user's own, or no organization was given.
        """
        ...
