"""What a suite's data and scores are for other tools: two-way choices, and tables of items that can be read alone."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pandas as pd

from ..io.local_paths import without_address
from ..io.result_row import IDENTITY
from ..report.inputs import ScoreFile
from .base import Suite

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


def read_items(suite: type[Suite], file: ScoreFile) -> pd.DataFrame | None:
    """Return the rows of a file of scores with the columns `IDENTITY` and sentences; None if its rows are not items."""
    complete: object = suite
    if isinstance(complete, CompletesItems):
        frame = complete.item_table(file)
    else:
        frame = file.read_table().to_pandas()
    if frame is None:
        return None
    identity = file.record.identity
    identity["model"] = without_address(str(identity["model"]))
    about = {name: pd.Series(identity.get(name), frame.index, dtype="str") for name in IDENTITY}
    kept = frame.drop(columns=[name for name in IDENTITY if name in frame])
    return pd.concat([pd.DataFrame(about), kept], axis=1)
