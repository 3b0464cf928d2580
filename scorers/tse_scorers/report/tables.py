"""A table of the report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from .numbers import (
    FEW_ITEMS,
    MISSING,
    count,
    decimals,
    p_value,
    percent,
    points,
    score,
    signed,
    with_interval,
)

__all__ = [
    "MISSING", "Intervals", "Table", "count", "decimals", "formatted", "formatted_with_intervals",
    "joined", "note_on_intervals", "p_value", "percent", "points", "score", "shared_headings", "signed",
    "with_interval",
]  # fmt: skip


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
        frames = {"se": self.se, "ci_low": self.low, "ci_high": self.high}
        columns_of = {}
        for heading, name in zip(headings, shared_headings(headings), strict=True):
            for kind, frame in frames.items():
                if frame is not None and heading in frame.columns:
                    columns_of[f"{name} {kind}"] = frame[heading].reindex(rows).to_numpy()
        return pd.DataFrame(columns_of)


@dataclass(frozen=True)
class Table:
    """A table of the report.

    Attributes:
        caption: what it shows, in which unit.
        values: raw numbers; the index holds the row headers (its name is their heading), the columns one
            or two levels of headings.
        text: the same rows formatted; may have fewer columns than `values`.
        beside: a second, muted text per cell (a published number), or None.
        note: a remark below the table.
        file: name under which the table is also written as .md, .tex and .csv, or None.
        rule_above: row headers that a line sets apart from what is above.
        folded: shown only when the reader opens it.
        intervals: of the scores, for the CSV file.
        number: the number of the paper's table that this one repeats, for instance `Table 2`; the LaTeX form, which
            becomes a table of another paper, leaves it out.
        interval_note: a remark on the intervals, left out where these are not shown.
        best: which cells are the best of those that compare, in the rows and columns of `text`; or None.
        notice: which models were run on a part of the data or on own data; the page says it once, at its top.
        short: what a reader sees of it while it is folded; by default, the first sentence of the caption.
        systems: names that may stand in its headings and row headers; narrow LaTeX leaves their organisations out.
    """

    caption: str
    values: pd.DataFrame
    text: pd.DataFrame
    beside: pd.DataFrame | None = None
    note: str = ""
    file: str | None = None
    rule_above: Sequence[str] = ()
    folded: bool = False
    intervals: Intervals | None = None
    number: str = ""
    interval_note: str = ""
    best: pd.DataFrame | None = None
    notice: str = ""
    short: str = ""
    systems: Sequence[str] = ()

    @property
    def title(self) -> str:
        """The caption, after the number of the paper's table."""
        return f"{self.number}. {self.caption}" if self.number else self.caption

    @property
    def notes(self) -> str:
        """The remarks below the table."""
        return " ".join(filter(None, [self.note, self.interval_note]))

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
        beside = self.beside if self.beside is not None else pd.DataFrame(index=self.text.index)
        beside = beside.reindex(columns=self.text.columns).astype(object)
        beside = beside.where(beside.notna(), "")
        for position, header in enumerate(self.text.index):
            yield str(header), list(zip(self.text.iloc[position], beside.iloc[position], strict=True))


def formatted(values: pd.DataFrame, form: Callable[[float], str]) -> pd.DataFrame:
    """Format every cell; a missing number becomes a dash."""
    return values.astype(object).map(lambda value: MISSING if pd.isna(value) else form(value))


_WIDE = 24
"""With more columns, cells have no room for numbers of items; tables of what was excluded have them."""


def formatted_with_intervals(
    values: pd.DataFrame,
    intervals: Intervals,
    form: Callable[[float], str] = score,
    counts: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Format every cell with its interval, as `with_interval` does; without it where none is known.

    Args:
        values: scores.
        intervals: of the scores.
        form: formats a score.
        counts: items of each score, in the same rows and columns; few are shown, as in 1.00 (n 2).
    """
    there = intervals.map(lambda ends: ends.reindex(index=values.index, columns=values.columns))
    frames = [frame.to_numpy(dtype=float) for frame in (values, there.low, there.high)]
    cells = [
        [with_interval(value, low, high, form) for value, low, high in zip(*rows, strict=True)]
        for rows in zip(*frames, strict=True)
    ]
    text = pd.DataFrame(cells, index=values.index, columns=values.columns, dtype=object)
    if counts is None or len(values.columns) > _WIDE:
        return text
    n = counts.reindex(index=values.index, columns=values.columns).astype(float)
    return text.where(~(n.lt(FEW_ITEMS) & values.notna()), text + n.map(lambda few: f" (n {few:.0f})"))


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
    """
    cells = text.astype(str)
    has_half, has_ends = (
        bool(cells.map(lambda cell, sign=sign: sign in cell).any(axis=None)) for sign in "±["
    )
    clauses = ["± is half the width of the 95 % interval"] if has_half else []
    if has_ends:
        ends = "an interval that is not symmetric is in brackets"
        clauses.append(ends if has_half else "In brackets: the ends of the 95 % interval")
    if rows is not None:
        is_without = rows["score"].notna() & rows["ci_low"].isna()
        is_single = rows[["n_units", "n_lemmas"]].min(axis=1) == 1  # of either kind, where two cross
        if (is_without & is_single).any():
            clauses.append("a score over a single unit has no interval")
    note = f"{'; '.join(clauses)}." if clauses else ""
    return " ".join(filter(None, [note[:1].upper() + note[1:], about if has_half or has_ends else ""]))


def shared_headings(headings: pd.Index) -> list[str]:
    """Flatten one or two levels of headings into one."""
    return [" ".join(map(str, column)) if isinstance(column, tuple) else str(column) for column in headings]


def joined(cell: tuple[str, str]) -> str:
    """Return the text of a cell with the muted text after it, in parentheses."""
    return f"{cell[0]} ({cell[1]})" if cell[1] else cell[0]
