"""One model of a run: how it is loaded, and what became of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ..models.base import Scorer
from ..models.options import ModelOptions


@dataclass(frozen=True)
class Loaded:
    """How a scorer was loaded.

    Attributes:
        model: the name that was given; None for a scorer that was in memory.
        options: that were given.
        stamp: `file_stamp` of the files that were loaded; None where it is not certain.
    """

    model: str | None = None
    options: ModelOptions = field(default_factory=ModelOptions)
    stamp: str | None = None


@dataclass(frozen=True)
class Job:
    """One model that waits for its turn in a run.

    Attributes:
        model: what results call it.
        load: loads it.
        loaded: how it is loaded.
        series: the series that it belongs to, if any.
        revision: which one of the series it is.
        commit: its commit, if it is on the Hub and known without loading it.
    """

    model: str
    load: Callable[[], Scorer]
    loaded: Loaded
    series: str | None = None
    revision: str | None = None
    commit: str | None = None


@dataclass(frozen=True)
class Failure:
    """A model of a run that could not be scored."""

    model: str
    error: Exception

    @property
    def name(self) -> str:
        """The name of the model or checkpoint without the folder that it is in."""
        return Path(self.model).name

    def __str__(self) -> str:
        kind, said = type(self.error).__name__, str(self.error).strip()
        expected = isinstance(self.error, ValueError | TypeError | OSError) and said
        return f"{self.model}: {said if expected else f'{kind} {said}'.strip()}"
