"""What is shown: tables and figures over tidy scores, the same on the page, in a paper, a notebook and a terminal."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from ..io.files import one_line, printable
from ..statistics.printed import is_above
from .numbers import MISSING, UNLIKE, UNRELIABLE, count, interval, number, plain, with_interval

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler
    from rich.console import Group

    from ..suites.base import Text


INTERVAL = "95 % interval, which allows for the choice of items"
BOLD = "Bold: above all other models by more than chance explains (5 % over all comparisons of its column)."


class Cell(NamedTuple):
    """A cell of the page: `text` and `interval` ("" for none); on hover, what it is over (`basis`).

    `bar` is CSS, in percent: where the bar begins (l), the score is (x), the bar ends (h), guessing is (c). `hue` is
    the place of its system among ours, None for others.
    """

    text: str
    interval: str
    bar: str
    hue: int | None
    is_best: bool
    basis: str


@dataclass(frozen=True)
class Table:
    """A table of scores.

    Attributes:
        name: of its file and anchor.
        title: what it shows; the caption.
        scores: tidy rows; of several for one place, the last one counts.
        rows: the column of the row headers.
        columns: the columns of the headings, upper one first.
        note: a remark below it, beside what its marks mean.
        intervals: whether cells have their intervals in words (else they are on hover).
        folded: shown only when the reader opens it.
        bars: what the page draws below each score: its interval on a line from 0 to 1, or a bar of its length.
        words: a second line of headings.
        systems: ours, best first, for their colours; those of the scores if empty.
        heads: headings above our rows and above published ones, where there are both.
        examples: an item for the row headers that have one.
    """

    name: str
    title: str
    scores: pd.DataFrame
    rows: str = "label"
    columns: Sequence[str] = ("system",)
    note: str = ""
    intervals: bool = True
    folded: bool = False
    bars: Literal["interval", "share", ""] = "interval"
    words: Mapping[str, str] = field(default_factory=dict)
    systems: Sequence[str] = ()
    heads: tuple[str, str] = ("", "")
    examples: Mapping[str, "Split"] = field(default_factory=dict)

    @property
    def hues(self) -> dict[str, int]:
        """The place of each of our systems among the colours."""
        ours = self.systems or self.scores.loc[self.scores["source"] == "run", "system"].unique()
        return {system: place for place, system in enumerate(ours)}

    def headings(self) -> list[list[tuple[str, int]]]:
        """Return each row of headings: (text, columns that it spans)."""
        columns = [key if isinstance(key, tuple) else (key,) for key in self.pivot("score").columns]
        spans = (groupby(columns, key=lambda key: key[: level + 1]) for level in range(len(self.columns)))
        return [[(str(key[-1]), len(list(of))) for key, of in span] for span in spans]

    def body(self) -> Iterator[tuple[str, bool, int | None, list[Cell | None]]]:
        """Yield each row of the page: its header, whether it is published, its hue, its cells."""
        hues, cells = self.hues, []
        for (row, text, signs, ends), is_best in zip(self._printed, self.marks, strict=True):
            low, high = (row["ci_low"], row["ci_high"]) if ends else (row["score"], row["score"])
            places = {"l": low, "x": row["score"], "h": high, "c": row.get("chance")}
            percents = {of: 100 * min(max(float(at), 0.0), 1.0) for of, at in places.items() if pd.notna(at)}
            bar = ";".join(f"--{of}:{round(at, 1)}" for of, at in percents.items())
            cell = Cell(text + signs, ends, bar, hues.get(row["system"]), is_best, _basis(row))
            cells.append(None if pd.isna(row["score"]) else cell)
        published = self.scores["source"].ne("run").groupby(self.scores[self.rows]).all()
        for label, of in self.pivot(pd.Series(cells, self.scores.index, dtype=object)).iterrows():
            shown = [cell if isinstance(cell, Cell) else None for cell in of]
            yield str(label), bool(published[label]), hues.get(str(label)), shown

    @cached_property
    def _printed(self) -> list[tuple[dict[Hashable, Any], str, str, str]]:
        """Each row, and how its score is printed, with signs of doubt after it, and its interval without them."""
        found = []
        for row in self.scores.to_dict("records"):
            digits = int(row.get("digits", 2))
            ends = interval(row, digits)
            signs = UNRELIABLE * ends.endswith(UNRELIABLE) + UNLIKE * (row.get("unlike") == 1)
            found.append((row, number(row["score"], digits), signs, ends.rstrip(UNRELIABLE)))
        return found

    def pivot(self, values: "pd.Series[Any] | str") -> pd.DataFrame:
        """Spread a column (or one value per row) into the table, rows and columns in the order of the scores."""
        keys = [self.rows, *self.columns]
        frame = self.scores.assign(_=self.scores[values] if isinstance(values, str) else values)
        frame = frame.drop_duplicates(keys, keep="last").set_index(keys)["_"]
        wide = frame.unstack(list(self.columns), sort=False).reindex(self.scores[self.rows].unique())
        wide = wide[list(self.scores[self.columns[0]].unique())]  # the same upper heading stands together
        return wide.rename_axis(index=self.rows, columns=[None] * len(self.columns))

    def text(self) -> pd.DataFrame:
        """Return the cells as they are printed."""
        shown = []
        for _, text, signs, ends in self._printed:
            doubt = UNRELIABLE * signs.startswith(UNRELIABLE)  # after the interval, where there is one
            whole = f"{text}{signs.removeprefix(doubt)} {ends}{doubt}"
            shown.append(whole if self.intervals and ends else text + signs)
        return self.pivot(pd.Series(shown, self.scores.index, dtype=object)).fillna(MISSING)

    @cached_property
    def marks(self) -> "pd.Series[bool]":
        """In each place (row, measure), whether a system lies above each other one, (scores,).

        What a place is told by is adjusted for all pairs of systems in all rows of its column (`statistics.printed`).
        Scores that are printed alike are marked alike; what is not `usable` is not among them.
        """
        marks = pd.Series(False, self.scores.index)
        if "usable" not in self.scores:
            return marks
        scores = self.scores.assign(text=[text for _, text, *_ in self._printed])
        scores = scores.drop_duplicates([self.rows, *self.columns], keep="last")
        is_ours = scores["source"].eq("run") & scores["usable"].astype(bool) & scores["score"].notna()
        column = [key for key in ("data", "measure") if key in scores]
        place = [*column, *(key for key in (self.rows, *self.columns) if key not in ("system", *column))]
        for _, of_column in scores[is_ours].groupby(column, sort=False):
            places = [of for _, of in of_column.groupby(place, sort=False) if len(of) > 1]
            n_pairs = sum(len(of) * (len(of) - 1) // 2 for of in places)
            for of in places:
                top = of.loc[of["score"].astype(float).idxmax()]
                alike = of["text"] == top["text"]
                if not alike.all() and is_above(top, of[~alike], n_pairs).all():
                    marks[of.index[alike]] = True
        return marks

    def latex(self) -> str:
        """Return it as LaTeX, what is best in bold."""
        said = f"Brackets: {INTERVAL}." if self.intervals else "tables.csv has the intervals."
        bold = self.pivot(self.marks).map(lambda is_best: "font-weight:bold" * (is_best is True))
        shown = _styler(self.text(), "latex").apply(lambda _: bold, axis=None)
        return _latex(self.name, f"{self.title} {self.explained(said)}".strip(), shown)

    def explained(self, intervals: str) -> str:
        """Return the note and what its marks mean; `intervals` says how intervals are shown, where there are some."""
        has_intervals = bool(self.scores["ci_low"].notna().any())
        said = [self.note, intervals * has_intervals, BOLD * bool(self.marks.any())]
        return " ".join(filter(None, said))

    @property
    def below(self) -> str:
        """What the page says below it."""
        where = "Brackets and line" if self.intervals else "Line, and on hover its numbers"
        line = f"{where}: {INTERVAL}; the line is from 0 to 1, its tick guessing."
        return self.explained({"interval": line, "share": "", "": f"On hover: {INTERVAL}."}[self.bars])

    def plot(self) -> "Plot":
        """Return our scores as a figure, for a paper: a row for each group or system, a panel for each measure."""
        ours = self.scores[self.scores["source"].eq("run") & self.scores["score"].notna()]
        panel = (ours["data"] + ": " if ours["data"].nunique() > 1 else "") + ours["measure"]
        points = ours.assign(panel=panel, y=ours["score"])
        if self.rows == "system":
            points = points.assign(label=points["system"])
        elif points["system"].nunique() > 1:
            points = points.assign(series=points["system"])
        return Plot(self.name, self.title, "dots", points, "score")

    def rich(self) -> "Group":
        """Return the table for a terminal."""
        text = self.text().rename_axis("")
        text.columns = [" ".join(key) if isinstance(key, tuple) else str(key) for key in text.columns]
        return _rich(self.title, text)


@dataclass(frozen=True)
class Plain:
    """A table that is not of scores: any frame, such as counts or sentences; its index has the row headers.

    `name` is of its file and anchor, `title` the caption, `note` a remark below it; `folded` ones are shown only when
    the reader opens them.
    """

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""
    folded: bool = True

    def styler(self) -> "Styler":
        """Return the table for a page: its cells and headings are escaped."""
        return _styler(self.frame, "html")

    def latex(self) -> str:
        """Return it as LaTeX."""
        return _latex(self.name, f"{self.title} {self.note}".strip(), _styler(self.frame, "latex"))

    def rich(self) -> "Group":
        """Return it for a terminal."""
        return _rich(self.title, self.frame)


@dataclass(frozen=True)
class Plot:
    """A figure over tidy points.

    Attributes:
        name: of its file and anchor.
        title: the caption.
        kind: `dots` (one row per `label`, whiskers), `lines` (with bands), `heat` (`label` by `x`).
        points: columns `label`, `x`, `y`; also `panel`, `series` (of dots), `ci_low`, `ci_high`, `reliable`, `usable`,
            `piece` (of a line with gaps), `source`.
        x: name of the horizontal axis.
        y: name of the vertical axis.
        chance: where guessing lies; None for nowhere.
        log: whether the horizontal axis is logarithmic.
        span: the ends of the scale of colours of `heat`.
        folded: shown only when the reader opens it.
        ticks: place -> label on the horizontal axis; None for those of matplotlib.
    """

    name: str
    title: str
    kind: Literal["dots", "lines", "heat"]
    points: pd.DataFrame
    x: str = ""
    y: str = "score"
    chance: float | None = 0.5
    log: bool = False
    span: tuple[float, float] = (0.0, 1.0)
    folded: bool = False
    ticks: Mapping[float, str] | None = None


Split = tuple[str, str, str, str]
"""Two texts: what both begin with, what only the right and only the wrong one has, what both end with."""
Block = Table | Plain | Plot | str
"""A string is a paragraph of plain text."""


@dataclass(frozen=True)
class Example:
    """One item and what each system made of it: the text before what differs, the words that differ, the text after.

    An answer has the system, its place among ours, its value for the right words and for the wrong ones, and whether it
    is right; `values` says what the values are.
    """

    before: str
    right: str
    wrong: str
    after: str
    answers: Sequence[tuple[str, int, str, str, bool]]
    values: str


@dataclass(frozen=True)
class Section:
    """What is shown of one suite on one data set: what it asks (`text`), and blocks under headings (`parts`).

    `name` is of its anchors and files, `title` the data, `basis` says what its scores are over.
    """

    name: str
    title: str
    text: "Text"
    basis: str
    parts: Mapping[str, Sequence[Block]]
    example: Example | None


def _styler(frame: pd.DataFrame, escape: str) -> "Styler":
    lines = frame.map(lambda cell: one_line(cell) if isinstance(cell, str) else cell)
    shown = lines.style.format(escape=escape, precision=2, thousands=",", na_rep=MISSING).hide(names=True)
    return shown.format_index(one_line, escape=escape).format_index(one_line, escape=escape, axis=1)


_FIT = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%" + "\n"
"""Makes a table that is wider than the page as wide as the page."""
_SIGNS = str.maketrans({
    "−": "$-$", "–": "--", "…": r"\ldots{}", "✓": "$+$", "✗": r"$\times$", "·": r"$\cdot$", "†": r"$\dagger$",
})  # fmt: skip
"""What pdflatex has no letter for."""


def _latex(name: str, caption: str, shown: "Styler") -> str:
    as_cell = pd.DataFrame([one_line(caption)]).style.format(escape="latex").hide(axis=1).hide().to_latex()
    text: str = shown.to_latex(
        hrules=True, environment="table*", position_float="centering", multicol_align="c", multirow_align="naive",
        convert_css=True, label=f"tab:{name}", caption=as_cell.split("\n")[1].removesuffix(r" \\"),
    )  # fmt: skip
    fitted = text.replace(r"\begin{tabular}", _FIT + r"\begin{tabular}").replace(
        r"\end{tabular}", r"\end{tabular}}"
    )
    return fitted.translate(_SIGNS)


FEWEST_LETTERS = 10
"""Of a long word that are shown on a narrow terminal."""
_NUMBER = re.compile(r"\[?[<>]?[+−-]?\d.*|–")
_WORD = re.compile(r"[^ \u2e80-\uffff]+")
"""Chinese and Japanese are folded anywhere."""


def _rich(title: str, frame: pd.DataFrame) -> "Group":
    from rich.console import Group
    from rich.text import Text

    frame = frame.reset_index() if any(name is not None for name in frame.index.names) else frame
    return Group(Text(printable(title), "italic"), _Fitted(frame))  # the title may be wider than the table


class _Fitted:
    """A table on a terminal: folded at spaces; long words lose their beginnings, what has no room is named."""

    def __init__(self, frame: pd.DataFrame) -> None:
        frame = frame.map(lambda cell: plain(cell, 3) if isinstance(cell, float) else cell)
        self._columns = [[one_line(text) for text in (name, *cells)] for name, cells in frame.items()]

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Yield what rich prints."""
        from rich import box
        from rich.cells import cell_len
        from rich.table import Table as RichTable
        from rich.text import Text

        sizes = []  # of a column: its cells, if they are numbers, which are not folded; its longest word
        for heading, *cells in self._columns:
            is_number = all(map(_NUMBER.fullmatch, cells))
            words = _WORD.findall(heading if is_number else " ".join([heading, *cells]))
            sizes.append((is_number * max(map(cell_len, cells), default=0), max(map(len, words), default=2)))

        def widths(most: int) -> list[int]:
            return [max(whole, min(word, most)) + 2 for whole, word in sizes]

        def shorter(word: re.Match[str]) -> str:
            return word[0] if len(word[0]) <= most else f"…{word[0][1 - most :]}"

        fits = sum(max(map(cell_len, of)) + 3 for of in self._columns) < options.max_width
        room = options.max_width + 2  # two spaces between columns where it does not fit, else three
        most = next((n for n in range(room, FEWEST_LETTERS, -1) if sum(widths(n)) <= room), FEWEST_LETTERS)
        given = widths(most)
        while sum(given) > room and len(given) > 1:
            given.pop()
        texts = [[_WORD.sub(shorter, text) for text in of] for of in self._columns[: len(given)]]
        table = RichTable(box=box.SIMPLE_HEAD, show_edge=fits, pad_edge=False, collapse_padding=not fits)
        for n, of in enumerate(texts):
            given[n] = min(max(map(cell_len, of)) + 2, given[n] + room - sum(given))
            justify: Literal["left", "right"] = "right" if sizes[n][0] else "left"
            table.add_column(Text(of[0]), justify=justify, width=given[n] - 2, overflow="fold")
        for row in list(zip(*texts, strict=True))[1:]:
            table.add_row(*map(Text, row))  # no markup in names
        yield table
        if left_out := [heading for heading, *_ in self._columns[len(given) :]]:
            yield Text(f"Not shown, for lack of width: {', '.join(left_out)}.")
        if not fits:
            yield ""


def _basis(row: Mapping[Hashable, Any]) -> str:
    """Say what a score is over."""
    if row["source"] != "run":
        return "published"
    return "" if pd.isna(row.get("n")) else f"{with_interval(row, 3)}; n {count(row['n'])}"
