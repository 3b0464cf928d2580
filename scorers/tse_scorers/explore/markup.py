"""Data to HTML: tables that can be sorted, pictures, notices. Everything is escaped by the templates."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import jinja2
import pandas as pd
from markupsafe import Markup, escape

from ..io.files import printable
from ..report.page import shown
from ..report.plots import Picture, draw_svg, inline

STYLE = Path(__file__).with_name("style.css")
SORTING = Path(__file__).with_name("sorting.js")
_drawing = Lock()  # Matplotlib's settings are global, requests come in several threads


class Cell(NamedTuple):
    """A cell of a table: its text, what it is sorted by ("": always last), and a remark below it."""

    text: str
    order: float | str = ""
    remark: str = ""


def table(
    caption: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    note: str = "",
    muted: Sequence[str] = (),
    n_pinned: int = 0,
) -> str:
    """Return a table whose rows the reader can sort by any column.

    Args:
        caption: what it shows, in which unit.
        headings: one per column; the first column holds the row headers.
        rows: cells; a missing number has the `order` "" or NaN.
        note: a remark below.
        muted: headings of columns with published numbers, for comparison.
        n_pinned: number of rows that stay at the end when the table is sorted.
    """
    cells = [[cell._replace(order=_order(cell.order)) for cell in row] for row in rows]
    numeric = [all(not isinstance(row[i].order, str) or row[i].order == "" for row in cells) for i in
               range(len(headings))]  # fmt: skip
    return render(
        "table.html", caption=caption, headings=headings, rows=cells, numeric=numeric, note=note, muted=muted,
        first_pinned=len(cells) - n_pinned,
    )  # fmt: skip


def picture(drawn: Picture, numbers: str = "") -> str:
    """Draw a picture as inline SVG with its caption; `numbers` is a table's HTML, folded below it."""
    with _drawing:
        svg = draw_svg(drawn)
    shown = Markup(inline(svg, drawn.name, drawn.alt))
    return render("picture.html", svg=shown, caption=drawn.caption, numbers=Markup(numbers))


def notice(text: str, kind: str = "problem") -> str:
    """Return a paragraph that screen readers announce: a `problem`, or a `remark`."""
    return render("notice.html", text=text, kind=kind)


def render(template: str, **values: Any) -> str:
    """Fill a template of `templates/`; strings are escaped unless they are `Markup`."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tse_scorers.explore", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    environment.filters["breakable"] = _breakable
    return environment


def _breakable(name: str) -> Markup:
    """Let a long name break after `/`, `_` and `@`, so that its column can be narrow."""
    return Markup(re.sub(r"([/_@])", r"\1<wbr>", str(escape(printable(name)))))


def _order(order: float | str) -> float | str:
    return "" if not isinstance(order, str) and pd.isna(order) else order


def definition_list(items: Mapping[str, str]) -> str:
    """Return terms with their meanings."""
    return render("terms.html", items=items)
