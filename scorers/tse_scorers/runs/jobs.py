"""The models of a command: each is looked up before any is loaded."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..models.model_source import expand, hub_commit, local_revision, locate
from ..models.options import ModelOptions
from ..models.scorer import Scorer
from ..suites.base import Suite

if TYPE_CHECKING:
    from ..models.own_model import GivenModel

NO_EFFECT_ON_SCORES = ("device", "batch_tokens")
"""Options that change scores by floating-point noise only."""


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

    @cached_property
    def scorer(self) -> Scorer:
        """The loaded model, until `unload`."""
        return self.load()

    def unload(self) -> None:
        """Forget the loaded model: the memory is for the next one."""
        vars(self).pop("scorer", None)

    def signature(self) -> dict[str, Any]:
        """Return which model it is: its name, its content (`revision`; None: not known), and how it is loaded.

        It is loaded where nothing else says what it is.
        """
        if self.in_memory:
            about = self.scorer.signature
            if missing := {"model", "revision"}.difference(about):
                raise TypeError(
                    f"The signature of the scorer {self.model!r} lacks {', '.join(sorted(missing))}; expected a dict "
                    "with 'model', a text, and 'revision', a text or None."
                )
            others = {key: value for key, value in about.items() if key not in ("model", "revision")}
            return {"model": self.model, "revision": about["revision"], "scorer": others}
        content, options = self._content(), asdict(self.options)
        return {
            "model": self.series or self.model,
            "revision": self.revision or content or self.scorer.signature["revision"],
            "model_options": {
                key: of for key, of in options.items() if of is not None and key not in NO_EFFECT_ON_SCORES
            },
            **({"content": content} if self.series else {}),
        }

    def _content(self) -> str | None:
        """Return the hash of its files, or its commit on the Hub; None where only loading it says what it is."""
        try:
            where = locate(self.model)[0]
            is_here = Path(where).exists()
            return local_revision(self.model, where) if is_here else self.commit or hub_commit(self.model)
        except (ValueError, OSError):  # loading it says what is wrong
            return None


@dataclass(frozen=True)
class Failure:
    """A model of a run that could not be scored."""

    model: str
    error: Exception

    def __str__(self) -> str:
        message, kind = str(self.error).strip(), type(self.error).__name__
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
        elif revisions is None:
            jobs.append(Job(str(model), partial(load, str(model), options), options))
        else:
            for of in expand(str(model), revisions):
                loads = partial(load, of.model, options)
                jobs.append(Job(of.model, loads, options, False, str(model), of.name, of.commit))
    for job in jobs:
        if job.in_memory or loads_at_once(job.model):
            for suite in suites:
                suite.check_scorer(job.scorer)
    return jobs


def _itself(scorer: Scorer) -> Scorer:
    return scorer
