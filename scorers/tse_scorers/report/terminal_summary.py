"""The terminal's summary of a run: per suite one row per system and one column per measure, within any width."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ..io.files import printable
from .inputs import result_rows
from .leaderboard import FEW_ITEMS, is_all_ties
from .measure import Measures
from .summary import headlines
from .systems import shortened
from .tables import count

_NAME, _LEAST_NAME = 32, 8
"""Characters of a name: so many before intervals move below scores, and in any case."""
_EDGES, _BETWEEN = 2, 3
"""Characters that the box takes beside a table, and between two columns."""


def summary_table(results: Sequence[Mapping[str, Any]], measures: Measures) -> "Summary":
    """Return the headline numbers of a run for a `rich` console.

    Args:
        results: the rows of a results.json.
        measures: headline measures of each suite.

    Returns:
        A table per suite, one row per model and one column per measure, and below it what was excluded and tied. Names
        are shown literally: console markup in them is not interpreted.

    Raises:
        ValueError: there are no rows, or a row lacks a required column.
    """
    return Summary(headlines(result_rows(results), measures))


class Summary:
    """Tables of headline numbers that fit the width of the console: intervals move below scores where they must."""

    def __init__(self, lines: pd.DataFrame) -> None:
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the tables and the remarks below them."""
        for suite, own in self.lines.groupby("suite", sort=False):
            yield _table(str(suite), own, options.max_width)
            for remark in _remarks(own):
                yield Text(printable(remark))
            yield Text("")


def _table(suite: str, lines: pd.DataFrame, width: int) -> Table:
    once = lines.drop_duplicates(["system", "measure"], keep="last")
    texts = once.pivot(index="system", columns="measure", values="text")
    texts = texts.reindex(index=pd.unique(once["system"]), columns=pd.unique(once["measure"])).fillna("–")
    longest = max(len(printable(str(name))) for name in texts.index)
    if min(longest, _NAME) > _room_for_names(texts, width):
        texts = texts.map(_in_two_lines)
    widths = _widths(texts)
    left = max(_room_for_names(texts, width), _LEAST_NAME)
    table = Table(title=printable(suite), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Model", no_wrap=True)
    for name, needed in zip(texts, widths, strict=True):
        table.add_column(Text(printable(str(name))), justify="right", min_width=needed)
    for system, row in texts.iterrows():
        table.add_row(Text(shortened(printable(str(system)), left)), *(Text(printable(cell)) for cell in row))
    return table


def _room_for_names(texts: pd.DataFrame, width: int) -> int:
    """Return the characters that a table of this width leaves for names."""
    return width - _EDGES - sum(needed + _BETWEEN for needed in _widths(texts))


def _widths(texts: pd.DataFrame) -> list[int]:
    """Return the characters that each column needs: its widest line, or the longest word of its heading."""
    return [
        max(len(line) for text in [*texts[name], *str(name).split()] for line in text.split("\n"))
        for name in texts
    ]


def _in_two_lines(text: str) -> str:
    """Move the interval of a score below it."""
    score, space, interval = text.partition(" ")
    return f"{score}\n{interval}" if space and score[0].isdigit() | (score[0] in "<>") else text


def _remarks(lines: pd.DataFrame) -> Iterator[str]:
    """Say what the scores rest on: numbers of items, what was excluded and why, and ties; alike measures together."""
    said: dict[str, list[str]] = {}
    for measure, own in lines.groupby("measure", sort=False):
        said.setdefault(_basis(own), []).append(str(measure).removesuffix(" %"))
    for basis, names in said.items():
        yield f"{', '.join(names)}: {basis}."


def _basis(lines: pd.DataFrame) -> str:
    rows = lines.to_dict("records")
    said = [*filter(None, lines["detail"].unique()), f"n {_range(lines['n'])}"]
    if (lines["n_excluded"] > 0).any():
        why = rows[0]["why_excluded"]
        said.append(f"excluded {_range(lines['n_excluded'])}" + (f" ({why})" if why else ""))
    if (lines["n_ties"] > 0).any():
        said.append(f"ties {_range(lines['n_ties'])}")
    few = [str(row["system"]) for row in rows if 0 < row["n"] < FEW_ITEMS]
    tied = [str(row["system"]) for row in rows if is_all_ties(row)]
    if few:
        said.append(f"fewer than {FEW_ITEMS} items: {_named(few, len(rows))}")
    if tied:
        said.append(f"only ties, so the score says nothing: {_named(tied, len(rows))}")
    return "; ".join(said)


def _named(systems: Sequence[str], of: int) -> str:
    """Name systems, or count them where they are many or all."""
    return (
        "all models"
        if len(systems) == of > 1
        else ", ".join(systems)
        if len(systems) <= 3
        else f"{len(systems)} models"
    )


def _range(counts: "pd.Series[float]") -> str:
    known = counts.dropna()
    if known.empty:
        return "unknown"
    low, high = count(known.min()), count(known.max())
    return low if low == high else f"{low} to {high}"
