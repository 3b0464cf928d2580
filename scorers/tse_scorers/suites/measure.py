"""A measure of a suite: the number that stands for it in tables, logs, comparisons and model cards."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

Point = Mapping[str, Any]
"""A place on the axes of a measure: column of results -> its value there."""


@dataclass(frozen=True)
class Measure:
    """A measure, which stands for its whole suite where it is a headline. Greater is always better.

    Its text is its one name, in which its default point is left out:

    >>> whole = {"cutoff_side": "top", "cutoff": 1.0}
    >>> ew = Measure("ew", "EW", at=whole, default=whole)
    >>> str(ew), str(ew.moved({"cutoff_side": "top", "cutoff": 0.9}))
    ('ew', 'ew@top-0.9')
    >>> ew.parsed("ew@bottom-0.01").at
    {'cutoff_side': 'bottom', 'cutoff': 0.01}

    Attributes:
        name: its `metric` in results.
        label: what tables call it, for instance `EW`; its name where it is empty.
        words: what it measures, the second line of a heading.
        at: its point on the measure's axes, as the rows of `results.json` have it besides the group.
        default: the point that its name leaves out.
        table: the table of scores that has its items, by default a suite's only one.
        column: the items' scores there, by default its name; with axes, how its point names it:
            `ew_{cutoff_side}_{cutoff:g}`. The score of an item is 0 to 1 or bool, NaN where it has none.
        leads: whether a report's first sentence about its suite is about it; by default, it is about the first measure.
        live_key: what training logs call it, for instance `tse/ew`; by default the suite and its name; None if it is
            not logged.
        main_level: the level of its groups that training logs have on request and that the first page of a report
            compares; by default all levels.
        digits: the decimals with which its scores are printed, everywhere.
        chance: the score of guessing, 0 to 1; None where there is none.
        right_or_wrong: whether the score of one item is 0 or 1.
        comparisons: how many comparisons an item consists of, if `n_ties` counts these and a tie counts half;
            otherwise None.
        ties: what a tie does to a score, the end of a sentence about "ties, which …".
        over_lemmas: whether it averages over the lemma list, so that it compares only with scores over the same one.
        counted: what its items are, in the plural, as the terminal and the report count them.
        why_excluded: why items have no score, as the terminal and the report say it.
    """

    name: str
    label: str = ""
    words: str = ""
    at: Point = field(default_factory=dict)
    default: Point = field(default_factory=dict)
    table: str = "scores"
    column: str = ""
    leads: bool = False
    live_key: str | None = ""
    main_level: str = ""
    digits: int = 2
    chance: float | None = 0.5
    right_or_wrong: bool = False
    comparisons: int | None = None
    ties: str = "are never correct"
    over_lemmas: bool = False
    counted: str = "items"
    why_excluded: str = ""

    def __post_init__(self) -> None:
        for attribute in ("label", "column"):
            object.__setattr__(self, attribute, getattr(self, attribute) or self.name)

    def __str__(self) -> str:
        """Return its name, with its point where that is another than the default one."""
        return self.name if dict(self.at) == dict(self.default) else self._with_point

    @property
    def _with_point(self) -> str:
        return f"{self.name}@{self._place}" if self.at else self.name

    @property
    def _place(self) -> str:
        return "-".join(
            f"{value:g}" if isinstance(value, float) else str(value) for value in self.at.values()
        )

    def __hash__(self) -> int:
        return hash((self.name, *self.at.values()))

    @property
    def score_column(self) -> str:
        """The column of its items' scores at its point.

        >>> Measure("ew", column="ew_{side}_{p:g}", at={"side": "bottom", "p": 1e-06}).score_column
        'ew_bottom_1e-06'
        """
        return self.column.format(**self.at) if self.at else self.column

    def moved(self, at: Point) -> "Measure":
        """Return the same measure at another point."""
        return replace(self, at=at)

    def parsed(self, text: str) -> "Measure":
        """Return the measure, at the point that a name says; raises ValueError where it is not a name of this one.

        >>> ew = Measure("ew", "EW", at={"cutoff": 1.0}, default={"cutoff": 1.0})
        >>> ew.parsed("ew@0.9").label
        'EW@0.9'
        """
        name, _, place = text.partition("@")
        values = (
            place.split("-", len(self.at) - 1) if place else [str(value) for value in self.default.values()]
        )
        other_points = ", or another point of it" if self.at else ""
        expected = ValueError(f"Got the measure {text!r}; expected {self._with_point}{other_points}.")
        if name != self.name or len(values) != len(self.at):
            raise expected
        try:
            point = {
                axis: type(old)(value) for (axis, old), value in zip(self.at.items(), values, strict=True)
            }
        except ValueError as error:
            raise expected from error
        moved = self.moved(point)
        return moved if point == self.at else replace(moved, label=f"{self.label}@{moved._place}")

    @property
    def where(self) -> dict[str, Any]:
        """The values that a row of `results.json` must have to hold it, besides the group."""
        return {"metric": self.name, **self.at}

    def selects(self, row: Mapping[str, Any]) -> bool:
        """Whether a row of results holds this measure, in any group."""
        return all(row.get(key) == value for key, value in self.where.items())

    def all_tied(self, row: "Mapping[str, Any] | pd.DataFrame") -> Any:
        """Whether all comparisons behind a score (of a row, or of each of several) tie, so that it says nothing.

        >>> Measure("auc", comparisons=6).all_tied({"n": 300, "n_ties": 1800})
        True
        """
        if self.comparisons is None:
            return False
        return (row["n"] > 0) & (row["n_ties"] == row["n"] * self.comparisons)

    @property
    def task(self) -> str:
        """The name on model cards: the values that a row must have, without those of a cut-off.

        >>> Measure("accuracy", at={"method": "full"}).task
        'accuracy_full'
        """
        return "_".join(str(value) for key, value in self.where.items() if not key.startswith("cutoff"))


Measures = Mapping[str, Sequence[Measure]]
"""Name of a suite -> its headline measures."""


def leading(measures: Sequence[Measure]) -> Measure:
    """Return the measure that a report leads with."""
    return next((measure for measure in measures if measure.leads), measures[0])


def measure_named(measures: Measures, suite: str, label: str) -> Measure:
    """Return a suite's measure with this label, at its point; of a suite that is not installed, a plain one."""
    headlines = measures.get(suite, ())
    name, _, place = label.partition("@")
    by_label = {measure.label: measure for measure in headlines}
    if label in by_label or name not in by_label:
        return by_label.get(label, Measure(label))
    return by_label[name].parsed(f"{by_label[name].name}@{place}")


def measured(
    rows: Sequence[Mapping[str, Any]], measures: Measures
) -> Iterator[tuple[Mapping[str, Any], Measure]]:
    """Yield the rows of results that hold a headline measure of their suite, each with the measure."""
    for row in rows:
        for measure in measures.get(str(row["suite"]), ()):
            if measure.selects(row):
                yield row, measure
                break
