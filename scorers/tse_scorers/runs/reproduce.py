"""`tse reproduce`: run the models and data of a paper's table, and put our numbers beside the published ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ..models.options import ModelOptions
from ..report.systems import basename
from ..suites.base import Suite
from ..suites.registry import make_suite
from .all_models import run_all
from .jobs import Failure, Job, Loaded
from .papers import describe
from .published_tables import KEYS, beside, published_numbers
from .recipe import Recipe
from .run import Announce, Run, silent


@dataclass(frozen=True)
class Reproduction:
    """Our numbers beside the published ones.

    Attributes:
        title: the paper.
        decimals: that were published.
        table: one row per number: `model` (ours), `system` (the paper's), what is scored, `published`, `ours` (both
            shares), `difference`, and `n`, the items behind ours.
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
        found = self.table["difference"].abs().dropna()
        if found.empty:
            return f"{self.title}: no number could be compared."
        missing, rounding = len(self.table) - len(found), 0.5 * 10**-self.decimals
        unscored = f" {missing} of ours are missing, because no item could be scored." if missing else ""
        return (
            f"{self.title}: {len(found)} numbers; the mean absolute difference is {found.mean():.3f}. "
            f"{(found <= rounding).sum()} are equal but for rounding (±{rounding:g}).{unscored}"
        )

    def as_printed(self) -> pd.DataFrame:
        """Return the numbers as texts: what is scored down; the paper's systems, then our models, across."""
        keys = [key for key in KEYS if key in self.table]
        columns = {}
        for kind, value, what, decimals in (
            ("system", "published", self.published_in, self.decimals),
            ("model", "ours", "ours", self.decimals + 1),
        ):
            for name, part in self.table.groupby(kind, sort=False):
                numbers = part.drop_duplicates(keys).set_index(keys)[value]
                columns[f"{basename(str(name))} ({what})"] = numbers.map(f"{{:.{decimals}f}}".format)
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
        table: the number of one of its tables; None takes all that are known.
        models: run these models instead; each is compared with every system of the table.
        source: folder with data that is not shipped.
        limit: at most this many pairs of each group, for a dry run.
        announce: how progress is shown.
        note: called with a sentence about each model and data set, before anything runs.

    Raises:
        ValueError: the paper or table is not known, or nothing can be run.
    """
    described = describe(paper, table)
    published = published_numbers(paper, described["published"], table)
    systems = set(published["system"])
    parts, left_out = _parts(described, source, limit)
    jobs = _jobs(described, models, systems)
    meant = {job.model: None if models else _system(described, job.loaded.model) for job in jobs}
    absent = {} if models else described.get("unreachable", {})
    left_out += [f"{system}: {why}." for system, why in absent.items() if system in systems]
    for line in _named(parts, meant):
        note(line)
    rows, failures = [], []
    for asked, suite in parts:
        run = Run(suite, out, announce, recipe=asked)
        failures += run_all(run, jobs, keep_going=True)
        rows += run.rows
    if not rows:
        said = " ".join([*left_out, *map(str, failures)])
        raise ValueError(f"Nothing of {paper} could be run. {said} Name other models with --models.")
    compared, reasons = beside(paper, published, rows, meant), _reasons(described, models, source, limit)
    title, published_in = described["title"], described.get("published_in", "paper")
    return Reproduction(title, described["decimals"], compared, left_out, reasons, failures, published_in)


def _parts(
    described: Mapping[str, Any], source: Path | None, limit: int | None
) -> tuple[list[tuple[Recipe, Suite]], list[str]]:
    """Return the suites that can be made, and a sentence for each that cannot."""
    made, left_out = [], []
    for part in described["parts"]:
        options = dict(part["options"]) | {"limit": limit}
        if source is not None and options.get("dataset") != "marvin_linzen":
            options["source"] = source
        elif "without_source" in part:
            options |= part["without_source"]
        try:
            made.append((Recipe(part["suite"], options), make_suite(part["suite"], **options)))
        except ValueError as error:
            get = f" Get it with `tse fetch {part['fetch']}`, then add --source." if "fetch" in part else ""
            left_out.append(f"{options.get('dataset', part['suite'])}: {error}{get}")
    return made, left_out


def _jobs(described: Mapping[str, Any], models: Sequence[str], systems: set[str]) -> list[Job]:
    """Return the paper's models, or those that stand in for them, each with the paper's options."""
    from ..loading import load_with_options, options_with_effect

    paper = described["options"]
    wanted = (
        [(model, options_with_effect(model, ModelOptions.of(paper))) for model in models]
        if models
        else [
            (each["model"], ModelOptions.of(paper | each.get("options", {})))
            for system, each in described["models"].items()
            if system in systems
        ]
    )
    return [
        Job(name, lambda name=name, used=used: load_with_options(name, used), Loaded(name, used))  # type: ignore[misc]
        for name, used in wanted
    ]


def _system(described: Mapping[str, Any], model: str | None) -> str | None:
    return next((system for system, each in described["models"].items() if each["model"] == model), None)


def _named(parts: Sequence[tuple[Recipe, Suite]], meant: Mapping[str, str | None]) -> list[str]:
    """Name the data and the models of a reproduction, one sentence each."""
    data = [f"Data: {suite.dataset}/{suite.config}, {suite.n_items:,} items" for _, suite in parts]
    return data + [
        f"Model: {model}, " + (f"the paper's {system}" if system else "in place of the paper's models")
        for model, system in meant.items()
    ]


def _reasons(
    described: Mapping[str, Any], models: Sequence[str], source: Path | None, limit: int | None
) -> list[str]:
    """Say how this call, our data and our code differ from the paper."""
    reasons = []
    if models:
        stand_ins = ", ".join(map(basename, models))
        reasons.append(
            f"Other models were run: {stand_ins}. Most of the difference lies between them and the paper's models."
        )
    if limit is not None:
        reasons.append(f"A part of the data: at most {limit} items of each group (--limit).")
    if source is None and "without_source" in described:
        reasons.append(described["without_source"])
    return [*reasons, *described["differences"]]
