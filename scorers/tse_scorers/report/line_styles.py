"""Colours and lines: which system, measure or group is drawn how, the same in all figures of a page."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from .published import is_reference

# Neutral colours → the page's variables. The values are those of the page's light scheme.
INK, MUTED, FAINT, GRID, PAPER = "#1f2328", "#59636e", "#a3abb4", "#d8dee4", "#fefefe"
# Seven hues chosen for the largest smallest difference (OKLab, under normal and the three kinds of
# dichromatic vision) among colours with a contrast of 3:1 or more on both schemes' backgrounds, without the
# reds and blues of the heat maps, which stand for bad and good.
HUES = ("#871eff", "#c3871e", "#3c8778", "#ff3cb4", "#876900", "#b400b4", "#a578ff")
DASHES: Sequence[Any] = ("-", (0, (4, 2)), (0, (1, 1.2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")


@dataclass(frozen=True)
class Line:
    """How one series is drawn; hue and dashes tell it apart, and the marker where there is one.

    Attributes:
        colour: of line and marker.
        marker: at the points; empty for none.
        dashes: its place in `DASHES`.
        width: in points.
    """

    colour: str
    marker: str
    dashes: int = 0
    width: float = 1.6

    def style(self) -> dict[str, Any]:
        """Return the keyword arguments of `Axes.plot`."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": DASHES[self.dashes],
            "linewidth": self.width,
        }


_systems: ContextVar[Sequence[str]] = ContextVar("systems", default=())


@contextmanager
def colours_of(systems: Sequence[str]) -> Iterator[None]:
    """Draw each of these systems alike in all figures, and use hues for systems only; a single one needs no hue."""
    token = _systems.set(tuple(systems))
    try:
        yield
    finally:
        _systems.reset(token)


def systems_of_page() -> Sequence[str]:
    """Return the systems of `colours_of`; none outside of it."""
    return _systems.get()


def lines(labels: Sequence[str]) -> dict[str, Line]:
    """Give every label a line of its own.

    Inside `colours_of`, a system has its own in all figures, references (people, published models) are grey, and
    measures or groups are black and grey. Elsewhere: hues first, then the same hues dashed and dotted,
    markers all along.
    """
    systems = _systems.get()
    if not systems:
        return {label: _hued(place) for place, label in enumerate(labels)}
    return {label: _line_on_page(label, place, systems) for place, label in enumerate(labels)}


def place_of_system(label: str) -> int | None:
    """Return the place of a system, whose label may end in a configuration, among those of `colours_of`."""
    systems = _systems.get()
    for name in (label, label.rpartition(" (")[0]):
        if name in systems:
            return systems.index(name)
    return None


def _hued(place: int) -> Line:
    return Line(HUES[place % len(HUES)], MARKERS[place % len(MARKERS)], (place // len(HUES)) % len(DASHES))


def _line_on_page(label: str, place: int, systems: Sequence[str]) -> Line:
    system, marker = place_of_system(label), MARKERS[place % len(MARKERS)]
    if is_reference(label):
        return Line(MUTED, marker)
    if system is None or len(systems) == 1:
        return Line(MUTED if place % 2 else INK, marker, (place // 2) % len(DASHES))
    return _hued(system) if label in systems else replace(_hued(system), marker=marker, dashes=place % 2)
