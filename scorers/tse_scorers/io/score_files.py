"""Files of scores per example: OUT/scores/*.parquet, each with its signature and its checksums in the schema metadata.

They are written before anything is averaged, so that results can always be made again from them.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .checksums import check_seal, check_table, seal
from .files import is_file, require_regular_file, unreadable, write_atomically

SIGNATURE_KEY = b"signature"
CHECKSUM_KEY = b"checksum"
NOT_DECISIVE = ("computed", "recipe")
"""Keys of a signature that say how scores were made, and do not decide them."""
KEPT = "What was scored before is kept: run the same command again to continue."


class DamagedFileError(ValueError):
    """A file of scores is not what was written: cut short, changed, or unreadable."""


@dataclass(frozen=True)
class StoredScores:
    """A file of scores and what it says of itself, whatever its name is now.

    Attributes:
        path: where it is.
        signature: what decided its scores.
        name: its name when it was written; of a file of version 0.1, its name now.
        n_rows: how many rows it has.
    """

    path: Path
    signature: dict[str, Any]
    name: str
    n_rows: int

    @property
    def table(self) -> str:
        """Return which of a run's tables it is, as the last part of its name says, for instance `contexts`."""
        return self.name.removesuffix(".parquet").rsplit(".", 1)[-1]


def write_scores(table: pa.Table, path: Path, signature: dict[str, Any]) -> None:
    """Write scores per example with their signature and checksums; the file is there whole or not at all."""
    described = json.dumps(signature, default=str).encode()  # in its order, which results.json has as well
    metadata = {SIGNATURE_KEY: described, CHECKSUM_KEY: seal(table, described, path.name)}
    try:
        with write_atomically(path) as file:
            pq.write_table(
                table.replace_schema_metadata(metadata), file, compression="zstd", write_page_checksum=True
            )
    except ValueError as error:
        raise ValueError(f"{error} {KEPT}") from error


def read_scores(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a file of scores, or some of its columns, and check what is read against the checksums in the file.

    A file without checksums, as version 0.1 wrote it, is read as it is.

    Raises:
        DamagedFileError: it is not what was written; the message says what to do.
        ValueError: there is no such file, or it has no such column.
    """
    return _read(path, columns)[0]


def read_signature(path: Path) -> dict[str, Any] | None:
    """Return the signature of a file of scores, or None where the file is missing, damaged or has none."""
    found = _verified(path)
    return None if found is None else found.signature


def is_current(path: Path, signature: dict[str, Any]) -> bool:
    """Whether a file of scores was made under exactly this signature and is whole, so that it need not be made again.

    How it was computed (the keys `computed` and `recipe`) does not matter: scores are the same to float noise.
    """
    # The footer is cheap to read: where it differs, the rest need not be checked.
    if not _matches(_footer(path), signature):
        return False
    stored = _verified(path)
    # Another table of the same run has the same signature: the name says that it is this one.
    return stored is not None and stored.name == path.name and _matches(stored.signature, signature)


def _matches(found: dict[str, Any] | None, signature: dict[str, Any]) -> bool:
    return found is not None and decisive(found) == decisive(_as_written(signature))


def decisive(signature: dict[str, Any]) -> dict[str, Any]:
    """Return what decides scores: a signature without what only says how they were made."""
    return {key: value for key, value in signature.items() if key not in NOT_DECISIVE}


def differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Say what differs between two signatures, as "dtype was … and is …"; empty where they decide the same scores."""
    return _differences(decisive(_as_written(found)), decisive(_as_written(expected)))


def check_not_lost(paths: Iterable[Path], signature: dict[str, Any]) -> None:
    """Raise ValueError where writing these files of scores would replace scores computed with different options.

    The message names the file, what differs, and what to do. A damaged file is no loss.
    """
    expected = _as_written(signature)
    for path in paths:
        found = read_signature(path)
        differing = [] if found is None else _differences(found, expected)
        if differing:
            raise ValueError(
                f"{path} already holds scores computed with different options ({'; '.join(differing)}). Choose "
                "another folder with --out, or replace them with --overwrite."
            )


def stored_scores(
    folder: Path, damaged: Callable[[DamagedFileError], object] | None = None
) -> list[StoredScores]:
    """Return the files of scores in a folder, read from what is inside each; files without a signature are left out.

    Args:
        folder: `OUT/scores`.
        damaged: what to do with a damaged file, which is left out; by default its error is raised.

    Raises:
        DamagedFileError: a file is damaged.
    """
    found = []
    for path in sorted(folder.glob("*.parquet")):
        try:
            stored = _read(path)[1]
        except DamagedFileError as error:
            if damaged is None:
                raise
            damaged(error)
            continue
        if stored.signature:
            found.append(stored)
    return found


def _verified(path: Path) -> StoredScores | None:
    with suppress(ValueError):
        stored = _read(path)[1]
        return stored if stored.signature else None
    return None


def _footer(path: Path) -> dict[str, Any] | None:
    if not is_file(path):
        return None
    with suppress(Exception):  # what broken bytes make Arrow raise; `_read` says it
        signature = json.loads(pq.read_schema(path).metadata[SIGNATURE_KEY])
        return signature if isinstance(signature, dict) else None
    return None


def _read(path: Path, columns: Sequence[str] | None = None) -> tuple[pa.Table, StoredScores]:
    """Return the table, checked, and what the file says of itself."""
    require_regular_file(path)
    try:
        # Not read_table: it takes a folder named `a=1` above the file for a column.
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            names = file.schema_arrow.names
            missing = [column for column in columns or () if column not in names]
            table = None if missing else file.read(None if columns is None else list(columns))
            metadata = file.schema_arrow.metadata or {}
    except OSError as error:
        if error.errno is not None:  # the system's error; Arrow's own have no number
            raise unreadable(path, error) from error
        raise _damaged(path, error) from error
    except Exception as error:  # broken bytes make Arrow raise almost anything: KeyError, MemoryError, …
        raise _damaged(path, error) from error
    stored, sealed = _described(path, metadata, table)
    if sealed is not None and names != [column for column, _ in sealed["columns"]]:
        raise _damaged(path, "its columns have changed")
    if table is None:
        raise ValueError(
            f"{path} has no column {', '.join(missing)}. Another version of `tse run` wrote it; run the evaluation "
            "again."
        )
    if sealed is not None:
        try:
            check_table(table, sealed)
        except (ValueError, TypeError, pa.ArrowException) as error:
            raise _damaged(path, error) from error
    return table, stored


def _described(
    path: Path, metadata: dict[bytes, bytes], table: pa.Table | None
) -> tuple[StoredScores, dict[str, Any] | None]:
    """Return what a file says of itself and its checksums, None where version 0.1 wrote it."""
    described, sealed = metadata.get(SIGNATURE_KEY, b"{}"), metadata.get(CHECKSUM_KEY)
    try:
        signature = json.loads(described)
        content = None if sealed is None else check_seal(sealed, described)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, error) from error
    n_rows = 0 if table is None else table.num_rows
    name = path.name if content is None else content["file"]
    return StoredScores(path, signature if isinstance(signature, dict) else {}, name, n_rows), content


def _damaged(path: Path, reason: str | BaseException) -> DamagedFileError:
    if isinstance(reason, BaseException):
        reason = _first_line(reason)
    return DamagedFileError(
        f"{path} is damaged: {reason}. Run the same `tse run` command again; it computes these scores again and "
        "replaces the file."
    )


def _first_line(error: BaseException) -> str:
    return (str(error).strip().split("\n", 1)[0].rstrip(".") or type(error).__name__)[:200]


def _differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Say what differs between the signature of a file and another one; empty where they are the same."""
    derived = ("identity", "dataset_fingerprint", "lemmas_fingerprint")
    found, expected = decisive(found), decisive(expected)
    keys = [key for key in {**found, **expected} if found.get(key) != expected.get(key)]
    told = [
        f"{key} was {_shown(found.get(key))} and is {_shown(expected.get(key))}"
        for key in keys
        if key not in derived
    ]
    return told or [key.replace("_", " ") for key in keys]


def _shown(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) < 50 else f"…{shown[-49:]}"  # the end of a path says more than its beginning


def _as_written(signature: dict[str, Any]) -> dict[str, Any]:
    """Return a signature as it comes back from a file."""
    written: dict[str, Any] = json.loads(json.dumps(signature, sort_keys=True, default=str))
    return written
