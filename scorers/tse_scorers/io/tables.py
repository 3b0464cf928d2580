"""Tables of users: read strictly, checked for what a suite needs, written completely or not at all.

A table is CSV, TSV, JSON lines, a JSON list of objects, or Parquet. Text stays text: *null*, *NA* and *nan* are words,
and only an empty cell is missing. What could be read in two ways is refused with its row or column, because a wrong
guess would change scores.
"""

import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa

from .files import check_file, read_text, require_file, write_atomically


def _read_csv(path: Path, texts: Collection[str], separator: str = ",") -> pd.DataFrame:
    text = read_text(path)
    header, *rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if row] or [[]]
    if not header:
        raise ValueError("it is empty")
    if repeated := [name for name in header if header.count(name) > 1]:
        raise ValueError(f"the column {repeated[0]!r} is there twice")
    for number, row in enumerate(rows, 1):  # pandas would fill it up
        if len(row) != len(header):
            raise ValueError(
                f"row {number} has {len(row)} fields, but the header has {len(header)} ({', '.join(header)}). Separate "
                "fields by commas (.csv) or tabs (.tsv), and put texts that contain one in double quotes"
            )
    missing = {column: ["", "nan", "NaN"] for column in header if column not in texts}
    frame = pd.read_csv(
        io.StringIO(text), sep=separator, keep_default_na=False, na_values=missing,
        dtype=dict.fromkeys(texts, str), index_col=False,
    )  # fmt: skip
    for name in {"item", "cluster"}.intersection(header).difference(texts):
        written = pd.Series([row[header.index(name)] for row in rows], dtype=object)
        cells = written.replace(missing[name], None)
        if frame[name].nunique() != cells.nunique():  # 1.1 and 1.10 are two
            frame[name] = cells
    return frame


def _read_json(path: Path, _: Collection[str]) -> pd.DataFrame:
    text = read_text(path)  # pandas' own reader takes texts of digits for times
    lines = text.split("\n") if path.suffix == ".jsonl" else []
    rows = [json.loads(line) for line in lines if line.strip()] if lines else json.loads(text)
    if not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
        raise ValueError('expected a list of objects, or one in each line, such as {"sentence": "It rains."}')
    return pd.DataFrame(rows)


def _read_parquet(path: Path, _: Collection[str]) -> pd.DataFrame:
    frame = pd.read_parquet(path, partitioning=None)  # else a parent folder named `a=1` is a column
    # Repeated texts may be stored as categories, which refuse other values and cannot be joined.
    categories = {name: kind.categories.dtype for name, kind in frame.dtypes.items() if kind == "category"}
    return frame.astype(categories) if categories else frame


READERS: dict[str, Callable[[Path, Collection[str]], pd.DataFrame]] = {
    ".parquet": _read_parquet,
    ".csv": _read_csv,
    ".tsv": partial(_read_csv, separator="\t"),
    ".jsonl": _read_json,
    ".json": _read_json,
}


def is_table(name: str) -> bool:
    """Whether a name is a path: the file exists, or the name ends like a table (unlike `org/name@v1.0`)."""
    return Path(name).suffix in READERS or os.path.isfile(name)


def read_table(path: Path, texts: Collection[str] = ()) -> pd.DataFrame:
    """Read a Parquet, CSV, TSV, JSON-lines or JSON file.

    Args:
        path: the file; CSV, TSV and JSON in UTF-8.
        texts: columns of a CSV or TSV that are always text; an empty field is the empty text there.

    Raises:
        ValueError: the file does not exist, has an unknown ending or another format than its ending, or is ambiguous
            (rows with more or fewer fields than the header, two columns with the same name).
    """
    require_file(path)
    if path.suffix not in READERS:
        raise ValueError(f"{path} ends in {path.suffix!r}; expected one of: {', '.join(READERS)}.")
    try:
        return READERS[path.suffix](path, texts)
    except (OSError, ValueError, RecursionError, csv.Error, pa.ArrowException) as error:
        reason = " ".join(str(error).split()).removeprefix(f"{path} ").rstrip(".")[:300] or "it is damaged"
        raise ValueError(
            f"{path} could not be read as {path.suffix[1:]}: {reason}. Correct the file, or save it again."
        ) from error


def tables_in(path: Path) -> list[Path]:
    """Return a file itself, or the tables in a folder (or in its folder `data`), in order of their names.

    Raises:
        ValueError: there is no table in the folder.
    """
    if not path.is_dir():
        return [path]
    for folder in (path, path / "data"):
        if files := sorted(file for file in folder.glob("*") if file.suffix in READERS and file.is_file()):
            return files
    raise ValueError(f"There are no tables in {path}; expected files ending in {', '.join(READERS)}.")


def refuse(
    wrong: "Sequence[bool] | np.ndarray[Any, Any] | pd.Series[bool]", frame: pd.DataFrame, title: str, column: str,
    expected: str,
) -> None:  # fmt: skip
    """Raise ValueError for the first row that is marked as wrong, with its value in a column and what was expected."""
    if np.any(wrong):
        row = int(np.argmax(wrong))
        value = frame[column].iloc[row]
        value = value.item() if isinstance(value, np.generic) else value
        raise ValueError(
            f"{title} holds {value!r:.80} ({type(value).__name__}) in column {column!r} of row {row + 1}; expected "
            f"{expected}. Fix this column, or remove the row."
        )


def require_columns(frame: pd.DataFrame, columns: Collection[str], title: str) -> None:
    """Raise ValueError if a column is missing or has a missing value, or if there are no rows."""
    if lacking := [column for column in columns if column not in frame.columns]:
        raise ValueError(
            f"{title} lacks the column{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}; it has "
            f"{', '.join(map(str, frame.columns)) or 'none'}. Rename or add the missing ones."
        )
    if frame.empty:
        raise ValueError(f"{title} has no rows, so there is nothing to score. Check the file or your filter.")
    for column in columns:
        if (missing := frame[column].isna().to_numpy()).any():
            row = int(missing.argmax()) + 1
            raise ValueError(
                f"{title} has no value in column {column!r} of row {row}; fill it in or remove the row."
            )


def require_text(frame: pd.DataFrame, columns: Collection[str], title: str) -> None:
    """Raise ValueError if a column contains values that are not text, such as a number or a list."""
    for column in columns:
        refuse([not isinstance(cell, str) for cell in frame[column]], frame, title, column, "text")


def require_words(frame: pd.DataFrame, columns: Collection[str], title: str) -> None:
    r"""Raise ValueError if a column contains values that are not text, blank texts, or half characters (`\ud83d`)."""
    require_text(frame, columns, title)
    for column in columns:
        blank = [not text.strip() for text in frame[column]]
        refuse(blank, frame, title, column, "a text with at least one word")
        half = [text.encode(errors="ignore").decode() != text for text in frame[column]]
        refuse(half, frame, title, column, "a text with whole characters")


def require_boolean(frame: pd.DataFrame, column: str, title: str = "The table") -> "pd.Series[bool]":
    """Return a column of true and false, or of 1 and 0, as booleans; ValueError for anything else, such as `no`."""
    refuse(~frame[column].isin([True, False]), frame, title, column, "true or false")
    return frame[column].astype(bool)


def require_unreserved(frame: pd.DataFrame, reserved: Collection[str], title: str) -> None:
    """Raise ValueError if a user's column has the name of a column that the output adds (`reserved`)."""
    if replaced := [str(column) for column in frame.columns if column in reserved]:
        raise ValueError(
            f"{title} has the column{'s' if len(replaced) > 1 else ''} {', '.join(replaced)}, which the output would "
            f"replace. Rename {'them' if len(replaced) > 1 else 'it'}, for instance to {'my_' + replaced[0]!r}."
        )


def fingerprint(frame: pd.DataFrame) -> str:
    """Return the first 16 digits of a SHA-256 over a table's columns and values.

    Columns of true and false are marked, because pandas gives true and 1 the same hash.
    """
    marks = ["?" if pd.api.types.is_bool_dtype(kind) else "" for kind in frame.dtypes]
    columns = [f"{name}{mark}" for name, mark in zip(frame.columns, marks, strict=True)]
    digest = hashlib.sha256(",".join(columns).encode())
    digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    return digest.hexdigest()[:16]


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and line feed
_FORMULA = re.compile(r"[=@\t]|[+-](?!(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\Z)", re.IGNORECASE)  # no signed number


def safe_cell(value: Any) -> Any:
    r"""Return a text for a CSV: without control characters, and with an apostrophe before what a spreadsheet would run.

    >>> safe_cell("=1+1"), safe_cell("-0.5"), safe_cell("- no"), safe_cell("red\x1b[31m"), safe_cell(-1)
    ("'=1+1", '-0.5', "'- no", 'red[31m', -1)
    """
    text = _CONTROL.sub("", value) if isinstance(value, str) else value
    return f"'{text}" if isinstance(text, str) and _FORMULA.match(text) else text


def _write_csv(frame: pd.DataFrame, file: BinaryIO, separator: str = ",") -> None:
    frame.map(safe_cell).rename(columns=safe_cell).to_csv(file, sep=separator, index=False)


_WRITERS: dict[str, Callable[[pd.DataFrame, BinaryIO], object]] = {
    ".csv": _write_csv,
    ".tsv": partial(_write_csv, separator="\t"),
    ".jsonl": lambda frame, file: frame.to_json(file, orient="records", lines=True, force_ascii=False),
    ".parquet": lambda frame, file: frame.to_parquet(file, index=False),
}


def check_table(path: Path, inputs: Collection[Path] = ()) -> None:
    """Raise ValueError if `write_table` could not write: wrong ending, no permission, or an input file."""
    check_file(path, _WRITERS, inputs)


def write_table(frame: pd.DataFrame, path: Path, inputs: Collection[Path] = ()) -> None:
    """Write a table in the format that the path's ending names: .csv, .tsv, .jsonl or .parquet.

    In CSV and TSV, a text that a spreadsheet could run as a formula (it begins with = + - @) gets a leading
    apostrophe, and control characters are removed; numbers are not changed. An existing file is replaced when the new
    one is complete; ValueError where it is one of the `inputs`, has another ending, or cannot be written.
    """
    check_table(path, inputs)
    with write_atomically(path) as file:
        _WRITERS[path.suffix](frame, file)
