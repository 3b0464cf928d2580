"""`tse reproduce`: run the models and data of a paper's table, and put our numbers beside the published ones."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ..io.bundle import load_data
from ..io.results import Row
from ..models.options import ModelOptions
from ..suites.base import Suite
from ..suites.registry import make_suite
from .recipe import Recipe
from .run import Announce, Failure, Job, Loaded, Run, run_all, silent

PAPERS: dict[str, Any] = json.loads(
    Path(__file__).with_name("reproductions.json").read_text(encoding="utf-8")
)
"""What each paper's tables were made of: `published`, `tables`, `parts` (suite, options), `models`, `differences`."""


@dataclass(frozen=True)
class Reproduction:
    """Our numbers beside the published ones.

    Attributes:
        title: the paper.
        table: one row per number: `model` (ours), `system` (the paper's), what is scored, `published`, `ours` (both
            shares), `difference`, and `n`, the items behind ours.
        left_out: what was not run, and why, one sentence each.
        differences: known reasons for differences, one sentence each.
        failures: models that failed.
    """

    title: str
    table: pd.DataFrame
    left_out: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def __str__(self) -> str:
        compared = self.table["difference"].abs().dropna()
        if compared.empty:
            return f"{self.title}: no number could be compared."
        return (
            f"{self.title}: {len(compared)} numbers; the mean absolute difference is {compared.mean():.3f}."
        )


def reproduce(
    paper: str,
    out: Path,
    *,
    table: str | None = None,
    models: Sequence[str] = (),
    source: Path | None = None,
    limit: int | None = None,
    announce: Announce = silent,
) -> Reproduction:
    """Run what can be reached of a paper's table.

    Args:
        paper: a key of `PAPERS`.
        out: folder for scores and results.
        table: the number of one of its tables; None takes all that are known.
        models: run these models instead; each is compared with every system of the table.
        source: folder with data that is not shipped.
        limit: at most this many pairs of each group, for a dry run.
        announce: how progress is shown.

    Raises:
        ValueError: the paper or table is not known, or nothing can be run.
    """
    if paper not in PAPERS:
        raise ValueError(f"Unknown paper {paper!r}; expected one of: {', '.join(PAPERS)}.")
    described = PAPERS[paper]
    if table is not None and table not in described["tables"]:
        raise ValueError(
            f"Table {table!r} of {paper} is not known; expected one of: {', '.join(described['tables'])}."
        )
    published = _published(described, paper, table)
    parts, left_out = _parts(described, source, limit)
    jobs = _jobs(described, models, set(published["system"]))
    if not models:
        absent = described.get("unreachable", {})
        left_out += [
            f"{system}: {why}." for system, why in absent.items() if system in set(published["system"])
        ]
    rows, failures = [], []
    for asked, suite in parts:
        this = Run(suite, out, announce, recipe=asked)
        failures += run_all(this, list(jobs), keep_going=True)
        rows += this.rows
    if not rows:
        said = " ".join([*left_out, *map(str, failures)])
        raise ValueError(f"Nothing of {paper} could be run. {said} Name other models with --models.")
    systems = {job.model: None if models else _system(described, job.loaded.model) for job in jobs}
    compared = _compared(paper, published, rows, systems)
    return Reproduction(described["title"], compared, left_out, described["differences"], failures)


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
    from ..loading import load_with_options

    wanted = (
        [(model, ModelOptions()) for model in models]
        if models
        else [
            (each["model"], ModelOptions.of(each.get("options")))
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


def _published(described: Mapping[str, Any], paper: str, table: str | None) -> pd.DataFrame:
    """Return the published numbers with the columns `system`, `published` and the keys of our rows."""
    frame = load_data("published_results", described["published"]).to_pandas()
    if paper == "newman2021":
        keys = {"group": frame["construction"], "metric": frame["metric"].str.lower()}
        return pd.DataFrame({"system": frame["model"], **keys, "published": frame["score"]})
    if paper == "warstadt2020":
        keys = {"group": frame["paradigm"], "metric": "accuracy"}
        return pd.DataFrame({"system": frame["model"], **keys, "published": frame["accuracy"]})
    frame = frame[(frame["system"] != "human") & frame["repeats_table"].isna()]
    if table is not None:
        frame = frame[frame["paper_table"] == int(table)]
    cell = "cell:" + frame["case_order"] + "|" + frame["role_assignment"]
    keys = {"group": cell, "variation_set": frame["variation_set"], "metric": "auc"}
    return pd.DataFrame({"system": frame["system"], **keys, "published": frame["auc"]})


def _compared(
    paper: str, published: pd.DataFrame, rows: Sequence[Row], systems: Mapping[str, str | None]
) -> pd.DataFrame:
    """Join our rows to the published numbers; a model that stands for no system is compared with all."""
    ours = pd.DataFrame(rows)
    if paper == "newman2021":
        ours = ours[ours["metric"].eq("tse") | (ours["cutoff_side"].eq("top") & ours["cutoff"].eq(1.0))]
    if paper == "warstadt2020":
        ours = ours[ours["method"] == "full"]
    keys = [column for column in published if column not in ("system", "published")]
    ours = ours[["model", *keys, "score", "n"]].rename(columns={"score": "ours"})
    joined = published.merge(ours, on=keys)
    meant = joined["model"].map(lambda model: systems.get(model))
    joined = joined[meant.isna() | (meant == joined["system"])]
    joined["difference"] = joined["ours"] - joined["published"]
    return joined[["model", "system", *keys, "published", "ours", "difference", "n"]].reset_index(drop=True)
