"""The first table of a report: one row per system, one column per headline measure."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
import pandas as pd

from ..statistics.estimate import MIN_RELIABLE_UNITS, enough_units
from .best import best_of
from .comparable import listed, scored_part, usual
from .inputs import SignatureKey
from .numbers import FEW_ITEMS, MISSING, WHY_NO_INTERVAL, counted, interval, ranged, score

BADGES = {
    "all ties": "The model found both alternatives equally probable in every item: the score says nothing.",
    "partial": "Another part of the data than that of most models, so not comparable with theirs.",
    "few items": f"An average of fewer than {FEW_ITEMS} items.",
    "few units": f"The interval is over fewer than {MIN_RELIABLE_UNITS} effective units; do not rely on it.",
    "no interval": f"The score has none, because it is {WHY_NO_INTERVAL}.",
    "other lemmas": "Over another lemma list than those of most models, so not comparable with theirs.",
}
"""Badge -> what it means."""
UNUSABLE = {"all ties", "partial", "other lemmas", "few units", "no interval"}
"""Badges of numbers that cannot be the best of their column."""


@dataclass(frozen=True)
class Cell:
    """A number of the leaderboard.

    Attributes:
        text: with the decimals of the measure; a dash if there is none.
        margin: the ends of the interval, empty if there is none.
        score: 0 to 1, NaN if there is none.
        low: lower end of its 95 % interval, NaN if there is none.
        high: upper end.
        chance: the score of guessing, None if there is none.
        badges: what limits it, keys of `BADGES`.
        marks: the letters of the notices about this score alone.
        best: whether it is the best of its column, and its interval overlaps with no lower one.
    """

    text: str = MISSING
    margin: str = ""
    score: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    chance: float | None = None
    badges: Sequence[str] = ()
    marks: str = ""
    best: bool = False

    @property
    def is_unsure(self) -> bool:
        """Whether its interval is not one to rely on."""
        return bool({"few units", "no interval", "all ties"} & set(self.badges))

    @property
    def style(self) -> str:
        """The places of the bar, its whisker and the mark of chance, for the page's style sheet."""
        whisker = (self.low, self.high) if self.low == self.low else (self.score, self.score)
        places = {"v": self.score, "l": whisker[0], "h": whisker[1], "c": self.chance or 0.0}
        return ";".join(f"--{name}:{100 * min(max(place, 0.0), 1.0):.1f}%" for name, place in places.items())


@dataclass(frozen=True)
class Notice:
    """What limits some scores, said once for all of them.

    Attributes:
        mark: the letter that stands at their column or model, or at the score where it is about that alone.
        badge: key of `BADGES`.
        about: which scores.
    """

    mark: str
    badge: str
    about: str

    @property
    def text(self) -> str:
        """What it means."""
        return BADGES[self.badge]


@dataclass(frozen=True)
class Leaderboard:
    """One row of cells per system, best first; a series, and systems with unreliable scores, stay in their order.

    Attributes:
        groups: suites with the number of columns of each.
        columns: the measures.
        rows: label of the system -> its cells.
        notices: what limits scores.
        over: what the scores of each column are over.
        column_marks: the marks of each column.
        system_marks: system -> its marks.
        ranked_by: the measure that decides the order of rows; "" where none does.
    """

    groups: Sequence[tuple[str, int]]
    columns: Sequence[str]
    rows: Mapping[str, Sequence[Cell]]
    notices: Sequence[Notice] = ()
    over: Sequence[Sequence[str]] = ()
    column_marks: Sequence[str] = ()
    system_marks: Mapping[str, str] = field(default_factory=dict)
    ranked_by: str = ""

    @property
    def chance(self) -> float | None:
        """The score of guessing, None where it is not the same one for all measures that have one."""
        scores = {cell.chance for cells in self.rows.values() for cell in cells} - {None}
        return scores.pop() if len(scores) == 1 else None

    @property
    def has_bars(self) -> bool:
        """Whether there is a score, which has a bar."""
        return any(cell.score == cell.score for cells in self.rows.values() for cell in cells)

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
            of_columns = {name: getattr(self, name)[columns] for name in ("columns", "over", "column_marks")}
            parts.append(replace(self, groups=groups, rows=rows, **of_columns))
        return parts


def leaderboard(
    lines: pd.DataFrame, signatures: Mapping[SignatureKey, Mapping[str, Any]], is_series: bool = False
) -> Leaderboard:
    """Arrange headline numbers.

    Args:
        lines: as `summary.headlines` returns them.
        signatures: of the systems, see `inputs.Runs`.
        is_series: keep the order of the results instead of sorting by the leading measure.
    """
    keys = list(dict.fromkeys(zip(lines["suite"], lines["measure"], strict=True)))
    # As sections and navigation have them, whichever system has which suites.
    suites = dict.fromkeys(lines.sort_values("place", kind="stable")["suite"])
    order = {suite: place for place, suite in enumerate(suites)}
    keys.sort(key=lambda key: order[key[0]])
    columns = [dict(_cells(lines, key, signatures)) for key in keys]
    systems = list(dict.fromkeys(lines["system"]))
    leads = set(zip(lines.loc[lines["leads"], "suite"], lines.loc[lines["leads"], "measure"], strict=True))
    ranking = [
        (key[1], cells)
        for key, cells in sorted(
            zip(keys, columns, strict=True), key=lambda column: (order[column[0][0]], column[0] not in leads)
        )
        if not any("few units" in cell.badges for cell in cells.values())
    ]
    ranked_by = ""
    if not is_series and ranking:
        ranked_by, ranking_cells = ranking[0]
        scores = {system: cell.score for system, cell in ranking_cells.items() if not pd.isna(cell.score)}
        systems.sort(key=lambda system: -scores.get(system, -1.0))
    rows = {system: [column.get(system, Cell()) for column in columns] for system in systems}
    groups = [(suite, sum(column_suite == suite for column_suite, _ in keys)) for suite in order]
    of_key = {key: of_measure for key, of_measure in lines.groupby(["suite", "measure"], sort=False)}
    over = [_over(of_key[key]) for key in keys]
    labels = [measure for _, measure in keys]
    return _noticed(Leaderboard(groups, labels, rows, (), over, ranked_by=ranked_by))


def _over(lines: pd.DataFrame) -> list[str]:
    """Say what the scores of a column are over: `180 pairs`, `4.6 effective units`, `3 excluded`."""
    over = [counted(ranged(lines["n"]), lines["counted"].iloc[0])]
    over += (
        [f"{ranged(units, 1)} effective units"] if (units := lines["n_units_effective"]).notna().any() else []
    )
    return over + ([f"{ranged(lines['n_excluded'])} excluded"] if (lines["n_excluded"] > 0).any() else [])


def _noticed(board: Leaderboard) -> Leaderboard:
    """Mark what limits scores: at a column or model where it is about all of its scores, else at the score."""
    names = list(board.columns)
    of_suite = [suite for suite, span in board.groups for _ in range(span)]
    labels = [
        f"{name} ({suite})" if names.count(name) > 1 else name
        for name, suite in zip(names, of_suite, strict=True)
    ]

    def table(value: Callable[[Cell], bool]) -> pd.DataFrame:
        return pd.DataFrame({system: list(map(value, cells)) for system, cells in board.rows.items()}).T

    scored = table(lambda cell: cell.score == cell.score)
    notices: list[Notice] = []
    marks = pd.DataFrame("", index=scored.index, columns=scored.columns)
    of_columns, of_systems = pd.Series("", index=scored.columns), pd.Series("", index=scored.index)
    for badge in BADGES:
        flags = table(lambda cell, badge=badge: badge in cell.badges)  # type: ignore[misc]
        if not flags.any(axis=None):
            continue
        mark, about = "abcdefgh"[len(notices)], []
        is_whole = (flags | ~scored).all() & flags.any() & (len(scored) > 1)
        if is_whole.any():
            about.append(f"{', '.join(labels[place] for place in scored.columns[is_whole])} of all models")
        other_flags, others = flags.loc[:, ~is_whole], scored.loc[:, ~is_whole]
        systems = (other_flags | ~others).all(axis=1) & (other_flags.sum(axis=1) > 1)
        if systems.any():
            which = "all other scores" if is_whole.any() else "all scores"
            about.append(f"{which} of {listed(list(scored.index[systems]))}")
        cells = other_flags.mul(~systems, axis=0)
        of_models: dict[str, list[str]] = {}  # models -> the measures that are limited for them alone
        for place in cells.columns[cells.any()]:
            of_models.setdefault(listed(list(cells.index[cells[place]])), []).append(labels[place])
        about += [f"{', '.join(measures)} of {models}" for models, measures in of_models.items()]
        of_columns += np.where(is_whole, mark, "")
        of_systems += np.where(systems, mark, "")
        marks[cells.columns] += np.where(cells, mark, "")
        notices.append(Notice(mark, badge, "; ".join(about)))
    rows = {
        system: [replace(cell, marks=mark) for cell, mark in zip(cells, marks.loc[system], strict=True)]
        for system, cells in board.rows.items()
    }
    return replace(
        board, rows=rows, notices=notices, column_marks=list(of_columns), system_marks=of_systems.to_dict()
    )


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
    lemmas = usual([signature.get("lemmas") for signature in of_row])
    part = usual([scored_part(signature) for signature in of_row])
    badges = [_badges(*flags_of_row, lemmas, part) for flags_of_row in zip(rows, of_row, strict=True)]
    scores = [
        math.nan if UNUSABLE & set(row_badges) else row.score
        for row, row_badges in zip(rows, badges, strict=True)
    ]
    lows, highs = [row.ci_low for row in rows], [row.ci_high for row in rows]
    form = partial(score, digits=int(of_column["digits"].iloc[0]))
    texts = [MISSING if pd.isna(row.score) else form(row.score) for row in rows]
    best = best_of(scores, lows, highs, texts)
    for row, text, row_badges, is_best in zip(rows, texts, badges, best, strict=True):
        low, high = float(row.ci_low), float(row.ci_high)
        margin = "" if pd.isna(low) or pd.isna(high) else interval(low, high, form)
        yield (
            row.system,
            Cell(text, margin, float(row.score), low, high, row.chance, row_badges, best=bool(is_best)),
        )


def _badges(row: Any, signature: Mapping[str, Any], usual_lemmas: object, usual_part: str) -> list[str]:
    badges = set(doubts_of(row))
    if scored_part(signature) != usual_part:
        badges.add("partial")
    if row.over_lemmas and signature.get("lemmas") != usual_lemmas:
        badges.add("other lemmas")
    return [badge for badge in BADGES if badge in badges]


def doubts_of(row: Any) -> Iterator[str]:
    """Yield the badges that a score has whatever it is shown with; none where there is no score.

    Args:
        row: with `score`, `chance`, and the columns of results `n`, `n_ties`, `n_units`, `n_units_effective`, `ci_low`
            and `reliable`.
    """
    if pd.isna(row.score):
        return
    if is_all_ties(row):
        yield "all ties"
    if 0 < row.n < FEW_ITEMS:
        yield "few items"
    if row.n_units < MIN_RELIABLE_UNITS if pd.isna(row.reliable) else not row.reliable:
        yield "no interval" if enough_units(row.n_units_effective) and pd.isna(row.ci_low) else "few units"


def is_all_ties(row: Any) -> bool:
    """Whether a score is what ties alone give: exactly 0, or exactly chance where they count half.

    Every item must hold a tie: a count of ties may be over more than one comparison of each item.
    """
    return bool(row.n > 0 and row.n_ties >= row.n and row.score in (0.0, row.chance))
