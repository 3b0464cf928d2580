"""Text as LaTeX, and how wide it is."""

import re
from dataclasses import dataclass
from functools import lru_cache

from ..io.files import printable

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
"""How much wider bold is, and an em's characters at 7 pt, where Computer Modern is wider in proportion."""


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

    def width(self, text: str, is_bold: bool = False) -> float:
        """Estimate the points that a line takes; the whole line counts as bold where a part of it is."""
        return _ems(text) * self.type * (_BOLD if is_bold else 1.0) * (_SMALL if self.type < 8 else 1.0)


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "−": "$-$",
    "≤": r"$\leq$", "≥": r"$\geq$", "≈": r"$\approx$", "→": r"$\rightarrow$", "²": r"$^2$", "η": r"$\eta$",
    "<": r"\textless{}", ">": r"\textgreater{}", "×": r"$\times$",
    "✓": r"$\surd$", "±": r"$\pm$", "…": r"\dots{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "|": r"\textbar{}", "\N{ZERO WIDTH SPACE}": "{}", "\N{REPLACEMENT CHARACTER}": "?",
}  # fmt: skip


def escape(text: str) -> str:
    """Escape what LaTeX would take for a command; a line end becomes a space."""
    # Two hyphens would become a dash, a line end would end a comment, and some control characters are commands of TeX.
    plain = printable(re.sub(r"\s+", " ", text))
    plain = re.sub("-(?=-)", "-\N{ZERO WIDTH SPACE}", plain)
    return "".join(_LATEX.get(character, character) for character in plain)


def typesettable(text: str) -> bool:
    """Whether pdfLaTeX has every character of a text without further packages."""
    return all(ord(character) < 0x180 or character in _LATEX or character in "‘’“”—·" for character in text)
