"""The terminal's summary of a run: per suite one row per system and one column per measure, within any width."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ..io.files import printable
from .basis import remarks
from .summary import marked
from .systems import end_names

_NAME, _LEAST_NAME = 20, 8
"""Characters of a name: so many before intervals move below scores, and in any case."""
_EDGES, _BETWEEN = 2, 3
"""Characters that the box takes beside a table, and between two columns."""


class Summary:
    """Headline numbers for a `rich` console: a table per suite, one row per model and one column per measure.

    Below it is what was excluded and tied. Intervals move below scores where the console is narrow. Names are shown
    literally: console markup in them is not interpreted.
    """

    def __init__(self, lines: pd.DataFrame) -> None:
        """Take the lines of `summary.headlines`."""
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the tables and the remarks below them."""
        in_order = self.lines.sort_values("place", kind="stable")  # as the report has them
        for suite, of_suite in in_order.groupby("suite", sort=False):
            yield from _tables(str(suite), of_suite, options.max_width)
            for remark in remarks(of_suite):
                yield Text(printable(remark))
            yield Text("")


def _tables(suite: str, lines: pd.DataFrame, width: int) -> Iterator[Table]:
    """Yield one table, or several where the columns of all measures are wider than the terminal."""
    once = lines.assign(text=marked(lines)).drop_duplicates(["system", "measure"], keep="last")
    texts = once.pivot(index="system", columns="measure", values="text")
    texts = texts.reindex(index=pd.unique(once["system"]), columns=pd.unique(once["measure"])).fillna("–")
    texts.index = texts.index.map(lambda name: printable(str(name)))
    shortest = max(map(len, end_names(list(texts.index), _NAME).values()))
    if shortest > _room_for_names(_widths(texts), width):
        texts = texts.map(_in_two_lines)
    for measures in _blocks(_widths(texts), width - min(_LEAST_NAME, max(map(len, texts.index)))):
        yield _table(suite, texts[measures], width)


def _blocks(widths: Mapping[str, int], width: int) -> Iterator[list[str]]:
    """Split measures into as few tables as fit the width that names leave."""
    block: list[str] = []
    for measure, needed in widths.items():
        widths_taken = {name: widths[name] for name in block} | {measure: needed}
        if block and _room_for_names(widths_taken, width) < 0:
            yield block
            block = []
        block.append(measure)
    yield block


def _table(suite: str, texts: pd.DataFrame, width: int) -> Table:
    """Return a table whose widths are decided here: rich gives headings room that it takes from numbers."""
    longest = max(map(len, texts.index))
    whole_words, least = ({**_widths(texts, words)} for words in (False, True))
    widths = whole_words if longest <= _room_for_names(whole_words, width) else least
    names = short_names(list(texts.index), max(_room_for_names(widths, width), _LEAST_NAME))
    table = Table(title=printable(suite), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Model", no_wrap=True)
    for name, needed in widths.items():
        table.add_column(Text(printable(str(name))), justify="right", width=needed)
    for system, row in texts.iterrows():
        table.add_row(Text(names[str(system)]), *(Text(printable(cell)) for cell in row))
    return table


def short_names(names: Sequence[str], width: int) -> dict[str, str]:
    """Shorten names to a width: without the organisation, then in the middle, where that leaves most of them distinct.

    Those that would still be alike end in a number.

    >>> short_names(["org/pythia-70m-deduped", "org/pythia-160m-deduped"], 14)
    {'org/pythia-70m-deduped': 'pythia-7…duped', 'org/pythia-160m-deduped': 'pythia-1…duped'}
    >>> short_names(["pythia-70m-x", "pythia-14m-x", "pythia-70m-y"], 5)
    {'pythia-70m-x': 'py…-x', 'pythia-14m-x': 'py…-2', 'pythia-70m-y': 'py…-y'}
    """
    if max(map(len, names), default=0) <= width:
        return {name: name for name in names}
    ends = end_names(names, max(map(len, names)))

    def cut(tail: int) -> list[str]:
        return [
            name if len(name) <= width else f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}"
            for name in ends.values()
        ]

    middle = (width - 1) // 2
    tails = sorted(range(1, width - 1), key=lambda tail: abs(tail - middle))
    best = max(tails, key=lambda tail: len(set(cut(tail))))
    return dict(zip(ends, _numbered(cut(best)), strict=True))


def _numbered(names: Sequence[str]) -> list[str]:
    """Give each name that another one before it has the next number at its end, in the same width.

    >>> _numbered(["ab…yz", "ab…yz", "gpt2", "ab…yz"])
    ['ab…yz', 'ab…y2', 'gpt2', 'ab…y3']
    """
    names_so_far: list[str] = []
    for name in names:
        numbered, number = name, 1
        while numbered in names_so_far or (number > 1 and numbered in names):
            number += 1
            numbered = f"{name[: len(name) - len(str(number))]}{number}"
        names_so_far.append(numbered)
    return names_so_far


def _room_for_names(widths: Mapping[str, int], width: int) -> int:
    """Return the characters that a table of this width leaves for names."""
    return width - _EDGES - sum(needed + _BETWEEN for needed in widths.values())


def _widths(texts: pd.DataFrame, words: bool = True) -> dict[str, int]:
    """Return the characters that each column needs: its widest line, or its heading, or the longest word of that."""
    return {
        name: max(
            len(line)
            for text in [*texts[name], *(str(name).split() if words else [str(name)])]
            for line in text.split("\n")
        )
        for name in texts
    }


def _in_two_lines(text: str) -> str:
    """Move the interval of a score below it."""
    score, space, interval = text.partition(" ")
    return f"{score}\n{interval}" if space and score[0].isdigit() | (score[0] in "<>") else text
