"""`tse export items`: scores per item of all models in one Parquet file for each table, each row readable alone."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from ..io.files import write_atomically
from ..io.records import SINGLE
from ..report.inputs import Runs, ScoreFile, read_runs
from ..suites.contract import Suite
from ..suites.item_files import with_identity
from .each_suite import export_each_suite


def export(folders: Sequence[Path], out: Path) -> list[Path]:
    """Write `<suite>[.<table>].parquet` for each table of items, and return the paths.

    Args:
        folders: output folders of `tse run`.
        out: where the files go.

    Raises:
        ValueError: a folder has no results, there are no scores of items, or a column has another type in another
            run.
    """
    runs = read_runs(folders)
    return export_each_suite(folders, runs, partial(_write_tables, out, runs))


def _write_tables(out: Path, runs: Runs, suite: type[Suite]) -> Iterator[Path]:
    """Write each of a suite's tables of items, of all models."""
    files: dict[str, list[ScoreFile]] = {}
    for file in runs.scores(suite.name):
        name = suite.name if file.table == SINGLE else f"{suite.name}.{file.table}"
        files.setdefault(name, []).append(file)
    for name, table_files in files.items():
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=out, prefix=".parts-") as folder:
            parts = list(_parts(suite, table_files, Path(folder)))
            if parts:
                yield _join(parts, out / f"{name}.parquet")


def _parts(suite: type[Suite], files: Sequence[ScoreFile], folder: Path) -> Iterator[Path]:
    """Write the items of each file to a file of its own: together they may be larger than memory."""
    for number, file in enumerate(files):
        frame = suite.item_table(file)
        if frame is not None:
            part = folder / f"{number}.parquet"
            pq.write_table(pa.Table.from_pandas(with_identity(frame, file), preserve_index=False), part)
            yield part


def _join(parts: Sequence[Path], path: Path) -> Path:
    """Join tables, which may lack columns of other tables, one after the other."""
    try:
        schemas = [pq.read_schema(part).remove_metadata() for part in parts]
        schema = pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException as error:
        raise ValueError(
            f"A column has different types in these runs ({error}), so that they do not fit into one table. Export "
            "the runs one by one."
        ) from error
    with write_atomically(path) as out, pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for part in parts:
            with pq.ParquetFile(part) as file:
                table = file.read()
            for name in schema.names:
                if name not in table.column_names:
                    table = table.append_column(name, pa.nulls(len(table), schema.field(name).type))
            writer.write_table(table.select(schema.names).cast(schema))
    return path
