"""Write Parquet so that the same table always gives the same bytes (for one version of pyarrow)."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write `table` to `path`, making folders; no pandas or library metadata, one row group, zstd."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        table.replace_schema_metadata(None),
        path,
        compression="zstd",
        compression_level=19,
        row_group_size=max(table.num_rows, 1),
    )
