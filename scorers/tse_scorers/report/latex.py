"""A table as LaTeX: in one column of a paper, or across both, or with its systems down, whichever it fits first.

The measures are those of a paper with columns of 3.03 inches and text of 6.3 inches, in `footnotesize` of 8 pt.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from ..io.files import printable
from .systems import end_names
from .tables import MISSING, Table, joined

COLUMN_INCHES, TEXT_INCHES = 3.03, 6.3
"""Widths of one column and of the text."""
_POINTS, _CHARACTER, _GAP = 72.27, 4.7, 6.0
"""Points of an inch, of a character at 8 pt, and between two columns."""
_TALL = 48
"""With more rows than this, a table is set in `scriptsize` to fit its page, as one that is wider than the text."""


@dataclass(frozen=True)
class _Cells:
    """What is set, as LaTeX but for the groups of columns, whose names may be shortened; `ruled`: rows below a rule."""

    corners: list[str]
    groups: list[tuple[str, int]]
    headings: list[str]
    rows: list[tuple[list[str], list[str]]]
    ruled: set[int]
    is_turned: bool = False

    def points(self) -> float:
        """The width in points; turned headings take one line's height."""
        heads = [self.corners, *([] if self.is_turned else [[*[""] * len(self.corners), *self.headings]])]
        lines = [*heads, *([*headers, *cells] for headers, cells in self.rows)]
        widths = [
            _CHARACTER * max(map(_length, column)) + _GAP
            for column in zip(*map(_padded(lines), lines), strict=True)
        ]
        begin, total = len(self.corners), sum(widths)
        for name, span in self.groups:
            total += max(0.0, _CHARACTER * _length(name) + _GAP - sum(widths[begin : begin + span]))
            begin += span
        return total


def to_latex(table: Table, intervals: bool = True) -> str:
    r"""Write a table as a LaTeX `table`, or `table*` where it is wider than a column, with booktabs rules and a label.

    The best scores are bold. A table that is wider than the text leaves its intervals out, and has its systems down
    where that is narrower. Rows without any score are left out.

    Args:
        table: the table.
        intervals: show them, as `$\pm$` or in brackets.
    """
    cells, has_intervals = _fitting(table, intervals)
    is_wide = cells.points() > COLUMN_INCHES * _POINTS
    environment = "table*" if is_wide else "table"
    notes = [table.caption, table.notice, table.note, table.interval_note if has_intervals else ""]
    is_large = len(cells.rows) > _TALL or cells.points() > TEXT_INCHES * _POINTS
    size = r"\scriptsize" if is_large else r"\footnotesize"
    packages = r"\usepackage{booktabs}" + (r" \usepackage{graphicx}" if cells.is_turned else "")
    return "\n".join(
        [
            f"% needs {packages}",
            rf"\begin{{{environment}}}",
            rf"\centering{size}",
            r"\setlength{\tabcolsep}{3pt}",
            *_tabular(cells),
            rf"\caption{{{escape(' '.join(filter(None, map(str.strip, notes))))}}}",
            rf"\label{{tab:{table.file or 'table'}}}",
            rf"\end{{{environment}}}",
            "",
        ]
    )


def _fitting(table: Table, intervals: bool) -> tuple[_Cells, bool]:
    """Lay a table out; return it, and whether it shows its intervals."""
    has_intervals = intervals and (table.intervals is not None or bool(table.interval_note))
    room = TEXT_INCHES * _POINTS
    cells = _cells(table, intervals)
    if cells.points() <= room:
        return cells, has_intervals
    plain = _cells(table, intervals=False)
    for narrower in (plain, _with_short_groups(plain)):
        if narrower.points() <= room:
            return narrower, False
    turned = _transposed(plain)
    if turned.points() > plain.points():
        return _with_turned_headings(plain), False
    return (turned if turned.points() <= room else _with_short_headers(turned)), False


def _cells(table: Table, intervals: bool) -> _Cells:
    form: Callable[[tuple[str, str]], str] = joined if intervals else _without_interval
    best = table.best if table.best is not None else pd.DataFrame(False, table.text.index, table.text.columns)
    rows: list[tuple[list[str], list[str]]] = []
    ruled: set[int] = set()
    for place, (header, cells) in enumerate(table.rows()):
        if cells and all(text == MISSING for text, _ in cells):
            continue
        if header in table.rule_above and rows:
            ruled.add(len(rows))
        set_ = [_set(form(cell), bool(best.iat[place, i])) for i, cell in enumerate(cells)]
        rows.append(([escape(header)], set_))
    headings = [escape(name) for name in table.headings]
    return _Cells([escape(table.corner)], table.column_groups, headings, rows, ruled)


def _set(text: str, is_best: bool) -> str:
    if not is_best:
        return escape(text)
    number, space, rest = text.partition(" ")
    return rf"\textbf{{{escape(number)}}}{space}{escape(rest)}"


def _transposed(cells: _Cells) -> _Cells:
    """Put columns down and rows across; a group's name stands in its first row."""
    across = list(zip(*(row for _, row in cells.rows), strict=True))
    names = [escape(name) if place == 0 else "" for name, span in cells.groups for place in range(span)]
    headers = (
        [[name, low] for name, low in zip(names, cells.headings, strict=True)]
        if names
        else [[name] for name in cells.headings]
    )
    ruled = {place for place, name in enumerate(names) if name and place}
    rows = [(header, list(row)) for header, row in zip(headers, across, strict=True)]
    headings = [header[0] for header, _ in cells.rows]
    return _Cells([""] * len(headers[0]), [], headings, rows, ruled, is_turned=True)


def _with_short_groups(cells: _Cells) -> _Cells:
    """Leave organisations out of the names of groups."""
    names = end_names([name for name, _ in cells.groups])
    return replace(cells, groups=[(names[name], span) for name, span in cells.groups])


def _with_short_headers(cells: _Cells) -> _Cells:
    """Leave organisations out of the names of systems, which are down."""
    columns = zip(*(header for header, _ in cells.rows), strict=True)
    names = [end_names(list(dict.fromkeys(column))) for column in columns]
    rows = [([names[place][name] for place, name in enumerate(header)], row) for header, row in cells.rows]
    return replace(cells, rows=rows)


def _with_turned_headings(cells: _Cells) -> _Cells:
    return replace(cells, is_turned=True)


def _tabular(cells: _Cells) -> list[str]:
    turn = r"\rotatebox{{90}}{{{}}}" if cells.is_turned else "{}"
    n_headers = len(cells.corners)
    lines = [rf"\begin{{tabular}}{{{'l' * n_headers}{'r' * len(cells.headings)}}}", r"\toprule"]
    if cells.groups:
        spans = [rf"\multicolumn{{{span}}}{{c}}{{{escape(name)}}}" for name, span in cells.groups]
        lines += [" & ".join([*[""] * n_headers, *spans]) + r" \\", _rules(cells.groups, n_headers)]
    headings = [turn.format(name) for name in cells.headings]
    lines += [" & ".join([*cells.corners, *headings]) + r" \\", r"\midrule"]
    for place, (headers, row) in enumerate(cells.rows):
        if place in cells.ruled:
            lines.append(r"\midrule")
        lines.append(" & ".join([*headers, *row]) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _rules(groups: Sequence[tuple[str, int]], n_headers: int) -> str:
    rules, start = [], n_headers + 1
    for _, span in groups:
        rules.append(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
        start += span
    return "".join(rules)


def _padded(lines: Sequence[Sequence[str]]) -> Callable[[Sequence[str]], list[str]]:
    longest = max(map(len, lines))
    return lambda line: [*line, *[""] * (longest - len(line))]


def _length(text: str) -> int:
    """Count the characters that are printed: a command is one, braces are none."""
    return len(
        re.sub(r"\\(textbf|[a-z]+\{\})", "", re.sub(r"\$?\\[a-z]+\$", "±", text))
        .replace("{", "")
        .replace("}", "")
    )


def _without_interval(cell: tuple[str, str]) -> str:
    return joined((re.sub(r" (± \S+|\[.*\])$", "", cell[0]), cell[1]))


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "−": "$-$",
    "≤": r"$\leq$", "<": r"\textless{}", ">": r"\textgreater{}", "×": r"$\times$",
    "✓": r"$\surd$", "±": r"$\pm$", "…": r"\dots{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "|": r"\textbar{}", "\N{REPLACEMENT CHARACTER}": "?",
}  # fmt: skip


def escape(text: str) -> str:
    """Escape what LaTeX would take for a command; a line end becomes a space."""
    # A line end would end a comment, and some control characters are commands of TeX.
    return "".join(_LATEX.get(character, character) for character in printable(re.sub(r"\s+", " ", text)))
