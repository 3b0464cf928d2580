"""What is shown of results, as data: the same blocks for page, paper, notebook and terminal.

    Section   one suite: what it asks, its terms, and its views
    View      a headed piece: controls, and the blocks for their values
    Table     scores or counts (tables.py)
    Chart     a picture: its kind, its points or tables, its axes
    Examples  sentences with the most probable words

A suite gives a section once, for report, paper and notebook. Nothing here draws or formats: `charts.draw` and
`tables.py` do.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pandas as pd

from .curves import are_unsure
from .findings import extremes
from .line_styles import Line
from .numbers import score
from .tables import Basis, Intervals, ScoredItems, Table

__all__ = [
    "Block", "Chart", "Example", "Examples", "Form", "Pair", "ScoredItems", "Section", "Table", "View",
]  # fmt: skip


@dataclass(frozen=True)
class Form:
    """One of the most probable forms at a gap."""

    form: str
    probability: float
    status: Literal["correct", "incorrect", "other"]


@dataclass(frozen=True)
class Example:
    """A context with its gap and the forms that a model finds most probable there."""

    system: str
    kind: str
    prefix: str
    suffix: str
    forms: Sequence[Form]


@dataclass(frozen=True)
class Examples:
    """A sample of contexts, shown as cards."""

    caption: str
    items: Sequence[Example]


@dataclass(frozen=True)
class Pair:
    """An item with two texts, of which a model prefers one.

    Attributes:
        good: the right one.
        bad: the wrong one.
        system: whose score it is.
        verdict: whether it is "right" or "wrong", as it also is of a tie; "" where that is unknown.
    """

    good: str
    bad: str
    system: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class Chart:
    """A picture.

    The kinds, with what a panel holds:

    - `dots`: a table, one row per name, one mark per column; `intervals` has the columns (panel, column).
    - `heat`: a table, one coloured cell per number.
    - `lines`: the points `label`, `x`, `y`, and for bands `ci_low`, `ci_high`; one line per label.
    - `whiskers`: the same, with an interval at each point; `ticks` names the places 0, 1, … of x.
    - `multiples`: the same, one small panel per label, all with the line of the label `whole`.
    - `cutoffs`: points with `side` (`bottom` or `top`), `x` the cut-off, and `n`, which fades points over few items.
    - `sides`: the same, the panel split into its two sides.
    - `forest`: differences: `label`, `difference`, `ci_low`, `ci_high`, and `is_clear`, which fills the mark.

    Attributes:
        kind: see above.
        name: file name without ending.
        panels: title of a panel -> what it shows.
        caption: what it shows, for everybody.
        alt: what is to be seen, for readers who do not see it.
        x: name of the horizontal axis, or of the scale of colours; "" where the panels are named after it.
        y: name of the vertical axis; "" where the panels are named after it.
        digits: the decimals of scores in heat tables.
        chance: where guessing lies, or None.
        intervals: the ends of whiskers of `dots`.
        span: the ends of the scale of colours.
        across: heat tables in a row.
        logarithmic: panels whose horizontal axis is logarithmic.
        ticks: names of the places of x.
        whole: the label that all others are compared with.
        large: the panels of cut-offs that are large, the others small below them.
        behind: title of a panel -> thin lines without names behind the others: `line`, `x`, `y` (and `label`).
        width: of the figure, in inches.
        styles: the line of each label, where labels have their own.
        unit: what is counted, in the plural.
        tables: its numbers.
        folded: shown only when the reader opens it.
        alone: figures of a paper in place of its panels.
        in_paper: which panels become figures of a paper, each by itself; None for all.
        number: the number of the paper's figure that this one repeats, for instance `Figure 3`.
        panel_caption: what one panel shows, where the caption speaks of all of them.
        panel_notes: what is said of one panel only: a key of `panels` -> a sentence.
        notice: which models were run on a part of the data or on own data; the page says it once, at its top.
        short: what a reader sees of it while it is folded; by default, the first sentence of the caption.
        basis: what its scores are over; ends all captions.
    """

    kind: Literal["dots", "heat", "lines", "whiskers", "multiples", "cutoffs", "forest"]
    name: str
    panels: Mapping[str, pd.DataFrame]
    caption: str
    alt: str = ""
    x: str = ""
    y: str = ""
    digits: int = 2
    chance: float | None = None
    intervals: Intervals | None = None
    span: tuple[float, float] = (0.0, 1.0)
    across: int = 1
    logarithmic: Collection[str] = ()
    ticks: Sequence[str] | None = None
    whole: str = ""
    large: Collection[str] = ()
    behind: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    width: float = 7.2
    styles: Mapping[str, Line] | None = None
    unit: str = "items"
    tables: Sequence[Table] = ()
    folded: bool = False
    alone: Mapping[str, "Chart"] = field(default_factory=dict)
    in_paper: Sequence[str] | None = None
    number: str = ""
    panel_caption: str = ""
    panel_notes: Mapping[str, str] = field(default_factory=dict)
    notice: str = ""
    short: str = ""
    basis: Basis | None = None

    @classmethod
    def dots(
        cls,
        name: str,
        values: pd.DataFrame,
        intervals: Intervals | None,
        caption: str,
        *,
        alt: str,
        panel: str = "",
        basis: Basis | None = None,
        names_with_n: bool = False,
        form: Callable[[float], str] = score,
        **options: Any,
    ) -> "Chart":
        """Make a picture of the scores of a table: a panel per upper heading, a mark per lower one.

        Args:
            name: see the attribute.
            values: scores; with one level of headings, there is one panel.
            intervals: of the scores; some columns may have none.
            caption: see the attribute.
            alt: what it shows; the highest and the lowest score are added.
            panel: title of the only panel.
            basis: what the scores are over.
            names_with_n: whether names of rows over different numbers of items show these.
            form: formats a score in `alt`.
            **options: other attributes.
        """
        alt = f"{alt} {extremes(values, form)}"

        def in_panels(frame: pd.DataFrame) -> pd.DataFrame:
            frame = frame.reindex(values.index)
            frame = frame if values.columns.nlevels > 1 else pd.concat({panel: frame}, axis=1)
            return frame.set_axis(basis.named(values.index)) if basis and names_with_n else frame

        drawn, ends = in_panels(values), intervals and intervals.map(in_panels)
        panels = {title: drawn[title] for title in drawn.columns.unique(level=0)}
        defaults: dict[str, Any] = {"chance": 0.5, "intervals": ends, "basis": basis}
        return cls("dots", name, panels, caption, alt, **defaults | options)

    @property
    def title(self) -> str:
        """The caption, after the number of the paper's figure."""
        caption = " ".join(filter(None, [self.caption, self.on_hollow, str(self.basis or "")]))
        return f"{self.number}. {caption}" if self.number else caption

    @property
    def on_hollow(self) -> str:
        """What its hollow points are, where it draws some and the caption does not say it."""
        if self.kind == "dots":
            reliable = None if self.intervals is None else self.intervals.reliable
            is_hollow = reliable is not None and bool(reliable.eq(0).any(axis=None))
        else:
            is_hollow = self.kind in _CURVES and any(
                are_unsure(panel).any() for panel in self.panels.values()
            )
        return _HOLLOW if is_hollow and "hollow" not in self.caption else ""


_CURVES = ("lines", "whiskers", "multiples")
_HOLLOW = "Hollow: over too few units for an interval to rely on."
Block = Table | Chart | Examples


@dataclass(frozen=True)
class View:
    """A headed piece of a section: a few sentences, then tables, charts or examples.

    Attributes:
        title: its heading in the report.
        text: what it is about.
        blocks: what it shows, or a function that returns it.
        headlines: labels of the headline measures that it shows, which the table of scores by group leaves out.
    """

    title: str
    text: str
    blocks: Sequence[Block] | Callable[[], Sequence[Block]]
    headlines: Collection[str] = ()

    def of(self) -> Sequence[Block]:
        """Return the blocks."""
        return self.blocks() if callable(self.blocks) else self.blocks


@dataclass(frozen=True)
class Section:
    """What is shown of one suite.

    Attributes:
        name: anchor.
        title: heading.
        lead: what is tested, for somebody who has never heard of it.
        terms: the measures and what they mean.
        views: the content.
        source: the paper that the analyses follow.
        over: items, units and exclusions of the overall scores, in a sentence for measures that are alike.
        question: what is asked of a model, in a sentence; first on the page.
        example: given a system, returns an item that was scored, by that system if its items are stored.
        items: returns the items of its first measure, and the systems that have it.
    """

    name: str
    title: str
    lead: str
    terms: Mapping[str, str]
    views: Sequence[View]
    source: str = ""
    over: Sequence[str] = ()
    question: str = ""
    example: Callable[[str], Pair | None] = lambda system: None
    items: Callable[[], tuple[ScoredItems | None, Sequence[str]]] = lambda: (None, ())

    def in_report(self) -> "Section":
        """Return the section with all that the report shows."""
        shown = [replace(view, blocks=view.of()) for view in self.views]
        return replace(self, views=[view for view in shown if view.blocks])

    def with_notice(self, notice: str, systems: Sequence[str], over: str = "") -> "Section":
        """Return the section with what its tables and charts need in files, which are read without the page.

        Args:
            notice: which models were run on a part of the data or on own data.
            systems: all that are shown.
            over: what the overall scores are over, for tables, and for charts that do not say what theirs are.
        """
        return self._changed(lambda block: [_with_notice(block, notice, systems, over)])

    def with_tables_only(self) -> "Section":
        """Return the section with the folded tables of its charts in place of these, which take long to draw."""
        return self._changed(_without_chart)

    def _changed(self, change: Callable[[Block], Sequence[Block]]) -> "Section":
        shown = self.in_report()
        views = [
            replace(view, blocks=[new for old in view.of() for new in change(old)]) for view in shown.views
        ]
        return replace(shown, views=views)


def _with_notice(block: Block, notice: str, systems: Sequence[str], over: str) -> Block:
    whole = " ".join(filter(None, [notice, over]))

    def told(table: Table) -> Table:
        return replace(table, notice=whole, systems=systems)

    if isinstance(block, Chart):
        says_over = block.basis is not None or bool(block.panel_notes)
        return replace(block, notice=notice if says_over else whole, tables=list(map(told, block.tables)))
    return told(block) if isinstance(block, Table) else block


def _without_chart(block: Block) -> Sequence[Block]:
    return [replace(table, folded=True) for table in block.tables] if isinstance(block, Chart) else (block,)
