"""One record per model, suite and data: everything that a run leaves for the readers of this package.

    OUT/runs/<model[@revision]>.<suite>.<data>[.shard-i-of-n]/
      contexts-<hash>.parquet  pairs-<hash>.parquet  …  rows-<hash>.parquet
      record.json     format, signature, request, environment, computed, created, table -> file and checksums
      journal/  lock  while a model is scored

- **Tables never change.** A table's file name contains a hash of its values; a table with other values is a new file.
- **`record.json` is the commit point.** It is a single file because not every file system can replace a folder in one
  step. A writer first writes the tables and then replaces `record.json` in one step. A process that is stopped before
  this step changes no scores. The next commit removes tables that `record.json` does not name.
- **One record per identity**, not per signature: scores of the same model and data with other options need
  `--overwrite`.
- **Order of writing**: first the scores (a record without rows), then their averages (the same record with `rows`).
- **Checksums** are computed from values, one per column. So a reader of one column can check that column, and a table
  stays valid if another tool rewrites it with the same values. Anybody can compute a checksum, so scores outside their
  range are refused as well.
- **A record may come from a stranger.** It can only name files in its own folder; links are not followed; sizes have
  limits (`limits.py`).
- **Readers** list `OUT/runs` and need no lock. `OUT/results.json` is an export (`results.py`).
- **Writers** of the same record take turns with a lock.
"""

import hashlib
import json
import math
import re
import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq

from .checksums import check_columns, checksum, digest
from .declared import CHECKSUM, parse, parse_object, shown
from .environment import environment
from .files import (
    read_bytes,
    require_inside,
    require_regular_file,
    slug,
    unreadable,
    write_atomically,
    write_text,
)
from .limits import RECORD_BYTES, TooLargeError, require_parquet_size
from .locks import held
from .result_row import (
    COUNT,
    FLAG,
    IDENTITY,
    KINDS,
    NAME,
    NUMBER,
    REQUIRED,
    TEXT,
    ResultRow,
    plain,
    rows_of_run,
)
from .score_columns import Values, impossible, possible_values
from .series_order import position
from .signature_words import described_differences
from .signatures import Identity, RequestContent, Signature

FORMAT = "refined-tse record 1"
RUNS = "runs"
RECORD_FILE = "record.json"
ROWS = "rows"
"""The table of averages, the rows of `results.json` without the identity."""
SINGLE = "scores"
"""The table of a suite that has only one."""
NOT_DECISIVE = ("computed", "request")
"""Keys that describe how scores were computed, but do not change them; a signature in `results.json` has them."""
KEPT = "What was scored before is kept: run the same command again to continue."

_FILE = re.compile(r"[\w.-]{1,150}-[0-9a-f]{16}\.parquet", re.ASCII)
_AGAIN = "Run the same `tse run` command again; it computes these scores again and replaces the file."
_TYPES = {NAME: pa.string(), TEXT: pa.string(), FLAG: pa.bool_(), NUMBER: pa.float64(), COUNT: pa.int64()}
"""Kind of a column of results -> how it is stored."""

Aggregate = Callable[[str, dict[str, pa.Table]], Sequence[ResultRow]]
"""From a suite's name and its tables to rows of results: `suites.registry.aggregate`."""


class DamagedFileError(ValueError):
    """A record or one of its tables is truncated, changed, or unreadable."""


@dataclass(frozen=True)
class StoredTable:
    """A table of a record.

    Attributes:
        path: its file.
        n_rows: its number of rows.
        digests: column -> checksum, in the order of the columns.
        suite: whose scores it holds; the suite declares which values are possible.
        name: which of the suite's tables it is.
        remedy: what to do where it is damaged.
    """

    path: Path
    n_rows: int
    digests: Mapping[str, str]
    suite: str
    name: str = SINGLE
    remedy: str = _AGAIN

    @property
    def hash(self) -> str:
        """Return the hash of its values, NaN equal to NaN, which is in the name of its file."""
        return _hash(self.n_rows, self.digests)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Read the table, or some of its columns, and check the values against their checksums.

        Raises:
            DamagedFileError: the file is missing, was changed or is unreadable; the message says what to do.
            ValueError: there is no such column.
        """
        from .. import declared_columns  # of suites, which are above this folder: the root knows both

        missing = [column for column in columns or () if column not in self.digests]
        if missing:
            raise ValueError(
                f"{self.path} has no column {', '.join(missing)}. Another version of `tse run` wrote it; run the "
                "evaluation again."
            )
        if self.path.is_symlink():
            raise self.damaged("it is a link, and links are not followed")
        if not self.path.exists():
            raise self.damaged("it is missing")
        require_regular_file(self.path)
        try:
            # Not read_table, which would read a parent folder named `a=1` as a column.
            with pq.ParquetFile(self.path, page_checksum_verification=True) as file:
                require_parquet_size(self.path, file)
                if file.schema_arrow.names != list(self.digests):
                    raise self.damaged("its columns have changed")
                table = file.read(None if columns is None else list(columns))
        except (TooLargeError, DamagedFileError):
            raise
        except OSError as error:
            if error.errno is not None:  # an error of the system; Arrow's own errors have no number
                raise unreadable(self.path, error) from error
            raise self.damaged(error) from error
        except Exception as error:  # for broken bytes, Arrow raises many types: KeyError, MemoryError, …
            raise self.damaged(error) from error
        try:
            check_columns(table, self.n_rows, self.digests)
        except (ValueError, TypeError, pa.ArrowException) as error:
            raise self.damaged(error) from error
        if self.name != ROWS and (problem := impossible(table, declared_columns(self.suite, self.name))):
            raise self.damaged(problem)
        return table.replace_schema_metadata()

    def damaged(self, reason: str | BaseException) -> DamagedFileError:
        """Return the error for a file that cannot be used."""
        return DamagedFileError(f"{self.path} is damaged: {_first_line(reason)}. {self.remedy}")


@dataclass(frozen=True)
class Record:
    """What is known about the scores of one model on one suite and data.

    Attributes:
        folder: its folder.
        signature: everything that decides its scores; `identity` says which suite, data, model and revision they are
            of, `shard` which share of the data, `series` which revision of a series.
        request: what the user asked for; empty where it is not known.
        computed: how the scores were computed: batches, device, kernels.
        environment: versions and machine that made it.
        created: when its scores were committed, in nanoseconds since 1970: the order of results.
        tables: name -> table.
    """

    folder: Path
    signature: Signature
    request: RequestContent = field(default_factory=RequestContent)
    computed: Mapping[str, object] = field(default_factory=dict)
    environment: Mapping[str, object] = field(default_factory=dict)
    created: int = 0
    tables: Mapping[str, StoredTable] = field(default_factory=dict)

    @property
    def identity(self) -> Identity:
        """Return suite, dataset, config, model and revision, which all rows have."""
        return self.signature["identity"].copy()

    @property
    def described(self) -> Signature:
        """Return the signature as `results.json` has it, with how the scores were computed and the request."""
        described: Signature = {**self.signature, "computed": self.computed}
        if self.request:
            described["request"] = self.request
        return described

    @property
    def is_shard(self) -> bool:
        """Whether it holds a share of the data only, which has no averages."""
        return "shard" in self.signature

    @property
    def scores(self) -> dict[str, StoredTable]:
        """Return its tables without the averages."""
        return {name: table for name, table in self.tables.items() if name != ROWS}

    def read(self) -> dict[str, pa.Table]:
        """Read and check all scores; see `StoredTable.read`."""
        return {name: table.read() for name, table in self.scores.items()}

    def rows(self) -> list[ResultRow]:
        """Return its rows of results, those of a record without averages are none.

        Raises:
            DamagedFileError: the table is damaged, or a row cannot be a result.
        """
        if ROWS not in self.tables:
            return []
        identity, table = self.identity, self.tables[ROWS]
        nothing = dict.fromkeys(REQUIRED) | {column: identity.get(column) for column in IDENTITY}
        possible = possible_scores(identity["suite"])
        content, rows = table.read(), []
        for number, row in enumerate(zip(*map(pa.ChunkedArray.to_pylist, content.columns), strict=True), 1):
            columns = {
                column: plain(value) if type(value) is float else value
                for column, value in zip(content.column_names, row, strict=True)
                if value is not None
            }
            try:
                rows.append(ResultRow.from_json(nothing | columns))
                rows[-1].require_possible(possible)
            except ValueError as error:
                raise table.damaged(f"row {number}: {error}") from error
        return rows

    def with_rows(self, rows: Sequence[ResultRow]) -> list[ResultRow]:
        """Commit its averages, and return them with what they are about."""
        of_run = rows_of_run(self.identity, rows, possible_scores(self.identity["suite"]))
        commit(self, {**self.tables, ROWS: _rows_table(of_run)})
        return of_run

    def averaged(self, aggregate: Aggregate) -> list[ResultRow]:
        """Compute its averages from its scores, commit them where they are other ones, and return them."""
        return self.with_rows(aggregate(self.identity["suite"], self.read()))


def possible_scores(suite: str) -> Mapping[str, Values]:
    """Return the metrics that a suite declares -> which scores they can have; any where a metric is not declared."""
    from .. import declared_columns

    return {field.name: possible_values(field) for field in declared_columns(suite, ROWS)}


def record_name(signature: Signature) -> str:
    """Return the name of the folder of a record: model or revision of a series, suite, data, and share of the data.

    >>> record_name({"model": "org/m", "identity": {"suite": "minimal_pairs", "config": "blimp"}, "shard": [2, 8]})
    'org--m.minimal_pairs.blimp.shard-2-of-8'
    """
    identity, shard = signature["identity"], signature.get("shard")
    parts = [str(signature.get("series") or signature["model"]), identity["suite"], str(identity["config"])]
    return ".".join([*map(slug, parts), *([f"shard-{shard[0]}-of-{shard[1]}"] if shard else [])])


def record_folder(out: Path, signature: Signature) -> Path:
    """Return the folder of the record with the scores of a signature; see `record_name`."""
    return out / RUNS / record_name(signature)


def write_record(out: Path, signature: Signature, tables: Mapping[str, pa.Table]) -> Record:
    """Commit new scores in the place of those of the same model, suite and data.

    Args:
        out: output folder.
        signature: what decides the scores, with `computed` and `request` where these are known.
        tables: the scores.
    """
    written = _as_written(signature)
    record = Record(
        record_folder(out, signature),
        decisive(written),
        request=written.get("request") or {},
        computed=written.get("computed") or {},
        environment=environment(),
        created=time.time_ns(),
    )
    return commit(record, tables)


def commit(record: Record, tables: Mapping[str, pa.Table | StoredTable]) -> Record:
    """Write tables and then the record that names them, and remove what an earlier record named.

    Args:
        record: what is said about them.
        tables: new ones, and those that the folder has.

    Raises:
        ValueError: a file cannot be written; what was there stays.
    """
    folder = record.folder
    require_no_link(folder)
    require_inside(folder.parent, folder.parent.parent)
    try:
        stored = {}
        for name, table in tables.items():
            if isinstance(table, pa.Table):
                table = _write_table(folder, name, table, record)
            stored[name] = table
        content = {
            "format": FORMAT,
            "signature": record.signature,
            "request": record.request,
            "environment": record.environment,
            "computed": record.computed,
            "created": record.created,
            "tables": {
                name: {"file": table.path.name, "rows": table.n_rows, "columns": table.digests}
                for name, table in stored.items()
            },
        }
        text = json.dumps(content | {CHECKSUM: checksum(content)}, indent=1) + "\n"
        before = None
        with suppress(OSError, ValueError):
            before = (folder / RECORD_FILE).read_text(encoding="utf-8")
        if before != text or (folder / RECORD_FILE).is_symlink():
            write_text(folder / RECORD_FILE, text)
    except ValueError as error:
        raise ValueError(f"{error} {KEPT}") from error
    current_files = {table.path.name for table in stored.values()}
    for path in folder.glob("*.parquet"):
        if path.name not in current_files and _FILE.fullmatch(path.name):
            path.unlink(missing_ok=True)
    return replace(record, tables=stored)


def _write_table(folder: Path, name: str, table: pa.Table, record: Record) -> StoredTable:
    digests = {column: digest(table.column(i)) for i, column in enumerate(table.column_names)}
    path = folder / f"{slug(name or SINGLE)}-{_hash(table.num_rows, digests)}.parquet"
    with write_atomically(path) as file:
        pq.write_table(table.replace_schema_metadata(), file, compression="zstd", write_page_checksum=True)
    return StoredTable(path, table.num_rows, digests, record.identity["suite"], name)


def _hash(n_rows: int, digests: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps([n_rows, [*digests.items()]]).encode()).hexdigest()[:16]


def _rows_table(rows: Sequence[ResultRow]) -> pa.Table:
    """Return rows of results as a table: one column for each of their keys, without those of the identity.

    A number that could not be computed is NaN, and null where the row does not have the column.
    """
    written = [row.to_json() for row in rows]
    columns = {}
    for name in dict.fromkeys(key for row in written for key in row if key not in IDENTITY):
        kind = NAME if name == "group" else KINDS.get(name)
        nothing = math.nan if kind is NUMBER else None
        cells = [nothing if name in row and row[name] is None else row.get(name) for row in written]
        columns[name] = pa.array(cells, None if kind is None else _TYPES[kind])
    return pa.table(columns)


def read_record(folder: Path) -> Record:
    """Read the record in a folder.

    Raises:
        DamagedFileError: it is not what `tse run` wrote; the message says what is wrong and what to do.
        FileNotFoundError: there is none.
    """
    path = folder / RECORD_FILE
    if not path.exists() and not path.is_symlink():
        raise FileNotFoundError(path)
    try:
        require_no_link(folder)
        require_no_link(path)
        return _parsed(folder, parse_object(read_bytes(path, RECORD_BYTES), path, _AGAIN))
    except TooLargeError:
        raise
    except ValueError as error:
        text = str(error)
        raise DamagedFileError(
            text if str(path) in text else f"{path} is damaged: {text}. {_AGAIN}"
        ) from error


@dataclass(frozen=True)
class _WrittenTable:
    file: str
    rows: int
    columns: Mapping[str, str]


@dataclass(frozen=True)
class _WrittenIdentity:
    suite: str
    model: str
    config: str | None
    dataset: str | None = None
    revision: str | None = None


@dataclass(frozen=True)
class _WrittenSignature:
    model: str
    identity: _WrittenIdentity
    shard: tuple[int, ...] | None = None


@dataclass(frozen=True)
class _WrittenRequest:
    """What readers of results take from a request."""

    suite_options: Mapping[str, object] = field(default_factory=dict)
    partial_reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class _WrittenRecord:
    """The parts of `record.json`."""

    signature: _WrittenSignature
    request: _WrittenRequest
    environment: Mapping[str, object]
    computed: Mapping[str, object]
    created: object
    tables: Mapping[str, _WrittenTable]


def _parsed(folder: Path, content: Mapping[str, object]) -> Record:
    """Check the parts of a record; raises ValueError with what came and what was expected."""
    if content.get("format") != FORMAT:
        raise ValueError(f"its format is {content.get('format')!r:.60}; expected {FORMAT!r}")
    written: _WrittenRecord = parse(_WrittenRecord, content)
    if not isinstance(written.created, int) or isinstance(written.created, bool):
        raise ValueError(f"created is {shown(written.created)}; expected a whole number")
    shard, suite = written.signature.shard, written.signature.identity.suite
    if shard is not None and not (len(shard) == 2 and 1 <= shard[0] <= shard[1]):
        raise ValueError(f"signature.shard is {str(list(shard))[:60]}; expected [i, n] with i from 1 to n")
    tables = {}
    for name, table in written.tables.items():
        if not _FILE.fullmatch(table.file):
            raise ValueError(
                f"its table {name!r:.60} is in the file {table.file!r:.100}; expected the name of a file in this "
                f"folder, such as {slug(name)[:50]}-0123456789abcdef.parquet"
            )
        remedy = "`tse report` makes it again from the scores." if name == ROWS else _AGAIN
        tables[name] = StoredTable(folder / table.file, table.rows, table.columns, suite, name, remedy)
    return Record(
        folder,
        cast(Signature, content["signature"]),
        cast(RequestContent, content["request"]),
        written.computed,
        written.environment,
        written.created,
        tables,
    )


def require_no_link(path: Path) -> None:
    """Raise ValueError where a path is a link: in a folder of somebody else, it may lead anywhere."""
    if path.is_symlink():
        raise ValueError(
            f"{path} is a link; links in {RUNS} are not followed. Replace the link by what it links to."
        )


def record_folders(out: Path) -> list[Path]:
    """Return the folders in `OUT/runs` that hold a record.

    Raises:
        ValueError: `OUT` was written by a version without records.
    """
    require_records(out)
    with suppress(NotADirectoryError, FileNotFoundError):
        return sorted(path.parent for path in (out / RUNS).glob(f"*/{RECORD_FILE}"))
    return []


def require_records(out: Path) -> None:
    """Raise ValueError where an output folder holds scores or results, but no records, or is a file."""
    if out.is_file():
        raise ValueError(
            f"{out} is a file; expected an output folder of `tse run`. Name the folder, {out.parent}."
        )
    if not (out / RUNS).is_dir():
        old_file = next((name for name in ("scores", "results.json") if (out / name).exists()), None)
        if old_file is not None:
            raise ValueError(
                f"{out} holds {old_file}, but no folder {RUNS} with the records that results are read from: another "
                f"version wrote it, or {RUNS} was not copied. Copy {RUNS} as well, or run the evaluation again into "
                "another folder with --out."
            )


def read_records(out: Path, strict: bool = False) -> list[Record]:
    """Return the records of an output folder, the oldest first, the revisions of a series in order of their training.

    Args:
        out: output folder; one without records has none.
        strict: raise the error of a damaged record; else it is named in a warning, and skipped.

    Raises:
        DamagedFileError: see `strict`.
        ValueError: two records hold the same scores, or another version wrote the folder.
    """
    records = []
    for folder in record_folders(out):
        try:
            records.append(read_record(folder))
        except FileNotFoundError:
            continue  # it was removed meanwhile
        except DamagedFileError as error:
            if strict:
                raise
            warnings.warn(str(error), stacklevel=2)
    names: dict[str, Record] = {}
    for record in records:
        key = json.dumps([record.identity, record.signature.get("shard")], sort_keys=True)
        if (other := names.setdefault(key, record)) is not record:
            raise ValueError(
                f"{other.folder} and {record.folder} hold scores of the same model and data. Remove one of the two "
                "folders."
            )
    return _in_order(sorted(records, key=lambda record: (record.created, record.folder.name)))


def listing(out: Path) -> Collection[tuple[str, int, int]]:
    """Return what changes whenever a record of an output folder does."""
    stamps = []
    for path in (out / RUNS).glob(f"*/{RECORD_FILE}"):
        with suppress(OSError):  # it was removed meanwhile
            status = path.stat()
            stamps.append((path.parent.name, status.st_ino, status.st_mtime_ns))
    return sorted(stamps)


def writing(
    folder: Path, model: str, waiting: Callable[[str], object] | None, seconds: float | None = None
) -> AbstractContextManager[None]:
    """Hold the lock of a model's record; see `locks.held`."""
    require_no_link(folder)
    require_inside(folder / "journal", folder)
    return held(folder / "lock", f"the scores of {model} in {folder.parent.parent}", waiting, seconds)


def decisive(signature: Signature) -> Signature:
    """Return the part of a signature that decides scores."""
    return cast(Signature, {key: value for key, value in signature.items() if key not in NOT_DECISIVE})


def is_current(record: Record, signature: Signature) -> bool:
    """Whether a record holds the scores of a signature."""
    return dict(record.signature) == _as_written(decisive(signature))


def differences(earlier: Signature, current: Signature) -> list[str]:
    """Describe the differences of two signatures, as "dtype was … and is …"; empty if they decide the same scores."""
    return described_differences(_as_written(earlier), _as_written(current), ignored=NOT_DECISIVE)


def require_same(record: Record, signature: Signature) -> None:
    """Raise ValueError if writing scores of this signature would replace those of other data or options."""
    differing = differences(record.described, signature)
    if differing:
        raise ValueError(
            f"{record.folder} already holds scores computed on other data or with different options "
            f"({'; '.join(differing)}). Choose another folder with --out, or replace them with --overwrite."
        )


def _as_written(signature: Signature) -> Signature:
    """Return a signature in the form in which a file returns it."""
    written: Signature = json.loads(json.dumps(signature, default=str))
    return written


def _first_line(reason: str | BaseException) -> str:
    text = str(reason).strip().split("\n", 1)[0].rstrip(".")
    return (text or type(reason).__name__)[:200]


def _in_order(records: Sequence[Record]) -> list[Record]:
    """Sort the revisions of each series where its first one is; all else keeps its order."""
    groups = [tuple(map(record.identity.get, ("suite", "dataset", "config", "model"))) for record in records]
    series = {group for group, record in zip(groups, records, strict=True) if "series" in record.signature}
    first = {group: place for place, group in reversed([*enumerate(groups)])}
    places = [
        (first[group], position(str(record.identity.get("revision")) if group in series else ""))
        for group, record in zip(groups, records, strict=True)
    ]
    return [records[number] for number in sorted(range(len(records)), key=places.__getitem__)]
