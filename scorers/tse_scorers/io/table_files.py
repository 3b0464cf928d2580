"""Tables in files, whatever their format: read, refused where they lack what a suite needs, written."""

import hashlib
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa

from .files import check_file, not_utf8, unwritable

Tables = dict[str, pa.Table]
"""Scores per example: the last part of a file's name -> its table."""


def _read_csv(path: Path, texts: Collection[str], sep: str = ",") -> pd.DataFrame:
    columns = pd.read_csv(path, sep=sep, nrows=0).columns
    # "null" and "NA" are words; only nothing is nothing.
    nothing = {column: ["", "nan", "NaN"] for column in columns if column not in texts}
    types = dict.fromkeys(texts, str)
    return pd.read_csv(path, sep=sep, keep_default_na=False, na_values=nothing, dtype=types)


def _read_json(path: Path, texts: Collection[str], lines: bool = False) -> pd.DataFrame:
    return pd.read_json(path, lines=lines, dtype=False)  # text stays text


_READERS: dict[str, Callable[[Path, Collection[str]], pd.DataFrame]] = {
    ".parquet": lambda path, texts: pd.read_parquet(path),
    ".csv": _read_csv,
    ".tsv": partial(_read_csv, sep="\t"),
    ".jsonl": partial(_read_json, lines=True),
    ".json": _read_json,
}


def is_table(name: str) -> bool:
    """Whether a name is a file's: one that is there, or has the ending of a table (`org/name@v1.0` has not)."""
    return Path(name).suffix in _READERS or Path(name).is_file()


def read_table(path: Path, texts: Collection[str] = ()) -> pd.DataFrame:
    """Read a Parquet, CSV, TSV, JSON-lines or JSON file.

    Args:
        path: the file.
        texts: columns of a CSV or TSV that are text whatever it looks like: nothing is the empty text there.

    Raises:
        ValueError: the file is not there, its ending is unknown, or it cannot be read as what it says it is.
    """
    if not path.is_file():
        raise ValueError(f"There is no file {path}. Check the path, from the folder that you are in.")
    if path.suffix not in _READERS:
        raise ValueError(f"{path} ends in {path.suffix!r}; expected one of: {', '.join(_READERS)}.")
    try:
        return _READERS[path.suffix](path, texts)
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    except (ValueError, OSError) as error:
        raise ValueError(
            f"{path} could not be read as {path.suffix[1:]}: {str(error).rstrip('.')}. Look whether the file is whole "
            "and what its ending says it is."
        ) from error


_WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".tsv": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    ".jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True, force_ascii=False),
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False),
}


def check_table(path: Path) -> None:
    """Raise ValueError where `write_table` could not write: the ending is another, or the place no one's to write."""
    check_file(path, _WRITERS)


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table in the format that the path's ending names: .csv, .tsv, .jsonl or .parquet.

    Raises:
        ValueError: the ending is another, or the file cannot be written.
    """
    check_table(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _WRITERS[path.suffix](frame, path)
    except OSError as error:
        raise unwritable(path, error) from error


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


def require_text(frame: pd.DataFrame, columns: Collection[str], what: str) -> None:
    """Raise ValueError where a column holds what is no text: a number, a list.

    The message names what came, what was expected and what to do.
    """
    for column in columns:
        if isinstance(frame[column].dtype, pd.StringDtype):
            continue
        wrong = ~frame[column].map(lambda value: isinstance(value, str)).to_numpy(dtype=bool)
        if wrong.any():
            row = int(wrong.argmax())
            value = frame[column].iloc[row]
            raise ValueError(
                f"{what} holds {value!s:.80} ({type(value).__name__}) in column {column!r} of row {row}; expected "
                "text. Mend the column."
            )


def fingerprint(frame: pd.DataFrame) -> str:
    """Return the first 16 digits of a SHA-256 over a table's columns and values."""
    digest = hashlib.sha256(",".join(map(str, frame.columns)).encode())
    digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    return digest.hexdigest()[:16]
