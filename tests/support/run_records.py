"""Tables of the records that runs write, for tests that open or change them."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from tse_scorers.io.result_row import ResultRow
from tse_scorers.io.store import read_records
from tse_scorers.models.options import ModelOptions
from tse_scorers.runs.jobs import make_jobs
from tse_scorers.runs.run import run_models

SINGLE = "scores"
"""The table of a suite that has only one, as its file is named."""


def record_of(out: Path, **about: Any):
    """Return the only record of an output folder with this suite, model, data (`config`) or shard."""
    found = [
        record
        for record in read_records(out)
        if all({**record.facts, **record.identity}.get(key) == value for key, value in about.items())
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


def read_results(out: Path) -> dict[str, Any]:
    """Return the rows of all records, as JSON has them, and what decided them."""
    records = read_records(out)
    rows = [row.to_json() for record in records for row in record.rows]
    return {"results": rows, "signature": {"models": [record.described for record in records]}}


def score(suite, out: Path, scorer, overwrite: bool = False) -> list[ResultRow]:
    """Score one model on a suite that a test has made, and return its rows of results."""
    jobs = make_jobs([scorer], [suite], ModelOptions())
    (record,) = run_models(suite, jobs, out, overwrite=overwrite).records
    return list(record.rows)


def table_files(out: Path) -> list[Path]:
    """Return the files of all tables in an output folder."""
    return sorted((out / "runs").glob("*/*.parquet"))


def drop_tables(record, names):
    """Take tables out of a record."""
    for name in names:
        record.tables[name].path.unlink()
