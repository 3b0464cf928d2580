"""The first table of a report: one row per system, one column per headline measure, all in percent."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pandas as pd

from ..statistics.estimate import MIN_RELIABLE_UNITS
from .best import best_of
from .inputs import SignatureKey
from .numbers import FEW_ITEMS, MISSING, percent, percent_range
from .tables import Basis

BADGES = {
    "all ties": "The model found both alternatives equally probable in every item: the score says nothing.",
    "partial": "Only a part of the data was scored; the score cannot be compared with others.",
    "few items": f"An average of fewer than {FEW_ITEMS} items.",
    "few units": f"The interval is over fewer than {MIN_RELIABLE_UNITS} effective units; do not rely on it.",
    "other lemmas": "Another lemma list than most systems of the column.",
}
"""Badge -> what it means."""
UNUSABLE = {"all ties", "partial", "other lemmas", "few units"}
"""Badges of numbers that cannot be the best of their column."""


@dataclass(frozen=True)
class Cell:
    """A number of the leaderboard.

    Attributes:
        text: in percent; a dash if there is none.
        margin: the interval in words, empty if there is none.
        score: 0 to 1, NaN if there is none.
        low: lower end of its 95 % interval, NaN if there is none.
        high: upper end.
        chance: the score of guessing, None if there is none.
        badges: what makes it unusable, keys of `BADGES`.
        best: whether it is the best of its column, and its interval overlaps with no lower one.
    """

    text: str = MISSING
    margin: str = ""
    score: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    chance: float | None = None
    badges: Sequence[str] = ()
    best: bool = False

    @property
    def style(self) -> str:
        """The places of the bar, its whisker and the mark of chance, for the page's style sheet."""
        whisker = (self.low, self.high) if self.low == self.low else (self.score, self.score)
        places = {"v": self.score, "l": whisker[0], "h": whisker[1], "c": self.chance or 0.0}
        return ";".join(f"--{name}:{100 * min(max(place, 0.0), 1.0):.1f}%" for name, place in places.items())


@dataclass(frozen=True)
class Leaderboard:
    """One row of cells per system, best first; a series, and systems with unreliable scores, stay in their order.

    Attributes:
        groups: suites with the number of columns of each.
        columns: the measures.
        rows: label of the system -> its cells.
        badges: the badges that occur, with what they mean.
        over: what the scores of each column are over.
    """

    groups: Sequence[tuple[str, int]]
    columns: Sequence[str]
    rows: Mapping[str, Sequence[Cell]]
    badges: Mapping[str, str]
    over: Sequence[str] = ()

    def blocks(self, most: int = 7) -> "list[Leaderboard]":
        """Split the columns into blocks of whole suites with at most `most` columns, for a printed page."""
        starts = [0, *accumulate(span for _, span in self.groups)]
        blocks: list[list[int]] = []
        for place in range(len(self.groups)):
            if blocks and starts[place + 1] - starts[blocks[-1][0]] <= most:
                blocks[-1].append(place)
            else:
                blocks.append([place])
        parts = []
        for places in blocks:
            columns = slice(starts[places[0]], starts[places[-1] + 1])
            rows = {system: cells[columns] for system, cells in self.rows.items()}
            groups = [self.groups[place] for place in places]
            parts.append(Leaderboard(groups, self.columns[columns], rows, self.badges, self.over[columns]))
        return parts


def leaderboard(
    lines: pd.DataFrame, signatures: Mapping[SignatureKey, Mapping[str, Any]], is_series: bool = False
) -> Leaderboard:
    """Arrange headline numbers.

    Args:
        lines: as `summary.headlines` returns them.
        signatures: of the systems, see `inputs.Runs`.
        is_series: keep the order of the results instead of sorting by the first measure.
    """
    keys = list(dict.fromkeys(zip(lines["suite"], lines["measure"], strict=True)))
    order = {suite: place for place, suite in enumerate(dict.fromkeys(suite for suite, _ in keys))}
    keys.sort(key=lambda key: order[key[0]])
    columns = [dict(_cells(lines, key, signatures)) for key in keys]
    systems = list(dict.fromkeys(lines["system"]))
    if not is_series and columns and not any("few units" in cell.badges for cell in columns[0].values()):
        scores = {system: cell.score for system, cell in columns[0].items() if not pd.isna(cell.score)}
        systems.sort(key=lambda system: -scores.get(system, -1.0))
    rows = {system: [column.get(system, Cell()) for column in columns] for system in systems}
    seen = {badge for cells in rows.values() for cell in cells for badge in cell.badges}
    groups = [(suite, sum(column_suite == suite for column_suite, _ in keys)) for suite in order]
    named = {badge: meaning for badge, meaning in BADGES.items() if badge in seen}
    of_key = {key: own for key, own in lines.groupby(["suite", "measure"], sort=False)}
    over = [Basis.of(lambda column, key=key: of_key[key][[column]]).text() for key in keys]  # type: ignore[misc]
    return Leaderboard(groups, [measure.removesuffix(" %") for _, measure in keys], rows, named, over)


def usable(lines: pd.DataFrame, signatures: Mapping[SignatureKey, Mapping[str, Any]]) -> pd.DataFrame:
    """Return the headline numbers that can be the best of their column."""
    usable_keys = {
        (*key, system)
        for key in dict.fromkeys(zip(lines["suite"], lines["measure"], strict=True))
        for system, cell in _cells(lines, key, signatures)
        if not UNUSABLE & set(cell.badges)
    }
    keys = zip(lines["suite"], lines["measure"], lines["system"], strict=True)
    # Without the type, pandas takes an empty mask for a list of column names.
    return lines[pd.Series([key in usable_keys for key in keys], lines.index, dtype=bool)]


def _cells(
    lines: pd.DataFrame, key: tuple[str, str], signatures: Mapping[SignatureKey, Mapping[str, Any]]
) -> Iterator[tuple[str, Cell]]:
    """Yield the systems of a column with their cells."""
    of_column = lines[(lines["suite"] == key[0]) & (lines["measure"] == key[1])]
    rows = list(of_column.drop_duplicates("system", keep="last").itertuples(index=False))
    of_row = [signatures.get((row.system, row.suite_name, row.config), {}) for row in rows]
    lists = pd.Series([signature.get("lemmas") for signature in of_row], dtype=object)
    usual = lists.mode().iloc[0] if lists.notna().any() else None
    badges = [list(_badges(row, signature, usual)) for row, signature in zip(rows, of_row, strict=True)]
    scores = [
        math.nan if UNUSABLE & set(row_badges) else row.score
        for row, row_badges in zip(rows, badges, strict=True)
    ]
    lows, highs = [row.ci_low for row in rows], [row.ci_high for row in rows]
    best = best_of(scores, lows, highs, [_text(row.score) for row in rows])
    for row, row_badges, is_best in zip(rows, badges, best, strict=True):
        score, low, high = float(row.score), float(row.ci_low), float(row.ci_high)
        margin = "" if pd.isna(low) or pd.isna(high) else percent_range(low, high)
        yield (
            row.system,
            Cell(_text(score), margin, score, low, high, row.chance, row_badges, bool(is_best)),
        )


def _text(score: float) -> str:
    return MISSING if pd.isna(score) else percent(score)


def _badges(row: Any, signature: Mapping[str, Any], usual_lemmas: object) -> Iterator[str]:
    if is_all_ties(row):
        yield "all ties"
    recipe = signature.get("recipe")
    if isinstance(recipe, Mapping) and recipe.get("partial"):
        yield "partial"
    if 0 < row.n < FEW_ITEMS:
        yield "few items"
    if row.n_units < MIN_RELIABLE_UNITS if pd.isna(row.reliable) else not row.reliable:
        yield "few units"
    if row.over_lemmas and signature.get("lemmas") != usual_lemmas:
        yield "other lemmas"


def is_all_ties(row: Any) -> bool:
    """Whether a score is what ties alone give: exactly 0, or exactly chance where they count half.

    Every item must hold a tie: a count of ties may be over more than one comparison of each item.
    """
    return bool(row.n > 0 and row.n_ties >= row.n and row.score in (0.0, row.chance))
