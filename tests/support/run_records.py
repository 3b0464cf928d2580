"""Tables of the records that runs write, for tests that open or change them."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from tse_scorers.io.records import read_records

SINGLE = "scores"
"""The table of a suite that has only one, as its file is named."""


def record_of(out: Path, **about: Any):
    """Return the only record of an output folder with this suite, model, data (`config`) or shard."""
    found = [
        record
        for record in read_records(out, strict=True)
        if all({**record.signature, **record.identity}.get(key) == value for key, value in about.items())
    ]
    assert len(found) == 1, [record.folder.name for record in found]
    return found[0]


def table_path(out: Path, table: str = SINGLE, **about: Any) -> Path:
    """Return the file of a table; see `record_of`."""
    return record_of(out, **about).tables[table].path


def read_table(out: Path, table: str = SINGLE, **about: Any) -> pa.Table:
    """Return a table with scores; see `record_of`."""
    return record_of(out, **about).tables[table].read()


def signature_of(out: Path, **about: Any) -> dict[str, Any]:
    """Return what decided the scores, how they were computed, and the request; see `record_of`."""
    return record_of(out, **about).described


def table_files(out: Path) -> list[Path]:
    """Return the files of all tables in an output folder."""
    return sorted((out / "runs").glob("*/*.parquet"))


def edit(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change `record.json` or `results.json` as somebody can who makes its checksum fit.

    Args:
        path: the file.
        change: changes its content in place.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["checksum"]
    change(content)
    checksum = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(content | {"checksum": checksum}), encoding="utf-8")


def drop_tables(record, names):
    """Take tables out of a record; see `edit`."""
    edit(record.folder / "record.json", lambda content: [content["tables"].pop(name) for name in names])
