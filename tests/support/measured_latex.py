"""How wide and high the tables of LaTeX text are, from measured widths of characters."""

import re
from dataclasses import dataclass

TEXT_POINTS, PAGE_POINTS = 6.3 * 72.27, 9 * 72.27
_CMR8 = {
    0.30: "il.,:;'![]", 0.32: "fj", 0.36: "- ", 0.38: "I_", 0.41: "rt()", 0.42: "s", 0.47: "cez", 0.50: "?",
    0.53: "ago0123456789/*", 0.56: "Jkqvxy", 0.59: "bdhnpuS", 0.66: "ZL", 0.69: "F", 0.72: "EP", 0.78: "BwCTR",
    0.80: "AHNUVXY", 0.83: "DGKOQ+=@<>~", 0.89: "m%√", 0.97: "M", 1.09: "W", 1.42: "…",
}  # fmt: skip
"""Computer Modern at 8 pt: em -> characters. Measured with \\settowidth in pdfTeX 3.141592653-2.6-1.40.24."""
_EMS = {character: em for em, characters in _CMR8.items() for character in characters}
_BOLD, _SEVEN = 1.16, 1.075
"""The largest factors between the widths of cmbx8 and cmr8, and of cmr7 and cmr8, in the same measurement."""


@dataclass(frozen=True)
class Measured:
    """What LaTeX would make of a table.

    Attributes:
        width: of the tabular, in points.
        height: of the tabular and its caption, in points.
        type: size of the type, in points.
        rows: the number of rows below the headings.
        label: what other text refers to.
        is_wide: whether it stands across both columns.
    """

    width: float
    height: float
    type: float
    rows: int
    label: str
    is_wide: bool


def measured(latex: str) -> list[Measured]:
    """Measure every table."""
    return [
        _one(found[1]) for found in re.finditer(r"\\begin(\{table\*?\}.*?)\\end\{table", latex, re.DOTALL)
    ]


def _one(text: str) -> Measured:
    size, leading = map(float, re.search(r"\\fontsize\{([\d.]+)\}\{([\d.]+)\}", text).groups())
    tabular = re.search(r"\\begin\{tabular\}\{[lr]*\}\n(.*?)\\end\{tabular\}", text, re.DOTALL)[1]
    lines = [line.removesuffix(r" \\").split(" & ") for line in tabular.splitlines() if line.endswith(r"\\")]
    head = tabular.split(r"\midrule")[0]
    plain = [line for line in lines if not any(r"\multicolumn" in cell for cell in line)]
    turned = [_points(cell, size) for line in plain for cell in line if r"\rotatebox" in cell]
    widths = [
        6 + max(leading if r"\rotatebox" in cell else _points(cell, size) for cell in own)
        for own in zip(*plain, strict=True)
    ]
    for line in (line for line in lines if line not in plain):
        place = 0
        for cell in line:
            span, name = re.fullmatch(r"\\multicolumn\{(\d+)\}\{c\}\{(.*)\}|", cell).groups()
            short = 6 + _points(name or "", size) - sum(widths[place : place + int(span or 1)])
            widths[place + int(span or 1) - 1] += max(0.0, short)
            place += int(span or 1)
    rows = len(lines) - head.count(r"\\" + "\n")
    height = len(lines) * leading + 5 * len(re.findall("rule", tabular)) + max(turned, default=0.0)
    is_wide = text.startswith("{table*}")
    caption = len(re.search(r"\\caption\{(.*)\}\n", text)[1]) * 4.9
    height += 12 * (1 + caption // (TEXT_POINTS if is_wide else 3.03 * 72.27)) + 10
    return Measured(sum(widths), height, size, rows, re.search(r"\\label\{(.*)\}", text)[1], is_wide)


def _points(latex: str, size: float) -> float:
    text = latex.replace(r"\rotatebox{90}", "").replace(r"\dots{}", "…").replace(r"\surd", "√")
    text = re.sub(r"\$\\?[a-z-]+\$", "+", re.sub(r"\\text[a-z]+\{\}", "<", text))
    text = re.sub(r"\\textbf|[{}\\$]", "", text)
    bold = _BOLD if r"\textbf" in latex else 1.0
    return sum(_EMS.get(character, 0.6) for character in text) * size * bold * (_SEVEN if size < 8 else 1.0)
