"""Runs the models of a command, or all revisions of each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..models.options import ModelOptions
from . import terminal

if TYPE_CHECKING:
    from ..models.base import Scorer
    from ..models.descriptions import Descriptions
    from ..runs.jobs import Failure
    from ..runs.run import Run


def run_models(
    runs: "Sequence[Run]",
    names: Sequence[str],
    options: ModelOptions,
    revisions: str | None,
    device: str | None,
) -> "list[Failure]":
    """Run models, or all revisions of each that match; return those that failed, if there are several.

    Args:
        runs: the run of each suite.
        names: of the models.
        options: for all models.
        revisions: a pattern; None runs the models themselves.
        device: of this process, if there are several; None where the options say it.
    """
    from ..loading import load_with_options, loads_at_once, options_of_models
    from ..models.complete import is_complete
    from ..models.descriptions import Descriptions
    from ..models.revisions import Revision, expand
    from ..runs.all_models import run_all
    from ..runs.jobs import Job, Loaded, remember_failures
    from ..suites.checks import purpose_of

    series = [[Revision(name, "")] if revisions is None else expand(name, revisions) for name in names]
    # The first complete checkpoint, else the first one.
    stands_for_series = [
        next((each.model for each in checkpoints if is_complete(Path(each.model))), checkpoints[0].model)
        for checkpoints in series
    ]
    known = Descriptions()
    of_models = options_of_models(
        stands_for_series,
        options,
        known,
        purpose_of([run.suite for run in runs]),
    )
    # What models that load at once cannot answer is then known before any model runs.
    loaded = {
        name: load_with_options(name, used)
        for name, used in zip(names, of_models, strict=True)
        if loads_at_once(name)
    }
    for scorer in loaded.values():
        for run in runs:
            run.suite.check_scorer(scorer)
    jobs = []
    for name, checkpoints, used in zip(names, series, of_models, strict=True):
        here = used if device is None else replace(used, device=device)
        for checkpoint, revision, commit in checkpoints:
            load = partial(_load, checkpoint, here, known, loaded)
            series_name = name if revision else None
            jobs.append(
                Job(checkpoint, load, Loaded(checkpoint, used), series_name, revision or None, commit)
            )
    failures = run_all(runs, jobs, keep_going=revisions is not None)
    remember_failures(runs[0].out, [job.model for job in jobs], failures)
    return failures


def _load(
    checkpoint: str, options: ModelOptions, known: "Descriptions", loaded: "Mapping[str, Scorer]"
) -> "Scorer":
    """Load a model that is not loaded yet, and say so on the terminal."""
    from ..engine.processes import is_main
    from ..loading import load_with_options

    if checkpoint in loaded:
        scorer = loaded[checkpoint]
    else:
        with terminal.waiting(f"Loading {checkpoint}"):
            scorer = load_with_options(checkpoint, options, known=known)
    if is_main():
        terminal.start_token(scorer)
    return scorer
