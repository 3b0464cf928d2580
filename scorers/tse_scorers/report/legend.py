"""Legends outside of a figure's panels."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def legend(figure: "Figure", grid: Any, place: Any) -> None:
    """Put one legend for all panels outside of them, in as many columns as the figure's width allows."""
    known: dict[str, Any] = {}
    for axes in grid.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    if known:
        room = 12 * figure.get_figwidth() // (max(map(len, known)) + 7)  # about 12 characters in an inch
        figure.legend(list(known.values()), list(known), loc=place, ncols=int(min(max(room, 1), len(known))))
