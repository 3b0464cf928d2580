"""A wide table in blocks that fit a printed page; each repeats the row headers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from .tables import Table, joined

_ROOM, _CHARACTER, _PADDING = 500.0, 4.1, 7.0
"""Points across a page of A4 within its margins, of a character, and of a cell's padding in the page's print style."""


def print_blocks(table: Table) -> list[Table]:
    """Split a table by groups of columns, or by columns, so that each block fits a page; one that fits stays whole."""
    cells = [[joined(cell) for cell in row] for _, row in table.rows()]
    longest = [
        max([_longest_word(heading), *(len(row[place]) for row in cells)])
        for place, heading in enumerate(table.headings)
    ]
    first = max([len(table.corner), *(min(len(str(name)), 44) for name in table.text.index)])
    room = _ROOM - _points(first)
    widths = [_points(length) for length in longest]
    blocks = list(_packed(widths, _units(table, widths, room), room))
    if len(blocks) == 1:
        return [table]
    return [
        replace(
            table,
            caption=f"{table.caption} Part {number} of {len(blocks)}.",
            text=table.text.iloc[:, begin:end],
            beside=None
            if table.beside is None
            else table.beside.reindex(columns=table.text.columns[begin:end]),
            note=table.note if number == len(blocks) else "",
            interval_note=table.interval_note if number == len(blocks) else "",
        )
        for number, (begin, end) in enumerate(blocks, 1)
    ]


def _units(table: Table, widths: Sequence[float], room: float) -> list[tuple[int, int]]:
    """Return the columns that stay together: those of a group, which are a model's, where all groups fit a page."""
    spans = [span for _, span in table.column_groups] or [1] * len(widths)
    units = list(pairwise([0, *accumulate(spans)]))
    if any(sum(widths[begin:end]) > room for begin, end in units):
        return [(place, place + 1) for place in range(len(widths))]
    return units


def _packed(
    widths: Sequence[float], units: Sequence[tuple[int, int]], room: float
) -> Iterator[tuple[int, int]]:
    """Yield the first and last column (exclusive) of each block."""
    begin, end = 0, 0
    for unit_begin, unit_end in units:
        if sum(widths[begin:unit_end]) > room and end > begin:
            yield begin, end
            begin = unit_begin
        end = unit_end
    yield begin, end


def _points(characters: int) -> float:
    return _CHARACTER * characters + _PADDING


def _longest_word(heading: str) -> int:
    return max(map(len, heading.split()), default=0)
