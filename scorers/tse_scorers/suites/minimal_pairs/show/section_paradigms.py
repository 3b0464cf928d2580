"""Accuracies by paradigm of BLiMP: this run's, the published models' and people's, side by side."""

from collections.abc import Collection, Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....io.bundle import metric_modules
from ....report.published import published, shipped
from ....report.tables import CELLS, cells_of, with_published

RUN, PUBLISHED, HUMANS = "this run", "released summary", "humans"
OTHERS, TOTAL = "other paradigms", "Overall"


METHODS = {"full": "whole sentence", "one_prefix": "one prefix", "two_prefix": "two prefixes"}


PUBLISHED_NAMES = {
    "5-gram": "5-gram",
    "lstm": "LSTM",
    "transfo-xl-wt103": "Transformer-XL",
    "gpt2-large": "GPT-2",
}


_SPELLINGS = {
    "npi": "NPI", "subject verb": "subject–verb", "determiner noun": "determiner–noun",
    "filler gap": "filler–gap", "control raising": "control and raising",
}  # fmt: skip


def phenomenon_name(phenomenon: str) -> str:
    """Name a phenomenon as a heading.

    >>> phenomenon_name("npi_licensing"), phenomenon_name("subject_verb_agreement")
    ('NPI licensing', 'Subject–verb agreement')
    """
    name = phenomenon.replace("_", " ")
    for plain, printed in _SPELLINGS.items():
        name = name.replace(plain, printed)
    return name[:1].upper() + name[1:]


def title_of(configs: Collection[str | None]) -> str:
    """Name the data of a run by its configurations: BLiMP, or also other pairs."""
    return "BLiMP" if set(configs) <= {None, "blimp"} else "Minimal pairs"


def group_name(level: str, value: str) -> str:
    """Name a group of results in a sentence or above a panel.

    >>> group_name("phenomenon", "determiner_noun_agreement"), group_name("all", "")
    ('Determiner–noun agreement', 'Overall')
    """
    return "Overall" if level == "all" else phenomenon_name(value)


def phenomenon_of(paradigm: str) -> str:
    """Return the phenomenon of one of BLiMP's paradigms; others belong to `other paradigms`."""
    phenomenon, _ = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS.get(
        paradigm, (OTHERS, "")
    )
    return str(phenomenon)


def from_blimp(paradigms: pd.Index) -> NDArray[np.bool_]:
    """Mark the paradigms that are BLiMP's."""
    return paradigms.isin(list(metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS))


def is_without_paradigms(rows: pd.DataFrame) -> bool:
    """Whether results are of one's own pairs without paradigms, whose only group has their name and all of them."""
    return (
        set(rows.loc[rows["level"] != "all", "value"]) == set(rows["config"])
        and len(set(rows["config"])) == 1
    )


def system_names(columns: Iterable[tuple[str, str]]) -> list[str]:
    """Name systems where the kind is no heading of its own."""
    forms = {RUN: "{}", PUBLISHED: f"{{}} ({PUBLISHED})", HUMANS: "humans ({})"}
    return [forms[kind].format(name) for kind, name in columns]


def by_group(rows: pd.DataFrame, column: str = "score") -> pd.DataFrame:
    """Spread scores (or another column) into group × system, both in the order of the results."""
    once = rows.drop_duplicates(["group", "system"], keep="last")
    wide = once.pivot(index="group", columns="system", values=column).astype(float)
    return wide.reindex(index=pd.unique(once["group"]), columns=pd.unique(once["system"]))


def by_paradigm(rows: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies by paradigm (0–1), columns (kind, system): ours, the published models, humans."""
    ours = by_group(rows[rows["level"] == "paradigm"])
    frames = {RUN: ours}
    models = published("warstadt2020_models")
    if not models.empty:
        wide = models.pivot(index="paradigm", columns="model", values="accuracy")
        frames[PUBLISHED] = (
            wide[pd.unique(models["model"])].rename(columns=PUBLISHED_NAMES).reindex(ours.index)
        )
    humans = shipped("blimp_human_judgments", "accuracy")
    if not humans.empty:
        wide = humans.set_index("paradigm")[["individual_accuracy", "majority_accuracy"]]
        frames[HUMANS] = wide.set_axis(["individual", "majority"], axis=1).reindex(ours.index)
    paradigms = pd.concat(frames, axis=1)
    paradigms.index.name = "Paradigm"
    return paradigms.dropna(axis=1, how="all")


def accuracy_cells(rows: pd.DataFrame, level: str) -> pd.DataFrame:
    """Return accuracies of the groups of a level, and overall, as cells with their `kind`: ours and others'.

    Others judged whole sentences; their means are over the paradigms that were run.

    Args:
        rows: results of one method.
        level: `phenomenon`, `paradigm` or `field`.
    """
    ours = rows[rows["level"].isin(("all",) if is_without_paradigms(rows) else (level, "all"))]
    names = ours["value"].map(phenomenon_name) if level == "phenomenon" else ours["value"]
    ours = ours.assign(kind=RUN, label=names.where(ours["level"] != "all", TOTAL))
    kinds = [pd.DataFrame(columns=[*CELLS, "kind"])]
    is_whole = (rows["method"] == "full").all()
    others = by_paradigm(rows).drop(columns=RUN, level=0) if is_whole else pd.DataFrame()
    if len(others.columns):
        fields = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS
        groups = {
            "paradigm": lambda paradigm: paradigm,
            "phenomenon": lambda paradigm: phenomenon_name(phenomenon_of(paradigm)),
            "field": lambda paradigm: fields.get(paradigm, ("", OTHERS))[1],
        }
        means = others.groupby(others.index.map(groups[level])).mean()
        means.loc[TOTAL] = others.mean()
        of_kinds = others.columns.unique(level=0)
        kinds = [cells_of(means[kind]).assign(kind=kind) for kind in of_kinds]
    return with_published(ours, pd.concat(kinds), ["kind"])


def prefix_marks(paradigms: pd.Index) -> pd.DataFrame:
    """Return which of BLiMP's paradigms allow which prefix method: 1 or 0, NaN for others (Table 4, `1pfx`, `2pfx`)."""
    marks = published("warstadt2020_prefix_methods")
    if marks.empty:
        return pd.DataFrame(index=paradigms)
    wide = marks.set_index("paradigm")[["one_prefix", "two_prefix"]].astype(float).reindex(paradigms)
    return wide.set_axis(pd.MultiIndex.from_product([["prefix method"], ["one", "two"]]), axis=1).dropna(
        axis=1, how="all"
    )
