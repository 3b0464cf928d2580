"""Scores over the lemmas that several models all score, from stored outcomes, without running a model again.

EW follows exactly from the stored outcomes. MW is exact where the runs kept the log-probabilities of all forms
(`--keep-forms`). Otherwise the probabilities of the 16 heaviest lemmas of each context are known (float16), and the
rest is divided evenly among the other lemmas (`outcomes.Outcomes.mw`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd

from ....io.records import Record, read_records
from ....io.results import Row
from ....report.inputs import Runs, ScoreFile
from ....statistics.clustered import clustered_mean
from ....statistics.estimate import Estimate
from ...items import ItemScores
from ..data.contrast import GROUP
from ..measures import MEASURES
from .context_scores import ContextScores, context_groups
from .coverage import main_list
from .intervals import cells_of
from .items import compared_items

COMMON = "common:"
DEFAULT_FOLDER = Path("tse-results")
"""Where `tse run` writes by default, and where the models of `common:A,B` that are not folders are looked up."""
COLUMNS = (
    "suite", "config", "group", "measure", "system", "lemmas", "score", "se", "ci_low", "ci_high", "unit", "n_units",
    "n_items", "n_lemmas", "approximate",
)  # fmt: skip


def common_lemma_rows(runs: Runs) -> pd.DataFrame:
    """Return EW and MW of each system over its own lemmas and over those that all score: `COLUMNS`.

    Only systems that were run on the same configuration have lemmas in common. Gaps inside and at the beginning of
    sentences may have different lemmas; runs with both kinds are skipped.
    """
    rows: list[Row] = []
    by_config: dict[str | None, list[ScoreFile]] = {}
    for file in runs.scores("agreement", "contexts"):
        by_config.setdefault(file.config, []).append(file)
    for config, files in by_config.items():
        found = {file.system: _measures(file) for file in files}
        known = {system: scores for system, scores in found.items() if scores}
        if len(known) > 1:
            about: Row = {"suite": "agreement", "config": config}
            rows += [about | row for row in _rows(known)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _measures(file: ScoreFile) -> dict[str, ContextScores]:
    scores = compared_items(file, MEASURES)
    return {
        label: one
        for label, one in scores.items()
        if isinstance(one, ContextScores) and one.outcomes is not None
    }


def _rows(systems: Mapping[str, Mapping[str, ContextScores]]) -> Iterator[Row]:
    lists = {system: next(iter(measures.values())).lemmas for system, measures in systems.items()}
    common = _common(lists)
    for system, measures in systems.items():
        for label, scores in measures.items():
            for name, lemmas in (("own", lists[system]), ("common", common)):
                over = scores.over(lemmas)
                rests_on = {"n_lemmas": len(lemmas), "approximate": over.approximate}
                for group, n_items, found in _estimates(scores, over):
                    about = {"group": group, "measure": label, "system": system, "lemmas": name}
                    yield about | {"score": found.mean} | found.columns() | {"n_items": n_items} | rests_on


def _common(lists: Mapping[str, pd.MultiIndex]) -> pd.MultiIndex:
    """Return the lemmas that all systems score; raises ValueError if there are none."""
    common = _in_all(lists.values())
    if not len(common):
        raise ValueError(
            f"The models {', '.join(lists)} score no lemma in common. Run them with --forms all, or with a list of "
            "lemmas that all can score (--lemmas FILE)."
        )
    return common


def _in_all(lists: Iterable[pd.MultiIndex]) -> pd.MultiIndex:
    """Return the lemmas that are in all lists, in the order of the first."""
    return reduce(lambda one, other: one.intersection(other, sort=False), lists)


def items_over_common_lemmas(file: ScoreFile, files: Sequence[ScoreFile]) -> Mapping[str, ItemScores]:
    """Return EW and MW of each context over the lemmas that the systems of all files score; TSE as it is.

    A file without stored outcomes has no EW and MW here.

    Raises:
        ValueError: the systems have no lemma in common.
    """
    if file.kind != "contexts":
        return compared_items(file, MEASURES)
    known = {other.system: _lemmas(other) for other in files}
    lists = {system: lemmas for system, lemmas in known.items() if lemmas is not None}
    common = _common(lists) if lists else pd.MultiIndex.from_arrays([[], []])
    return {label: scores.over(common) for label, scores in _measures(file).items()}


def _lemmas(file: ScoreFile) -> pd.MultiIndex | None:
    """Return the lemmas that a system scores; None if they are unknown or differ between kinds of gaps or groups."""
    found = file.sibling("lemmas")
    if found is None or file.sibling("outcomes") is None:
        return None
    lemmas = found.read_table().to_pandas()
    if lemmas["opening"].nunique() != 1 or GROUP in lemmas:
        return None
    return pd.MultiIndex.from_frame(lemmas[["singular", "plural"]])


def _estimates(scores: ContextScores, over: ContextScores) -> Iterator[tuple[str, int, Estimate]]:
    """Yield the score of each group over some of the lemmas, those of `over`."""
    for group in context_groups(over.items.dropna(subset=["score"])):
        if scores.measure.name == "mw":
            found = clustered_mean(group.items["score"], group.units)
        else:
            assert scores.outcomes is not None
            lemmas = np.flatnonzero(scores.lemmas.isin(over.lemmas))
            bits = scores.outcomes.correct(scores.outcomes.places(group.items), lemmas)
            found = cells_of(group.items, bits).mean()
        yield group.name, len(group.items), found


def common_list(names: str, folder: Path = DEFAULT_FOLDER) -> pd.DataFrame:
    """Return the lemmas that all models of some output folders scored, columns `singular` and `plural`.

    Args:
        names: output folders, or names of models with scores in `folder`, separated by commas.
        folder: where models are looked up.

    Raises:
        ValueError: a name is neither, no lemma is common, or the groups of a run have lemmas of their own.
    """
    records = [
        record for name in names.split(",") if name.strip() for record in _records(name.strip(), folder)
    ]
    if not records:
        raise ValueError(
            f"--lemmas {COMMON} needs output folders of `tse run`, for instance --lemmas {COMMON}out-a,out-b."
        )
    common = _in_all(_scored(record) for record in records)
    if not len(common):
        raise ValueError(
            f"No lemma was scored in all of {', '.join(record.folder.name for record in records)}. Name other folders, "
            "or run them with --forms all."
        )
    return common.to_frame(index=False)


def _scored(record: Record) -> pd.MultiIndex:
    lemmas = record.tables["lemmas"].read().to_pandas()
    if GROUP in lemmas:
        raise ValueError(
            f"{record.folder} has other lemmas for each group; --lemmas {COMMON}… needs runs with one list for all "
            "groups. Name other folders."
        )
    return pd.MultiIndex.from_frame(main_list(lemmas)[["singular", "plural"]])


def _records(name: str, folder: Path) -> Sequence[Record]:
    """Return the records with lemmas of an output folder, or those of a model in `folder`."""
    of_folder = read_records(Path(name)) if Path(name).is_dir() else []
    of_model = [record for record in read_records(folder) if name in _names(record)]
    with_lemmas = [record for record in of_folder or of_model if "lemmas" in record.tables]
    if not with_lemmas:
        raise ValueError(
            f"--lemmas {COMMON}… names {name!r}, which is neither an output folder of `tse run` with agreement scores, "
            f"nor a model with scores in {folder}. Run it first, or correct the name."
        )
    return with_lemmas


def _names(record: Record) -> tuple[str, ...]:
    return tuple(str(record.signature.get(key)) for key in ("series", "model") if key in record.signature)
