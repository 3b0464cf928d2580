"""`tse compare`: what differs between systems on the same items, and whether that may be chance.

A suite says what its items are, which groups they have, and which units they share (nouns, lemmas, templates, …). The
difference of two systems is tested over these units, by t with cluster-robust standard errors. p-values of groups
are adjusted by Holm's method within a level (the paradigms, the phenomena, …). Differences between data, lemma lists
and options are found by the signatures of the scores.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..io.results import read_signature, slug
from ..report.inputs import Runs, ScoreFile, read_runs
from ..statistics.differences import holm
from ..suites.base import Items
from ..suites.checks import ComparesLemmas
from ..suites.items import GroupDifference, ItemScores
from ..suites.registry import suites_of

COLUMNS = (
    "suite", "dataset", "config", "measure", "group", "system", "reference", "score", "reference_score", "difference",
    "se", "ci_low", "ci_high", "p", "p_adjusted", "unit", "n_units", "n_items", "n_lemmas", "test",
    "minimum_detectable", "n_ties", "n_excluded", "different",
)  # fmt: skip
ITEM_COLUMNS = (
    "suite", "dataset", "config", "measure", "system", "reference", "item", "score", "reference_score", "difference",
)  # fmt: skip
N_ITEMS = 10
"""items that are named for each comparison"""

_OLD_NAMES = {
    "reference_score": "reference score", "n_items": "n", "n_ties": "ties", "n_excluded": "left out",
}  # fmt: skip
_DECISIVE = {
    "dataset": "data set",
    "dataset_fingerprint": "data",
    "lemmas": "lemma list",
    "lemmas_fingerprint": "lemma list",
    "metric_version": "version of the metric",
    "pll": "--pll",
    "forms": "--forms",
}
"""key of a signature -> what it is called; where both systems have it, it must be the same"""


@dataclass(frozen=True)
class Comparison:
    """What differs between systems.

    Attributes:
        rows: one row per measure, group and system: `COLUMNS`.
        items: the items that differ most: `ITEM_COLUMNS`.
    """

    rows: pd.DataFrame
    items: pd.DataFrame


@dataclass(frozen=True)
class _Scores:
    """One file of scores and how results name its system and data."""

    file: ScoreFile
    about: Mapping[str, Any]
    signature: Mapping[str, Any]
    items: Items


def compare(
    folders: Sequence[Path], reference: str | None = None, allow_different: bool = False
) -> Comparison:
    """Compare each system with a reference of the same suite and data, on the items that both scored.

    Args:
        folders: output folders of `tse run`.
        reference: model that the others are compared with; None takes the first one of each suite.
        allow_different: compare also where data, lemma lists or options differ; the column `different` names them.

    Returns:
        Differences are `score` minus `reference_score`. A pair of systems that share no items is left out.

    Raises:
        ValueError: a folder holds no results, there is nothing to compare, no model has the reference's name, or data
            or options differ.
    """
    runs = read_runs(folders)
    rows: list[dict[str, Any]] = []
    items: list[pd.DataFrame] = []
    for system, other in _pairs(runs, reference):
        different = _different(system, other)
        compared = list(_compared(system, other))
        if different and any(compared) and not allow_different:
            raise ValueError(
                f"{system.about['system']} and {other.about['system']} were run with different "
                f"{', '.join(different)} ({system.file.path.name}, {other.file.path.name}), so their scores do not "
                "compare. Run both on the same data with the same options, or compare what they share with "
                "--allow-different."
            )
        for of_measure, most in compared:
            rows += [row | {"different": ", ".join(different)} for row in of_measure]
            items.append(most)
    if not rows:
        raise ValueError(
            "There is nothing to compare: no two systems in these folders scored the same items. Run them on the "
            "same suite and data, with the same groups and limit."
        )
    return Comparison(
        pd.DataFrame(rows, columns=list(COLUMNS)),
        pd.concat(items, ignore_index=True).reindex(columns=list(ITEM_COLUMNS)),
    )


def common_lemmas(folders: Sequence[Path]) -> pd.DataFrame:
    """Return the scores of each system over its own lemmas and over those that all systems score.

    Raises:
        ValueError: no suite in these folders has two systems with stored outcomes of lemmas, or none is common.
    """
    runs = read_runs(folders)
    suites: list[Any] = list(
        suites_of(runs)
    )  # classes, of which mypy does not believe that they have the method
    found = [suite.common_lemma_rows(runs) for suite in suites if isinstance(suite, ComparesLemmas)]
    rows = pd.concat(found, ignore_index=True) if found else pd.DataFrame()
    if rows.empty:
        raise ValueError(
            "--common-lemmas needs two systems with scores of --suite agreement on the same data. Run a second model, "
            "or remove the option."
        )
    return rows


def as_json(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows of a comparison as they are written to JSON: a missing number is null."""
    return [{key: _plain(key, value) for key, value in row.items()} for row in rows.to_dict("records")]


def _plain(key: str, value: Any) -> Any:
    if pd.isna(value):
        return None
    return int(value) if key.startswith("n_") else value


def for_csv(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of a comparison with the names of columns that `comparison.csv` has had since version 0.1."""
    named = rows.assign(
        suite=[
            suite if config is None else f"{suite}: {config}"
            for suite, config in zip(rows["suite"], rows["config"], strict=True)
        ]
    )
    return named.rename(columns=_OLD_NAMES)


def _pairs(runs: Runs, reference: str | None) -> Iterator[tuple[_Scores, _Scores]]:
    """Yield each file of scores with the reference's of the same suite, data and kind, in the order of measures."""
    known = False
    for suite in suites_of(runs):
        places = {measure.label: place for place, measure in enumerate(suite.measures)}
        kinds: dict[tuple[str | None, str | None], list[_Scores]] = {}
        for file in runs.scores(suite.name):
            own = _Scores(
                file, _about(runs, file), read_signature(file.path) or {}, suite.compared_items(file)
            )
            if own.items:
                kinds.setdefault((file.config, file.kind), []).append(own)
        for files in sorted(kinds.values(), key=lambda own: min(places.get(key, 99) for key in own[0].items)):
            chosen = _reference(files, reference)
            known = known or chosen is not None
            yield from ((own, chosen) for own in files if chosen is not None and own is not chosen)
    if reference is not None and not known:
        names = sorted({str(name) for name in runs.rows["model"]})
        raise ValueError(f"No model is named {reference}; choose the reference from: {', '.join(names)}.")


def _reference(files: Sequence[_Scores], name: str | None) -> _Scores | None:
    if name is None:
        return files[0]
    return next(
        (own for own in files if name in (own.about["system"], own.about["model"], own.file.system)), None
    )


def _about(runs: Runs, file: ScoreFile) -> dict[str, Any]:
    """Say what results call the data and the system: the model, with revision or folder where labels need these."""
    rows = runs.suite(file.suite)
    rows = rows[rows["system"] == file.system]
    if file.config is not None:
        rows = rows[rows["config"].astype(str).map(slug) == file.config]
    about: dict[str, Any] = {
        "suite": file.suite,
        "dataset": None,
        "config": file.config,
        "model": file.system,
    }
    if len(rows):
        about |= rows.iloc[0][["dataset", "config", "model"]].to_dict()
    model = str(about["model"])
    added = file.system[len(model) :] if file.system.startswith(model) else _suffix(file.system)
    return about | {"system": model + added}


def _suffix(label: str) -> str:
    """Return what a label adds to a name: `@revision`, ` (folder)`."""
    start = min((place for place in (label.find("@"), label.find(" (")) if place >= 0), default=len(label))
    return label[start:]


def _different(system: _Scores, reference: _Scores) -> list[str]:
    one, other = system.signature, reference.signature
    found = (
        what for key, what in _DECISIVE.items() if key in one and key in other and one[key] != other[key]
    )
    return list(dict.fromkeys(found))


def _compared(system: _Scores, reference: _Scores) -> Iterator[tuple[list[dict[str, Any]], pd.DataFrame]]:
    """Yield rows and the items that differ most for each measure that both have."""
    for measure in (measure for measure in system.items if measure in reference.items):
        one, other = (ItemScores.of(own.items[measure]) for own in (system, reference))
        about = {key: system.about[key] for key in ("suite", "dataset", "config")}
        about |= {
            "measure": measure,
            "system": system.about["system"],
            "reference": reference.about["system"],
        }
        found = list(one.differences(other))
        if found:
            rows = _adjusted([about | _row(difference) for difference in found])
            rows[0]["n_excluded"] = one.n_excluded(other)
            yield rows, one.most_different(other, N_ITEMS).assign(**about)


def _row(found: GroupDifference) -> dict[str, Any]:
    difference = found.difference
    return {
        "group": found.group,
        "score": difference.score,
        "reference_score": difference.reference_score,
        "difference": difference.estimate.mean,
        **difference.estimate.columns(),
        "p": difference.p,
        "n_items": found.n_items,
        "n_lemmas": found.n_lemmas,
        "test": difference.test,
        "minimum_detectable": difference.minimum_detectable or math.nan,  # 0 where no item differs
        "n_ties": found.n_ties,
    }


def _adjusted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add Holm's adjusted p-values: among the groups of one level; `all` is a level by itself."""
    frame = pd.DataFrame([{"group": row["group"], "p": row["p"]} for row in rows])
    level = frame["group"].map(
        lambda name: name if name == "all" else name.partition(":")[0] if ":" in name else ""
    )
    adjusted = frame.groupby(level)["p"].transform(lambda p: pd.Series(holm(p), index=p.index))
    return [row | {"p_adjusted": float(p)} for row, p in zip(rows, adjusted, strict=True)]
