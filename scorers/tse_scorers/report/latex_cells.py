"""The cells of a LaTeX table, and the room that they take."""

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from .latex_text import Size
from .print_blocks import packed, whole_groups

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

    def widths(self, size: Size) -> list[float]:
        """The widths of all columns, those of headers first; those of a group hold its name."""
        names = zip(self.corners, *(headers for headers, _ in self.rows), strict=True)
        found = [_GAP + max(map(size.width, column)) for column in names]
        begin = len(found)
        for place, heading in enumerate(self.headings):
            head = size.leading if self.is_turned else size.width(heading)
            found.append(_GAP + max([head, *(size.width(*cells[place]) for _, cells in self.rows)]))
        for name, span in self.groups:
            missing = size.width(name) + _GAP - sum(found[begin : begin + span])
            found[begin + span - 1] += max(0.0, missing)
            begin += span
        return found

    def points(self, size: Size) -> float:
        """The width."""
        return sum(self.widths(size))

    def height(self, size: Size) -> float:
        """The height."""
        return self.head(size) + len(self.rows) * size.leading + _RULE * len(self.ruled)

    def head(self, size: Size) -> float:
        """The height of the headings and of the rules."""
        low = max(map(size.width, self.headings), default=0.0) if self.is_turned else size.leading
        return max(low, size.leading) + (size.leading + _RULE if self.groups else 0.0) + 3 * _RULE

    def part(self, columns: tuple[int, int], rows: tuple[int, int]) -> "Cells":
        """Return some columns and rows, with all headers; the first row repeats the header that it stands under."""
        kept = [(headers, cells[slice(*columns)]) for headers, cells in self.rows[slice(*rows)]]
        if kept and not kept[0][0][0]:
            above = next((headers[0] for headers, _ in reversed(self.rows[: rows[0]]) if headers[0]), "")
            kept[0] = ([above, *kept[0][0][1:]], kept[0][1])
        ends = pairwise([0, *accumulate(span for _, span in self.groups)])
        shared = [min(end, columns[1]) - max(begin, columns[0]) for begin, end in ends]
        return replace(
            self,
            groups=[(name, span) for (name, _), span in zip(self.groups, shared, strict=True) if span > 0],
            headings=self.headings[slice(*columns)],
            rows=kept,
            ruled={place - rows[0] for place in self.ruled if rows[0] < place < rows[1]},
        )

    def parts(self, size: Size, width: float, height: float) -> "list[Cells]":
        """Split the cells so that each part has this width and height at most; columns of a group stay together."""

        def fits(begin: int, end: int) -> bool:
            return self.part((begin, end), (0, len(self.rows))).points(size) <= width

        widths = self.widths(size)[len(self.corners) :]
        room = width - self.points(size) + sum(widths)
        across = list(packed(whole_groups([span for _, span in self.groups], widths, room), fits))
        for n in range(1, len(self.rows) + 1):
            found = [self.part(block, rows) for rows in self._down(n) for block in across]
            if all(part.height(size) <= height for part in found):
                break
        return found if self.rows else [self]

    def _down(self, n: int) -> list[tuple[int, int]]:
        """Split the rows into n parts of about one length, at a rule where one is near."""
        ends = [len(self.rows) * place // n for place in range(1, n)]
        places = {self._near(end) for end in ends}
        return list(pairwise([0, *sorted(places), len(self.rows)]))

    def _near(self, place: int) -> int:
        rule = min(self.ruled, key=lambda own: abs(own - place), default=place)
        return rule if abs(rule - place) <= _NEAR else place
