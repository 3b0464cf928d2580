"""Results on disk: OUT/results.json, derived from the files of scores in OUT/scores (see `score_files`).

results.json   {"format": …, "signature": {"models": [signature, …]}, "environment": …, "results": [row, …]}

Writing it costs more with each model in it. So a run of many models keeps their rows in files of their own at first
(see `pending`); everything that reads a folder reads them too.
"""

import json
import os
import shutil
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from .checksums import checksum
from .environment import environment
from .files import require_regular_file, unreadable, write_text
from .limits import RESULTS_BYTES, require_size
from .names import slug
from .ours import FORMAT, RESULTS_FILE, require_ours
from .pending import Content, combined, pending_files, read_pending, write_pending
from .result_row import ResultRow, rows_of_run
from .results_lock import locked
from .results_schema import CHECKSUM, parse_results, require_row
from .run_order import identity_key, places_of_runs
from .score_files import (
    KEPT,
    NOT_DECISIVE,
    SIGNATURE_KEY,
    DamagedFileError,
    StoredScores,
    check_not_lost,
    current_scores,
    decisive,
    differences,
    read_scores,
    read_signature,
    read_stored,
    stored_scores,
    write_scores,
)

__all__ = [
    "NOT_DECISIVE", "RESULTS_FILE", "SIGNATURE_KEY", "Aggregate", "CannotAggregateError", "DamagedFileError", "Row",
    "StoredScores", "add_pending", "add_results", "check_not_lost", "current_scores", "decisive", "derive_results",
    "differences", "environment", "fold_results", "read_results", "read_scores", "read_signature", "read_stored",
    "rebuild_results", "slug", "stored_scores", "write_results", "write_scores",
]  # fmt: skip

Row = dict[str, Any]
Aggregate = Callable[[str, dict[str, Any]], Sequence[ResultRow]]
"""From a suite's name and its tables (name -> scores per example) to rows of results: `suites.registry.aggregate`."""


class CannotAggregateError(ValueError):
    """Scores that cannot be averaged here: their suite cannot be loaded, or one of their tables is missing."""


def add_results(
    out: Path,
    signatures: Sequence[dict[str, Any]],
    rows: Iterable[ResultRow],
    *,
    aggregate: Aggregate | None = None,
    overwrite: bool = False,
) -> Path:
    """Add rows to `results.json`; rows of other suites, data and models stay.

    Existing rows of the same models stay only if their scores stay: models in a series, which each have their own
    file. Runs that write to the same folder at the same time wait for each other.

    Args:
        out: output folder.
        signatures: one for each identity (suite, data set, configuration, model, revision) among the rows.
        rows: their results.
        aggregate: makes the rows of the other models again from their scores where `results.json` is damaged.
        overwrite: replace a `results.json` that is not ours.

    Raises:
        ValueError: `results.json` is not ours, or cannot be written.
    """
    added = {"signature": {"models": list(signatures)}, "results": [row.to_json() for row in rows]}
    with locked(out):
        return _fold(out, aggregate, overwrite, [added])


def add_pending(out: Path, signatures: Sequence[dict[str, Any]], rows: Iterable[ResultRow]) -> Path:
    """Add rows as `add_results` does, but in a file of their own, until `fold_results` puts them into `results.json`.

    Raises:
        ValueError: they cannot be written.
    """
    added = {"signature": {"models": list(signatures)}, "results": [row.to_json() for row in rows]}
    try:
        return write_pending(out, added)
    except ValueError as error:
        raise ValueError(f"{error} {KEPT}") from error


def fold_results(out: Path, *, aggregate: Aggregate | None = None, overwrite: bool = False) -> None:
    """Put the rows that wait in files of their own into `results.json`; see `add_results`."""
    if pending_files(out):
        with locked(out):
            _fold(out, aggregate, overwrite, [])


def _fold(out: Path, aggregate: Aggregate | None, overwrite: bool, added: list[Content]) -> Path:
    """Write `results.json` with all waiting rows and those added; the folder's lock is held."""
    files = pending_files(out)
    whole = combined(_there(out, aggregate, overwrite), [*read_pending(files), *added])
    path = _write(out, whole["signature"], whole["results"])
    for file in files:  # after the whole is written: a run that ends here loses nothing
        file.unlink(missing_ok=True)
    return path


def _there(out: Path, aggregate: Aggregate | None, overwrite: bool) -> dict[str, Any]:
    """Return the content of `results.json`; a damaged one is renamed and its content computed from the scores."""
    path = out / RESULTS_FILE
    nothing: dict[str, Any] = {"signature": {}, "results": []}
    if not path.exists():
        return nothing
    try:
        require_ours(path)
    except ValueError:
        if not overwrite:
            raise
        return nothing
    try:
        return read_results(path)
    except ValueError:
        # The damaged file stays until the whole one replaces it: a run that ends here loses nothing.
        derived = nothing if aggregate is None else derive_results(out, aggregate)
        shutil.copyfile(path, path.with_name(f"{RESULTS_FILE}.damaged"))
        return derived


def rebuild_results(out: Path, aggregate: Aggregate, overwrite: bool = False) -> Path:
    """Write `results.json` anew from the files of scores in a folder, and nothing else.

    Args:
        out: output folder.
        aggregate: see `Aggregate`.
        overwrite: replace a `results.json` that is not ours.

    Raises:
        ValueError: there are no scores, `results.json` is not ours, or it cannot be written.
    """
    with locked(out):
        if not overwrite:
            require_ours(out / RESULTS_FILE)
        waiting = pending_files(out)
        content = combined(derive_results(out, aggregate), [])
        if not content["results"]:
            raise ValueError(
                f"{out} holds no scores to make results from. Make some with `tse run --out {out}`."
            )
        path = _write(out, content["signature"], content["results"])
        for file in waiting:  # their scores are in the folder, and were read
            file.unlink(missing_ok=True)
        return path


def derive_results(out: Path, aggregate: Aggregate) -> dict[str, Any]:
    """Return `signature` and `results` as the files of scores in a folder give them.

    Runs that the folder's `results.json` has are in its order; others come after them, oldest first.

    The suite and table of a file are read from its metadata, not from its name. Shards are skipped; damaged files,
    incomplete runs and the scores of suites that cannot be loaded are skipped with a warning.

    Raises:
        ValueError: two files are the same table of the same run.
    """
    stored = stored_scores(out / "scores", damaged=lambda error: warnings.warn(str(error), stacklevel=4))
    runs: dict[str, list[StoredScores]] = {}
    for file in sorted(stored, key=lambda file: file.path.stat().st_mtime_ns):
        if "shard" not in file.signature and isinstance(file.signature.get("identity"), dict):
            runs.setdefault(json.dumps(decisive(file.signature), sort_keys=True), []).append(file)
    signatures, rows = [], []
    places = places_of_runs(out / RESULTS_FILE)
    known_first = sorted(
        runs.values(),
        key=lambda files: places.get(identity_key(files[0].signature["identity"]), len(places)),
    )
    for files in known_first:
        signature = files[0].signature
        try:
            made = aggregate(signature["identity"]["suite"], _tables(files))
        except CannotAggregateError as error:
            warnings.warn(f"{files[0].path} is skipped: {error}", stacklevel=2)
            continue
        signatures.append(signature)
        rows += [row.to_json() for row in rows_of_run(signature["identity"], made)]
    return {"signature": {"models": signatures}, "results": rows}


def _tables(files: Sequence[StoredScores]) -> dict[str, Any]:
    names: dict[str, StoredScores] = {}
    for file in files:
        other = names.setdefault(file.name.removesuffix(".parquet"), file)
        if other is not file:
            raise ValueError(
                f"{other.path} and {file.path} hold the same scores. Remove one of the two files."
            )
    return {name: read_scores(file.path) for name, file in names.items()}


def write_results(out: Path, signature: dict[str, Any], rows: Iterable[Row]) -> Path:
    """Write `results.json` anew, whole or not at all; NaN becomes null. Returns its path."""
    with locked(out):
        return _write(out, signature, rows)


def _write(out: Path, signature: dict[str, Any], rows: Iterable[Row]) -> Path:
    plain = list(rows)
    for row in plain:
        require_row(row)
    content = {
        "format": FORMAT,
        "signature": signature,
        "environment": environment(),
        "results": plain,
    }
    written = json.loads(json.dumps(content, allow_nan=False, default=str))  # as a reader will find it
    path = out / RESULTS_FILE
    try:
        write_text(path, json.dumps(written | {CHECKSUM: checksum(written)}, indent=1) + "\n")
    except ValueError as error:
        raise ValueError(f"{error} {KEPT}") from error
    return path


def read_results(out: Path) -> dict[str, Any]:
    """Read a folder's (or file's) `results.json` and check it row by row.

    Rows of a folder that are not in `results.json` yet, since a run goes on or was killed, are read as well.

    Raises:
        ValueError: there is none, or it is not one of ours; the message names the file, the row and the remedy.
    """
    path = out / RESULTS_FILE if out.is_dir() else out
    try:
        exists = os.path.lexists(path)
    except ValueError:  # a NUL character
        exists = False
    waiting = read_pending(pending_files(out)) if out != path else []
    if waiting:
        there = (
            read_results(path) if exists else {"environment": environment(), "results": [], "signature": {}}
        )
        return there | combined(there, waiting)
    if not exists:
        raise ValueError(f"{out} holds no {RESULTS_FILE}. Make one with `tse run --out {out}`.")
    require_regular_file(path)
    require_size(path, RESULTS_BYTES)
    try:
        return parse_results(path.read_bytes(), path)
    except OSError as error:
        raise unreadable(path, error) from error
