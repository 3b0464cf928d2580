"""The models of a command: each is looked up before any is loaded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..models.model_source import expand
from ..models.options import ModelOptions
from ..models.scorer import Scorer
from ..suites.base import Suite

if TYPE_CHECKING:
    from ..models.own_model import GivenModel


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
    jobs = []
    for model in models:
        if isinstance(model, Scorer):
            jobs.append(Job(model.name, partial(_itself, model), in_memory=True))
        elif not isinstance(model, str | Path):  # loading it says what is missing
            jobs.append(Job(type(model).__name__, partial(load, model, options), options, in_memory=True))
        elif revisions is not None:
            jobs += [
                Job(
                    of.model, partial(load, of.model, options), options, False, str(model), of.name, of.commit
                )
                for of in expand(str(model), revisions)
            ]
        else:
            load_it = partial(load, str(model), options)
            jobs.append(Job(str(model), cache(load_it) if loads_at_once(str(model)) else load_it, options))
        if isinstance(model, Scorer) or (isinstance(model, str | Path) and loads_at_once(str(model))):
            for suite in suites:
                suite.check_scorer(jobs[-1].load())
    return jobs


def _itself(scorer: Scorer) -> Scorer:
    return scorer
