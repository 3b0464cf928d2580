"""`tse export items`: scores per item of all models in one Parquet file for each table, each row readable alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ..io.files import write_atomically
from ..io.score_files import read_stored
from ..report.inputs import ScoreFile, read_runs
from ..suites.base import Suite
from ..suites.for_other_tools import CompletesItems
from ..suites.registry import suites_of

FIRST_COLUMNS = ("suite", "dataset", "config", "model", "revision")


def export(folders: Sequence[Path], out: Path) -> list[Path]:
    """Write `<suite>[.<table>].parquet` for each table of items, and return the paths.

    Args:
        folders: output folders of `tse run`.
        out: where the files go.

    Raises:
        ValueError: a folder holds no results, there are no scores of items, or a column has another type in another
            run.
    """
    runs = read_runs(folders)
    written = []
    for suite in suites_of(runs):
        files: dict[str, list[ScoreFile]] = {}
        for file in runs.scores(suite.name):
            files.setdefault(".".join(filter(None, (suite.name, file.kind))), []).append(file)
        written += [
            path for name, own in files.items() if (path := _write(suite, own, out / f"{name}.parquet"))
        ]
    if not written:
        raise ValueError(
            f"There are no scores of items in {', '.join(map(str, folders))}; expected output folders of `tse run` "
            "with their folder `scores`. Run the evaluation again."
        )
    return written


def read_items(suite: type[Suite], file: ScoreFile) -> pd.DataFrame | None:
    """Return the rows of a file of scores with `FIRST_COLUMNS` and sentences; None if its rows are not items."""
    complete: object = suite
    table, signature = read_stored(file.path)
    frame = complete.item_table(file) if isinstance(complete, CompletesItems) else table.to_pandas()
    if frame is None:
        return None
    identity = {"suite": suite.name, "model": file.system, **signature.get("identity", {})}
    about = {name: pd.Series(identity.get(name), frame.index, dtype="str") for name in FIRST_COLUMNS}
    kept = frame.drop(columns=[name for name in FIRST_COLUMNS if name in frame])
    return pd.concat([pd.DataFrame(about), kept], axis=1)


def _write(suite: type[Suite], files: Sequence[ScoreFile], path: Path) -> Path | None:
    """Write one table of all models, file by file: together they may be larger than memory."""
    schemas = [table.schema for table in _tables(suite, files)]
    if not schemas:
        return None
    try:
        schema = pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException as error:
        raise ValueError(
            f"A column has different types in these runs ({error}), so that they do not fit into one table. Export "
            "the runs one by one."
        ) from error
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as out, pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for table in _tables(suite, files):
            for name in schema.names:
                if name not in table.column_names:
                    table = table.append_column(name, pa.nulls(len(table), schema.field(name).type))
            writer.write_table(table.select(schema.names).cast(schema))
    return path


def _tables(suite: type[Suite], files: Sequence[ScoreFile]) -> Iterator[pa.Table]:
    for file in files:
        frame = read_items(suite, file)
        if frame is not None:
            yield pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata()
