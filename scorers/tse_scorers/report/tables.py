"""A table: printed by the report, and with its cells as data."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..statistics.estimate import enough_units
from .numbers import (
    FEW_ITEMS,
    MISSING,
    UNKNOWN,
    WHY_NO_INTERVAL,
    WHY_NO_SCORE,
    count,
    decimals,
    p_value,
    ranged,
    score,
    signed,
    with_interval,
)

__all__ = [
    "BASIS", "CELLS", "MISSING", "Basis", "Intervals", "ScoredItems", "Table", "count", "counts_table",
    "decimals",
    "formatted", "formatted_with_intervals", "joined", "note_on_intervals", "p_value", "score", "shared_headings",
     "signed", "spread", "stacked", "with_interval", "with_published",
]  # fmt: skip

CELLS = [
    "label", "system", "score", "n", "n_excluded", "n_ties", "ci_low", "ci_high", "se", "reliable", "unit", "n_units",
    "n_units_effective", "n_lemmas", "config", "group", "level", "value",
]  # fmt: skip
"""Columns of the cells of a table of scores: where a score stands (`label` down, `system` across), the score (NaN for
none), and what it is over, as in `results.json`; all but the first three are empty for scores published by others."""


def stacked(wide: pd.DataFrame, columns: Sequence[str] = ("measure",)) -> pd.DataFrame:
    """Turn a table into cells, also those without a number: `label`, the columns of its headings, and `score`."""
    named_axes = wide.rename_axis("label").rename_axis(list(columns), axis=1)
    return named_axes.melt(ignore_index=False, value_name="score").reset_index()


def with_published(own_cells: pd.DataFrame, theirs: pd.DataFrame, more: Sequence[str] = ()) -> pd.DataFrame:
    """Append published cells to ours, for the labels that we have; `more` are columns that are kept besides `CELLS`."""
    published, own_cells = (cells.reindex(columns=[*CELLS, *more]) for cells in (theirs, own_cells))
    published = published[published["label"].isin(own_cells["label"])]
    return (
        pd.concat([own_cells, published.astype(own_cells.dtypes)], ignore_index=True)
        if len(published)
        else own_cells
    )


def spread(cells: pd.DataFrame, column: str, across: Sequence[str] = ("system",)) -> pd.DataFrame:
    """Put a column of numbers into a table, labels down and `across` (upper and lower heading) across.

    Both are in the order of the cells; of several cells of one place, the last one counts.
    """
    return Places.of(cells, across).frame(cells[column].to_numpy(dtype=float))


class Places(NamedTuple):
    """Where cells stand in a table, labels down and systems across, both in the order of the cells.

    Attributes:
        labels: the rows of the table.
        headings: its columns.
        rows: the row of each cell, (cells,).
        columns: the column of each cell, (cells,).
    """

    labels: pd.Index
    headings: pd.Index
    rows: npt.NDArray[np.intp]
    columns: npt.NDArray[np.intp]

    @classmethod
    def of(cls, cells: pd.DataFrame, across: Sequence[str], corner: str | None = None) -> "Places":
        """Find the place of each cell; see `spread`."""
        rows, labels = pd.factorize(cells["label"], use_na_sentinel=False)
        columns, headings = pd.factorize(cells[across[0]], use_na_sentinel=False)
        if len(across) > 1:  # what has the same upper heading stands together
            by = list(across)
            heads = cells[by].drop_duplicates()
            heads = heads.iloc[np.argsort(headings.get_indexer(heads[by[0]]), kind="stable")]
            headings, of_cells = (pd.MultiIndex.from_frame(frame) for frame in (heads, cells[by]))
            headings, columns = headings.set_names([None] * len(by)), headings.get_indexer(of_cells)
        return cls(pd.Index(labels, name=corner), headings, rows, columns)

    def frame(self, values: "Numbers") -> pd.DataFrame:
        """Return the table of a number of each cell; of several cells of one place, the last one counts."""
        wide = np.full((len(self.labels), len(self.headings)), np.nan)
        wide[self.rows, self.columns] = values
        return pd.DataFrame(wide, self.labels, self.headings)


@dataclass(frozen=True)
class Intervals:
    """The ends of the 95 % intervals of a table's scores, in its rows and columns; NaN where there is none.

    Attributes:
        low: lower ends.
        high: upper ends.
        se: standard errors, None if they are not known.
        reliable: 1 and 0 for intervals that are over enough units or not, NaN or None if that is not known.
    """

    low: pd.DataFrame
    high: pd.DataFrame
    se: pd.DataFrame | None = None
    reliable: pd.DataFrame | None = None

    def map(self, change: Callable[[pd.DataFrame], pd.DataFrame]) -> "Intervals":
        """Change all tables alike."""
        beside = (None if frame is None else change(frame) for frame in (self.se, self.reliable))
        return Intervals(change(self.low), change(self.high), *beside)

    def columns(self, headings: pd.Index, rows: pd.Index) -> pd.DataFrame:
        """Return the columns of a CSV file: `<heading> se`, `<heading> ci_low`, `<heading> ci_high`."""
        return _side_by_side({"se": self.se, "ci_low": self.low, "ci_high": self.high}, headings, rows)


def _side_by_side(
    frames: Mapping[str, pd.DataFrame | None], headings: pd.Index, rows: pd.Index
) -> pd.DataFrame:
    """Return the columns `<heading> <name of the frame>` of a CSV file."""
    columns_of = {
        kind: dict(frame.reindex(rows).items()) for kind, frame in frames.items() if frame is not None
    }
    return pd.DataFrame(
        {
            f"{heading} {kind}": columns[column].to_numpy()
            for column, heading in zip(headings, shared_headings(headings), strict=True)
            for kind, columns in columns_of.items()
            if column in columns
        }
    )


BASIS = ("n", "n_units_effective", "n_excluded")
"""The columns of results that say what a score is over."""


Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Basis:
    """What the scores of a table are over, in its rows and columns; NaN where that is not known.

    Attributes:
        n: numbers of items.
        units: effective numbers of the units that intervals are over.
        excluded: numbers of items without a score.
        by_measure: whether the lowest headings are measures, which have items of their own.
    """

    n: pd.DataFrame
    units: pd.DataFrame
    excluded: pd.DataFrame
    by_measure: bool = False

    @classmethod
    def of(cls, spread: Callable[[str], pd.DataFrame], by_measure: bool = False) -> "Basis":
        """Make it with a function that spreads a column of results into the rows and columns of a table."""
        n, units, excluded = (spread(column).astype(float) for column in BASIS)
        return cls(n, units, excluded, by_measure)

    def map(self, change: Callable[[pd.DataFrame], pd.DataFrame]) -> "Basis":
        """Change all tables alike."""
        return Basis(change(self.n), change(self.units), change(self.excluded), self.by_measure)

    def of_rows(self, rows: pd.Index) -> dict[str, list[str]]:
        """Return a text for each row, such as `80 (2.6), 4 excluded`; measures with equal texts share a column."""
        frames = self._numbers(rows)
        measures_of: dict[tuple[str, ...], list[str]] = {}
        for measure, is_of in self._measures():
            texts = tuple(
                _over(*of_row) for of_row in zip(*(frame[:, is_of] for frame in frames), strict=True)
            )
            measures_of.setdefault(texts, []).append(measure)
        return {", ".join(names): list(texts) for texts, names in measures_of.items()}

    def __str__(self) -> str:
        """Say it of all rows together, for the caption of a figure."""
        frames = self._numbers(self.n.index)
        measures_of: dict[str, list[str]] = {}
        for measure, is_of in self._measures():
            measures_of.setdefault(_over(*(frame[:, is_of] for frame in frames)), []).append(measure)
        shown = [
            f"{', '.join(names)}: {text}" if any(names) else text
            for text, names in measures_of.items()
            if text
        ]
        return f"n (effective units): {'; '.join(shown)}." if shown else ""

    def _numbers(self, rows: pd.Index) -> list[Numbers]:
        """Return n, units and excluded in some rows, (rows, columns) each."""
        frames = (self.n, self.units, self.excluded)
        return [frame.reindex(rows).to_numpy(dtype=np.float64) for frame in frames]

    def named(self, rows: pd.Index) -> pd.Index:
        """Return the names of the rows with their n, for a figure; without it where all have the same n."""
        n = [ranged(self.n.reindex(rows).iloc[place]) for place in range(len(rows))]
        names = [
            name if count_text == UNKNOWN else f"{name} (n {count_text})"
            for name, count_text in zip(rows, n, strict=True)
        ]
        return rows if len(set(n)) < 2 else pd.Index(names, name=rows.name)

    def columns(self, headings: pd.Index, rows: pd.Index) -> pd.DataFrame:
        """Return the columns of a CSV file: `<heading> n`, `<heading> n_units_effective`, `<heading> n_excluded`."""
        frames = dict(zip(BASIS, (self.n, self.units, self.excluded), strict=True))
        return _side_by_side(frames, headings, rows)

    def few(self) -> pd.DataFrame:
        """Return small numbers of items beside which the row has others of the same measure; NaN elsewhere."""
        n = self.n.to_numpy(dtype=np.float64)
        is_alike = np.ones(n.shape, dtype=bool)
        for _, is_of in self._measures():
            of_measure = n[:, is_of]
            ends = (np.fmin.reduce(of_measure, axis=1), np.fmax.reduce(of_measure, axis=1))
            is_alike[:, is_of] = ~(ends[0] < ends[1])[:, None]
        return pd.DataFrame(np.where(is_alike | (n >= FEW_ITEMS), np.nan, n), self.n.index, self.n.columns)

    def _measures(self) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
        """Yield each measure and which columns are of it."""
        measures = self.n.columns.get_level_values(-1) if self.by_measure else [""] * len(self.n.columns)
        names = np.array([str(measure) for measure in measures], dtype=object)
        for measure in dict.fromkeys(names):
            yield measure, names == measure


def _over(n: Numbers, units: Numbers, excluded: Numbers) -> str:
    """Return numbers of items, of effective units and of excluded items as a text; empty where n is not known."""
    items = ranged(n)
    if items == UNKNOWN:
        return ""
    n_units = ranged(units, 1)
    text = items if n_units == UNKNOWN else f"{items} ({n_units})"
    return f"{text}, {ranged(excluded)} excluded" if (excluded > 0).any() else text


_BASIS_NOTE = (
    "n: the number of items, and in parentheses the effective number of units that the interval is over: items "
    "with something in common, such as a word, count together."
)


_WHY_NONE = ["score", "ci_low", "n", "n_units", "n_lemmas", "n_units_effective", "reliable"]


def note_on_intervals(text: pd.DataFrame, rows: pd.DataFrame | None = None, about: str = "") -> str:
    """Say what the signs of the intervals in a table mean, and why some scores have none; empty without either.

    Args:
        text: the table's cells.
        rows: the rows of results that they come from, to say why some have no interval, where that is known.
        about: what the intervals are over, said after their signs if there are any.

    >>> note_on_intervals(pd.DataFrame({"a": ["0.50 ± 0.02"]})), note_on_intervals(pd.DataFrame({"a": ["0.50"]}))
    ('± is half the width of the 95 % interval.', '')
    >>> row = {"score": 1.0, "ci_low": float("nan"), "n_units": 4.0, "n_lemmas": 1.0}
    >>> note_on_intervals(pd.DataFrame({"a": ["1.00 [0.40, 1.00]"]}), pd.DataFrame([row]))
    'In brackets: the ends of the 95 % interval; a score over a single unit has no interval.'
    >>> row = {"score": float("nan"), "n": 12}
    >>> note_on_intervals(pd.DataFrame({"a": ["–"]}), pd.DataFrame([row]))
    '–: undefined over these items, as is a correlation with a constant side.'
    """
    cells = [str(cell) for cell in text.to_numpy(dtype=object).flat]
    has_half, has_ends = (any(sign in cell for cell in cells) for sign in "±[")
    clauses = ["± is half the width of the 95 % interval"] if has_half else []
    if has_ends:
        ends = "an interval that is not symmetric is in brackets"
        clauses.append(ends if has_half else "In brackets: the ends of the 95 % interval")
    if rows is not None:
        numbers = rows.reindex(columns=_WHY_NONE).to_numpy(dtype=float)
        scores, low, n, n_units, n_lemmas, n_effective, reliable = numbers.T
        is_without = np.isfinite(scores) & np.isnan(low)
        if (is_without & (np.fmin(n_units, n_lemmas) == 1)).any():  # of either kind, where two cross
            clauses.append("a score over a single unit has no interval")
        if (is_without & (reliable == 0) & enough_units(n_effective)).any():
            clauses.append(f"a score that is {WHY_NO_INTERVAL}, has no interval")
        if (np.isnan(scores) & (n > 0)).any():
            clauses.append(f"{MISSING}: {WHY_NO_SCORE}")
    note = f"{'; '.join(clauses)}." if clauses else ""
    return " ".join(filter(None, [note[:1].upper() + note[1:], about if has_half or has_ends else ""]))


@dataclass(frozen=True)
class ScoredItems:
    """The items behind the scores of a table; they are read when somebody opens a score.

    Attributes:
        name: the same for tables that show the same items with the same scores; letters, digits, `.`, `-` and `_`.
        rows: label of a row of the table -> the values, by column of `read`, that its items have; {} for all items.
        read: returns the items of a system: `good` and `bad` (two texts, or a text and ""), `score` (0 to 1, NaN for
            none), the columns of `values`, `people` (0 to 1) if there are judgments, and columns of texts that
            describe the item, those of `rows` among them.
        values: column of numbers -> its heading; `logprob_good` and `logprob_bad` get a margin.
        unit: what an item is, in the plural.
        about: how the texts are to be read, as a sentence, where that is not plain.
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
    about: str = ""
    people: str = "people"
    averaged: str = ""


@dataclass(frozen=True)
class Table:
    """A table; one of scores is made from its cells by `Table.of_scores`.

    Attributes:
        caption: what it shows, in which unit.
        values: raw numbers; the index holds the row headers (its name is their heading), the columns one
            or two levels of headings.
        text: the same rows formatted; may have fewer columns than `values`.
        beside: a second, muted text per cell (a published number), or None.
        note: a remark below the table.
        file: name under which the table is also written as .md, .tex and .csv, or None.
        folded: shown only when the reader opens it.
        intervals: of the scores, for the CSV file.
        number: the number of the paper's table that this one repeats, for instance `Table 2`; the LaTeX form, which
            becomes a table of another paper, leaves it out.
        interval_note: a remark on the intervals, left out where these are not shown.
        best: which cells are the best of those that compare, in the rows and columns of `text`; or None.
        notice: which models were run on a part of the data or on own data; the page says it once, at its top.
        short: what a reader sees of it while it is folded; by default, the first sentence of the caption.
        longest_header: characters of a row header on the page, beyond which it is shortened.
        systems: names that may stand in its headings and row headers; narrow LaTeX leaves their organisations out.
        basis: what its scores are over; stands once for each row, or below the table where all rows have the same.
        cells: of a table of scores, its cells (columns `CELLS`); None of other tables.
        unit: name of the counted items: contexts, pairs, sets.
        digits: the decimals of its scores.
        chance: the score of guessing, None where there is none.
        totals: row headers of averages of other rows, which a line sets apart.
        ties: what a tie does to the score, the end of a sentence about "ties, which …".
        items: what the scores are means of, None where a suite stores none.
        measure: heading of the scores in a download.
    """

    caption: str
    values: pd.DataFrame
    text: pd.DataFrame
    beside: pd.DataFrame | None = None
    note: str = ""
    file: str | None = None
    folded: bool = False
    intervals: Intervals | None = None
    number: str = ""
    interval_note: str = ""
    best: pd.DataFrame | None = None
    notice: str = ""
    short: str = ""
    longest_header: int = 60
    systems: Sequence[str] = ()
    basis: Basis | None = None
    cells: pd.DataFrame | None = field(default=None, repr=False)
    unit: str = "items"
    digits: int = 2
    chance: float | None = 0.5
    totals: Collection[str] = ()
    ties: str = "are never correct"
    items: ScoredItems | None = None
    measure: str = "score"

    @classmethod
    def of_scores(
        cls,
        cells: pd.DataFrame,
        caption: str,
        corner: str,
        *,
        form: Callable[[float], str] | None = None,
        digits: int = 2,
        across: Sequence[str] = ("system",),
        about: str = "",
        totals: Collection[str] = (),
        **options: Any,
    ) -> "Table":
        """Make a table of scores with their intervals and what they are over.

        Args:
            cells: columns `CELLS`, those that are not there being empty.
            caption: what it shows, in which unit.
            corner: the heading of the row headers.
            form: formats a number that is not a score from 0 to 1.
            digits: the decimals of scores.
            across: the columns of the cells that name a column of the table.
            about: what the intervals are over.
            totals: see the attribute.
            options: other attributes.
        """
        cells = cells.reindex(columns=[*CELLS, *(name for name in across if name not in CELLS)])
        places = Places.of(cells, across, corner)
        columns = ["score", *BASIS, "ci_low", "ci_high", "se", "reliable"]
        numbers = cells[columns].to_numpy(dtype=float).T
        wide = {column: places.frame(of_cells) for column, of_cells in zip(columns, numbers, strict=True)}
        values = wide.pop("score")
        is_own = (wide["n"].notna() | wide["se"].notna()).any()  # not those that others published
        own = wide if is_own.all() else {column: frame.loc[:, is_own] for column, frame in wide.items()}
        has_n = cells["n"].notna().any()
        basis = Basis.of(own.__getitem__, by_measure=across[-1] == "measure") if has_n else None
        intervals = Intervals(*(own[column] for column in columns[-4:]))
        text = formatted_with_intervals(values, intervals, form or partial(score, digits=digits), basis)
        defaults: dict[str, Any] = {
            "interval_note": note_on_intervals(text, cells, about), "intervals": intervals, "basis": basis,
            "totals": totals,
        }  # fmt: skip
        return cls(caption, values, text, cells=cells, digits=digits, **defaults | options)

    @cached_property
    def rule_above(self) -> set[str]:
        """The row header that a line sets apart from what is above: the first of `totals`."""
        return {*[label for label in self.text.index if label in set(self.totals)][:1]}

    @property
    def title(self) -> str:
        """The caption, after the number of the paper's table."""
        return f"{self.number}. {self.caption}" if self.number else self.caption

    @property
    def notes(self) -> str:
        """The remarks below the table."""
        return " ".join(filter(None, [self.note, self.basis_note, self.interval_note]))

    @cached_property
    def basis_columns(self) -> dict[str, list[str]]:
        """What the scores of each row are over, by measure; no columns where it is the same in all rows."""
        texts = {} if self.basis is None else self.basis.of_rows(self.text.index)
        is_same = all(len({*of_rows} - {""}) < 2 for of_rows in texts.values())
        return {} if is_same else {f"{name} n".strip(): of_rows for name, of_rows in texts.items()}

    @cached_property
    def basis_note(self) -> str:
        """What the numbers of `basis_columns` are; where there are none, what all scores are over."""
        if self.basis is None:
            return ""
        return _BASIS_NOTE if self.basis_columns else str(self.basis)

    @property
    def over(self) -> list[str]:
        """What the scores of each row are over, in a line; empty where it is the same in all rows."""
        named = [[text and f"{name} {text}" for text in texts] for name, texts in self.basis_columns.items()]
        return ["; ".join(filter(None, of_row)) for of_row in zip(*named, strict=True)] or [""] * len(
            self.text
        )

    @property
    def corner(self) -> str:
        """The heading of the row headers."""
        return str(self.text.index.name or "")

    @property
    def column_groups(self) -> list[tuple[str, int]]:
        """The upper headings with the number of columns that each spans; empty with one level."""
        if self.text.columns.nlevels == 1:
            return []
        groups: list[tuple[str, int]] = []
        for upper, _ in self.text.columns:
            if groups and groups[-1][0] == str(upper):
                groups[-1] = (groups[-1][0], groups[-1][1] + 1)
            else:
                groups.append((str(upper), 1))
        return groups

    @property
    def headings(self) -> list[str]:
        """The headings right above the columns."""
        if self.text.columns.nlevels == 1:
            return [str(column) for column in self.text.columns]
        return [str(lower) for _, lower in self.text.columns]

    def rows(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Yield each row's header and its cells as (text, muted text or "")."""
        texts = self.text.to_numpy(dtype=object)
        muted = np.full(texts.shape, "", dtype=object)
        if self.beside is not None:
            beside = self.beside.reindex(columns=self.text.columns).to_numpy(dtype=object)
            muted = np.where(pd.isna(beside), "", beside)
        for header, *cells in zip(self.text.index, texts.tolist(), muted.tolist(), strict=True):
            yield str(header), list(zip(*cells, strict=True))


def formatted(
    values: pd.DataFrame, form: Callable[[float], str] | Sequence[Callable[[float], str]]
) -> pd.DataFrame:
    """Format every cell, in one way or in one for each column; a missing number becomes a dash."""
    forms = [form] * len(values.columns) if callable(form) else form
    cells = [
        [MISSING if pd.isna(value) else of_column(value) for value, of_column in zip(row, forms, strict=True)]
        for row in values.to_numpy(dtype=object)
    ]
    return pd.DataFrame(cells, values.index, values.columns, dtype=object)


def counts_table(caption: str, rows: pd.DataFrame, by: str, names: Mapping[str, str], unit: str) -> Table:
    """Return the numbers of items behind results, a row per system, for each value of a column and its name."""
    counted = {"n": unit, "n_excluded": "excluded", "n_ties": "tied", "n_nonfinite": "no number"}
    overall = rows[rows["level"] == "all"].drop_duplicates(["system", by], keep="last")
    counts = {
        (names.get(kind, kind), title): part.set_index("system")[column]
        for kind, part in overall.groupby(by, sort=False)
        for column, title in counted.items()
    }
    values = pd.DataFrame(counts).reindex(pd.unique(overall["system"])).rename_axis("Model")
    return Table(caption, values, formatted(values, count))


_WIDE = 24
"""With more columns, cells have no room for numbers of items; tables of what was excluded have them."""


def formatted_with_intervals(
    values: pd.DataFrame,
    intervals: Intervals,
    form: Callable[[float], str] = score,
    basis: Basis | None = None,
) -> pd.DataFrame:
    """Format every score with its interval, as `with_interval` does; without it where none is known.

    Few items are shown, as in 1.00 (n 2), where not all scores of the row have as many.
    """
    few = pd.DataFrame() if basis is None or len(values.columns) > _WIDE else basis.few()
    frames = (values, intervals.low, intervals.high, few)
    aligned = [frame.reindex(index=values.index, columns=values.columns).to_numpy(float) for frame in frames]
    cells = [
        [
            with_interval(value, low, high, form) + ("" if n != n or value != value else f" (n {n:.0f})")
            for value, low, high, n in zip(*rows, strict=True)
        ]
        for rows in zip(*(frame.tolist() for frame in aligned), strict=True)
    ]
    return pd.DataFrame(cells, index=values.index, columns=values.columns, dtype=object)


def shared_headings(headings: pd.Index) -> list[str]:
    """Flatten one or two levels of headings into one."""
    return [" ".join(map(str, column)) if isinstance(column, tuple) else str(column) for column in headings]


def joined(cell: tuple[str, str]) -> str:
    """Return the text of a cell with the muted text after it, in parentheses."""
    return f"{cell[0]} ({cell[1]})" if cell[1] else cell[0]
