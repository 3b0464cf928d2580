"""Warnings about unusual input data, found when it is loaded, before any model time is spent.

What makes scores meaningless is a ValueError that names the rows. What only limits them is a `Finding`: it is counted,
printed once, and the data is scored as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .items import own_units

if TYPE_CHECKING:
    pass

WHITE_SPACE = r"^\s|\s$|\s\s|[^\S ]|[\u00ad\u200b\u2060\ufeff]"
"""White space that is not one space between two words: doubled, at an end, another character, or one without width."""
INSIDE = r"\s\s|[^\S ]|[\u00ad\u200b\u2060\ufeff]"
"""The same, not counting the ends of a text."""


class DataWarning(UserWarning):
    """Something about the data that limits what its scores mean."""


@dataclass(frozen=True)
class Finding:
    """Something unusual about the data, not severe enough to reject it.

    Attributes:
        subject: what was found, which the count follows: "rows that repeat an earlier row".
        count: how many.
        example: the first of them.
        advice: what it does to scores, and what to do.
    """

    subject: str
    count: int
    example: str
    advice: str

    def __str__(self) -> str:
        """Return one line."""
        example = f" (the first: {self.example})" if self.example else ""
        return f"{self.subject}: {self.count:,}{example}. {self.advice}"


def repeated_items(items: pd.DataFrame, columns: Sequence[str], texts: "pd.Series[Any]") -> list[Finding]:
    """Return findings about repeated rows, and about a column `item`, which names the units where an item recurs.

    Args:
        items: the data.
        columns: what is alike in repeated rows.
        texts: what to show of each row.
    """
    repeated = items.duplicated([*columns])
    advice = "TSE counts each of them. Remove repetitions."
    findings = row_findings(repeated, texts, "rows that repeat an earlier row", advice)
    if "cluster" in items or "item" not in items or own_units(items, "item") is None:
        return findings
    labels = items["item"].dropna()
    several = labels[labels.duplicated()]
    subject = f"items that occur in several of the {len(items):,} rows (column item)"
    advice = (
        "Each item is one unit of intervals and tests, in all groups. For other units, add a column cluster."
    )
    return [*findings, Finding(subject, several.nunique(), str(several.iloc[0]), advice)]


def row_findings(
    mask: "pd.Series[bool]", examples: "pd.Series[Any]", subject: str, advice: str
) -> list[Finding]:
    """Return a finding about the marked rows, or none.

    Args:
        mask: which rows.
        examples: what to show of each row.
        subject: see `Finding`.
        advice: see `Finding`.
    """
    count = int(mask.sum())
    if not count:
        return []
    row = int(mask.to_numpy().argmax())
    return [Finding(subject, count, f"row {mask.index[row] + 1}, {str(examples.iloc[row])[:80]!r}", advice)]


def matching(texts: "pd.Series[str]", pattern: str) -> "pd.Series[bool]":
    """Return which texts contain a regular expression; equal texts, which are many in a column, are searched once."""
    codes, different = pd.factorize(texts)
    contain = pd.Series(different, dtype=texts.dtype).str.contains(pattern).to_numpy(dtype=bool)
    return pd.Series(np.append(contain, False)[codes], index=texts.index)  # -1, the last one, is no text


def white_space(frame: pd.DataFrame, patterns: dict[str, str]) -> list[Finding]:
    """Return a finding about rows with white space that changes scores.

    Args:
        frame: the data.
        patterns: column -> what to look for, `WHITE_SPACE` or `INSIDE`.
    """
    marks = {column: matching(frame[column], pattern) for column, pattern in patterns.items()}
    odd = pd.DataFrame(marks).any(axis=1)
    if not odd.any():
        return []
    row = int(odd.to_numpy().argmax())
    column = next(column for column, mark in marks.items() if mark.iloc[row])
    examples = frame[column].astype(str)
    advice = "These characters change scores. Replace each run of them by one space, and none at the ends."
    return row_findings(odd, examples, "rows with white space other than one space between words", advice)


def listed_rows(frame: pd.DataFrame, columns: Sequence[str], at_most: int = 3) -> str:
    """Return the first rows of a table for a message: `row 4 (number=plural); row 7 (…); …`."""
    shown = [
        f"row {index + 1} ({', '.join(f'{column}={getattr(row, column)}' for column in columns)})"
        for index, row in zip(frame.index[:at_most], frame[:at_most].itertuples(), strict=True)
    ]
    return "; ".join(shown) + ("; …" if len(frame) > at_most else "")


def require_group_names(names: "pd.Series[str]", column: str, table: str, forbidden: str = "") -> None:
    """Raise ValueError where a group could not be told apart in tables: blank, `all`, or with a forbidden character.

    Args:
        names: the group of each row.
        column: what the column is called in the user's table.
        table: the table's name for the message.
        forbidden: a character that groups of other kinds are named with.
    """
    for name in names.unique():
        row = int((names == name).to_numpy().argmax())
        where = f"{table} holds {name!r:.80} in column {column!r} of row {row + 1}"
        if not name.strip():
            raise ValueError(f"{where}; expected the name of a group. Fill it in or remove the row.")
        if name.strip().lower() == "all":
            raise ValueError(f"{where}; this name is taken by the average over all groups. Rename the group.")
        if forbidden and forbidden in name:
            raise ValueError(
                f"{where}; a name with {forbidden!r} is read as another kind of group (such as phenomenon:…), and "
                f"this one would be missing in tables. Rename it without {forbidden!r}."
            )
