"""`tse compare`: what differs between systems on the same items, and whether that may be chance.

A suite says what its items are, which groups they have, and which units they share (nouns, lemmas, templates, …). The
difference of two systems is tested over these units, by t with cluster-robust standard errors. p-values of groups
are adjusted by Holm's method within a level (the paradigms, the phenomena, …). Differences between data, lemma lists
and options are found by the signatures of the scores.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..io.results import slug
from ..io.score_files import signature_of
from ..report.inputs import Runs, ScoreFile, read_runs
from ..statistics.differences import holm
from ..suites.base import Items, Suite
from ..suites.checks import ComparesLemmas
from ..suites.items import GroupDifference, ItemScores
from ..suites.registry import suites_of

COLUMNS = (
    "suite", "dataset", "config", "measure", "group", "system", "reference", "score", "reference_score", "difference",
    "se", "ci_low", "ci_high", "p", "p_adjusted", "unit", "n_units", "n_items", "n_lemmas", "test",
    "minimum_detectable", "n_ties", "n_excluded", "different", "reliable",
)  # fmt: skip
ITEM_COLUMNS = (
    "suite", "dataset", "config", "measure", "system", "reference", "item", "score", "reference_score", "difference",
)  # fmt: skip
OWN_COLUMNS = ("score_own_lemmas", "reference_score_own_lemmas", "n_lemmas_own", "reference_n_lemmas_own")
"""columns that `tse compare --common-lemmas` adds"""
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
    "unigrams": "--unigram",
    "context_lengths": "--context-lengths",
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
    suite: type[Suite]
    among: Sequence[ScoreFile] = ()
    """the files whose common lemmas are compared; empty: each pair of systems by itself"""

    def items(self) -> Items:
        """Read the items, which takes time and memory; the signature is cheap."""
        suite: Any = self.suite  # a class, of which mypy does not believe that it has the method
        if self.among and isinstance(suite, ComparesLemmas):
            return suite.items_over_common_lemmas(self.file, self.among)
        return self.suite.compared_items(self.file)


@dataclass(frozen=True)
class Paired:
    """One measure of two systems.

    Attributes:
        about: what rows call the data, the measure and the systems.
        system: scores of the system's items.
        reference: scores of the reference's items.
        different: what was different in the two runs.
    """

    about: Mapping[str, Any]
    system: ItemScores
    reference: ItemScores
    different: Sequence[str] = ()


def compare(
    folders: Sequence[Path],
    reference: str | None = None,
    allow_different: bool = False,
    over_common_lemmas: bool = False,
) -> Comparison:
    """Compare each system with a reference of the same suite and data, on the items that both scored.

    Args:
        folders: output folders of `tse run`.
        reference: model that the others are compared with; None takes the first one of each suite.
        allow_different: compare also where data, lemma lists or options differ; the column `different` names them.
        over_common_lemmas: take EW and MW over the lemmas that all systems score, not only the two of a row.

    Returns:
        Differences are `score` minus `reference_score`. A pair of systems that share no items is left out.

    Raises:
        ValueError: a folder holds no results, there is nothing to compare, no model has the reference's name, or data
            or options differ.
    """
    rows: list[dict[str, Any]] = []
    items: list[pd.DataFrame] = []
    for pair in paired(folders, reference, allow_different, over_common_lemmas):
        found = list(pair.system.differences(pair.reference))
        if found:
            of_pair = _adjusted([dict(pair.about) | _row(difference) for difference in found])
            of_pair[0]["n_excluded"] = pair.system.n_excluded(pair.reference)
            rows += [row | {"different": ", ".join(pair.different)} for row in of_pair]
            items.append(pair.system.most_different(pair.reference, N_ITEMS).assign(**pair.about))
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


def with_own_lemmas(rows: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Add the scores over own lemmas to rows over common ones: `OWN_COLUMNS`, empty for other measures than EW and MW.

    Args:
        rows: of `compare(..., over_common_lemmas=True)`.
        scores: of `common_lemmas`.
    """
    own = scores[scores["lemmas"] == "own"].set_index(["suite", "config", "group", "measure", "system"])
    configs = [config if config is None else slug(config) for config in rows["config"]]
    found = {}
    for role, prefix in (("system", ""), ("reference", "reference_")):
        keys = zip(rows["suite"], configs, rows["group"], rows["measure"], rows[role], strict=True)
        of_role = own.reindex(pd.MultiIndex.from_tuples(list(keys)))
        found[f"{prefix}score_own_lemmas"] = of_role["score"].to_numpy()
        found[f"{prefix}n_lemmas_own"] = of_role["n_lemmas"].to_numpy()
    return rows.assign(**{column: found[column] for column in OWN_COLUMNS})


def paired(
    folders: Sequence[Path],
    reference: str | None = None,
    allow_different: bool = False,
    over_common_lemmas: bool = False,
) -> Iterator[Paired]:
    """Yield each measure of each system with the reference's, in the order of tables; see `compare`.

    Unlike runs are refused by their signatures, before the first item is read.
    """
    suites = _groups(read_runs(folders), reference)
    if over_common_lemmas:
        suites = [[_among_each_other(files) for files in kinds] for kinds in suites]
    for files in (files for kinds in suites for files in kinds):
        _refuse_different(files, allow_different)
    for kinds in suites:
        yield from _in_order(kinds)


def as_json(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows of a comparison as they are written to JSON: a missing number is null."""
    return [{key: _plain(key, value) for key, value in row.items()} for row in rows.to_dict("records")]


def _plain(key: str, value: Any) -> Any:
    if pd.isna(value):
        return None
    return int(value) if key.removeprefix("reference_").startswith("n_") else value


def for_csv(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of a comparison with the names of columns that `comparison.csv` has had since version 0.1."""
    named = rows.assign(
        suite=[
            suite if config is None else f"{suite}: {config}"
            for suite, config in zip(rows["suite"], rows["config"], strict=True)
        ]
    )
    return named.rename(columns=_OLD_NAMES)


def _groups(runs: Runs, reference: str | None) -> list[list[list[_Scores]]]:
    """Return for each suite its files of each kind, the reference's first; without kinds that it has no file of."""
    found = []
    for suite in suites_of(runs):
        kinds: dict[tuple[str | None, str | None], list[_Scores]] = {}
        for file in runs.scores(suite.name):
            kinds.setdefault((file.config, file.kind), []).append(_Scores(file, names_of(runs, file), suite))
        chosen = [_reference_first(files, reference) for files in kinds.values()]
        found.append([files for files in chosen if files])
    if reference is not None and not any(found):
        names = sorted({str(name) for name in runs.rows["model"]})
        raise ValueError(f"No model is named {reference}; choose the reference from: {', '.join(names)}.")
    return found


def _reference_first(files: Sequence[_Scores], name: str | None) -> list[_Scores]:
    if name is None:
        return list(files)
    for own in files:
        if name in (own.about["system"], own.about["model"], own.file.system):
            return [own, *(other for other in files if other is not own)]
    return []


def _among_each_other(files: Sequence[_Scores]) -> list[_Scores]:
    return [replace(own, among=[other.file for other in files]) for own in files]


def _refuse_different(files: Sequence[_Scores], allow_different: bool) -> None:
    """Raise ValueError if systems were not run alike."""
    for system in [] if allow_different else files[1:]:
        if different := _different(system, files[0]):
            raise ValueError(
                f"{system.about['system']} and {files[0].about['system']} were run with different "
                f"{', '.join(different)} ({system.file.path.name}, {files[0].file.path.name}), so their scores do not "
                "compare. Run both on the same data with the same options, or compare what they share with "
                "--allow-different."
            )


def _in_order(kinds: Sequence[Sequence[_Scores]]) -> Iterator[Paired]:
    """Yield the measures of a suite: kinds of files in the order of the suite's measures, system after system."""
    places = {m.label: n for kind in kinds[:1] for n, m in enumerate(kind[0].suite.measures)}
    several = [(files, files[0].items()) for files in kinds if len(files) > 1]
    with_items = [(files, reference) for files, reference in several if reference]
    for files, reference in sorted(with_items, key=lambda own: min(places.get(key, 99) for key in own[1])):
        for system in files[1:]:
            yield from _pair(system, files[0], reference)


def _pair(system: _Scores, reference: _Scores, reference_items: Items) -> Iterator[Paired]:
    """Yield each measure that both have."""
    about = {key: system.about[key] for key in ("suite", "dataset", "config")}
    names = {"system": system.about["system"], "reference": reference.about["system"]}
    different = _different(system, reference)
    items = system.items()
    for measure in (measure for measure in items if measure in reference_items):
        one, other = ItemScores.of(items[measure]), ItemScores.of(reference_items[measure])
        yield Paired({**about, "measure": measure, **names}, one, other, different)


def names_of(runs: Runs, file: ScoreFile) -> dict[str, Any]:
    """Say what results call the data and the system, which has one label in all outputs."""
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
    return about | {"system": file.system}


def _different(system: _Scores, reference: _Scores) -> list[str]:
    one, other = (signature_of(own.file.path) for own in (system, reference))
    found = [
        what for key, what in _DECISIVE.items() if key in one and key in other and one[key] != other[key]
    ]
    if one.get("linking", "sum") != other.get("linking", "sum"):  # the sum is not named
        found.append("--linking")
    if (
        len({own.get("word_end") for own in (one, other)} - {None}) > 1
    ):  # None: a masked model has no word ends
        found.append("--word-end")
    return list(dict.fromkeys(found))


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
