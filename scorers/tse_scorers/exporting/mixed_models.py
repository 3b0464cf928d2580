"""`tse export mixed-models`: a tidy table per suite with all random effects, and R code that fits it.

A mixed model estimates effects of nouns, lemmas, words or templates together with those of systems and of your own
columns. The tables have what the formulas of lme4 need, and can be used with any other package as well.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from ..io.files import write_text
from ..io.suggestions import unknown_name
from ..io.table_files import write_table
from ..report.inputs import Runs, read_runs
from ..runs.comparing.paired_scores import score_names
from ..suites.contract import Suite
from ..suites.items import MixedModel
from ..suites.registry import suites_of
from .each_suite import export_each_suite


def export(folders: Sequence[Path], out: Path, by: Sequence[str] = ()) -> list[Path]:
    """Write `<suite>.parquet` and `<suite>.R` for each suite, and return their paths.

    Args:
        folders: output folders of `tse run`.
        out: where the files go.
        by: columns of the user's own table, which are fixed effects; by default `condition`, where there is one.

    Raises:
        ValueError: a folder has no results, no table of scores has a column of `by`, there are no scores of items,
            or no measure is a mean of them.
    """
    runs = read_runs(folders)
    columns = dict.fromkeys(
        column
        for suite in suites_of(runs)
        for file in runs.scores(suite.name)
        for column in file.column_names
        if column not in suite.score_columns(file)
    )
    for column in by:
        if column not in columns:
            raise ValueError(unknown_name("column", column, columns))
    return export_each_suite(folders, runs, partial(_write, out, tuple(by) or ("condition",), runs))


def _write(out: Path, by: tuple[str, ...], runs: Runs, suite: type[Suite]) -> Iterator[Path]:
    """Write the table and the code of one suite."""
    tables: list[pd.DataFrame] = []
    models: dict[str, MixedModel] = {}
    for file in runs.scores(suite.name):
        for measure, scores in suite.compared_items(replace(file, own_columns=by)).items():
            rows = scores.mixed_model.rows(scores)
            models[measure] = scores.mixed_model.with_conditions([column for column in by if column in rows])
            for place, (column, name) in enumerate(score_names(file, measure)._asdict().items()):
                rows.insert(place, column, name)
            tables.append(rows)
    if tables:
        table = pd.concat(tables, ignore_index=True)
        path = out / f"{suite.name}.parquet"
        write_table(table, path)
        script = path.with_suffix(".R")
        write_text(script, "\n".join(_script(path.name, table, models)) + "\n")
        yield from (path, script)


def _script(name: str, table: pd.DataFrame, models: dict[str, MixedModel]) -> Iterator[str]:
    """Yield the lines of the R code that fits each measure."""
    yield "# Written by `tse export mixed-models`. If a model does not converge, keep only 1 before each |."
    yield "# If glmer takes too long, sum the counts over constructions and add nAGQ = 0 (documentation, Mixed models)."
    yield "library(arrow)"
    yield "library(lme4)"
    yield f'data <- read_parquet("{name}")'
    systems = table["system"].unique()
    if len(systems) > 1:
        yield f"data$system <- relevel(factor(data$system), ref = {json.dumps(systems[0])})"
    for measure, model in models.items():
        measure_rows = table[table["measure"] == measure]
        formula = model.formula
        if measure_rows["system"].nunique() < 2:
            formula = (
                formula.replace("~ system * ", "~ ").replace("~ system", "~ 1").replace("1 + system", "1")
            )
        if "construction" in measure_rows and measure_rows["construction"].nunique() < 2:
            formula = formula.replace(" + construction", "")
        function, family = ("glmer", ", family = binomial") if model.binomial else ("lmer", "")
        yield ""
        yield f'own <- subset(data, measure == "{measure}")'
        # A measure that cannot be fitted, for instance because all items are right, does not stop the others.
        yield f"try(print(summary({function}({formula}, data = own{family}))))"
