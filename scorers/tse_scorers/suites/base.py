"""What a tab of the explorer shows: tables, curves, points, and the items behind scores."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd


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
