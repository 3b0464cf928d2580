"""A headline measure: the number that stands for a whole suite in tables, logs, comparisons and model cards."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from .numbers import percent, points, score, signed

if TYPE_CHECKING:
    import pandas as pd


class PublishedCurves(NamedTuple):
    """Learning curves of published models, which are drawn behind those of a run.

    Attributes:
        points: columns `level` and `value` (the group, as in `results.json`), `line` (whose curve it is), `x` (its
            place on the axis of revisions) and `y`.
        caption: what they are, as a sentence.
    """

    points: "pd.DataFrame"
    caption: str


@dataclass(frozen=True)
class Measure:
    """A headline measure: a number that stands for the whole suite. Greater is always better.

    Attributes:
        label: what tables call it, for instance `EW`.
        where: the values that a row of `results.json` must have to hold it, besides the group, for instance
            `{"metric": "ew", "cutoff_side": "top", "cutoff": 1.0}`.
        words: what the label stands for, as the first screen of a report says it.
        live_key: what training logs call it, for instance `tse/ew`; None if it is not logged.
        percent: whether it is shown in percent, everywhere; only where a score is a proportion.
        chance: the score of guessing, 0 to 1; None where there is none.
        right_or_wrong: whether the score of one item is 0 or 1.
        curve_levels: the levels of the groups whose scores are drawn as learning curves; none for no curve.
        comparisons: how many comparisons an item consists of, if `n_ties` counts these and a tie counts half;
            otherwise None.
        over_lemmas: whether it averages over the lemma list, so that it compares only with scores over the same one.
        why_excluded: why items have no score, as the terminal and the report say it.
        detail: what else the terminal says about a score, a format of the columns of its row:
            `sentences of context {length:.0f}`.
        published_curves: returns published curves of the same groups, given the rows of a model's results; None where
            there are none.
    """

    label: str
    where: Mapping[str, Any]
    words: str = ""
    live_key: str | None = None
    percent: bool = False
    chance: float | None = 0.5
    right_or_wrong: bool = False
    curve_levels: Sequence[str] = ("all",)
    comparisons: int | None = None
    over_lemmas: bool = False
    why_excluded: str = ""
    detail: str = ""
    published_curves: "Callable[[pd.DataFrame], PublishedCurves | None] | None" = None

    def selects(self, row: Mapping[str, Any]) -> bool:
        """Whether a row of results holds this measure, for whatever group."""
        return all(row.get(key) == value for key, value in self.where.items())

    def all_tied(self, row: Mapping[str, Any]) -> bool:
        """Whether all comparisons behind a score tie, so that it is 0.5 whatever the model knows.

        >>> Measure("AUC", {}, comparisons=6).all_tied({"n": 300, "n_ties": 1800})
        True
        """
        return self.comparisons is not None and row["n"] > 0 and row["n_ties"] == row["n"] * self.comparisons

    @property
    def form(self) -> Callable[[float], str]:
        """How its scores are printed, everywhere: in percent, or as proportions."""
        return percent if self.percent else score

    @property
    def difference_form(self) -> Callable[[float], str]:
        """How differences of its scores are printed, everywhere: in percentage points, or with three decimals."""
        return points if self.percent else signed

    @property
    def heading(self) -> str:
        """The label with its unit: `accuracy %`."""
        return f"{self.label} %" if self.percent else self.label

    @property
    def task(self) -> str:
        """The name on model cards: the values that a row must have, without those of a cut-off.

        >>> Measure("accuracy", {"metric": "accuracy", "method": "full"}).task
        'accuracy_full'
        """
        return "_".join(str(value) for key, value in self.where.items() if not key.startswith("cutoff"))


Measures = Mapping[str, Sequence[Measure]]
"""Name of a suite -> its headline measures."""


def measure_named(measures: Measures, suite: str, label: str) -> Measure:
    """Return a suite's measure with this label; of a suite that is not installed, one that is not in percent."""
    return next((own for own in measures.get(suite, ()) if own.label == label), Measure(label, {}))


def measured(
    rows: Sequence[Mapping[str, Any]], measures: Measures
) -> Iterator[tuple[Mapping[str, Any], Measure]]:
    """Yield the rows of results that hold a headline measure of their suite, each with the measure."""
    for row in rows:
        for measure in measures.get(str(row["suite"]), ()):
            if measure.selects(row):
                yield row, measure
                break
