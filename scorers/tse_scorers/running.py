"""`run`: what `tse run` does, from Python."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pandas as pd
import pyarrow as pa

from .engine.progress import bars
from .io.tables import fingerprint, write_table
from .models.options import ModelOptions, Option, OptionError, described_options
from .models.scorer import Scorer
from .results import Results
from .runs.jobs import make_jobs, remember_failures
from .runs.run import Announce, Part, run_models, silent
from .suites.checks import DataWarning
from .suites.registry import made_of, name_of, options_class, suite_of_data

if TYPE_CHECKING:
    from datasets import Dataset

    from .models.own_model import GivenModel
    from .suites.contract import Suite

    Model = GivenModel | Scorer


def run(
    models: "Model | Sequence[Model]",
    suite: "str | type[Suite] | None" = None,
    out: Path | str = "tse-results",
    *,
    report: bool = True,
    overwrite: bool = False,
    announce: Announce | None = None,
    model_options: ModelOptions | Mapping[str, Any] | None = None,
    **suite_options: Any,
) -> Results:
    """Run models over a suite, as `tse run` does, and return the results.

    Under a launcher such as `torchrun`, each process scores its share and nobody waits: the process that finds all
    shares makes the whole.

    Args:
        models: a model, or several: what `load_scorer` takes, or scorers.
        suite: `agreement`, `minimal_pairs`, `german`, `regions`, a class of your own, or the name of a suite that
            another package declares. By default the only one that reads `data`, and agreement without any.
        out: folder for scores, `results.json` and the report.
        report: write tables, figures and `report.html` as well.
        overwrite: replace scores of these models in `out` that were computed on other data or with different options.
        announce: how progress is shown; None shows bars, unless `datasets.disable_progress_bars()` was called.
        model_options: options of `load_scorer`, as a `ModelOptions` or by name, for instance {"dtype": "float32"};
            one that has no effect on a model is an error, of several models a warning.
        **suite_options: options of the suite, such as `data` and `limit`; the table of options in the documentation
            has them all. `data` and `lemmas` also take a data frame, a `datasets.Dataset` or a list of
            dicts, which is stored as a file in `out/data`. Unusual data raises a warning (`DataWarning`).

    Returns:
        The rows of `results.json` for these models, as `Results`: those of models of which no other process has
        a part to do.

    Raises:
        TypeError: an option has a value of another type.
        ValueError: a model, option or data set cannot be used, or scores in `out` would be lost. Where possible,
            this is checked before any model runs.
    """
    model_list: list[Model] = list(models) if isinstance(models, list | tuple) else [cast("Model", models)]
    if not model_list:
        raise ValueError("Got no model; expected at least one that load_scorer takes, or a scorer.")
    names = [model.name for model in model_list if isinstance(model, Scorer)]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ValueError(
            f"{names.count(repeated)} of the scorers are named {repeated!r}, so their scores would replace each other; "
            "expected different names. Give each scorer its own name."
        )
    if not isinstance(out, str | Path):
        raise TypeError(f"Got out={out!r:.80} ({type(out).__name__}); expected the path of a folder.")
    if not str(out).strip():  # Path("") is the current folder
        raise ValueError("out is empty; expected a name. Write a value after out, or remove it.")
    if announce is None:
        announce = bars if Part.of_launch().number == 1 else silent
    name = name_of(suite)
    if name is None:
        data = suite_options["data"] = _as_file("data", suite_options.get("data"), Path(out))
        name = suite_of_data(None if data is None else str(data))
    declared = described_options(options_class(name))
    tables = {option for option, described in declared.items() if described.takes_table}
    given_options = {
        option: _as_file(option, value, Path(out)) if option in tables else value
        for option, value in suite_options.items()
    }
    made = made_of(name, given_options)
    for finding in made.findings:
        warnings.warn(str(finding), DataWarning, stacklevel=2)
    options = ModelOptions.of(model_options)
    if options.given and len(names) == len(model_list):
        raise OptionError(
            f"{Option(options.given[0])} has no effect on {', '.join(names)}, loaded already. Give it to "
            "load_scorer instead."
        )
    jobs = make_jobs(model_list, [made], options)
    records, failures, _ = run_models(made, jobs, Path(out), overwrite=overwrite, announce=announce)
    remember_failures(Path(out), [job.model for job in jobs], failures)
    if report and records:
        from .report.page import write_report  # drawing takes a second to import

        write_report(Path(out))
    if failures:
        others = f"; the results of the others are in {out}" if records else ""
        raise ValueError(
            f"{len({failure.model for failure in failures})} of {len(model_list)} models failed{others}. "
            + " ".join(map(str, failures))
        ) from failures[0].error
    return Results([row for record in records for row in record.rows], out)


def _as_file(option: str, value: object, out: Path) -> object:
    """Write a table that was given in the place of a file to `out/data`, and return its path; other values as they are.

    The file's name is a fingerprint of the rows: other rows are other data.
    """
    if isinstance(value, list) and value and all(isinstance(row, Mapping) for row in value):
        value = pd.DataFrame(value)
    elif type(value).__module__.partition(".")[0] == "datasets":
        if isinstance(value, Mapping):
            raise ValueError(
                f"{option} is a DatasetDict with the splits {', '.join(value)}; expected one of them. "
                f"Give {option}=dataset[{next(iter(value), 'test')!r}]."
            )
        value = cast("Dataset", value).to_pandas()
    if not isinstance(value, pd.DataFrame):
        return value
    if not value.columns.is_unique:
        raise ValueError(
            f"{option} has two columns with one name: {', '.join(map(str, value.columns))}. Rename them, or remove one."
        )
    path = out / "data" / f"data-frame-{fingerprint(value.astype(str))[:8]}.parquet"
    try:
        write_table(value, path)
    except (pa.ArrowException, UnicodeError) as error:
        raise ValueError(
            f"{option} has values that a table in a file cannot hold: {error.args[-1]}. Convert them "
            "to texts or numbers, or remove the column."
        ) from error
    return str(path)
