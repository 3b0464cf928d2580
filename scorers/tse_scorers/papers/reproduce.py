"""`tse reproduce`: run the models and data of a paper's table, and put our numbers beside the published ones."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..io.bundle import shipped_table
from ..io.records import read_records
from ..io.result_row import group_name
from ..models.options import ModelOptions
from ..report.systems import basename
from ..runs.jobs import Failure, Job
from ..runs.recipe import Recipe
from ..runs.run import Announce, Run, run_all, silent
from ..statistics.jackknife import pearson
from ..suites.agreement.data.paper_examples import TABLE_3, positions
from ..suites.contract import Suite
from ..suites.registry import make_suite
from .papers import Paper, describe
from .rochereau2020.cells import by_level, grid_of

KEYS = ("group", "variation_set", "metric", "form")
"""What a number is about, in the terms of `results.json`; a form is a word at a gap, its group the text around it."""
PEOPLE = "human"


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
    published = _PUBLISHED[paper](shipped_table("published_results", described.published).to_pandas(), table)
    systems, named = (
        set(published["system"]),
        {paper_model.model: system for system, paper_model in described.models.items()},
    )
    if systems == {PEOPLE}:  # in whose place no model is run: each is put beside them
        systems, named = {*described.models, *described.unreachable}, {}
    parts, left_out = _parts(described, source, limit)
    jobs = _jobs(described, models, systems)
    meant = {job.model: None if models else named.get(job.model) for job in jobs}
    absent = {} if models else described.unreachable
    left_out += [f"{system}: {why}." for system, why in absent.items() if system in systems]
    for line in _named(parts, meant):
        note(line)
    rows: list[Mapping[str, Any]] = []
    failures = []
    for recipe, suite in parts:
        run = Run(suite, out, announce, recipe=recipe)
        failures += run_all([run], jobs, keep_going=True)
        rows += run.rows
        if "form" in published:
            rows += _probable_forms(out, suite, {str(row["model"]) for row in run.rows})
    if not rows:
        explanations = " ".join([*left_out, *map(str, failures)])
        raise ValueError(f"Nothing of {paper} could be run. {explanations} Name other models with --model.")
    compared, reasons = _beside(paper, published, rows, meant), _reasons(described, models, source, limit)
    if compared.empty:
        raise ValueError(
            f"No number of {paper} was scored: {', '.join(suite.config for _, suite in parts)} was run, without the "
            "table's items. Remove --limit, or name other data with --source."
        )
    return Reproduction(
        described.title, described.decimals, compared, left_out, reasons, failures, described.published_in
    )


def _newman(frame: pd.DataFrame, table: str | None) -> pd.DataFrame:
    """Return TSE, EW and MW by construction (Table 2), and the probable words at two gaps (Table 3)."""
    keys = {"group": frame["construction"], "metric": frame["metric"].str.lower()}
    scores = pd.DataFrame({"system": frame["model"], **keys, "published": frame["score"]})
    if table == "2":
        return scores
    forms = shipped_table("published_results", "newman2021_table3").to_pandas()
    forms = _at_gaps(forms).assign(system="bert-large-cased", published=forms["probability"])
    return _with_keys(forms if table == "3" else pd.concat([scores, forms]))


def _at_gaps(forms: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of `KEYS` for words at gaps."""
    group = forms["prefix"].str.strip() + " … " + forms["suffix"].str.strip()
    return pd.DataFrame({"group": group, "metric": "probability", "form": forms["form"]})


def _probable_forms(out: Path, suite: Suite, models: Collection[str]) -> list[dict[str, Any]]:
    """Return a run's probable words at the gaps of Table 3 of Newman et al. (2021), as rows of results."""
    rows: list[dict[str, Any]] = []
    for record in read_records(out):
        if "top_forms" not in record.tables or record.identity["config"] != suite.config:
            continue
        if record.identity["model"] not in models:
            continue
        forms = record.tables["top_forms"].read().to_pandas().fillna({"prefix": "", "suffix": ""})
        contexts = forms.drop_duplicates("context_id")
        for context in contexts.iloc[positions(contexts)].itertuples():
            prefix = str(context.prefix).strip()
            suffix = dict(TABLE_3)[prefix]
            reads_suffix = record.signature.get("kind") in ("masked", "seq2seq")
            if reads_suffix and str(context.suffix).strip() != suffix:
                continue  # to this model, another gap
            of_gap = forms[forms["context_id"] == context.context_id].assign(prefix=prefix, suffix=suffix)
            about = {"model": record.identity["model"], "score": of_gap["probability"], "n": 1}
            rows += _at_gaps(of_gap).assign(**about).to_dict("records")
    return rows


def _rochereau(frame: pd.DataFrame, table: str | None) -> pd.DataFrame:
    """Return the cells of a table; their means by case order, by roles and by doubled case; and Table 5."""
    cells = frame[frame["repeats_table"].isna() | (frame["paper_table"].astype(str) == table)]
    cells = cells.rename(columns={"role_assignment": "role"})
    grids = {key: grid_of(part) for key, part in cells.groupby(["system", "variation_set"], sort=False)}
    numbers = []
    for (system, kind), grid in grids.items():
        about = {"system": system, "variation_set": kind, "metric": "auc"}
        numbers += [
            about | {"level": level, "group": group_name(level, value), "published": auc}
            for level, values in by_level(grid).items()
            for value, auc in values.items()
        ]
        if kind == "1-6":
            r = float(pearson(grid.to_numpy().ravel(), grids[PEOPLE, kind].to_numpy().ravel()))
            numbers.append(
                about | {"metric": "human_pearson", "level": "all", "group": "all", "published": r}
            )
    every = pd.DataFrame(numbers)
    models, six, level = every["system"] != PEOPLE, every["variation_set"] == "1-6", every["level"]
    means = every["metric"] == "auc"
    tables = {
        "2": models & six & means & level.isin(("case_order", "all")),
        "3": models & six & means & level.isin(("role", "all")),
        "4": models & means & (level == "all"),
        "5": models & ~means,
    }
    if table is None:
        chosen = (models & (level == "cell")) | np.logical_or.reduce([*tables.values()])
    elif table in tables:
        chosen = tables[table]
    else:
        of_table = cells[cells["paper_table"] == int(table)].iloc[0]
        chosen = (level == "cell") & (every["system"] == of_table["system"])
        chosen &= every["variation_set"] == of_table["variation_set"]
    return every.loc[chosen, ["system", "group", "variation_set", "metric", "published"]]


def _hu(frame: pd.DataFrame, table: str | None) -> pd.DataFrame:
    """Return the share of right items of each suite."""
    shares = frame.groupby(["model", "suite"], sort=False)["correct"].mean().reset_index()
    shares = shares.rename(columns={"model": "system", "suite": "group", "correct": "published"})
    return shares.assign(metric="criterion_accuracy")


def _with_keys(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose columns of `KEYS` can be joined: a text in each."""
    keys = [key for key in KEYS if key in frame]
    return frame.fillna(dict.fromkeys(keys, ""))


def _blimp(frame: pd.DataFrame, table: str | None) -> pd.DataFrame:
    """Return accuracies by paradigm (Table 4), and their means by phenomenon and over all (Table 3)."""
    paradigms = frame.rename(columns={"model": "system", "paradigm": "group", "accuracy": "published"})
    overall = paradigms.assign(group="all")
    phenomena = paradigms.assign(group=[group_name("phenomenon", name) for name in paradigms["phenomenon"]])
    means = (
        pd.concat([overall, phenomena])
        .groupby(["system", "group"], sort=False)["published"]
        .mean()
        .reset_index()
    )
    tables = {"3": [means], "4": [paradigms]}.get(table or "", [means, paradigms])
    return pd.concat(tables).assign(metric="accuracy")[["system", "group", "metric", "published"]]


_PUBLISHED: Mapping[str, Callable[[pd.DataFrame, str | None], pd.DataFrame]] = {
    "newman2021": _newman,
    "warstadt2020": _blimp,
    "rochereau2020": _rochereau,
    "hu2020": _hu,
}
"""Paper -> the numbers of one of its tables (None: of all), from its configuration of `published_results`.

They have the columns `system`, `published` and those of `KEYS` that tell them apart.
"""


def _beside(
    paper: str, published: pd.DataFrame, rows: Sequence[Mapping[str, Any]], systems: Mapping[str, str | None]
) -> pd.DataFrame:
    """Return our rows joined to the published numbers.

    Args:
        paper: a key of `papers.PAPERS`.
        published: as `_PUBLISHED` gives them.
        rows: of results.
        systems: the system that each of our models is; one that is None is compared with all.
    """
    our_rows = pd.DataFrame(rows)
    if paper == "newman2021":
        is_whole = our_rows["cutoff_side"].eq("top") & our_rows["cutoff"].eq(1.0)
        our_rows = our_rows[our_rows["metric"].isin(("tse", "probability")) | is_whole]
    if paper == "warstadt2020":
        our_rows = our_rows[our_rows["method"] == "full"]
    if paper == "hu2020":  # the first criterion of a suite is the one that was published
        our_rows = our_rows[our_rows["level"].eq("criterion") & our_rows["value"].str.endswith("/1")]
        our_rows = our_rows.assign(group=our_rows["value"].str.removesuffix("/1"))
    keys = [key for key in KEYS if key in published]
    # Without probable words, there is no `form`.
    our_rows = our_rows.reindex(columns=["model", *keys, "score", "n"], fill_value="")
    our_rows = _with_keys(our_rows.rename(columns={"score": "ours"}))
    joined = published.merge(our_rows, on=keys)
    meant = joined["model"].map(lambda model: systems.get(model))
    joined = joined[meant.isna() | (meant == joined["system"])]
    if paper == "hu2020":
        joined = pd.concat([joined, _over_suites(joined)])
    joined["difference"] = joined["ours"] - joined["published"]
    return joined[["model", "system", *keys, "published", "ours", "difference", "n"]].reset_index(drop=True)


def _over_suites(suites: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over the suites that were run, published and ours, of each system and model."""
    by = suites.groupby(["system", "model", "metric"], sort=False)
    means = by.agg(published=("published", "mean"), ours=("ours", "mean"), n=("n", "sum"))
    return means.reset_index().assign(group="all")


def _parts(
    described: Paper, source: Path | None, limit: int | None
) -> tuple[list[tuple[Recipe, Suite]], list[str]]:
    """Return the suites that can be made, and a sentence for each that cannot."""
    suites, left_out = [], []
    for part in described.parts:
        options = {**part.options, "limit": limit}
        if source is not None and part.source:
            options[part.source] = source
        elif source is None:
            options |= part.without_source
        try:
            suites.append((Recipe(part.suite, options), make_suite(part.suite, **options)))
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


def _named(parts: Sequence[tuple[Recipe, Suite]], meant: Mapping[str, str | None]) -> list[str]:
    """Name the data and the models of a reproduction, one sentence each."""
    data = [f"Data: {suite.dataset}/{suite.config}, {suite.n_items:,} items" for _, suite in parts]
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
