"""Legends outside of a figure's panels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .labels import line_name, longest

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def legend(figure: "Figure", grid: Any, place: Any, order: Sequence[str] = ()) -> None:
    """Put one legend for all panels outside of them, in as many columns as the figure's width allows.

    Args:
        figure: where it goes.
        grid: the panels.
        place: as `Figure.legend` takes it.
        order: the labels in the order of the legend; by default, in the order in which they were drawn.
    """
    known: dict[str, Any] = {}
    for axes in grid.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    names = [line_name(label) for label in order]
    known = {name: known[name] for name in names if name in known} | known
    if known:
        room = 12 * figure.get_figwidth() // (longest(known) + 7)  # about 12 characters in an inch
        figure.legend(list(known.values()), list(known), loc=place, ncols=int(min(max(room, 1), len(known))))
