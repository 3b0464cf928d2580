"""Checksums of tables (one for each column), of objects of JSON, and of files.

They are computed from values, not from the file's bytes. So a file stays valid if another tool rewrites it with the
same values, and a single column can be checked by itself.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def file_digest(path: Path) -> str:
    """Return `sha256:` and the first 16 digits of the hash of a file."""
    hasher = hashlib.sha256()
    for block in blocks(path):
        hasher.update(block)
    return f"sha256:{hasher.hexdigest()[:16]}"


def blocks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in parts, for files larger than memory."""
    with path.open("rb") as file:
        while block := file.read(2**22):
            yield block


def blob_id(content: bytes) -> str:
    """Return git's object id of a file, which the Hub states for each file that is not stored as a large one.

    >>> blob_id(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def checksum(content: Mapping[str, object]) -> str:
    """Return a SHA-256 over what an object of JSON holds, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def check_columns(table: pa.Table, n_rows: int, digests: Mapping[str, str]) -> None:
    """Raise ValueError if the values of a table, or of some of its columns, do not match their checksums."""
    if table.num_rows != n_rows:
        raise ValueError(f"it has {table.num_rows} rows instead of {n_rows}")
    for i, column in enumerate(table.column_names):
        if digests.get(column) != digest(table.column(i)):
            raise ValueError(f"the values of column {column!r} have changed")


def digest(column: pa.ChunkedArray) -> str:
    """Return the first 32 digits of a SHA-256 over a column's kind, values and missing values.

    It does not depend on how Arrow stores them (chunks, offsets, the bytes at missing values).
    """
    hasher = hashlib.sha256()
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # some versions of pyarrow return one
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], column.type)
    for part in _parts(array):
        hasher.update(part)
    return hasher.hexdigest()[:32]


def _parts(array: pa.Array) -> Iterator[Any]:
    """Yield the bytes that represent an array."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array, kind = array.dictionary_decode(), kind.value_type
    if array.null_count and not pa.types.is_null(kind):
        yield np.packbits(array.is_valid().to_numpy(zero_copy_only=False))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        array = array.cast(pa.large_string()).fill_null("")
        yield b"text"
        yield np.ascontiguousarray(pc.binary_length(array).to_numpy(zero_copy_only=False))
        offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
        if len(array) and offsets[-1] > offsets[0]:
            yield memoryview(array.buffers()[2])[offsets[0] : offsets[-1]]
    elif pa.types.is_boolean(kind):
        yield b"bool"
        yield np.packbits(array.fill_null(False).to_numpy(zero_copy_only=False))
    elif pa.types.is_list(kind):  # whose inner field has another name in Parquet
        yield b"list"
        yield np.ascontiguousarray(pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False))
        yield from _parts(array.flatten())
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        yield str(kind).encode()
        yield np.ascontiguousarray(array.fill_null(0).to_numpy(zero_copy_only=False))
    else:  # times and others: our tables do not have them, so this may be slow
        yield str(kind).encode()
        yield repr(array.to_pylist()).encode()
