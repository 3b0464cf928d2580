"""What a suite's data and scores are for other tools: two-way choices, and tables of items that can be read alone."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pandas as pd

from ..report.inputs import ScoreFile

COLUMNS = ("group", "item", "context", "good", "bad")


@dataclass(frozen=True)
class TwoWayChoices:
    """A suite's data as choices between two continuations of a context.

    Attributes:
        name: of the data, safe in names of files.
        rows: one row per choice with `COLUMNS`: `group` (of the results), `item`, `context` (empty for whole
            sentences), `good` and `bad` (continuations, with the space before them).
        mean_of_groups: whether the overall score is the mean of the groups, not of the rows.
        note: what is different where another tool scores them, as a sentence; empty if nothing is.
        unused: options of the suite that do not decide the choices.
    """

    name: str
    rows: pd.DataFrame
    mean_of_groups: bool
    note: str = ""
    unused: frozenset[str] = frozenset()


@runtime_checkable
class OffersChoices(Protocol):
    """A suite whose items are choices between two continuations, the more probable of which is the answer."""

    def two_way_choices(self) -> TwoWayChoices:
        """Return the choices.

        Raises:
            ValueError: its scores are not compared by their log-probabilities alone.
        """
        ...


@runtime_checkable
class CompletesItems(Protocol):
    """A suite with several tables of scores, which need one another to be read."""

    @staticmethod
    def item_table(file: ScoreFile) -> pd.DataFrame | None:
        """Return the rows of a file of scores with their sentences; None if its rows are not items.

        Raises:
            ValueError: a table that belongs to it is missing.
        """
        ...
