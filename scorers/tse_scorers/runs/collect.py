"""`tse collect`: the output folders of many jobs, joined to one folder.

Files of scores are copied as they are. What a file is stands inside it, and every value is checked against the
checksums in it. Nothing is ever replaced.
"""

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..io.checksums import same_values
from ..io.files import write_atomically
from ..io.locks import held
from ..io.ours import check_ours
from ..io.result_row import ResultRow, rows_of_run
from ..io.results import (
    CannotAggregateError,
    StoredScores,
    add_results,
    decisive,
    differences,
    read_scores,
    stored_scores,
)
from ..suites.registry import aggregate


@dataclass(frozen=True)
class Collected:
    """What was joined.

    Attributes:
        n_copied: files that were copied.
        n_there: files that were there before.
        n_models: models, by suite and data, whose results were added.
        n_shards: files that hold only a share of a run, for `tse merge`.
    """

    n_copied: int
    n_there: int
    n_models: int
    n_shards: int


def collect(folders: Sequence[Path], out: Path) -> Collected:
    """Copy the scores in these output folders to `out`, and add their results.

    Args:
        folders: output folders of `tse run`; one may be `out` itself.
        out: output folder. What is in it stays.

    Raises:
        ValueError: a folder holds no scores, a file is damaged, or two files of one name hold different scores. Then
            nothing is copied.
    """
    check_ours(out)
    with held(out / ".collect.lock", f"collected scores to {out}", lambda _: None):
        found = [each for folder in folders for each in _stored(folder)]
        chosen = _without_clashes([*_stored(out, may_be_empty=True), *found])
        new = [each for each in chosen.values() if not _target(each, out).exists()]
        for each in new:
            with each.path.open("rb") as file, write_atomically(_target(each, out)) as copy:
                shutil.copyfileobj(file, copy)
        signatures, rows = _results(found, chosen.values())
        if signatures:
            add_results(out, signatures, rows, aggregate=aggregate)
    n_shards = sum("shard" in each.signature for each in chosen.values())
    return Collected(len(new), len(chosen) - len(new), len(signatures), n_shards)


def _stored(folder: Path, may_be_empty: bool = False) -> list[StoredScores]:
    found = stored_scores(folder / "scores")
    if not found and not may_be_empty:
        raise ValueError(
            f"{folder} holds no scores; expected scores/*.parquet, which `tse run --out {folder}` writes. Remove it "
            "from the command."
        )
    for each in found:
        if Path(each.name).name != each.name or not each.name.endswith(".parquet"):
            raise ValueError(
                f"{each.path} says that its name is {each.name!r:.100}; expected the name of a file, without folders. "
                "Score this model again."
            )
    return found


def _target(stored: StoredScores, out: Path) -> Path:
    return out / "scores" / stored.name


def _without_clashes(found: Sequence[StoredScores]) -> dict[str, StoredScores]:
    """Return one file of each name.

    Raises:
        ValueError: two files of one name hold different scores.
    """
    chosen: dict[str, StoredScores] = {}
    for each in found:
        other = chosen.setdefault(each.name, each)
        if other.path.samefile(each.path):
            continue
        different = differences(other.signature, each.signature)
        if not different and not same_values(read_scores(other.path), read_scores(each.path)):
            different = ["the values of the scores"]
        if different:
            raise ValueError(
                f"{other.path} and {each.path} are both {each.name}, but differ ({'; '.join(different)}). Nothing was "
                "copied. Collect them into different folders with --out, or remove one of them."
            )
    return chosen


def _results(
    found: Iterable[StoredScores], chosen: Iterable[StoredScores]
) -> tuple[list[dict[str, Any]], list[ResultRow]]:
    """Return the signatures and rows of all whole runs, averaged from their scores.

    Args:
        found: the files of the folders that are collected, which say what the runs are.
        chosen: all files of the output folder, where a run may have more tables than in the other folders.
    """
    runs: dict[str, list[StoredScores]] = {
        _key(each.signature): []
        for each in found
        if "shard" not in each.signature and "identity" in each.signature
    }
    for each in chosen:
        if (key := _key(each.signature)) in runs:
            runs[key].append(each)
    averaged = [_averaged(tables) for tables in runs.values()]
    return [signature for signature, _ in averaged], [row for _, rows in averaged for row in rows]


def _averaged(tables: Sequence[StoredScores]) -> tuple[dict[str, Any], list[ResultRow]]:
    signature = tables[0].signature
    identity = signature["identity"]
    try:
        made = aggregate(
            identity["suite"], {each.name.removesuffix(".parquet"): read_scores(each.path) for each in tables}
        )
    except CannotAggregateError as error:
        raise ValueError(f"{tables[0].path} cannot be averaged. {error}") from error
    return signature, rows_of_run(identity, made)


def _key(signature: dict[str, Any]) -> str:
    return json.dumps(decisive(signature), sort_keys=True, default=str)
