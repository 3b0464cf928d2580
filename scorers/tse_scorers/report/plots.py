"""The style of pictures: written as SVG, put into the page as inline SVG, or as PDF for a paper.

Text and lines are drawn in a few fixed neutral colours which the page replaces by its own, so that a
picture follows the reader's light or dark scheme. Matplotlib is imported only when something is drawn,
and its state is left alone (no pyplot). The same data give the same bytes.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ..io.files import printable
from ..io.suggestions import did_you_mean
from .line_styles import GRID, INK, MUTED, PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLE: Any = {
    "figure.facecolor": PAPER, "savefig.facecolor": PAPER, "axes.facecolor": "none",
    "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 9.5,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": MUTED, "axes.titlesize": 10,
    "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titley": 1.0, "axes.linewidth": 0.8,
    "xtick.color": MUTED, "ytick.color": MUTED, "xtick.labelcolor": INK, "ytick.labelcolor": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
    "grid.color": GRID, "grid.linewidth": 0.7, "lines.linewidth": 1.6, "lines.markersize": 4.5,
    "legend.frameon": False, "legend.fontsize": 9, "text.parse_math": False,
    "svg.fonttype": "none", "svg.hashsalt": "refined-tse", "figure.constrained_layout.use": True,
}  # fmt: skip

_PAPER_STYLE: Any = {
    "figure.facecolor": "white", "savefig.facecolor": "white", "pdf.fonttype": 42, "font.size": 8,
    "axes.labelsize": 8, "xtick.labelsize": 8, "ytick.labelsize": 8, "legend.fontsize": 8, "axes.titlesize": 8,
    "lines.linewidth": 1.2, "lines.markersize": 3.5,
}  # fmt: skip


_TOUCHING = 0.8
"""Names of rows that are this much of their height apart still read; closer ones run into each other."""


PAPER_WIDTH: ContextVar[float | None] = ContextVar("paper_width", default=None)
"""The width in inches of the figure for a paper that is being drawn; None on the page."""


SMALL, SMALL_SIZE = "small", 7
"""Marks text of a paper (as its gid) that has this size in points, the smallest there."""
TIMES = "Times"
"""The font of a paper where none is named: STIX General, which has its shapes and comes with matplotlib."""
PAPER_HEIGHT = 7.4
"""Inches of the highest figure of a paper, which leaves room for its caption."""


def figure_size(width: float, height: float) -> tuple[float, float]:
    """Return the size of a figure in inches: in a paper, the width of its column or text, and at most its height."""
    paper = PAPER_WIDTH.get()
    return (width, height) if paper is None else (paper, min(height, PAPER_HEIGHT))


def panel_grid(n: int, across: int, width: float, height: float, **shared: Any) -> tuple["Figure", Any]:
    """Return a figure with n panels in rows of `across`, and the grid of their axes; places left over are empty."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=figure_size(width, height))
    grid = figure.subplots(-(-n // across), across, squeeze=False, **shared)
    for axes in grid.flat:
        axes.spines[:].set_in_layout(False)  # they lie on its edges; measuring them places all ticks again
    for axes in list(grid.flat)[n:]:
        axes.set_visible(False)
    return figure, grid


def paper_width() -> float | None:
    """Return the width in inches of the paper that is drawn for; None on the page."""
    return PAPER_WIDTH.get()


def to_svg(figure: "Figure") -> str:
    """Return a figure as SVG, which was drawn in the style of the report, inside of it."""
    buffer = BytesIO()
    _place_parts(figure)
    figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return printable(buffer.getvalue().decode("utf-8"))  # XML has no control characters


def _place_parts(figure: "Figure") -> None:
    """Place the parts of a figure as saving it as SVG does, which would draw it twice, once only to place them."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    if (layout := figure.get_layout_engine()) is None:
        return
    FigureCanvasSVG(figure)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if not axis.label.get_text():  # else it is placed beside its numbers, which are measured for that
                axis.set_label_coords(0, 0)
    dpi, figure.dpi = figure.dpi, 72  # of SVG
    layout.execute(figure)
    figure.dpi = dpi
    with rc_context({"figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)  # not "none", which leaves a place holder, for which it is drawn twice


class Pdf(NamedTuple):
    """A figure for a paper: the bytes of its file, and whether it is a heat map too narrow for its numbers."""

    content: bytes
    lacks_numbers: bool


def check_font(font: str) -> None:
    """Raise ValueError unless matplotlib finds a font of this family on this machine."""
    from matplotlib.font_manager import FontProperties, findfont, get_font_names

    try:
        findfont(FontProperties(family=_family(font)), fallback_to_default=False)
    except ValueError as error:
        raise ValueError(
            f"No font {font!r} was found on this machine; expected {TIMES}, or the name of a family that matplotlib "
            f"finds, such as DejaVu Sans.{did_you_mean(font, [TIMES, *get_font_names()])}"
        ) from error


def _family(font: str) -> str:
    return "STIXGeneral" if font == TIMES else font


def draw_pdf(draw: Callable[[], "Figure"], width: float, font: str = TIMES) -> Pdf | None:
    """Draw a figure for a paper: `width` inches wide, white, text 8 pt (small numbers 7), fonts embedded as TrueType.

    Letters that the font lacks are those of DejaVu Sans.

    Returns:
        The PDF; None if the figure does not fit.
    """
    token = PAPER_WIDTH.set(width)
    try:
        with style(), warnings.catch_warnings():
            from matplotlib import rcParams
            from matplotlib.collections import QuadMesh
            from matplotlib.text import Text

            rcParams.update(_PAPER_STYLE | {"font.family": [_family(font), "DejaVu Sans"]})
            warnings.filterwarnings("error", message="constrained_layout not applied", category=UserWarning)
            figure = draw()
            figure.set_size_inches(width, figure.get_figheight())
            for text in figure.findobj(Text):
                text.set_fontsize(SMALL_SIZE if text.get_gid() == SMALL else _PAPER_STYLE["font.size"])
                text.set_linespacing(1.0)
            for axes in figure.axes:
                axes.set_title("", loc="left")  # the paper's caption says it
            buffer = BytesIO()
            figure.savefig(
                buffer, format="pdf", metadata=dict.fromkeys(("Creator", "Producer", "CreationDate"))
            )
            if any(map(_overlaps, figure.axes)):
                return None
    except UserWarning:  # the layout leaves no room for the axes
        return None
    finally:
        PAPER_WIDTH.reset(token)
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    lacks_numbers = any(axes.findobj(QuadMesh) and not axes.texts for axes in panels)
    return Pdf(buffer.getvalue(), lacks_numbers)


def _overlaps(axes: "Axes") -> bool:
    """Whether the rows of a panel are too low for their names."""
    labels = [label for label in axes.get_yticklabels() if label.get_visible() and label.get_text()]
    boxes = [label.get_window_extent() for label in labels]
    shared = [(min(a.y1, b.y1) - max(a.y0, b.y0), min(a.height, b.height)) for a, b in pairwise(boxes)]
    return any(overlap > (1 - _TOUCHING) * height for overlap, height in shared)


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of the report."""
    from matplotlib import rc_context

    with rc_context(_STYLE), warnings.catch_warnings():
        # A glyph that the font lacks here: the SVG's readers have fonts of their own.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield
