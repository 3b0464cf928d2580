"""Files of scores per example: OUT/scores/*.parquet, each with its signature and its checksums in the schema metadata.

They are written before anything is averaged, so that results can always be made again from them.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .checksums import check_seal, check_table, seal
from .files import is_file, require_regular_file, unreadable, write_atomically
from .limits import TooLargeError, require_parquet_size
from .result_row import NOISE
from .signature_words import described_differences

SIGNATURE_KEY = b"signature"
CHECKSUM_KEY = b"checksum"
NOT_DECISIVE = ("computed", "recipe")
"""Keys of a signature that describe how scores were computed, but do not change them."""
_SIDES = r"(top|bottom|list_top|list_bottom|sampler_top)_[\d.e-]+"
_SHARE, _COUNT, _LOGPROB = (-NOISE, 1 + NOISE), (0, math.inf), (-math.inf, 1e-3)
_RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "agreement": {
        rf"(ew|mw|covered_mass)_{_SIDES}|ew_different_lengths|tse": _SHARE,
        "context_id|n_(lemmas|ties|nonfinite)": _COUNT,
        "logprob_(correct|incorrect)": _LOGPROB,
    },
    "blimp": {"correct": _SHARE, "n_tokens_(good|bad)": _COUNT},  # published scores need not be probabilities
    "german": {"n_tokens": _COUNT},
    "regions": {
        "correct": _SHARE,
        "n_tokens|n_straddling": _COUNT,
        "logprob": _LOGPROB,
        "surprisal_bits": (-_LOGPROB[1] / math.log(2), math.inf),
    },
    "in_context": {
        "correct": _SHARE,
        "n_context_tokens|length": _COUNT,
        "logprob_(good|bad)": _LOGPROB,
    },
}
"""Suite -> pattern of the names of columns -> their least and greatest value; the user's own columns have other names.

Checksums have no key: who edits scores can make them fit. So values are checked in every file.
"""
KEPT = "What was scored before is kept: run the same command again to continue."


class DamagedFileError(ValueError):
    """A file of scores is truncated, changed, or unreadable."""


@dataclass(frozen=True)
class StoredScores:
    """A file of scores and its metadata, which do not depend on its current name.

    Attributes:
        path: path of the file.
        signature: everything that decides its scores.
        name: its name when it was written; for a file of version 0.1, its current name.
        n_rows: number of rows.
    """

    path: Path
    signature: dict[str, Any]
    name: str
    n_rows: int

    @property
    def table(self) -> str:
        """Return the name of its table in the run, the last part of the file's name, for instance `contexts`."""
        return self.name.removesuffix(".parquet").rsplit(".", 1)[-1]


def write_scores(table: pa.Table, path: Path, signature: dict[str, Any]) -> None:
    """Write scores per example with their signature and checksums, completely or not at all."""
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
    """Read a file of scores, or some of its columns, and check the values against the checksums in the file.

    A file of version 0.1 has no checksums and is read without this check.

    Raises:
        DamagedFileError: the file was changed or is unreadable; the message says what to do.
        ValueError: the file or a column does not exist.
    """
    return _read(path, columns)[0]


def read_signature(path: Path) -> dict[str, Any] | None:
    """Return the signature of a file of scores, or None if the file is missing, damaged or has no signature."""
    with suppress(ValueError):
        return read_stored(path)[1] or None
    return None


def signature_of(path: Path) -> dict[str, Any]:
    """Return the signature of a file of scores without reading the scores; empty if it has none.

    Raises:
        DamagedFileError: the signature was changed or is unreadable.
    """
    return _read(path, [])[1].signature


def read_stored(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    """Read a file of scores once: its checked table and its signature, empty if it has none; see `read_scores`."""
    table, stored = _read(path)
    return table, stored.signature


def current_scores(path: Path, signature: dict[str, Any]) -> tuple[pa.Table, dict[str, Any]] | None:
    """Return the table and the signature of a file of scores that can be reused; None if it cannot.

    It can be reused if it is intact and has exactly this signature. The keys `computed` and `recipe` are not compared:
    they change scores only by floating-point noise.
    """
    # The footer is cheap to read. If it differs, the rest is not read.
    if not _matches(_footer(path), signature):
        return None
    with suppress(ValueError):
        table, stored = _read(path)
        # Other tables of the same run have the same signature, so the name is compared too.
        if stored.name == path.name and _matches(stored.signature, signature):
            return table, stored.signature
    return None


def _matches(found: dict[str, Any] | None, signature: dict[str, Any]) -> bool:
    return found is not None and decisive(found) == decisive(_as_written(signature))


def decisive(signature: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a signature that decides scores."""
    return {key: value for key, value in signature.items() if key not in NOT_DECISIVE}


def differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Describe the differences of two signatures, as "dtype was … and is …"; empty if they decide the same scores."""
    return described_differences(_as_written(found), _as_written(expected), ignored=NOT_DECISIVE)


def check_not_lost(paths: Iterable[Path], signature: dict[str, Any]) -> None:
    """Raise ValueError if writing these files of scores would replace those of other data or options.

    The message names the file, what differs, and what to do. Damaged files may be replaced.
    """
    for path in paths:
        found = read_signature(path)
        differing = [] if found is None else differences(found, signature)
        if differing:
            raise ValueError(
                f"{path} already holds scores computed on other data or with different options "
                f"({'; '.join(differing)}). Choose another folder with --out, or replace them with --overwrite."
            )


def stored_scores(
    folder: Path, damaged: Callable[[DamagedFileError], object] | None = None
) -> list[StoredScores]:
    """Return the files of scores in a folder, by their metadata; files without a signature are skipped.

    Args:
        folder: `OUT/scores`.
        damaged: called for each damaged file, which is then skipped; by default its error is raised.

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


def _footer(path: Path) -> dict[str, Any] | None:
    if not is_file(path):
        return None
    with suppress(Exception):  # Arrow's errors for broken bytes; `_read` reports them
        signature = json.loads(pq.read_schema(path).metadata[SIGNATURE_KEY])
        return signature if isinstance(signature, dict) else None
    return None


def _read(path: Path, columns: Sequence[str] | None = None) -> tuple[pa.Table, StoredScores]:
    """Return the checked table and the file's metadata."""
    require_regular_file(path)
    try:
        # Not read_table, which would read a parent folder named `a=1` as a column.
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            require_parquet_size(path, file)
            names = file.schema_arrow.names
            missing = [column for column in columns or () if column not in names]
            table = None if missing else file.read(None if columns is None else list(columns))
            metadata = file.schema_arrow.metadata or {}
    except TooLargeError:
        raise
    except OSError as error:
        if error.errno is not None:  # an error of the system; Arrow's own errors have no number
            raise unreadable(path, error) from error
        raise _damaged(path, error) from error
    except Exception as error:  # for broken bytes, Arrow raises many types: KeyError, MemoryError, …
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
    if (problem := _out_of_range(table, stored)) is not None:
        raise _damaged(path, problem)
    return table, stored


def _out_of_range(table: pa.Table, stored: StoredScores) -> str | None:
    """Return the first value of a score that is impossible, with its row and column; None where all are possible."""
    suite = stored.signature.get("suite") or next(
        (name for name in _RANGES if f".{name}." in stored.name), ""
    )
    for pattern, (low, high) in _RANGES.get(str(suite), {}).items():
        for column in filter(re.compile(pattern).fullmatch, table.column_names):
            try:
                values = table[column].cast(pa.float64()).to_numpy()
            except pa.ArrowException:
                return f"the column {column!r} has values of the type {table[column].type}; expected numbers"
            wrong = np.flatnonzero((values < low) | (values > high))
            if len(wrong):
                ends = [f"{round(end, 2) + 0.0:g}" for end in (low, high)]
                expected = " to ".join(ends) if math.isfinite(low) and math.isfinite(high) else ""
                expected = expected or (f"{ends[0]} or more" if math.isfinite(low) else f"at most {ends[1]}")
                value = table[column][int(wrong[0])].as_py()
                return f"row {wrong[0] + 1} has {value!r:.40} in the column {column!r}; expected {expected}"
    return None


def _described(
    path: Path, metadata: dict[bytes, bytes], table: pa.Table | None
) -> tuple[StoredScores, dict[str, Any] | None]:
    """Return a file's metadata and its checksums (None for a file of version 0.1)."""
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


def _as_written(signature: dict[str, Any]) -> dict[str, Any]:
    """Return a signature in the form in which a file returns it."""
    written: dict[str, Any] = json.loads(json.dumps(signature, sort_keys=True, default=str))
    return written
