"""`tse collect`: the output folders of many jobs, joined to one folder.

Records are copied. What a record is stands inside it, and every value is checked against its checksum. Nothing is ever
replaced; a record that has more tables in one folder than in another gets all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...io.locks import held
from ...io.records import ROWS, Record, commit, differences, read_records, record_folder, writing
from ...io.results import CannotAggregateError, check_output, export_results
from ...suites.registry import aggregate


@dataclass(frozen=True)
class Collected:
    """What was joined.

    Attributes:
        n_copied: records that were copied.
        n_there: records that were there before.
        n_models: models, by suite and data, whose results were added.
        n_shards: records that hold only a share of a run, for `tse merge`.
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
        ValueError: a folder has no scores, a file is damaged, or two records of one model and data hold different
            scores. Then nothing is copied.
    """
    check_output(out)
    with held(out / ".collect.lock", f"collected scores to {out}", lambda _: None):
        before = read_records(out, strict=True)
        existing = {record.folder for record in before}
        source_records = [record for folder in folders for record in _records(folder)]
        same = _same_scores([*before, *source_records], out)
        for records in same.values():
            for record in records if records[0].folder not in existing else ():
                record.read()  # nothing is copied where one is damaged
        for folder, records in same.items():
            with writing(folder, records[0].identity["model"], None):
                _join(folder, records)
        wholes = {folder for folder, records in same.items() if not records[0].is_shard}
        if wholes:
            export_results(out)
    asked_folders = {record_folder(out, record.signature) for record in source_records}
    return Collected(
        len(same.keys() - existing),
        len(same.keys() & existing),
        len(wholes & asked_folders),
        len(same) - len(wholes),
    )


def _records(folder: Path) -> list[Record]:
    records = read_records(folder, strict=True)
    if not records:
        raise ValueError(
            f"{folder} does not contain scores; expected runs/*/record.json, which `tse run --out {folder}` writes. "
            "Remove it from the command."
        )
    return records


def _same_scores(records: Sequence[Record], out: Path) -> dict[Path, list[Record]]:
    """Return the records that belong into each folder of `out`.

    Raises:
        ValueError: two records of one folder hold different scores.
    """
    same: dict[Path, list[Record]] = {}
    for record in records:
        others = same.setdefault(record_folder(out, record.signature), [])
        for other in others:
            different = differences(other.described, record.described)
            both = record.scores.keys() & other.scores.keys()
            if not different and any(record.tables[name].hash != other.tables[name].hash for name in both):
                different = ["the values of the scores"]
            if different:
                raise ValueError(
                    f"{other.folder} and {record.folder} are scores of the same model and data, but differ "
                    f"({'; '.join(different)}). Nothing was copied. Collect them into different folders with --out, "
                    "or remove one of them."
                )
        others.append(record)
    return same


def _join(folder: Path, records: Sequence[Record]) -> None:
    """Write one record with the tables of all of these, and their averages."""
    scores = {name: table for record in records for name, table in record.scores.items()}
    complete = next((r for r in records if r.scores.keys() == scores.keys() and ROWS in r.tables), None)
    if complete is not None and complete.folder == folder:
        return
    tables = scores if complete is None else {**scores, ROWS: complete.tables[ROWS]}
    record = commit(replace(records[0], folder=folder), tables)
    if ROWS in record.tables or record.is_shard:
        return
    try:
        record.averaged(aggregate)
    except CannotAggregateError as error:
        raise ValueError(f"{record.folder} cannot be averaged. {error}") from error
