"""What a run leaves of one model on one suite and data.

    OUT/runs/<model[@revision]>.<suite>.<data>/
      contexts.parquet  pairs.parquet  …   the scores, one file a table
      record.json                          signature, facts, environment, request, rows of results; written last
      chunks-<signature>/                  what is done, while a run goes on

So a folder with `record.json` is complete. `OUT/results.json` has the rows of all records, for people and other tools;
this package reads records. Reading a folder runs no code: it is JSON and Parquet.
"""

import json
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .. import __version__
from .files import slug, write_atomically, write_text
from .rows import IDENTITY, Row, plain
from .systems import position

RUNS = "runs"
RECORD_FILE = "record.json"
RESULTS_FILE = "results.json"


@cache
def environment() -> dict[str, str]:
    """Return the versions and the machine that a result is made with."""
    import torch

    has_gpu = torch.cuda.is_available()
    packages = ("torch", "transformers", "tokenizers", "datasets", "evaluate", "numpy")
    return {
        "python": platform.python_version(),
        "platform": platform.system(),
        "device": torch.cuda.get_device_name() if has_gpu else platform.processor() or platform.machine(),
        "refined-tse": __version__,
        **{package: version(package) for package in packages},
    }


@dataclass(frozen=True)
class StoredTable:
    """A table of scores on disk."""

    path: Path

    def read(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read the table, or those of some columns that it has; lists are arrays."""
        try:
            # Not read_table, which would read a parent folder named `a=1` as a column.
            with pq.ParquetFile(self.path) as file:
                there = [name for name in file.schema_arrow.names if columns is None or name in columns]
                return file.read(there).to_pandas()
        except (OSError, pa.ArrowException) as error:
            raise unusable(self.path, error) from error


@dataclass(frozen=True)
class Record:
    """The scores of one model on one suite and data.

    Attributes:
        folder: its folder.
        signature: what was asked of what, known before the model is loaded: equal signatures are equal scores. It has
            `suite`, `dataset`, `config`, `model` and `revision`, which all rows have, too.
        facts: what else decides the scores and was found when they were made.
        request: the command as it was typed; `series`, whether it is a revision of one.
        environment: versions, machine, and how the scores were computed.
        created: when, in nanoseconds since 1970: the order of results.
        rows: of results.
    """

    folder: Path
    signature: Mapping[str, Any]
    facts: Mapping[str, Any]
    request: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=environment)
    created: int = field(default_factory=time.time_ns)
    rows: Sequence[Row] = ()

    @property
    def identity(self) -> Row:
        """Suite, dataset, config, model and revision."""
        return {name: self.signature.get(name) for name in IDENTITY}

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the suite that were given."""
        return self.signature.get("options") or {}

    @cached_property
    def tables(self) -> dict[str, StoredTable]:
        """Its tables by name."""
        return {path.stem: StoredTable(path) for path in sorted(self.folder.glob("*.parquet"))}

    def read(self) -> dict[str, pd.DataFrame]:
        """Read all tables."""
        return read_tables(self.folder)

    def write(self, tables: Mapping[str, pd.DataFrame] | None = None) -> "Record":
        """Write tables in the place of earlier ones (None: leave them), then the record; return it.

        Raises:
            ValueError: a file cannot be written.
        """
        if tables is not None:
            earlier, is_known = read_record(self.folder), self.signature.get("revision") is not None
            # Another process may have written the same; else the folder is not complete from here on.
            if not (is_known and earlier and earlier.signature == self.signature):
                (self.folder / RECORD_FILE).unlink(missing_ok=True)
            for path in self.folder.glob("*.parquet"):
                if path.stem not in tables:
                    path.unlink(missing_ok=True)
            write_tables(tables, self.folder)
        names = ("signature", "facts", "request", "environment", "created")
        content = {name: getattr(self, name) for name in names} | {"rows": [plain(row) for row in self.rows]}
        write_text(self.folder / RECORD_FILE, json.dumps(content, indent=1, default=str) + "\n")
        return self


def unusable(path: Path, why: object) -> ValueError:
    """Return the error for a file of a record that cannot be read."""
    reason = " ".join(str(why).split())[:200].rstrip(".") or type(why).__name__
    return ValueError(f"{path} cannot be read ({reason}). Remove {path.parent}, and run again.")


def read_record(folder: Path) -> Record | None:
    """Return the record in a folder, None where it is not complete; ValueError where it cannot be read."""
    path = folder / RECORD_FILE
    try:
        return Record(folder, **json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise unusable(path, error) from error


def read_records(out: Path) -> list[Record]:
    """Return the records of an output folder, the oldest first, the revisions of a series in order of their training.

    Raises:
        ValueError: a record cannot be read.
    """
    found = (read_record(path.parent) for path in out.glob(f"{RUNS}/*/{RECORD_FILE}"))
    records = sorted(filter(None, found), key=lambda record: (record.created, record.folder.name))
    series: dict[Any, list[Record]] = {}  # in order of their first record
    for number, record in enumerate(records):
        about = {**record.identity, "revision": None if record.request.get("series") else number}
        series.setdefault(tuple(about.values()), []).append(record)
    of_training = (
        sorted(of, key=lambda one: position(str(one.signature["revision"]))) for of in series.values()
    )
    return [record for of in of_training for record in of]


def record_folder(out: Path, model: str, suite: str, config: str | None) -> Path:
    """Return where the scores of a model (or of a revision of a series) on some data are."""
    return out / RUNS / ".".join(map(slug, (model, suite, str(config))))


def write_results(out: Path) -> list[Record]:
    """Write `results.json` from the records of an output folder, and return them."""
    records = read_records(out)
    lines = ",\n".join(f"  {json.dumps(plain(row))}" for record in records for row in record.rows)
    write_text(out / RESULTS_FILE, f'{{\n "results": [\n{lines}\n ]\n}}\n')
    return records


def read_tables(folder: Path) -> dict[str, pd.DataFrame]:
    """Read all tables of a folder."""
    return {path.stem: StoredTable(path).read() for path in sorted(folder.glob("*.parquet"))}


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables of scores, each completely or not at all; floats are split by bytes, which makes them smaller."""
    for name, frame in tables.items():
        columns = {str(name): _array(column) for name, column in frame.items()}
        floats = [name for name, column in columns.items() if pa.types.is_floating(column.type)]
        others = [name for name in columns if name not in floats]
        with write_atomically(folder / f"{name}.parquet") as file:
            pq.write_table(
                pa.table(columns), file, compression="zstd", compression_level=9, use_byte_stream_split=floats,
                use_dictionary=others,
            )  # fmt: skip


def _array(column: "pd.Series[Any]") -> pa.Array:
    """Return a column for Parquet; one with values of several kinds, which a user's own may have, is text."""
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array(column.map(str, na_action="ignore"), from_pandas=True)


def as_written(signature: Mapping[str, object]) -> Any:
    """Return a signature as JSON gives it back."""
    return json.loads(json.dumps(signature, default=str))


def differences(earlier: Mapping[str, Any], current: Mapping[str, Any]) -> Iterator[str]:
    """Yield what differs between two signatures: "limit was 20 and is not given"; of data, where nothing else does.

    >>> [*differences({"limit": 20, "data": "a"}, {"data": "b"})], [*differences({"data": "a"}, {"data": "b"})]
    (['limit was 20 and is not given'], ['the data have changed'])
    """
    changed = [key for key in {**earlier, **current} if earlier.get(key) != current.get(key)]
    for key in [key for key in changed if key not in _HASHES] or changed:
        one, other = earlier.get(key, "not given"), current.get(key, "not given")
        if isinstance(one, dict) and isinstance(other, dict):
            yield from differences(one, other)
        else:
            yield _HASHES.get(key) or f"{key.replace('_', ' ')} was {one} and is {other}"


_HASHES = {
    "data": "the data have changed",
    "lemmas": "the lemma list has changed",
    "revision": "the model's weights have changed",
}
"""Hashes tell a user nothing, and may follow from other changes."""
