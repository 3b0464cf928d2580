"""The models of a command: each is looked up before any is loaded; those that could not be scored are remembered."""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..io.files import read_text, write_text
from ..models.model_source import Revision, expand
from ..models.options import ModelOptions
from ..models.scorer import Scorer
from ..suites.base import Suite

if TYPE_CHECKING:
    from ..models.own_model import GivenModel

NOT_SCORED_FILE = "not_scored.json"
"""Names the models and checkpoints that could not be scored into a folder, each with the reason."""


@dataclass(frozen=True)
class Job:
    """One model that waits for its turn in a run.

    Attributes:
        model: its name, as it was given; of a scorer in memory, what results call it.
        load: loads it.
        options: that it is loaded with.
        in_memory: whether it was given as an object, so that the name loads nothing.
        series: the series that it belongs to, if any.
        revision: which one of the series it is.
        commit: its commit, if it is on the Hub and known without loading it.
    """

    model: str
    load: Callable[[], Scorer]
    options: ModelOptions = field(default_factory=ModelOptions)
    in_memory: bool = False
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
        kind, message = type(self.error).__name__, str(self.error).strip()
        expected = isinstance(self.error, ValueError | TypeError | OSError) and message
        return f"{self.model}: {message if expected else f'{kind} {message}'.strip()}"


def make_jobs(
    models: "Sequence[GivenModel | Scorer]",
    suites: Sequence[Suite],
    options: ModelOptions,
    revisions: str | None = None,
    load: Callable[..., Scorer] | None = None,
) -> list[Job]:
    """Return a job of each model, or of each of its revisions; those that load at once are loaded.

    Args:
        models: names, scorers, or whatever else `load` takes.
        suites: what the models will be asked.
        options: for all models that are loaded.
        revisions: a pattern; None runs the models themselves.
        load: called with a model, its options and `one_of_several`; None is `load_with_options`.

    Raises:
        ValueError: a model cannot be found, or cannot answer what the suites ask; no model has run then.
    """
    from ..loading import load_with_options, loads_at_once

    load = partial(load or load_with_options, one_of_several=len(models) > 1)
    names = [str(model) for model in models if isinstance(model, str | Path)]
    series = {name: [Revision(name, "")] if revisions is None else expand(name, revisions) for name in names}
    ready = {name: load(name, options) for name in names if loads_at_once(name)}
    for scorer in (*ready.values(), *(model for model in models if isinstance(model, Scorer))):
        for suite in suites:
            suite.check_scorer(scorer)
    jobs = []
    for model in models:
        if isinstance(model, Scorer):
            jobs.append(Job(model.name, partial(_itself, model), in_memory=True))
            continue
        if not isinstance(model, str | Path):  # loading it says what is missing
            load_it = partial(load, model, options)
            jobs.append(Job(type(model).__name__, load_it, options, in_memory=True))
            continue
        name = str(model)
        for checkpoint, revision, commit in series[name]:
            load_it = partial(_itself, ready[name]) if name in ready else partial(load, checkpoint, options)
            series_name = name if revision else None
            jobs.append(Job(checkpoint, load_it, options, False, series_name, revision or None, commit))
    return jobs


def _itself(scorer: Scorer) -> Scorer:
    return scorer


def remember_failures(out: Path, tried: Collection[str], failures: Sequence[Failure]) -> None:
    """Write into an output folder which models could not be scored, so that every report of it names them.

    Args:
        out: the folder.
        tried: models that were run; those among them that did not fail are no longer named.
        failures: what failed.
    """
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
        return {str(model): str(reason) for model, reason in json.loads(read_text(path)).items()}
    except (ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read ({error}). Remove it, and run its models again.") from error
