"""A wide table in blocks that fit a printed page; each repeats the row headers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

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
    blocks = list(_packed([sum(map(_points, longest[a:b])) for a, b in _units(table)], _units(table), room))
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


def _units(table: Table) -> list[tuple[int, int]]:
    """Return the columns that stay together: those of a group, which are a model's; a long group may be split."""
    spans = [span for _, span in table.column_groups]
    if not spans or max(spans) > 6:
        spans = [1] * len(table.headings)
    ends = [sum(spans[: place + 1]) for place in range(len(spans))]
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _packed(
    widths: Sequence[float], units: Sequence[tuple[int, int]], room: float
) -> Iterator[tuple[int, int]]:
    begin, end, used = 0, 0, 0.0
    for width, (_, unit_end) in zip(widths, units, strict=True):
        if used + width > room and end > begin:
            yield begin, end
            begin, used = end, 0.0
        end, used = unit_end, used + width
    yield begin, end


def _points(characters: int) -> float:
    return _CHARACTER * characters + _PADDING


def _longest_word(heading: str) -> int:
    return max(map(len, heading.split()), default=0)
