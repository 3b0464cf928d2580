"""Runs many models over one or several suites; each model is loaded once."""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace

from ..engine.processes import propagating_failures
from ..models.model_source import file_stamp
from .jobs import Failure, Job
from .run import Run


def run_all(runs: Run | Sequence[Run], jobs: Sequence[Job], *, keep_going: bool = False) -> list[Failure]:
    """Run several models; one that fails does not take the others' results with it.

    Models whose scores are there are recognized before they are loaded. `results.json` is written now and then, and
    at the end, also where the run is stopped.

    Args:
        runs: the run, or one for each suite.
        jobs: its models, in the order of the results.
        keep_going: do not raise the error of an only model either.

    Returns:
        The models that failed.

    Raises:
        ValueError: the error of the only model, where there is only one.
    """
    runs = [runs] if isinstance(runs, Run) else runs
    failures = []
    with ExitStack() as stack:
        for run in runs:
            stack.enter_context(run.several_models())
        for job in jobs:
            errors = _run_one(runs, job)
            if errors and len(jobs) == 1 and not keep_going:
                raise errors[0]
            failures += [Failure(job.model, error) for error in errors]
    return failures


def _run_one(runs: Sequence[Run], job: Job) -> list[Exception]:
    """Run one model over those suites for which it has no scores yet; return what failed."""
    errors: list[Exception] = []
    try:
        waiting = [run for run in runs if not run.reuse(job)]
        if not waiting:
            return []
        stamp = _stamp(job)
        with propagating_failures(job.model):
            scorer = job.load()
        # What was loaded is what was stamped only where nothing has changed meanwhile.
        loaded = replace(job.loaded, stamp=stamp if stamp == _stamp(job) else None)
    except Exception as error:  # whatever it is: the other models may be fine
        return [error]
    for run in waiting:
        try:
            run.add(scorer, job.series, job.revision, loaded)
        except Exception as error:
            errors.append(error)
    return errors


def _stamp(job: Job) -> str | None:
    if job.loaded.model is not None:
        with suppress(ValueError, OSError):
            return file_stamp(job.loaded.model)
    return None
