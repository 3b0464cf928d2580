r"""Figures and tables for a paper: single panels as PDF in the widths of a column and of the text, and LaTeX.

paper/<figure>-column.pdf   3.03 inches wide
paper/<figure>-text.pdf     6.3 inches wide
paper/<table>.tex           with a caption and \label{tab:<table>}
paper/figures.tex           every figure with a caption and \label{fig:<figure>}
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..io.files import make_folder, unwritable, write_atomically, write_text
from .latex import COLUMN_INCHES, TEXT_INCHES, escape, to_latex
from .plots import Picture, draw_pdf
from .section import Section
from .systems import slugs
from .tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def write_paper(out: Path, sections: Sequence[Section], latex_intervals: bool = True) -> Written:
    """Write the figures and tables of sections for a paper into `out/paper`.

    Raises:
        ValueError: a file cannot be written.
    """
    folder = out / "paper"
    try:
        make_folder(folder, out)
        blocks = [block for section in sections for part in section.parts for block in part.blocks]
        tables = [table for block in blocks for table in _tables(block) if table.file is not None]
        for table in tables:
            write_text(folder / f"{table.file}.tex", to_latex(table, latex_intervals))
        included, too_wide, n_figures = [], [], 0
        for block in blocks:
            for name, caption, panel in _panels(block) if isinstance(block, Picture) else ():
                widths, lacks_numbers = [], False
                for width, inches in WIDTHS.items():
                    pdf = draw_pdf(panel, inches)
                    path = folder / f"{name}-{width}.pdf"
                    path.unlink(missing_ok=True)
                    if pdf is None:
                        too_wide.append(path.name)
                        continue
                    with write_atomically(path) as file:
                        file.write(pdf.content)
                    widths.append(width)
                    lacks_numbers = lacks_numbers or (pdf.lacks_numbers and width == widths[0])
                n_figures += len(widths)
                if widths:
                    included.append(
                        _figure(name, widths[0], f"{caption} {_NO_NUMBERS}" if lacks_numbers else caption)
                    )
        pages = ["\n".join(included[place : place + _FLOATS]) for place in range(0, len(included), _FLOATS)]
        write_text(folder / "figures.tex", "% needs \\usepackage{graphicx}\n" + "\\clearpage\n".join(pages))
        return Written(folder, n_figures, len(tables), too_wide)
    except OSError as error:
        raise unwritable(Path(error.filename or folder), error) from error


def _tables(block: object) -> Sequence[Table]:
    return (block,) if isinstance(block, Table) else getattr(block, "tables", ())


def _panels(picture: Picture) -> Iterator[tuple[str, str, Callable[[], "Figure"]]]:
    """Yield a name for files, a caption and the drawing of each panel."""
    names = slugs(list(picture.panels))
    for shown, draw in picture.panels.items():
        is_only = len(picture.panels) == 1
        name = picture.name if is_only else f"{picture.name}-{names[shown]}"
        sentences = [picture.panel_caption or picture.caption, picture.panel_notes.get(shown)]
        sentences += [str(picture.basis or ""), picture.notice]
        caption = " ".join(filter(None, sentences))
        yield name, caption[:1].upper() + caption[1:] if is_only else f"{shown}: {caption}", draw


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
