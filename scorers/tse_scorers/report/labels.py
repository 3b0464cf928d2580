"""Labels of rows, columns and lines in figures: short enough for their place, and no two of a figure alike."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .line_styles import place_of_system, systems_of_page
from .plots import paper_width
from .systems import distinct, end_names, shortened, without_organisation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABEL = 42
"""Characters of a label."""
_SCREEN_LABEL = 56
"""On a page, characters of a label of two lines in a paper: a name, and its number of items."""
_PAPER_LABEL = 8
"""In a paper, characters of a label per inch of the figure."""
LINE = 0.12
"""In a paper, inches of a line of text."""
_END = 24
"""Characters of a name at the end of a line."""
_BREAKS = (" ", "/", "-")
"""Where a label is broken, the best place first."""


def row_labels(names: Sequence[str], n_lines: int = 1, width: int | None = None) -> dict[str, str]:
    """Shorten names for labels; in a paper, organisations are left out, and long labels broken if asked for.

    Args:
        names: what is labelled.
        n_lines: 2 to break long labels of a paper over two lines; on a page, they have one longer line.
        width: characters of a line; by default, `LABEL`, or less in a paper, where labels must leave room. It is more
            where labels would be alike.

    >>> list(row_labels(["an object clause (n 12)", "an object phrase (n 12)"], width=15).values())
    ['an object …use (n 12)', 'an object …ase (n 12)']
    """
    paper = paper_width()
    if paper is None:
        return _distinct(
            {name: name for name in names}, width or (LABEL if n_lines == 1 else _SCREEN_LABEL), 1
        )
    return _distinct(_paper_names(names), width or min(LABEL, int(_PAPER_LABEL * paper)), n_lines)


def line_name(name: str) -> str:
    """Shorten the name of a line for a legend, in a paper by the rule of all its labels."""
    return shortened(name) if paper_width() is None else in_lines(_paper_names([name])[name], LABEL)


def line_names(names: Sequence[str]) -> dict[str, str]:
    """Shorten names for the ends of lines: without the organisation where that leaves them distinct."""
    return end_names(names) if paper_width() is None else row_labels(names, 2, _END)


def longest(labels: Iterable[str]) -> int:
    """Return the characters of the longest line of labels."""
    return max((len(line) for label in labels for line in label.split("\n")), default=0)


def row_inches(labels: Sequence[str], least: float) -> float:
    """Return the inches of a row whose labels, some of them broken, do not touch."""
    n_lines = [label.count("\n") + 1 for label in labels]
    return max([least, *(LINE * (one + other) / 2 for one, other in pairwise(n_lines))])


def _paper_names(names: Sequence[str]) -> dict[str, str]:
    """Leave organisations out, if all systems of the paper stay distinct, so that a system has one name in it."""
    page = systems_of_page()
    systems = [name for name in names if not page or place_of_system(name) is not None]
    all_systems = dict.fromkeys([*page, *systems])
    ends = distinct(all_systems, without_organisation)
    return {name: ends.get(name, name) for name in names}


def _distinct(names: Mapping[str, str], width: int, n_lines: int) -> dict[str, str]:
    """Shorten names to `width` characters a line, or to the fewest more that leave them distinct."""
    cut = in_lines if n_lines > 1 else shortened
    widths = range(width, max(width, longest(names.values())) + 1)
    return distinct(names, *(lambda name, at=at: cut(names[name], at) for at in widths))


def in_lines(text: str, width: int) -> str:
    r"""Break a text that is longer than a line over two; cut in its middle only what these do not hold.

    >>> in_lines("Across object relative (no that)", 24), in_lines("an-organisation/gpt2-medium", 20)
    ('Across object\nrelative (no that)', 'an-organisation/\ngpt2-medium')
    >>> in_lines("a-long-name-of-a-model", 8)
    'a-long-…\na-model'
    """
    if len(text) <= width:
        return text
    for sign in _BREAKS:
        places = [place + 1 for place, character in enumerate(text) if character == sign]
        pairs = [(text[:place].rstrip(), text[place:]) for place in places]
        # A line may be a little longer, rather than that a word is broken.
        if fit := [pair for pair in pairs if max(map(len, pair)) <= width + width // 8]:
            return "\n".join(min(fit, key=lambda pair: max(map(len, pair))))
    if len(text) <= 2 * width:
        return f"{text[:width]}\n{text[width:]}"
    return f"{text[: width - 1]}…\n{text[len(text) - width + 1 :]}"


def legend(figure: "Figure", grid: Any, place: Any, order: Sequence[str] = ()) -> None:
    """Put one legend for all panels outside of them, in as many columns as the figure's width allows.

    Args:
        figure: where it goes.
        grid: the panels.
        place: as `Figure.legend` takes it.
        order: the labels in the order of the legend; by default, in the order in which they were drawn.
    """
    handles: dict[str, Any] = {}
    for axes in grid.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    names = [line_name(label) for label in order]
    handles = {name: handles[name] for name in names if name in handles} | handles
    if handles:
        room = 12 * figure.get_figwidth() // (longest(handles) + 7)  # about 12 characters in an inch
        figure.legend(
            list(handles.values()), list(handles), loc=place, ncols=int(min(max(room, 1), len(handles)))
        )
