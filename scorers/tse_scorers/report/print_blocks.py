"""A wide table in blocks that fit a printed page; each repeats the row headers."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, pairwise

from markupsafe import Markup, escape

from .tables import Table

_ROOM, _PADDING = 527.0, 4.5
"""Points across a page of A4 within its margins, and of a cell's padding, in the page's print style."""
_NARROW, _CAPITAL, _CHARACTER = 2.6, 4.85, 4.15
"""Points of characters in its type of 6.5 pt: those of DejaVu Sans, which is wider than other fonts of screens."""
_LONG, _LONG_POINTS = 20, 90.0
"""Characters beyond which the page breaks a cell's text, and the points that it then gets at least."""
_MUTED = 0.85
"""The size of a muted text, as a share of the type's."""
_NAME = 20.0 * 6.5
"""Points of a row's name, which is broken beyond."""
MOST_PRINTED = 100
"""The numbers of a figure are not printed where they have more rows; the page says so."""


def naming_columns(table: Table) -> int:
    """Return how many of the first columns it takes, after the row headers, to tell the rows apart."""
    if table.text.columns.nlevels > 1:
        return 0
    names: list[tuple[str, ...]] = [(str(name),) for name in table.text.index]
    for n, texts in enumerate(table.text.to_numpy(dtype=object).T):
        if len(set(names)) == len(names):
            return n
        names = [(*name, text) for name, text in zip(names, texts, strict=True)]
    return 0


def print_blocks(table: Table) -> list[Table]:
    """Split a table by groups of columns, or by columns, so that each block fits a page; one that fits stays whole."""
    widths = _widths(table)
    n_names = naming_columns(table)
    names = [min(_NAME, _points(str(name))) for name in [table.corner, *table.text.index]]
    room = _ROOM - max(names) - _PADDING - sum(widths[:n_names])
    spans = [span for _, span in table.column_groups]
    units = [unit for unit in whole_groups(spans, widths, room) if unit[0] >= n_names]
    blocks = packed(units, lambda begin, end: sum(widths[begin:end]) <= room)
    if len(blocks) < 2:
        return [table]
    return [
        _block(table, [*range(n_names), *range(*block)], number, len(blocks))
        for number, block in enumerate(blocks, 1)
    ]


def _widths(table: Table) -> list[float]:
    cells = [[_of_cell(*cell) for cell in row] for _, row in table.rows()]
    return [
        _PADDING + max([_longest_word(heading), *(row[place] for row in cells)])
        for place, heading in enumerate(table.headings)
    ]


def _block(table: Table, columns: list[int], number: int, n: int) -> Table:
    text = table.text.iloc[:, columns]
    return replace(
        table,
        caption=f"{table.caption} Part {number} of {n}.",
        text=text,
        beside=None if table.beside is None else table.beside.reindex(columns=text.columns),
        note=table.note if number == n else "",
        interval_note=table.interval_note if number == n else "",
    )


def whole_groups(groups: Sequence[int], widths: Sequence[float], room: float) -> list[tuple[int, int]]:
    """Return the columns that stay together: those of a group, which are a model's, where every group fits the room."""
    units = list(pairwise([0, *accumulate(groups or [1] * len(widths))]))
    if any(sum(widths[begin:end]) > room for begin, end in units):
        return [(place, place + 1) for place in range(len(widths))]
    return units


def packed(units: Sequence[tuple[int, int]], fits: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """Pack `units`, which stay together, into as few blocks as fit, of one length if these fit as well.

    A unit and a block are their first and last column (exclusive).
    """
    blocks: list[tuple[int, int]] = []
    for begin, end in units:
        if blocks and fits(blocks[-1][0], end):
            begin, _ = blocks.pop()
        blocks.append((begin, end))
    n = len(blocks)
    even = [
        (units[len(units) * place // n][0], units[len(units) * (place + 1) // n - 1][1]) for place in range(n)
    ]
    return even if all(fits(*block) for block in even) else blocks


@lru_cache(maxsize=100_000)  # most cells of a page are like others
def _points(text: str) -> float:
    narrow = sum(character in " .,:;'|()[]ijlIft-" for character in text)
    capital = sum(character.isupper() or character in "mw±−+%" for character in text)
    return _NARROW * narrow + _CAPITAL * capital + _CHARACTER * (len(text) - narrow - capital)


def _of_cell(text: str, beside: str) -> float:
    """Return the width of a cell; a long text is broken."""
    if len(text) > _LONG:
        return max(_LONG_POINTS, _longest_word(text))
    return _points(text) + (_MUTED * _points(f" ({beside})") if beside else 0.0)


_BREAK = re.compile(r"(?<=[/_-])(?=.)")
"""Where a heading may be broken besides at its spaces."""


def breakable(name: str) -> Markup:
    """Mark where a printed heading may be broken.

    >>> breakable("org/m<")
    Markup('org/<wbr>m&lt;')
    """
    return Markup(_BREAK.sub("<wbr>", str(escape(name))))


def _longest_word(heading: str) -> float:
    return max((_points(piece) for word in heading.split() for piece in _BREAK.split(word)), default=0.0)
