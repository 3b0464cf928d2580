"""`tse reproduce`: run the models and data of a paper's table, and put our numbers beside the published ones."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pandas as pd

from ..io.store import Record
from ..io.systems import basename
from ..models.model_source import name_a_model
from ..models.options import ModelOptions
from ..report.numbers import number
from ..runs.jobs import Failure, Job
from ..runs.run import Announce, run_models, silent
from ..suites import find_suite
from ..suites.base import Suite
from . import published
from .newman2021 import probable_forms
from .papers import Paper, describe

JOINED = "name", "level", "value", "prefix", "suffix"
"""What a number is about: the columns by which ours and the published ones are joined."""
SHOWN = "group", "measure", "form"
"""The same, as it is shown; a form is a word at a gap, its group the text around it."""


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
        """Return the numbers as texts: what is scored down; the paper's systems, then our models, across.

        What is the same in all rows, such as the metric, is left out.
        """
        varies = self.table.nunique() > 1
        keys = [key for key in SHOWN if key == "group" or varies.get(key, False)]
        theirs = self.table["system"] + f" ({self.published_in})"
        ours = self.table["model"].map(basename) + " (ours)"
        columns = ("published", theirs, self.decimals), ("ours", ours, self.decimals + 1)
        cells = [
            self.table[keys].assign(column=names, text=[number(value, digits) for value in self.table[kind]])
            for kind, names, digits in columns
        ]
        texts = pd.concat(cells).drop_duplicates([*keys, "column"]).set_index([*keys, "column"])["text"]
        return texts.unstack(sort=False).fillna("").rename_axis(columns=None).reset_index()

    def summary(self) -> pd.DataFrame:
        """Return the mean and the mean absolute difference of each pair of a model and a system, by metric."""
        rows = self.table.assign(
            model=self.table["model"].map(basename), absolute=self.table["difference"].abs()
        )
        of_pair = rows.groupby(["model", "system", "measure"], sort=False)
        found = of_pair["difference"].agg(["count", "mean"]).rename(columns={"count": "n"})
        absolute = of_pair["absolute"].agg(**{"mean absolute": "mean", "largest": "max"})
        return found.join(absolute).reset_index()


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
    described, theirs = describe(paper, table), numbers(paper, table)
    is_of_people = theirs["source"].eq("people").all()  # each model is put beside them
    systems = {*described.models, *described.unreachable} if is_of_people else set(theirs["system"])
    suites, left_out = _suites(described, source, limit)
    unreachable = {} if models else described.unreachable
    left_out += [f"{system}: {why}." for system, why in unreachable.items() if system in systems]
    jobs = _jobs(described, models, systems)
    names = {} if models or is_of_people else {each.model: name for name, each in described.models.items()}
    meant = {job.model: names.get(job.model) for job in jobs}
    for suite in suites:
        note(f"Data: {suite.dataset}/{suite.config}, {len(suite.items):,} items")
    for model, system in meant.items():
        note(f"Model: {model}, " + (f"the paper's {system}" if system else "beside all models of the table"))
    records, failures, _ = run_models(suites, jobs, out, announce=announce, keep_going=True)
    rows = [row for record in records for row in record.rows]
    ours = [pd.DataFrame(rows).rename(columns={"measure": "name"})]
    if records and theirs["prefix"].notna().any():
        ours.append(_probable_forms(records, theirs))
    if not any(map(len, ours)):
        why = {of.model: str(of).removesuffix(name_a_model(of.model)) for of in failures}
        # Each reason once, of the first model that has it.
        said = {text.replace(model, ""): text for model, text in reversed(why.items())}
        explanations = " ".join([*left_out, *reversed(said.values())])
        raise ValueError(f"Nothing of {paper} could be run. {explanations} Name other models with --model.")
    compared = _compared(theirs, pd.concat(ours), meant)
    if compared.empty:
        raise ValueError(
            f"No number of {paper} was scored: {', '.join(suite.config for suite in suites)} was run, without the "
            "table's items. Remove --limit, or name other data with --source."
        )
    reasons = _reasons(described, models, source, limit)
    return Reproduction(
        described.title, described.decimals, compared, left_out, reasons, failures, described.published_in
    )


def numbers(paper: str, table: str | None) -> pd.DataFrame:
    """Return the published numbers of a table; None: of all, but for people's and what is printed again by mistake.

    They are rows of `published.rows`, and what the paper's other tables derive from these: means and correlations.
    """
    rows = published.rows(paper)
    every = _TABLES[paper](rows).reindex(columns=rows.columns)
    if table is not None:
        return every[every["table"] == table]
    every = every[every["source"].ne("people") & every["repeats_table"].isna()]
    return every.drop_duplicates(["system", *JOINED])


def _means(rows: pd.DataFrame, table: str, level: str, values: "pd.Series[str] | str" = "") -> pd.DataFrame:
    """Return means by the values of a level, as rows of a table."""
    rows = rows.assign(table=table, level=level, value=values)
    keys = ["table", "source", "system", "name", "level", "value"]
    return rows.groupby(keys, sort=False, dropna=False)["score"].mean().reset_index()


def _newman2021(rows: pd.DataFrame) -> pd.DataFrame:
    """Return TSE, EW and MW by construction (Table 2), and probable words (Table 3) without spaces at the gap."""
    return rows.assign(**{side: rows[side].str.strip() for side in ("prefix", "suffix")})


def _warstadt2020(rows: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies by paradigm (Table 4), and their means by phenomenon and over all (Table 3)."""
    paradigms = rows[rows["name"] == "accuracy"]
    phenomena = _means(paradigms, "3", "phenomenon", paradigms["phenomenon"])
    return pd.concat([_means(paradigms, "3", "all"), phenomena, paradigms])


def _rochereau2020(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells, their means by case order, by roles and by doubled case, and correlations with people (Table 5)."""
    own = cells[cells["repeats_table"].isna()]
    places = own["value"].str.split("|", expand=True)
    of_models = own[own["source"] == "paper"]
    six = of_models[of_models["name"] == "auc"]
    wide = own[own["name"] == "auc"].pivot(index="value", columns="system", values="score")
    r = (
        wide[six["system"].unique()]
        .corrwith(wide["human"])
        .rename("score")
        .rename_axis("system")
        .reset_index()
    )
    r = r.assign(table="5", source="paper", name="human_pearson", level="all", value="")
    by_order = [_means(six, "2", "case_order", places[0]), _means(six, "2", "all")]
    by_role = [_means(six, "3", "role", places[1]), _means(six, "3", "all")]
    return pd.concat([cells, *by_order, *by_role, _means(of_models, "4", "all"), r])


def _hu2020(items: pd.DataFrame) -> pd.DataFrame:
    """Return the share of right items of each suite, by its first criterion, which is the one that was published."""
    return _means(items, "suites", "criterion", items["value"].str.replace(r"/\d+$", "/1", regex=True))


_TABLES: Mapping[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "newman2021": _newman2021,
    "warstadt2020": _warstadt2020,
    "rochereau2020": _rochereau2020,
    "hu2020": _hu2020,
}
"""A key of `papers.PAPERS` -> the function that makes its tables from its published rows."""


def _probable_forms(records: Sequence[Record], theirs: pd.DataFrame) -> pd.DataFrame:
    """Return a run's probable words at the gaps of Table 3 of Newman et al. (2021), as rows of results."""
    gaps = theirs.dropna(subset="prefix").set_index("prefix")["suffix"].to_dict()
    frames = []
    for record in records:
        forms = probable_forms(record)
        sides = [side for side in ("prefix", "suffix") if side in forms]
        forms = forms.assign(**{side: forms[side].str.strip() for side in sides})
        reads_on = record.facts.get("kind") in ("masked", "seq2seq")  # what follows a gap
        if len(forms) and not reads_on:
            forms["suffix"] = forms["prefix"].map(gaps)
        forms = forms.rename(columns={"form": "value", "probability": "score"})
        frames.append(forms.assign(model=record.identity["model"], name="probability", level="form", n=1))
    return pd.concat(frames)


def _compared(theirs: pd.DataFrame, ours: pd.DataFrame, meant: Mapping[str, str | None]) -> pd.DataFrame:
    """Return our rows joined to the published numbers of the systems that our models are; None stands for all."""
    keys = [key for key in JOINED if theirs[key].notna().any()]
    theirs = theirs[["system", *keys, "score"]].rename(columns={"score": "published"})
    ours = ours.reindex(columns=["model", *keys, "score", "n"]).rename(columns={"score": "ours"})
    joined = theirs.merge(ours.astype(dict(theirs[keys].dtypes)), on=keys)
    system = joined["model"].map(meant)
    joined = joined[system.isna() | (system == joined["system"])]
    if joined["level"].eq("criterion").all():  # the mean over the suites that were run
        by = joined.groupby(["system", "model", "name"], sort=False)
        means = by.agg(published=("published", "mean"), ours=("ours", "mean"), n=("n", "sum")).reset_index()
        joined = pd.concat([joined, means.assign(level="all", value="")], ignore_index=True)
    joined["difference"] = joined["ours"] - joined["published"]
    joined["group"] = joined["value"].where(joined["level"] != "all", "all")
    joined["measure"] = joined["name"]
    of_suite, of_form = joined["level"] == "criterion", joined["level"] == "form"
    joined.loc[of_suite, "group"] = joined["value"].str.removesuffix("/1")
    if of_form.any():
        joined["form"] = joined["value"].where(of_form, "")
        joined.loc[of_form, "group"] = joined["prefix"] + " … " + joined["suffix"]
    shown = [key for key in SHOWN if key in joined]
    return joined[["model", "system", *shown, "published", "ours", "difference", "n"]].reset_index(drop=True)


def _suites(described: Paper, source: Path | None, limit: int | None) -> tuple[list[Suite], list[str]]:
    """Return the suites that can be made, and a sentence for each that cannot."""
    suites, left_out = [], []
    for part in described.parts:
        options = {**part.options, **({} if limit is None else {"limit": limit})}
        if source is not None and part.source:
            options[part.source] = source
        elif source is None:
            options |= part.without_source
        try:
            suite = find_suite(part.suite)(**options)
            _ = suite.items
            suites.append(suite)
        except ValueError as error:
            get = "" if source else part.where
            left_out.append(f"{options.get('data', part.suite)}: {error} {get}".strip())
    return suites, left_out


def _jobs(described: Paper, models: Sequence[str], systems: Collection[str]) -> list[Job]:
    """Return the paper's models, or those that stand in for them, each with the paper's options."""
    from ..loading import load_with_options

    used = {model: ModelOptions.of(described.options) for model in models} or {
        each.model: ModelOptions.of({**described.options, **each.options})
        for system, each in described.models.items()
        if system in systems
    }
    return [
        Job(name, partial(load_with_options, name, options, one_of_several=True), options)
        for name, options in used.items()
    ]


def _reasons(described: Paper, models: Sequence[str], source: Path | None, limit: int | None) -> list[str]:
    """Say how this call, our data and our code differ from the paper."""
    stand_ins = ", ".join(map(basename, models))
    reasons = {
        f"Other models were run: {stand_ins}. Most of the difference lies between them and the paper's models.": models,
        f"A part of the data: at most {limit} items of each group (--limit).": limit is not None,
        described.without_source: source is None and described.without_source,
    }
    return [*(reason for reason, holds in reasons.items() if holds), *described.differences]
