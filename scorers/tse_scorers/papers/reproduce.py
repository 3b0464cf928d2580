"""`tse reproduce`: run the models and data of a paper's table, and put our numbers beside the published ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ..io.bundle import shipped_table
from ..models.options import ModelOptions
from ..report.systems import basename
from ..runs.jobs import Failure, Job
from ..runs.run import Announce, Run, run_all, silent
from ..suites.contract import Suite
from ..suites.registry import make_suite
from . import hu2020
from .newman2021 import reproduced as newman2021
from .numbers import KEYS, PEOPLE, PaperNumbers, with_keys
from .papers import Paper, describe
from .rochereau2020 import reproduced as rochereau2020
from .warstadt2020 import reproduced as warstadt2020

NUMBERS: Mapping[str, PaperNumbers] = {
    "newman2021": newman2021.NUMBERS,
    "warstadt2020": warstadt2020.NUMBERS,
    "rochereau2020": rochereau2020.NUMBERS,
    "hu2020": hu2020.NUMBERS,
}
"""A key of `papers.PAPERS` -> its numbers."""


@dataclass(frozen=True)
class Reproduction:
    """Our numbers beside the published ones.

    Attributes:
        title: the paper.
        decimals: that were published.
        table: one row per number: `model` (ours), `system` (the paper's, or people), what is scored, `published`,
            `ours` (shares; in Table 5 of rochereau2020 correlations), `difference`, and `n`, the items behind ours.
        left_out: what was not run, and why, one sentence each.
        differences: reasons for differences, one sentence each.
        failures: models that failed.
        published_in: where the published numbers are from.
    """

    title: str
    decimals: int
    table: pd.DataFrame
    left_out: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    published_in: str = "paper"

    def __str__(self) -> str:
        differences = self.table["difference"].abs().dropna()
        if differences.empty:
            return f"{self.title}: no number could be compared."
        missing, rounding = len(self.table) - len(differences), 0.5 * 10**-self.decimals
        unscored = f" {missing} of ours are missing, because no item could be scored." if missing else ""
        return (
            f"{self.title}: {len(differences)} numbers; the mean absolute difference is {differences.mean():.3f}. "
            f"{(differences <= rounding).sum()} are equal but for rounding (±{rounding:g}).{unscored}"
        )

    def as_printed(self) -> pd.DataFrame:
        """Return the numbers as texts: what is scored down; the paper's systems, then our models, across."""
        keys = [key for key in KEYS if key in self.table]
        columns = {}
        for kind, value, origin, decimals in (
            ("system", "published", self.published_in, self.decimals),
            ("model", "ours", "ours", self.decimals + 1),
        ):
            for name, part in self.table.groupby(kind, sort=False):
                numbers = part.drop_duplicates(keys).set_index(keys)[value]
                columns[f"{basename(str(name))} ({origin})"] = numbers.map(f"{{:.{decimals}f}}".format)
        order = pd.MultiIndex.from_frame(self.table[keys].drop_duplicates())
        return pd.DataFrame(columns).reindex(order).fillna("").reset_index()

    def summary(self) -> pd.DataFrame:
        """Return the mean and the mean absolute difference of each pair of a model and a system, by metric."""
        by = self.table.assign(model=self.table["model"].map(basename)).groupby(
            ["model", "system", "metric"], sort=False
        )["difference"]
        absolute = {
            "mean absolute": lambda values: values.abs().mean(),
            "largest": lambda values: values.abs().max(),
        }
        return by.agg(n="count", mean="mean", **absolute).reset_index()


def reproduce(
    paper: str,
    out: Path,
    *,
    table: str | None = None,
    models: Sequence[str] = (),
    source: Path | None = None,
    limit: int | None = None,
    announce: Announce = silent,
    note: Callable[[str], object] = lambda _: None,
) -> Reproduction:
    """Run what can be reached of a paper's table.

    Args:
        paper: a key of `papers.PAPERS`.
        out: folder for scores and results.
        table: the number of one of its tables; None takes all, but for those of people's judgments.
        models: run these models instead; each is compared with every system of the table.
        source: folder with data that is not shipped.
        limit: at most this many pairs of each group, for a dry run.
        announce: how progress is shown.
        note: called with a sentence about each model and data set, before anything runs.

    Raises:
        ValueError: the paper or table is not known, or nothing can be run.
    """
    described = describe(paper, table)
    numbers = NUMBERS[paper]
    published = numbers.published(shipped_table("published_results", described.published).to_pandas(), table)
    systems, names_in_paper = (
        set(published["system"]),
        {paper_model.model: system for system, paper_model in described.models.items()},
    )
    if systems == {PEOPLE}:  # in whose place no model is run: each is put beside them
        systems, names_in_paper = {*described.models, *described.unreachable}, {}
    parts, left_out = _parts(described, source, limit)
    jobs = _jobs(described, models, systems)
    meant = {job.model: None if models else names_in_paper.get(job.model) for job in jobs}
    absent = {} if models else described.unreachable
    left_out += [f"{system}: {why}." for system, why in absent.items() if system in systems]
    for line in _named(parts, meant):
        note(line)
    rows: list[Mapping[str, Any]] = []
    failures = []
    for suite in parts:
        run = Run(suite, out, announce)
        failures += run_all([run], jobs, keep_going=True)
        rows += run.rows
        if "form" in published:
            rows += numbers.forms(out, suite.config, {str(row["model"]) for row in run.rows})
    if not rows:
        explanations = " ".join([*left_out, *map(str, failures)])
        raise ValueError(f"Nothing of {paper} could be run. {explanations} Name other models with --model.")
    compared, reasons = _compared(numbers, published, rows, meant), _reasons(described, models, source, limit)
    if compared.empty:
        raise ValueError(
            f"No number of {paper} was scored: {', '.join(suite.config for suite in parts)} was run, without the "
            "table's items. Remove --limit, or name other data with --source."
        )
    return Reproduction(
        described.title, described.decimals, compared, left_out, reasons, failures, described.published_in
    )


def _compared(
    numbers: PaperNumbers,
    published: pd.DataFrame,
    rows: Sequence[Mapping[str, Any]],
    systems: Mapping[str, str | None],
) -> pd.DataFrame:
    """Return our rows joined to the published numbers of the systems that our models are; None stands for all."""
    our_rows = numbers.selected(pd.DataFrame(rows))
    keys = [key for key in KEYS if key in published]
    # Without probable words, there is no `form`.
    our_rows = our_rows.reindex(columns=["model", *keys, "score", "n"], fill_value="")
    our_rows = with_keys(our_rows.rename(columns={"score": "ours"}))
    joined = published.merge(our_rows, on=keys)
    system = joined["model"].map(lambda model: systems.get(model))
    joined = numbers.summarized(joined[system.isna() | (system == joined["system"])])
    joined["difference"] = joined["ours"] - joined["published"]
    return joined[["model", "system", *keys, "published", "ours", "difference", "n"]].reset_index(drop=True)


def _parts(described: Paper, source: Path | None, limit: int | None) -> tuple[list[Suite], list[str]]:
    """Return the suites that can be made, and a sentence for each that cannot."""
    suites, left_out = [], []
    for part in described.parts:
        options = {**part.options, "limit": limit}
        if source is not None and part.source:
            options[part.source] = source
        elif source is None:
            options |= part.without_source
        try:
            suites.append(make_suite(part.suite, **options))
        except ValueError as error:
            get = "" if part.fetch is None else f" Get it with `tse fetch {part.fetch}`, then add --source."
            get += f" {part.where}" if part.where and source is None else ""
            left_out.append(f"{options.get('data', part.suite)}: {error}{get}")
    return suites, left_out


def _jobs(described: Paper, models: Sequence[str], systems: set[str]) -> list[Job]:
    """Return the paper's models, or those that stand in for them, each with the paper's options."""
    from ..loading import load_with_options, options_with_effect

    named_options = (
        [(model, options_with_effect(model, ModelOptions.of(described.options))) for model in models]
        if models
        else [
            (paper_model.model, ModelOptions.of({**described.options, **paper_model.options}))
            for system, paper_model in described.models.items()
            if system in systems
        ]
    )
    return [Job(name, partial(load_with_options, name, options), options) for name, options in named_options]


def _named(parts: Sequence[Suite], meant: Mapping[str, str | None]) -> list[str]:
    """Name the data and the models of a reproduction, one sentence each."""
    data = [f"Data: {suite.dataset}/{suite.config}, {suite.n_items:,} items" for suite in parts]
    return data + [
        f"Model: {model}, " + (f"the paper's {system}" if system else "beside all models of the table")
        for model, system in meant.items()
    ]


def _reasons(described: Paper, models: Sequence[str], source: Path | None, limit: int | None) -> list[str]:
    """Say how this call, our data and our code differ from the paper."""
    reasons = []
    if models:
        stand_ins = ", ".join(map(basename, models))
        reasons.append(
            f"Other models were run: {stand_ins}. Most of the difference lies between them and the paper's models."
        )
    if limit is not None:
        reasons.append(f"A part of the data: at most {limit} items of each group (--limit).")
    if source is None and described.without_source is not None:
        reasons.append(described.without_source)
    return [*reasons, *described.differences]
