"""`OUT/results.json`: an export of the records in `OUT/runs`, for people and other tools; this package reads records.

    {"format": …, "signature": {"models": [signature, …]}, "environment": …, "records": [name, …], "results": [row, …]}

Several processes may write it at the same time. After writing it, each process lists the records again; if they have
changed meanwhile, it writes the file again.
"""

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

from .checksums import checksum
from .declared import CHECKSUM, parse, parse_object
from .files import check_folder, read_bytes, write_text
from .limits import RESULTS_BYTES
from .ours import FORMAT, RESULTS_FILE, check_ours, require_ours
from .records import (
    KEPT,
    DamagedFileError,
    Record,
    listing,
    possible_scores,
    read_records,
    require_records,
)
from .result_row import ResultRow, Scalar
from .signatures import ResultsContent, Signature, Signatures

__all__ = [
    "RESULTS_FILE", "CannotAggregateError", "Row", "StoredResults", "check_output", "export_results", "read_results",
    "results_of", "written_at",
]  # fmt: skip

Row: TypeAlias = dict[str, Scalar]
"""A row of `results.json` as JSON has it."""
_REMEDY = (
    "Run the same `tse run` command again; it makes this file again from the records in its folder runs."
)


@dataclass(frozen=True)
class _Identity:
    suite: str
    model: str


@dataclass(frozen=True)
class _Signature:
    identity: _Identity


@dataclass(frozen=True)
class _Signatures:
    """The signatures of all models; a bare name is valid too."""

    models: tuple[_Signature | str, ...] = ()


@dataclass(frozen=True)
class _WrittenResults:
    """The parts of `results.json`; each row is checked by itself."""

    signature: _Signatures
    results: tuple[object, ...]
    environment: Mapping[str, object] = field(default_factory=dict)


class CannotAggregateError(ValueError):
    """Scores that cannot be averaged here: their suite cannot be loaded, or one of their tables is missing."""


def check_output(out: Path, overwrite: bool = False) -> None:
    """Raise ValueError if records and results cannot be written into a folder, or would replace what others wrote.

    Args:
        out: output folder, which need not exist.
        overwrite: accept a `results.json` of somebody else, and what another version wrote.
    """
    check_folder(out)
    check_ours(out, overwrite)
    if not overwrite:
        require_records(out)


def export_results(out: Path, overwrite: bool = False) -> "tuple[list[Record], StoredResults]":
    """Write `results.json` from the records of an output folder.

    Args:
        out: output folder.
        overwrite: replace a `results.json` that is not ours.

    Returns:
        The records, and their results.

    Raises:
        ValueError: `results.json` is not ours, or cannot be written.
    """
    path = out / RESULTS_FILE
    if not overwrite:
        require_ours(path)
    while True:
        before = listing(out)
        records = read_records(out)
        results = results_of(records)
        exported = {
            "format": FORMAT,
            "signature": results.signature,
            "environment": results.environment,
            "records": [record.folder.name for record in records],
        }
        try:
            write_text(path, _text(exported, [row.to_json() for row in results.rows]))
        except ValueError as error:
            raise ValueError(f"{error} {KEPT}") from error
        if listing(out) == before:
            return records, results


def _text(head: Mapping[str, object], rows: Sequence[Mapping[str, Scalar]]) -> str:
    """Return JSON with one line for each row of results, after what is said of all."""
    parts = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    sealed = checksum({**head, "results": rows})
    parts += [f' "results": [\n{lines}\n ]', f" {json.dumps(CHECKSUM)}: {json.dumps(sealed)}"]
    return "{\n" + ",\n".join(parts) + "\n}\n"


class StoredResults(NamedTuple):
    """What all records with averages hold: their signatures, the environment of the latest one, and their rows."""

    signature: Signatures
    environment: Mapping[str, object]
    rows: list[ResultRow]


def results_of(records: Sequence[Record]) -> StoredResults:
    """Return the results of all records with averages.

    A record whose averages are damaged is skipped with a warning.
    """
    signatures: list[Signature] = []
    rows: list[ResultRow] = []
    latest: Record | None = None
    for record in records:
        try:
            of_record = record.rows()
        except DamagedFileError as error:
            warnings.warn(str(error), stacklevel=3)
            continue
        if of_record:
            signatures.append(record.described)
            rows += of_record
            latest = record if latest is None or record.created > latest.created else latest
    made_with = {} if latest is None else dict(latest.environment)
    return StoredResults({"models": signatures}, made_with, rows)


def read_results(path: Path) -> ResultsContent:
    """Return `signature`, `environment` and `results` of an output folder, or of a `results.json` by itself.

    Raises:
        ValueError: there are none; or the file is not one of ours, and the message names the row and the remedy.
    """
    if path.is_dir():
        signature, environment, rows = results_of(read_records(path))
        if not rows:
            raise ValueError(f"{path} does not contain results. Make some with `tse run --out {path}`.")
        return {
            "signature": signature,
            "environment": environment,
            "results": [row.to_json() for row in rows],
        }
    try:
        exists = os.path.lexists(path)
    except ValueError:  # a NUL character
        exists = False
    if not exists:
        raise ValueError(f"{path} does not contain {RESULTS_FILE}. Make one with `tse run --out {path}`.")
    stored = parse_object(read_bytes(path, RESULTS_BYTES), path, _REMEDY, is_sealed=False)
    try:
        parse(_WrittenResults, stored)
    except ValueError as error:
        raise _wrong(path, str(error)) from error
    content, possible = cast(ResultsContent, stored), cache(possible_scores)
    for number, of_row in enumerate(content["results"], 1):
        try:
            row = ResultRow.from_json(of_row)
            row.require_possible(possible(row.suite))
        except ValueError as error:
            raise _wrong(path, f"row {number} of 'results': {error}") from error
    return content


def written_at(path: Path) -> float:
    """Return when the results of an output folder, or of a `results.json`, were made, in seconds since 1970."""
    if path.is_dir():
        return max(record.created for record in read_records(path)) / 1e9
    return path.stat().st_mtime


def _wrong(path: Path, fault: str) -> ValueError:
    return ValueError(f"{path} is not a results file of refined-tse: {fault}. {_REMEDY}")
