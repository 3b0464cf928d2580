"""Limits on the size and time of what comes from outside; SECURITY.md lists them with what happens beyond them."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it takes a moment, and most files are text
    import pyarrow.parquet as pq

TEXT_BYTES = 2**30
"""A table or list as text: CSV, TSV, JSON, JSON-lines, one sentence per line."""
PARQUET_BYTES = 16 * 2**30
"""A Parquet file, unpacked; log-probabilities of all forms in 120,000 contexts need 7 GB."""
PARQUET_ROWS = 50_000_000
UNPACKED = 256 * 2**20, 200
"""A Parquet file may always be unpacked to so many bytes; beyond, to so many times its size."""
ROWS_OF_ANY_FILE = 1_000_000
"""A Parquet file may always have so many rows; beyond, one for each of its bytes."""
DOWNLOAD_BYTES = 2**30
DOWNLOAD_SECONDS = 1800.0
"""One downloaded file of a data set."""
ARCHIVE_BYTES = 2**30
"""All tables of an archive, unpacked."""
HEADER_BYTES = 100 * 2**20
"""The header of a safetensors file, as its own library has it."""


YAML_CHARACTERS = 2**16
"""A YAML text; the longest description of a registered set has 8,000."""
JSON_DEPTH = 100
"""Lists and mappings inside each other in a suite of regions, which has about 10."""
YAML_DEPTH = 20
"""Lists and mappings inside each other in a YAML text."""


class TooLargeError(ValueError):
    """A file is larger than is accepted."""


def require_size(path: Path, largest: int) -> None:
    """Raise TooLargeError if a file is larger than is accepted."""
    size = path.stat().st_size
    if size > largest:
        raise TooLargeError(
            f"{path} has {shown_bytes(size)}; expected at most {shown_bytes(largest)}. Check the file, or split it."
        )


def require_parquet_size(path: Path, file: "pq.ParquetFile") -> None:
    """Raise TooLargeError if a Parquet file says that it is larger, unpacked, than is accepted."""
    packed = path.stat().st_size
    described = file.metadata
    always, times = UNPACKED
    largest = min(PARQUET_BYTES, max(always, times * packed))
    unpacked = sum(described.row_group(index).total_byte_size for index in range(described.num_row_groups))
    if not 0 <= unpacked <= largest:
        raise TooLargeError(
            f"{path} has {shown_bytes(packed)}, and {shown_bytes(unpacked)} unpacked; expected at most "
            f"{shown_bytes(largest)}. Check the file, or split it."
        )
    rows = min(PARQUET_ROWS, max(ROWS_OF_ANY_FILE, packed))
    if not 0 <= described.num_rows <= rows:
        raise TooLargeError(
            f"{path} has {described.num_rows:,} rows; expected at most {rows:,} in {shown_bytes(packed)}. Check the "
            "file, or split it."
        )


def shown_bytes(size: int) -> str:
    """Return a number of bytes for people to read.

    >>> shown_bytes(2**20), shown_bytes(3 * 2**29), shown_bytes(12)
    ('1.0 MiB', '1.5 GiB', '12 bytes')
    """
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"
