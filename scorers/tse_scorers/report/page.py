"""Writes a report: one page that opens offline, the figures as SVG or PDF, and the tables as LaTeX and CSV."""

import base64
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..io.files import check_folder, printable, write_text
from ..io.tables import write_table
from ..results import Results
from ..runs.comparable import all_notices
from .blocks import Block, Plain, Plot, Section, Table
from .draw import INK, RULE, WIDER, draw, style
from .headline import counted, summary
from .scores import best_first, last_revisions, published_of, tidy
from .sections import sections_of, settings

if TYPE_CHECKING:
    from jinja2 import Template

COLUMN, TEXT, PAGE = 3.03, WIDER, 10.0
"""Inches of a column and of the text of a paper, and of the text of the page."""
TALLEST = 8.0
"""Inches of a figure in a paper."""


@dataclass(frozen=True)
class Report:
    """What is shown of some runs.

    `title` has the models, `summary` the first screen, `notices` what of it says that scores do not compare, `sections`
    each suite and its data, `settings` what decided the scores.
    """

    title: str
    summary: Sequence[Block]
    notices: Sequence[str]
    sections: Sequence[Section]
    settings: Plain

    def blocks(self) -> Iterator[Block]:
        """Yield everything that is shown, from top to bottom."""
        yield from self.summary
        for section in self.sections:
            for blocks in section.parts.values():
                yield from blocks


def report_of(results: Results) -> Report:
    """Return what is shown of results."""
    every = tidy(results)
    rows = published_of(best_first(last_revisions(every)))
    said = all_notices(results)
    sections = sections_of(results, rows, every)
    return Report(counted(rows), summary(rows, said), said, sections, settings(results, set(rows["system"])))


def write_report(out: Path | str, results: Results | None = None) -> Path:
    """Write `report.html`, and `tables.csv` with all scores that its tables show, one row each; return the page's path.

    Args:
        out: where they go.
        results: what is reported; by default the results of this folder.

    Raises:
        ValueError: the folder has no results, or a file cannot be written.
    """
    out = Path(out)
    results = results or Results.load(out)
    report = report_of(results)
    css = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    page = _template().render(report=report, is_single=len(report.sections) == 1, css=css)
    _write_tables(report, out)
    write_text(out / "report.html", page)
    return out / "report.html"


def write_paper(results: Results, out: Path, width: float = COLUMN) -> Path:
    """Write each table as LaTeX (booktabs), each figure as PDF, and `tables.csv` into a folder, and return it.

    Figures are `width` inches wide: `COLUMN` or `TEXT`. Raises ValueError if a file cannot be written.
    """
    report = report_of(results)
    _write_tables(report, out)
    *summary, last = report.summary
    if isinstance(last, Table):  # its caption says what does not compare
        last = replace(last, note=" ".join([last.note, *report.notices]).strip())
    of_sections = ([of for part in section.parts.values() for of in part] for section in report.sections)
    for blocks in ([*summary, last], *of_sections):
        tables = [block for block in blocks if isinstance(block, Table) and block.bars == "interval"]
        for plot in [of for of in blocks if isinstance(of, Plot)] or [table.plot() for table in tables]:
            with style(8, "STIXGeneral"):
                figure = draw(plot, width, TALLEST)
                figure.savefig(out / f"{plot.name}.pdf", metadata={"CreationDate": None})
        for block in blocks:
            if not isinstance(block, str | Plot):
                write_text(out / f"{block.name}.tex", block.latex())
    return out


def _write_tables(report: Report, out: Path) -> None:
    check_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    tables = {of.name: of.scores.assign(is_best=of.marks) for of in report.blocks() if isinstance(of, Table)}
    frame = pd.concat(tables or {"none": pd.DataFrame(columns=["score"])}, names=["table"])
    frame = frame.reset_index("table").dropna(axis=1, how="all")
    write_table(frame.reset_index(drop=True), out / "tables.csv")


def svg(plot: Plot) -> str:
    """Draw a figure of the page; its colours of text and grid follow the reader's, also in the dark."""
    from io import StringIO

    from matplotlib.backends.backend_svg import FigureCanvasSVG

    drawn = StringIO()
    with style(), warnings.catch_warnings():  # `savefig` would draw twice
        warnings.simplefilter("ignore")  # about letters that our font lacks; the reader's has them
        FigureCanvasSVG(draw(plot, PAGE)).print_svg(drawn, metadata={"Date": None})
    text = drawn.getvalue().replace(INK, "var(--ink)").replace(RULE, "var(--rule)")
    dark = (  # a figure cannot see the style sheet of the page
        "<style>text, tspan { font-family: system-ui, sans-serif !important; } "
        f":root {{ --ink: {INK}; --rule: {RULE}; }} "
        "@media (prefers-color-scheme: dark) { :root { --ink: #c3cad1; --rule: #333a41; } }</style>"
    )
    return re.sub(r"(<svg[^>]*>)", lambda start: start[1] + dark, text, count=1)


@cache
def _template() -> "Template":
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    def html(block: Plot | Plain) -> Markup:
        if isinstance(block, Plot):
            data, title = base64.b64encode(svg(block).encode()).decode(), printable(block.title)
            return Markup('<img alt="{}" src="data:image/svg+xml;base64,{}">').format(title, data)
        kind = "numbers" if len(block.frame.select_dtypes("number").columns) else "text"
        table = block.styler().set_uuid(block.name).to_html(table_attributes=f'class="{kind}"')
        # a heading of nothing is none; pandas' Styler escapes cells and both indexes
        return Markup(re.sub(r"<th (class=\"blank[^>]*)>&nbsp;</th>", r"<td \1></td>", table))

    loader = PackageLoader("tse_scorers", "report")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, finalize=_shown)
    environment.filters |= {"html": html, "kind": lambda block: type(block).__name__}
    return environment.get_template("page.html")


def _shown(value: Any) -> Any:
    """Replace characters that reorder or hide text, in everything that is not markup."""
    return printable(value) if type(value) is str else value
