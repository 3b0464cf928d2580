"""`run`: what `tse run` does, from Python."""

from collections.abc import Sequence
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .engine.progress import bars
from .io.suggestions import unknown_name
from .models.options import ModelOptions
from .models.scorer import Scorer
from .results import Results
from .runs.jobs import make_jobs
from .runs.run import Part, run_models, silent
from .suites import suite_of
from .suites.base import Suite

if TYPE_CHECKING:
    from .models.own_model import GivenModel

    Model = GivenModel | Scorer


def run(
    models: "Model | Sequence[Model]",
    suite: "Suite | Sequence[Suite] | None" = None,
    out: Path | str = "tse-results",
    *,
    data: Any = None,
    report: bool = True,
    overwrite: bool = False,
    **model_options: Any,
) -> Results:
    """Run models over a suite, as `tse run` does, and return the results.

        run("gpt2", Agreement(limit=100), out="r")
        run(["gpt2", "bert-base-cased"], data="my_pairs.csv")

    Under a launcher such as `torchrun`, each process scores its share and nobody waits: the process that finds all
    shares makes the whole.

    Args:
        models: a model, or several: what `load_scorer` takes, or scorers.
        suite: a suite, or several, for each of which a model is loaded once; by default the one that reads `data`, and
            agreement without any.
        out: folder for scores, `results.json` and the report.
        data: in place of a suite: a name, file, data frame, `datasets.Dataset` or list of dicts.
        report: write `report.html` as well.
        overwrite: replace scores of these models in `out` that were computed on other data or with different options.
        **model_options: options of `load_scorer`, such as `dtype="float32"`.

    Returns:
        The results of these models. Those of models of which other processes have a part to do are missing.

    Raises:
        TypeError: an option has a value of another type.
        ValueError: a model, option or data set cannot be used, or scores in `out` would be lost. Where possible,
            this is checked before any model runs.
    """
    given: list[Model] = list(models) if isinstance(models, list | tuple) else [cast("Model", models)]
    if not given:
        raise ValueError("There is no model; expected at least one that load_scorer takes, or a scorer.")
    names = [model.name for model in given if isinstance(model, Scorer)]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"Several scorers are named {repeated[0]!r}. Give each its own name.")
    if isinstance(suite, str | type):
        raise TypeError(
            f"suite is {suite!r}; expected a suite with its options, such as Agreement(limit=100)."
        )
    if suite is not None and data is not None:
        raise ValueError("Both suite and data are given. Give the data to the suite: MinimalPairs(data=...).")
    suites = list(suite) if isinstance(suite, Sequence) else [suite or suite_of(data)(data=data)]
    known = [*signature(run).parameters, *(option.name for option in fields(ModelOptions))]
    if unknown := [name for name in model_options if name not in known]:
        raise TypeError(
            f"{unknown_name('option', unknown[0], known)} Options of a suite stand in it: Agreement(limit=100)."
        )
    options = ModelOptions.of(model_options)
    if options.given and len(names) == len(given):
        raise ValueError(f"{options.given[0]} has no effect on a scorer. Give it to load_scorer instead.")
    folder, announce = Path(out), bars if Part.of_launch().number == 1 else silent
    jobs = make_jobs(given, suites, options)
    records, failures, _ = run_models(suites, jobs, folder, overwrite=overwrite, announce=announce)
    if report and records:
        from .report.page import write_report  # drawing takes a second to import

        write_report(folder)
    if failures:
        others = f"; the results of the others are in {folder}" if records else ""
        raise ValueError(
            f"{len({failure.model for failure in failures})} of {len(given)} models failed{others}. "
            + " ".join(map(str, failures))
        ) from failures[0].error
    return Results(records)
