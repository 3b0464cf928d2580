"""Accuracies on BLiMP: this run's, the published models' and people's, side by side."""

from collections.abc import Iterable, Mapping

import pandas as pd

from ...io.bundle import metric_modules, shipped_table
from ...report.inputs import Runs, configs_apart
from ...report.tables import CELLS, spread, with_published
from ...suites.minimal_pairs.show.texts import is_without_paradigms, phenomenon_name
from ...suites.shown import OVERALL
from ..published import published

RUN, PUBLISHED, HUMANS = "this run", "released summary", "humans"
OTHERS = "other paradigms"


METHODS = {"full": "whole sentence", "one_prefix": "one prefix", "two_prefix": "two prefixes"}


PUBLISHED_NAMES = {
    "5-gram": "5-gram",
    "lstm": "LSTM",
    "transfo-xl-wt103": "Transformer-XL",
    "gpt2-large": "GPT-2",
}


def phenomenon_of(paradigm: str) -> str:
    """Return the phenomenon of one of BLiMP's paradigms; others belong to `other paradigms`."""
    return _place_of(paradigm)[0]


def field_of(paradigm: str) -> str:
    """Return the field of linguistics of one of BLiMP's paradigms; others belong to `other paradigms`."""
    return _place_of(paradigm)[1]


def _place_of(paradigm: str) -> tuple[str, str]:
    blimp: Mapping[str, tuple[str, str]] = metric_modules(
        "minimal_pair_accuracy"
    ).blimp_paradigms.BLIMP_PARADIGMS
    return blimp.get(paradigm, (OTHERS, OTHERS))


def system_names(columns: Iterable[tuple[str, str]]) -> list[str]:
    """Name systems where the kind is no heading of its own."""
    forms = {RUN: "{}", PUBLISHED: f"{{}} ({PUBLISHED})", HUMANS: "humans ({})"}
    return [forms[kind].format(name) for kind, name in columns]


def accuracies(runs: Runs) -> pd.DataFrame:
    """Return the results by all methods, of pairs by themselves."""
    rows = runs.suite("minimal_pairs")
    rows = configs_apart(rows[rows["metric"] == "accuracy"])
    return rows.assign(method=rows["method"].fillna("full"))


def by_group(rows: pd.DataFrame, column: str = "score") -> pd.DataFrame:
    """Spread scores (or another column) into group × system, both in the order of the results."""
    return spread(rows.assign(label=rows["group"]), column)


def by_paradigm(rows: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies by paradigm (0–1), columns (kind, system): ours, the published models, humans."""
    scored = by_group(rows[rows["level"] == "paradigm"])
    models = published("warstadt2020_models")
    wide = models.pivot(index="paradigm", columns="model", values="accuracy")
    wide = wide[pd.unique(models["model"])].rename(columns=PUBLISHED_NAMES)
    humans = shipped_table("blimp_human_judgments", "accuracy").to_pandas().set_index("paradigm")
    humans = humans[["individual_accuracy", "majority_accuracy"]].set_axis(["individual", "majority"], axis=1)
    frames = {RUN: scored, PUBLISHED: wide.reindex(scored.index), HUMANS: humans.reindex(scored.index)}
    return pd.concat(frames, axis=1).rename_axis("Paradigm").dropna(axis=1, how="all")


def published_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies of published models and of people on whole sentences as rows, over a run's paradigms."""
    columns = ["kind", "name", "system", "metric", "method", "level", "value", "score"]
    rows = rows[(rows["metric"] == "accuracy") & rows["method"].fillna("full").eq("full")]
    paradigms = by_paradigm(rows).drop(columns=RUN, level=0, errors="ignore")
    if not len(paradigms.columns) or paradigms.empty:
        return pd.DataFrame(columns=columns)
    groups = {
        "paradigm": lambda paradigm: paradigm,
        "phenomenon": phenomenon_of,
        "field": field_of,
        "all": lambda paradigm: "",
    }
    return pd.DataFrame(
        [
            (kind, name, system, "accuracy", "full", level, value, mean)
            for level, group_of in groups.items()
            for value, means in paradigms.groupby(paradigms.index.map(group_of)).mean().iterrows()
            for ((kind, name), mean), system in zip(means.items(), system_names(means.index), strict=True)
            if pd.notna(mean)
        ],
        columns=columns,
    )


def accuracy_cells(rows: pd.DataFrame, level: str) -> pd.DataFrame:
    """Return accuracies of one method by phenomenon or paradigm, and overall, as cells, ours and others'."""

    def selected(rows: pd.DataFrame, *levels: str) -> pd.DataFrame:
        shown = rows[rows["level"].isin(levels)]
        names = shown["value"].map(phenomenon_name) if level == "phenomenon" else shown["value"]
        return shown.assign(label=names.where(shown["level"] != "all", OVERALL))

    scored = selected(rows, "all") if is_without_paradigms(rows) else selected(rows, level, "all")
    theirs = pd.DataFrame(columns=[*CELLS, "kind"])
    if (rows["method"] == "full").all():
        theirs = selected(published_scores(rows), level, "all")
        theirs = theirs.assign(system=theirs["name"])
    return with_published(scored.assign(kind=RUN), theirs, ["kind"])


def prefix_marks(paradigms: pd.Index) -> pd.DataFrame:
    """Return which of BLiMP's paradigms allow which prefix method: 1 or 0, NaN for others (Table 4, `1pfx`, `2pfx`)."""
    marks = published("warstadt2020_prefix_methods")
    wide = marks.set_index("paradigm")[["one_prefix", "two_prefix"]].astype(float).reindex(paradigms)
    return wide.set_axis(pd.MultiIndex.from_product([["prefix method"], ["one", "two"]]), axis=1).dropna(
        axis=1, how="all"
    )
