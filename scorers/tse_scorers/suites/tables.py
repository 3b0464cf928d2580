"""Reading a user's table, whatever its format, and refusing one that lacks what a suite needs."""

import hashlib
from collections.abc import Collection
from pathlib import Path

import pandas as pd


def read_table(path: Path) -> pd.DataFrame:
    """Read a Parquet, CSV, TSV, JSON-lines or JSON file.

    Raises:
        ValueError: the file is not there, its ending is unknown, or it cannot be read as what it says it is.
    """
    readers = {
        ".parquet": pd.read_parquet,
        ".csv": pd.read_csv,
        ".tsv": lambda file: pd.read_csv(file, sep="\t"),
        ".jsonl": lambda file: pd.read_json(file, lines=True),
        ".json": pd.read_json,
    }
    if path.suffix not in readers:
        raise ValueError(f"{path} ends in {path.suffix!r}; expected one of: {', '.join(readers)}.")
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    try:
        return readers[path.suffix](path)
    except (ValueError, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} could not be read as {path.suffix[1:]}: {error}") from error


def require_columns(frame: pd.DataFrame, columns: Collection[str], what: str) -> None:
    """Raise ValueError where a column is missing, holds nothing in some row, or there are no rows.

    The message names what came, what was expected and what to do.
    """
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(
            f"{what} lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}; it has "
            f"{', '.join(map(str, frame.columns)) or 'none'}. Rename or add what is missing."
        )
    if frame.empty:
        raise ValueError(
            f"{what} has no rows, so there is nothing to score. Look at the file or at the filter used."
        )
    for column in columns:
        empty = frame[column].isna()
        if empty.any():
            raise ValueError(
                f"{what} has no value in column {column!r} of row {int(empty.to_numpy().argmax())}; fill it in or "
                "remove the row."
            )


def fingerprint(frame: pd.DataFrame) -> str:
    """Return the first 16 digits of a SHA-256 over a table's columns and values."""
    digest = hashlib.sha256(",".join(map(str, frame.columns)).encode())
    digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    return digest.hexdigest()[:16]
