r"""Files for a paper: figures as PDF, tables as LaTeX, a paragraph on methods, and a page that shows how to use them.

paper/index.html            every file with what LaTeX needs to show it
paper/<figure>-column.pdf   a panel of a figure, 3.03 inches wide
paper/<figure>-text.pdf     one that needs the width of the text, 6.3 inches, or for which this width was asked
paper/<table>.tex           with a caption and \label{tab:<table>}
paper/figures.tex           every figure with a caption and \label{fig:<figure>}
paper/methods.tex           what this run measured, as a paragraph
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..io.files import make_folder, unwritable, write_atomically, write_text
from .blocks import Chart, Section
from .charts import draw, paper_charts
from .latex import COLUMN_INCHES, TEXT_INCHES, escape, to_latex
from .page import templates
from .plots import TIMES, Pdf, check_font, draw_pdf
from .systems import slugs
from .tables import Table

WIDTHS = {"column": COLUMN_INCHES, "text": TEXT_INCHES}
"""File name's ending -> inches."""
_NO_NUMBERS = "The numbers are in the table."
"""Ends the caption of a heat map whose cells are too narrow for numbers."""
_FLOATS = 12
"""Figures after which pages are ended: LaTeX holds no more than 18 that wait for a place."""


@dataclass(frozen=True)
class Written:
    """What was written, and what was not.

    Attributes:
        folder: where the files are.
        figures: the number of PDFs.
        tables: the number of LaTeX tables.
        too_wide: the names of figures that do not fit their width or a page's height.
    """

    folder: Path
    figures: int
    tables: int
    too_wide: Sequence[str]


@dataclass(frozen=True)
class _Snippet:
    """What the index shows of a file: its name, what it is, and the LaTeX that includes it."""

    file: str
    caption: str
    latex: str


def write_paper(
    out: Path,
    sections: Sequence[Section],
    latex_intervals: bool = True,
    widths: Sequence[str] = ("column",),
    methods: str = "",
    font: str = TIMES,
) -> Written:
    """Write the figures and tables of sections for a paper into `out/paper`.

    Args:
        out: the folder of the report.
        sections: what is shown, as `Section.in_report` returns them.
        latex_intervals: show intervals in tables.
        widths: of the figures, keys of `WIDTHS`. Of a figure that is too wide for a column, the one as wide as the text
            is written.
        methods: the paragraph on methods.
        font: of the figures; see `plots.check_font`.

    Raises:
        ValueError: a width or the font is unknown, or a file cannot be written.
    """
    if unknown := [width for width in widths if width not in WIDTHS]:
        raise ValueError(f"{unknown[0]!r} is not a width of a figure; expected {' or '.join(WIDTHS)}.")
    check_font(font)
    folder = out / "paper"
    try:
        make_folder(folder, out)
        blocks = [block for section in sections for view in section.views for block in view.of()]
        tables = [table for block in blocks for table in _tables(block) if table.file is not None]
        for table in tables:
            write_text(folder / f"{table.file}.tex", to_latex(table, latex_intervals))
        figures, too_wide, n_figures = [], [], 0
        for block in blocks:
            for name, caption, panel in paper_panels(block) if isinstance(block, Chart) else ():
                pdfs = _pdfs(panel, widths, font)
                for width in WIDTHS:  # those of an earlier report, too
                    (folder / f"{name}-{width}.pdf").unlink(missing_ok=True)
                for width, pdf in pdfs.items():
                    with write_atomically(folder / f"{name}-{width}.pdf") as file:
                        file.write(pdf.content)
                n_figures += len(pdfs)
                if not pdfs:
                    too_wide.append(name)
                    continue
                width = next(iter(pdfs))
                caption = f"{caption} {_NO_NUMBERS}" if pdfs[width].lacks_numbers else caption
                figures.append(_Snippet(f"{name}-{width}.pdf", caption, _figure(name, width, caption)))
        texts = [figure.latex for figure in figures]
        pages = ["\n".join(texts[place : place + _FLOATS]) for place in range(0, len(texts), _FLOATS)]
        write_text(folder / "figures.tex", "% needs \\usepackage{graphicx}\n" + "\\clearpage\n".join(pages))
        if methods:
            write_text(folder / "methods.tex", f"{escape(methods)}\n")
        inputs = [_Snippet(f"{table.file}.tex", table.title, rf"\input{{{table.file}}}") for table in tables]
        write_text(folder / "index.html", _index(methods, inputs, figures))
        return Written(folder, n_figures, len(tables), too_wide)
    except OSError as error:
        raise unwritable(Path(error.filename or folder), error) from error


def _pdfs(chart: Chart, widths: Sequence[str], font: str) -> dict[str, Pdf]:
    """Draw a panel in the widths that were asked for and hold it; in that of the text where none of them does."""
    figure = partial(draw, chart)
    fitting = {width: pdf for width in widths if (pdf := draw_pdf(figure, WIDTHS[width], font)) is not None}
    if fitting or "text" in widths:
        return fitting
    return {"text": pdf} if (pdf := draw_pdf(figure, WIDTHS["text"], font)) is not None else {}


def _index(methods: str, tables: Sequence[_Snippet], figures: Sequence[_Snippet]) -> str:
    template = templates("tse_scorers.report", ".").get_template("paper.html")
    return template.render(methods=methods, blocks={"Tables": tables, "Figures": figures})


def _tables(block: object) -> Sequence[Table]:
    return (block,) if isinstance(block, Table) else getattr(block, "tables", ())


def paper_panels(picture: Chart) -> Iterator[tuple[str, str, Chart]]:
    """Yield a name for files, a caption and the chart of each panel."""
    panels = paper_charts(picture)
    names = slugs(list(panels))
    system = f"{picture.name.rpartition('_')[2]}-"  # a picture of one system ends in its name
    if all(name.startswith(system) for name in names.values()):
        names = {panel: name.removeprefix(system) for panel, name in names.items()}
    for panel, chart in panels.items():
        is_only = len(panels) == 1
        name = picture.name if is_only else f"{picture.name}-{names[panel]}"
        sentences = [picture.panel_caption or picture.caption, picture.panel_notes.get(panel)]
        sentences += [chart.on_hollow, str(picture.basis or ""), picture.notice]
        caption = " ".join(filter(None, sentences))
        yield name, caption[:1].upper() + caption[1:] if is_only else f"{panel}: {caption}", chart


def _figure(name: str, width: str, caption: str) -> str:
    environment = "figure" if width == "column" else "figure*"
    return "\n".join(
        [
            rf"\begin{{{environment}}}",
            r"\centering",
            rf"\includegraphics{{{name}-{width}.pdf}}",
            rf"\caption{{{escape(caption)}}}",
            rf"\label{{fig:{name}}}",
            rf"\end{{{environment}}}",
            "",
        ]
    )
