"""A table as LaTeX: in one column of a paper, or across both, or with its systems down, whichever it fits first.

The measures are those of a page with columns of 3.03 inches and text of 6.3 by 9 inches. A table that fits in no form
is split: each part repeats the row headers.
"""

from collections.abc import Sequence

from .latex_cells import Cells
from .latex_forms import forms
from .latex_text import Size, escape, typesettable
from .tables import Table

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

    The best scores are bold. A table that is wider than the text leaves its intervals out, and has its systems down
    where that is narrower. One that still does not fit its page is written as several. Rows without any score are
    left out.

    Args:
        table: the table.
        intervals: show them, as `$\pm$` or in brackets.
    """
    parts, size, is_wide, has_intervals = _fitting(table, intervals)
    notes = _notes(table, has_intervals)
    lines: list[str] = []
    for number, cells in enumerate(parts, 1):
        which = f"Part {number} of {len(parts)}." if len(parts) > 1 else ""
        said = [table.caption, which, *(notes if number == 1 else ())]
        label = (table.file or "table") + (f"-{number}" if number > 1 else "")
        lines += _environment(cells, size, is_wide, " ".join(filter(None, map(str.strip, said))), label)
    return "\n".join([_needs(parts, lines), *lines, ""])


def _notes(table: Table, has_intervals: bool) -> list[str]:
    return [table.notice, table.note, table.interval_note if has_intervals else ""]


def _needs(parts: Sequence[Cells], lines: Sequence[str]) -> str:
    packages = r"\usepackage{booktabs}" + (r" \usepackage{graphicx}" if parts[0].is_turned else "")
    return f"% needs {packages}" + (
        "" if typesettable("".join(lines)) else "; XeLaTeX or LuaLaTeX, for its letters"
    )


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
    """Lay a table out in the form that needs the fewest parts; the first of several.

    Returns:
        The parts, their size of type, whether they stand across both columns, and whether they show intervals.
    """
    has_intervals = intervals and (table.intervals is not None or bool(table.interval_note))
    found = []
    for size in _SIZES:
        for place, cells in enumerate(forms(table, intervals, size)):
            is_wide = cells.points(size) > _COLUMN
            shown = place == 0 and has_intervals
            caption = " ".join([table.caption, *_notes(table, shown)])
            lines = 2 + len(caption) * _CAPTION_CHARACTER // (_TEXT if is_wide else _COLUMN)
            room = _HEIGHT - lines * _CAPTION_LINE - _CAPTION_SKIP
            found.append((cells.parts(size, _TEXT, room), size, is_wide, shown))
    return min(found, key=lambda own: len(own[0]))


def _set(text: str, is_best: bool) -> str:
    if not is_best:
        return escape(text)
    number, space, rest = text.partition(" ")
    return rf"\textbf{{{escape(number)}}}{space}{escape(rest)}"


def _tabular(cells: Cells) -> list[str]:
    turn = r"\rotatebox{{90}}{{{}}}" if cells.is_turned else "{}"
    n_headers = len(cells.corners)
    lines = [rf"\begin{{tabular}}{{{'l' * n_headers}{'r' * len(cells.headings)}}}", r"\toprule"]
    if cells.groups:
        spans = [rf"\multicolumn{{{span}}}{{c}}{{{escape(name)}}}" for name, span in cells.groups]
        lines += [" & ".join([*[""] * n_headers, *spans]) + r" \\", _rules(cells.groups, n_headers)]
    headings = [turn.format(escape(name)) for name in cells.headings]
    lines += [" & ".join([*map(escape, cells.corners), *headings]) + r" \\", r"\midrule"]
    for place, (headers, row) in enumerate(cells.rows):
        if place in cells.ruled:
            lines.append(r"\midrule")
        lines.append(" & ".join([*map(escape, headers), *(_set(*cell) for cell in row)]) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _rules(groups: Sequence[tuple[str, int]], n_headers: int) -> str:
    rules, start = [], n_headers + 1
    for _, span in groups:
        rules.append(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
        start += span
    return "".join(rules)
