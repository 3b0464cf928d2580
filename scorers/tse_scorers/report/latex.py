"""A table as LaTeX: in one column of a paper, or across both, or with its systems down, whichever it fits first.

The measures are those of a page with columns of 3.03 inches and text of 6.3 by 9 inches. A table that fits in no form
is split: each part repeats the row headers.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import accumulate, pairwise

import numpy as np
import pandas as pd

from ..io.files import printable
from .print_blocks import naming_columns, packed, whole_groups
from .systems import distinct, shortened, without_organisation
from .tables import MISSING, Table, joined

_EMS = {
    0.31: ".,:;'![]il",
    0.42: "()-/_ fjrstI",
    0.53: "acegoz0123456789",
    0.8: "wABCDEFGHJKLNOPQRSTUVXYZ",
    0.98: "mMW%+=@±−<>≤≥≈×→✓…",
}
_WIDTHS = {character: em for em, characters in _EMS.items() for character in characters}
_EM = 0.6
"""Widths of characters in em, and of all others. They are those of Computer Modern at 8 pt, which is wider than Times,
Palatino and Helvetica; so what fits here fits there."""
_BOLD, _SMALL = 1.15, 1.07
"""How much wider bold is, and an em's characters at 7 pt, where Computer Modern is wider in proportion. A whole line
counts as bold where a part of it is."""


@lru_cache(maxsize=100_000)  # a table is measured in many forms
def _ems(text: str) -> float:
    return sum(_WIDTHS.get(character, _EM) for character in text)


@dataclass(frozen=True)
class Size:
    """A size of type, in points.

    Attributes:
        type: height of the type; given as such, because `footnotesize` is 9 pt in a paper of 11 pt.
        leading: from line to line.
    """

    type: float
    leading: float

    @property
    def em(self) -> float:
        """The points of an em."""
        return self.type * (_SMALL if self.type < 8 else 1.0)

    def width(self, text: str) -> float:
        """Estimate the points that a line takes."""
        return _ems(text) * self.em


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "−": "$-$",
    "≤": r"$\leq$", "≥": r"$\geq$", "≈": r"$\approx$", "→": r"$\rightarrow$", "²": r"$^2$", "η": r"$\eta$",
    "Σ": r"$\Sigma$",    "<": r"\textless{}", ">": r"\textgreater{}", "×": r"$\times$",
    "✓": r"$\surd$", "±": r"$\pm$", "…": r"\dots{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "|": r"\textbar{}", "\N{ZERO WIDTH SPACE}": "{}", "\N{REPLACEMENT CHARACTER}": "?",
}  # fmt: skip


def escape(text: str) -> str:
    """Escape what LaTeX would take for a command; a line end becomes a space."""
    # Two hyphens would become a dash, a line end would end a comment, and some control characters are commands of TeX.
    plain = printable(re.sub(r"\s+", " ", text))
    plain = re.sub("-(?=-)", "-\N{ZERO WIDTH SPACE}", plain)
    return "".join(_LATEX.get(character, character) for character in plain)


_GAP = 6.0
"""Points between two columns: twice `tabcolsep`."""
_NEAR = 4
"""Rows within which a table is rather split at a rule."""
_RULE = 5.5
"""Points of a rule with the space around it."""


@dataclass(frozen=True)
class Cells:
    """What is set; nothing is LaTeX yet, because names may be shortened.

    Attributes:
        corners: headings of the row headers.
        groups: upper headings, each with the number of columns that it spans.
        headings: of the columns.
        rows: each with its headers and its cells, a text and whether it is the best.
        ruled: places of rows below a rule.
        is_turned: whether headings are set upright, on their side.
    """

    corners: list[str]
    groups: list[tuple[str, int]]
    headings: list[str]
    rows: list[tuple[list[str], list[tuple[str, bool]]]]
    ruled: set[int]
    is_turned: bool = False

    @property
    def is_cut(self) -> bool:
        """Whether a name is shortened in its middle."""
        names = [
            *(name for name, _ in self.groups),
            *self.headings,
            *(cell for row, _ in self.rows for cell in row),
        ]
        return any("…" in name for name in names)

    @cached_property
    def ems(self) -> list[float]:
        """The widths of all columns, those of headers first, without headings on their side."""
        names = zip(self.corners, *(headers for headers, _ in self.rows), strict=True)
        headings = [0.0 if self.is_turned else _ems(heading) for heading in self.headings]
        columns = (
            zip(*(cells for _, cells in self.rows), strict=True) if self.rows else ([] for _ in headings)
        )
        widths = (
            max([heading, *(_ems(text) * (_BOLD if is_best else 1.0) for text, is_best in column)])
            for heading, column in zip(headings, columns, strict=True)
        )
        return [*(max(map(_ems, column)) for column in names), *widths]

    def widths(self, size: Size) -> list[float]:
        """The points of all columns, those of headers first, without the names of groups."""
        n_headers, least = len(self.corners), size.leading if self.is_turned else 0.0
        points = [ems * size.em for ems in self.ems]
        return [_GAP + width for width in [*points[:n_headers], *(max(least, p) for p in points[n_headers:])]]

    def with_groups(self, widths: Sequence[float], size: Size, begin: int, end: int) -> list[float]:
        """Return the widths of some columns with room for the names of their groups."""
        widths, at = list(widths[begin:end]), 0
        for name, span in self._groups(begin, end):
            missing = size.width(name) + _GAP - sum(widths[at : at + span])
            widths[at + span - 1] += max(0.0, missing)
            at += span
        return widths

    def _groups(self, begin: int, end: int) -> list[tuple[str, int]]:
        """The groups of some columns, each with the number of its columns among them."""
        ends = pairwise(accumulate((span for _, span in self.groups), initial=0))
        shared = [min(end, last) - max(begin, first) for first, last in ends]
        return [(name, span) for (name, _), span in zip(self.groups, shared, strict=True) if span > 0]

    def _head(self, size: Size, begin: int, end: int) -> float:
        """The height of the headings of some columns and of the rules."""
        low = max(map(size.width, self.headings[begin:end]), default=0.0) if self.is_turned else size.leading
        return max(low, size.leading) + (size.leading + _RULE if self.groups else 0.0) + 3 * _RULE

    def _body(self, size: Size, begin: int, end: int) -> float:
        """The height of some rows."""
        return (end - begin) * size.leading + _RULE * sum(begin < place < end for place in self.ruled)

    def part(self, columns: tuple[int, int], rows: tuple[int, int]) -> "Cells":
        """Return some columns and rows, with all headers; the first row repeats the header that it stands under."""
        part_rows = [(headers, cells[slice(*columns)]) for headers, cells in self.rows[slice(*rows)]]
        if part_rows and not part_rows[0][0][0]:
            above = next((headers[0] for headers, _ in reversed(self.rows[: rows[0]]) if headers[0]), "")
            part_rows[0] = ([above, *part_rows[0][0][1:]], part_rows[0][1])
        return replace(
            self,
            groups=self._groups(*columns),
            headings=self.headings[slice(*columns)],
            rows=part_rows,
            ruled={place - rows[0] for place in self.ruled if rows[0] < place < rows[1]},
        )

    def split(
        self, size: Size, widths: Sequence[float], width: float, height: float
    ) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Return the columns and rows of parts of this width and height at most; columns of a group stay together."""
        n_headers = len(self.corners)
        room, widths = width - sum(widths[:n_headers]), widths[n_headers:]

        def fits(begin: int, end: int) -> bool:
            return sum(self.with_groups(widths, size, begin, end)) <= room

        whole = self.with_groups(widths, size, 0, len(widths))
        across = packed(whole_groups([span for _, span in self.groups], whole, room), fits)
        head = max((self._head(size, *block) for block in across), default=0.0)
        for n in range(1, len(self.rows) + 1):
            down = self._down(n)
            if all(head + self._body(size, *rows) <= height for rows in down):
                break
        return [(block, rows) for rows in down for block in across] if self.rows else []

    def _down(self, n: int) -> list[tuple[int, int]]:
        """Split the rows into n parts of about one length, at a rule where one is near."""
        ends = [len(self.rows) * place // n for place in range(1, n)]
        places = {self._near(end) for end in ends}
        return list(pairwise([0, *sorted(places), len(self.rows)]))

    def _near(self, place: int) -> int:
        rule = min(self.ruled, key=lambda ruled_place: abs(ruled_place - place), default=place)
        return rule if abs(rule - place) <= _NEAR else place


_SHORT, _LONGEST = 24, 52
"""Characters of a name in a narrow form, and in any."""
_Rename = Callable[[Sequence[str]], dict[str, str]]


def forms(table: Table, intervals: bool) -> Iterator[tuple[Cells, bool]]:
    """Yield a table's cells in all forms, and whether they show intervals, those that do first."""
    for has_intervals in (True, False) if intervals else (False,):
        for cells in _forms(table, _cells(table, has_intervals)):
            yield cells, has_intervals


def _forms(table: Table, cells: Cells) -> list[Cells]:
    plain = _with_headings(_with_headers(cells, _clipped), _clipped)
    ends = partial(_ends, table.systems)
    short = _with_headings(plain, ends)
    narrow = _with_headers(short, partial(ends, widths=(_LONGEST,)))
    upright = [plain, short, narrow]
    if not plain.rows or not plain.headings:
        return upright
    down = _transposed(plain)
    upright += [down, _with_headers(down, ends)]
    return upright + [replace(form, is_turned=True) for form in upright if form is not short]


_INTERVAL = re.compile(r" (± \S+|\[.*\])(?=$| \(n )")


def _cells(table: Table, intervals: bool) -> Cells:
    best = np.zeros(table.text.shape, dtype=bool) if table.best is None else table.best.to_numpy()
    rows: list[tuple[list[str], list[tuple[str, bool]]]] = []
    ruled: set[int] = set()
    n_names, basis = naming_columns(table), table.basis_columns
    n_items = pd.DataFrame() if table.basis is None else table.basis.n
    has_items = n_items.reindex(table.text.index).gt(0).any(axis=1).tolist()
    for place, (header, cells) in enumerate(table.rows()):
        if cells and all(text == MISSING for text, _ in cells) and not has_items[place]:
            continue
        if header in table.rule_above and rows:
            ruled.add(len(rows))
        if not intervals:
            cells = [(_INTERVAL.sub("", text), beside) for text, beside in cells]
        marked = [(joined(cell), bool(is_best)) for cell, is_best in zip(cells, best[place], strict=True)]
        over = (texts[place] for texts in basis.values())
        rows.append(([header, *over, *(text for text, _ in marked[:n_names])], marked[n_names:]))
    corners = [table.corner, *basis, *table.headings[:n_names]]
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
    return distinct(names, partial(shortened, width=_LONGEST))


def _ends(
    systems: Sequence[str], names: Sequence[str], widths: Sequence[int] = (_SHORT, _LONGEST)
) -> dict[str, str]:
    """Leave organisations of systems out, and shorten to the first width that leaves names distinct."""
    ends = distinct(names, partial(_end, systems=systems))
    cuts = (lambda name, width=width: shortened(ends[name], width) for width in widths)
    return distinct(names, *cuts, ends.__getitem__)


def _end(name: str, systems: Sequence[str]) -> str:
    """Leave the organisation out of a name that begins with a system.

    >>> _end("org/model, all", ["org/model"]), _end("He/she", ["org/model"])
    ('model, all', 'He/she')
    """
    system = max((label for label in systems if name.startswith(label)), key=len, default="")
    return without_organisation(system) + name.removeprefix(system)


COLUMN_INCHES, TEXT_INCHES = 3.03, 6.3
"""Widths of one column and of the text."""
_POINTS = 72.27
"""Points of an inch."""
_COLUMN, _TEXT, _HEIGHT = COLUMN_INCHES * _POINTS, TEXT_INCHES * _POINTS, 9 * _POINTS
_SIZES = (Size(8, 9.5), Size(7, 8))
"""The sizes of type, in the order in which they are tried."""
_CAPTION_CHARACTER, _CAPTION_LINE, _CAPTION_SKIP = 5.4, 13.6, 14.0
"""Points of a caption's characters and lines in a paper of 11 pt, and of the space above it."""


def to_latex(table: Table, intervals: bool = True) -> str:
    r"""Write a table as a LaTeX `table`, or `table*` where it is wider than a column, with booktabs rules and a label.

    The best scores are bold. A table that does not fit its page has its systems down, or its headings on their side, or
    leaves its intervals out; one that still does not fit is written as several. Of forms that fit, one in a single
    column is preferred. Rows without any score are left out.

    Args:
        table: the table.
        intervals: show them, as `$\pm$` or in brackets.
    """
    parts, size, is_wide, has_intervals = _fitting(table, intervals)
    notes = _notes(table, has_intervals)
    lines: list[str] = []
    for number, cells in enumerate(parts, 1):
        which = f"Part {number} of {len(parts)}." if len(parts) > 1 else ""
        sentences = [table.caption, which, *(notes if number == 1 else ())]
        label = (table.file or "table") + (f"-{number}" if number > 1 else "")
        lines += _environment(cells, size, is_wide, " ".join(filter(None, map(str.strip, sentences))), label)
    needs = r"% needs \usepackage{booktabs}" + (r" \usepackage{graphicx}" if parts[0].is_turned else "")
    # pdfLaTeX has these characters without further packages.
    if not all(ord(sign) < 0x180 or sign in _LATEX or sign in "‘’“”—·" for line in lines for sign in line):
        needs += "; XeLaTeX or LuaLaTeX, for its letters"
    return "\n".join([needs, *lines, ""])


def _notes(table: Table, has_intervals: bool) -> list[str]:
    return [table.notice, table.note, table.basis_note, table.interval_note if has_intervals else ""]


def _environment(cells: Cells, size: Size, is_wide: bool, caption: str, label: str) -> list[str]:
    environment = "table*" if is_wide else "table"
    return [
        rf"\begin{{{environment}}}",
        rf"\centering\fontsize{{{size.type:g}}}{{{size.leading:g}}}\selectfont",
        r"\setlength{\tabcolsep}{3pt}",
        *_tabular(cells),
        rf"\caption{{{escape(caption)}}}",
        rf"\label{{tab:{label}}}",
        rf"\end{{{environment}}}",
    ]


def _fitting(table: Table, intervals: bool) -> tuple[list[Cells], Size, bool, bool]:
    """Lay a table out in as few parts as can be, then with intervals, upright headings, whole names, and in one column.

    Returns:
        The parts, their size of type, whether they stand across both columns, and whether they show intervals.
    """
    has_intervals = intervals and (table.intervals is not None or bool(table.interval_note))
    layouts = []
    all_forms = list(forms(table, has_intervals))
    for size in _SIZES:
        for cells, shown in all_forms:
            widths = cells.widths(size)
            n_headers = len(cells.corners)
            of_columns = cells.with_groups(widths[n_headers:], size, 0, len(cells.headings))
            is_wide = sum(widths[:n_headers]) + sum(of_columns) > _COLUMN
            caption = " ".join([table.caption, *_notes(table, shown)])
            lines = 2 + len(caption) * _CAPTION_CHARACTER // (_TEXT if is_wide else _COLUMN)
            room = _HEIGHT - lines * _CAPTION_LINE - _CAPTION_SKIP
            places = cells.split(size, widths, _TEXT, room)
            order = len(places) or 1, not shown, cells.is_turned, cells.is_cut, is_wide
            layouts.append((order, (cells, places, size, is_wide, shown)))
    cells, places, size, is_wide, shown = min(layouts, key=lambda layout: layout[0])[1]
    return [cells.part(*place) for place in places] or [cells], size, is_wide, shown


def _set(text: str, is_best: bool) -> str:
    """Set a cell; of the best one, the number is bold, not what follows it."""
    number, space, interval = text.partition(" ")
    return rf"\textbf{{{escape(number)}}}{space}{escape(interval)}" if is_best else escape(text)


def _tabular(cells: Cells) -> list[str]:
    turn = r"\rotatebox{{90}}{{{}}}" if cells.is_turned else "{}"
    n_headers = len(cells.corners)
    lines = [rf"\begin{{tabular}}{{{'l' * n_headers}{'r' * len(cells.headings)}}}", r"\toprule"]
    if cells.groups:
        spans = [rf"\multicolumn{{{span}}}{{c}}{{{escape(name)}}}" for name, span in cells.groups]
        ends = pairwise(accumulate((span for _, span in cells.groups), initial=n_headers))
        rules = "".join(rf"\cmidrule(lr){{{begin + 1}-{end}}}" for begin, end in ends)
        lines += [" & ".join([*[""] * n_headers, *spans]) + r" \\", rules]
    headings = [turn.format(escape(name)) for name in cells.headings]
    lines += [" & ".join([*map(escape, cells.corners), *headings]) + r" \\", r"\midrule"]
    for place, (headers, row) in enumerate(cells.rows):
        if place in cells.ruled:
            lines.append(r"\midrule")
        lines.append(" & ".join([*map(escape, headers), *(_set(*cell) for cell in row)]) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}"]
