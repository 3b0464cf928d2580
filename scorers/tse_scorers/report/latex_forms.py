"""The forms that a table may have in LaTeX, from the plainest to the narrowest."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from .latex_cells import Cells
from .latex_text import Size
from .print_blocks import naming_columns
from .systems import shortened, without_organisation
from .tables import MISSING, Table, joined

_SHORT, _LONGEST = 24, 52
"""Characters of a name in a narrow form, and in any."""
_Rename = Callable[[Sequence[str]], dict[str, str]]


def forms(table: Table, intervals: bool, size: Size) -> list[Cells]:
    """Return a table's cells in all forms, the plainest first; only the first has intervals."""
    whole, plain = (
        _with_headings(_with_headers(_cells(table, own), _clipped), _clipped) for own in (intervals, False)
    )
    ends = partial(_ends, table.systems)
    short = _with_headings(plain, ends)
    narrow = _with_headers(short, partial(ends, widths=(_LONGEST,)))
    found = [whole, plain, short, narrow]
    if not plain.rows or not plain.headings:
        return found
    down = _transposed(plain)
    for of_headings, of_systems in ((plain, down), (narrow, _with_headers(down, ends))):
        on_side = [replace(cells, is_turned=True) for cells in (of_headings, of_systems)]
        found += [of_systems, *sorted(on_side, key=lambda own: own.points(size))]
    return found


def _cells(table: Table, intervals: bool) -> Cells:
    form: Callable[[tuple[str, str]], str] = joined if intervals else _without_interval
    best = table.best if table.best is not None else pd.DataFrame(False, table.text.index, table.text.columns)
    rows: list[tuple[list[str], list[tuple[str, bool]]]] = []
    ruled: set[int] = set()
    n_names = naming_columns(table)
    for place, (header, cells) in enumerate(table.rows()):
        if cells and all(text == MISSING for text, _ in cells):
            continue
        if header in table.rule_above and rows:
            ruled.add(len(rows))
        own = [(form(cell), bool(best.iat[place, i])) for i, cell in enumerate(cells)]
        rows.append(([header, *(text for text, _ in own[:n_names])], own[n_names:]))
    corners = [table.corner, *table.headings[:n_names]]
    return Cells(corners, table.column_groups, table.headings[n_names:], rows, ruled)


def _transposed(cells: Cells) -> Cells:
    """Put columns down and rows across; a group's name stands in its first row."""
    across = list(zip(*(row for _, row in cells.rows), strict=True))
    names = [name if place == 0 else "" for name, span in cells.groups for place in range(span)]
    headers = (
        [[name, low] for name, low in zip(names, cells.headings, strict=True)]
        if names
        else [[name] for name in cells.headings]
    )
    ruled = {place for place, name in enumerate(names) if name and place}
    rows = [(header, list(row)) for header, row in zip(headers, across, strict=True)]
    headings = [", ".join(header) for header, _ in cells.rows]
    return Cells([""] * len(headers[0]), [], headings, rows, ruled)


def _with_headings(cells: Cells, rename: _Rename) -> Cells:
    groups, headings = rename([name for name, _ in cells.groups]), rename(cells.headings)
    return replace(
        cells,
        groups=[(groups[name], span) for name, span in cells.groups],
        headings=[headings[name] for name in cells.headings],
    )


def _with_headers(cells: Cells, rename: _Rename) -> Cells:
    names = [rename(column) for column in zip(*(headers for headers, _ in cells.rows), strict=True)]
    rows = [([names[place][name] for place, name in enumerate(headers)], row) for headers, row in cells.rows]
    return replace(cells, rows=rows)


def _clipped(names: Sequence[str]) -> dict[str, str]:
    """Shorten long names in the middle."""
    return _distinct(names, {name: shortened(name, _LONGEST) for name in names})


def _ends(
    systems: Sequence[str], names: Sequence[str], widths: Sequence[int] = (_SHORT, _LONGEST)
) -> dict[str, str]:
    """Leave organisations of systems out, and shorten to the first width that leaves names distinct."""
    ends = _distinct(names, {name: _end(name, systems) for name in names})
    return _distinct(
        names, *({name: shortened(end, width) for name, end in ends.items()} for width in widths), ends
    )


def _end(name: str, systems: Sequence[str]) -> str:
    """Leave the organisation out of a name that begins with a system.

    >>> _end("org/model, all", ["org/model"]), _end("He/she", ["org/model"])
    ('model, all', 'He/she')
    """
    system = max((own for own in systems if name.startswith(own)), key=len, default="")
    return without_organisation(system) + name.removeprefix(system)


def _distinct(names: Sequence[str], *shorter: dict[str, str]) -> dict[str, str]:
    """Return the first names that are distinct, at last the whole ones."""
    whole = {name: name for name in names}
    return next((own for own in shorter if len(set(own.values())) == len(whole)), whole)


def _without_interval(cell: tuple[str, str]) -> str:
    return joined((re.sub(r" (± \S+|\[.*\])$", "", cell[0]), cell[1]))
