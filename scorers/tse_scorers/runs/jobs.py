"""One model of a run: how it is loaded, and what became of it."""

import json
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..io.declared import parse
from ..io.files import read_text, write_text
from ..io.locks import held
from ..models.base import Scorer
from ..models.options import ModelOptions

NOT_SCORED_FILE = "not_scored.json"
"""Names the models and checkpoints that could not be scored into a folder, each with the reason."""


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


def remember_failures(out: Path, tried: Collection[str], failures: Sequence[Failure]) -> None:
    """Write into an output folder which models could not be scored, so that every report of it names them.

    Args:
        out: the folder.
        tried: models that were run; those among them that did not fail are no longer named.
        failures: what failed.
    """
    from ..engine.processes import is_main  # reports, which need no library that runs models, read the file

    if not is_main() or not (failures or (out / NOT_SCORED_FILE).exists()):
        return
    with held(out / f".{NOT_SCORED_FILE}.lock", f"{NOT_SCORED_FILE} in {out}", lambda _: None):
        before = not_scored(out)
        failed = {failure.model: str(failure) for failure in failures}
        after = {model: reason for model, reason in before.items() if model not in tried} | failed
        if not after:
            (out / NOT_SCORED_FILE).unlink(missing_ok=True)
        elif after != before:
            write_text(out / NOT_SCORED_FILE, json.dumps(after, indent=1, ensure_ascii=False) + "\n")


def not_scored(out: Path) -> dict[str, str]:
    """Return the models that could not be scored into an output folder, each with the reason."""
    path = out / NOT_SCORED_FILE
    if not path.exists():
        return {}
    try:
        reasons: dict[str, str] = parse(Mapping[str, str], json.loads(read_text(path)))
    except (ValueError, RecursionError) as error:
        warnings.warn(
            f"{path} is damaged ({error}); expected models, each with the reason why it could not be scored. It is "
            "skipped; delete it, and run these models again.",
            stacklevel=2,
        )
        return {}
    return reasons
