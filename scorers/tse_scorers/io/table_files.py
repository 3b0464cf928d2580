"""Tables in files of all formats: read strictly, checked for what a suite needs, written completely or not at all.

An ambiguous file is refused with its line. Nothing is guessed, because a wrong guess would change scores.
"""

import hashlib
import io
import json
import math
import re
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .declared import has_half_character
from .files import (
    check_file,
    is_file,
    require_regular_file,
    unreadable,
    without_control_characters,
    write_atomically,
)
from .limits import require_parquet_size
from .raw_tables import check_delimited, check_json, checked_text, other_separator

Tables = dict[str, pa.Table]
"""Scores per example: the last part of a file's name -> its table."""
_FORMULA = re.compile(r"[=+\-@\t\r]")
"""The beginning of a text that a spreadsheet runs."""


def _read_csv(path: Path, texts: Collection[str], sep: str = ",") -> pd.DataFrame:
    text = checked_text(path)
    columns = check_delimited(path, text, sep)
    # "null" and "NA" may be words, so only an empty field is a missing value.
    missing = {column: ["", "nan", "NaN"] for column in columns if column not in texts}
    types, content = dict.fromkeys(texts, str), io.StringIO(text, newline="")
    return pd.read_csv(
        content, sep=sep, keep_default_na=False, na_values=missing, dtype=types, index_col=False
    )


def _read_json(path: Path, _: Collection[str], lines: bool = False) -> pd.DataFrame:
    text = checked_text(path)
    check_json(path, text, lines)
    return pd.read_json(io.StringIO(text), lines=lines, dtype=False)  # text stays text


def _read_parquet(path: Path, _: Collection[str]) -> pd.DataFrame:
    with pq.ParquetFile(path) as file:
        require_parquet_size(path, file)
        for field in file.schema_arrow:
            if any(check(field.type) for check in (pa.types.is_binary, pa.types.is_large_binary)):
                raise ValueError(
                    f"{path} holds bytes in column {field.name!r}; expected texts or numbers. Convert the column to "
                    "text, or remove it."
                )
    frame = pd.read_parquet(path)
    # Repeated texts may be stored as categories, which refuse other values and cannot be joined.
    categories = {name: kind.categories.dtype for name, kind in frame.dtypes.items() if kind == "category"}
    return frame.astype(categories) if categories else frame  # even without any, `astype` copies the table


READERS: dict[str, Callable[[Path, Collection[str]], pd.DataFrame]] = {
    ".parquet": _read_parquet,
    ".csv": _read_csv,
    ".tsv": partial(_read_csv, sep="\t"),
    ".jsonl": partial(_read_json, lines=True),
    ".json": _read_json,
}


def is_table(name: str) -> bool:
    """Whether a name is a path: the file exists, or the name ends like a table (unlike `org/name@v1.0`)."""
    return Path(name).suffix in READERS or is_file(name)


def read_table(path: Path, texts: Collection[str] = ()) -> pd.DataFrame:
    """Read a Parquet, CSV, TSV, JSON-lines or JSON file.

    Args:
        path: the file.
        texts: columns of a CSV or TSV that are always text; an empty field is the empty text there.

    Raises:
        ValueError: the file does not exist, is not a regular file, has an unknown ending or another format than its
            ending, or is ambiguous (rows with more or fewer fields than the header, two columns with the same name,
            lists in cells). The message names the line or row.
    """
    require_regular_file(path)
    if path.suffix not in READERS:
        raise ValueError(f"{path} ends in {path.suffix!r}; expected one of: {', '.join(READERS)}.")
    try:
        return READERS[path.suffix](path, texts)
    except OSError as error:
        if error.errno is not None:
            raise unreadable(path, error) from error
        raise _misread(path, error) from error
    except (ValueError, RecursionError, MemoryError, pa.ArrowException) as error:
        raise _misread(path, error) from error


def _misread(path: Path, error: BaseException) -> ValueError:
    if str(error).startswith(str(path)):  # our own error, which is already complete
        return ValueError(str(error))
    reason = " ".join(str(error).split()).rstrip(".")[:300] or type(error).__name__
    return ValueError(
        f"{path} could not be read as {path.suffix[1:]}: {reason}. Check that the file is complete and has the format "
        "that its ending names."
    )


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without formulas and control characters in its texts; numbers are unchanged.

    >>> without_formulas(pd.DataFrame({"text": ["=1+1", "-0.5", "- no"], "n": [-1, 2, 3]})).values.tolist()
    [["'=1+1", -1], ['-0.5', 2], ["'- no", 3]]
    """
    safe = frame.copy(deep=False)
    for place, (_, column) in enumerate(frame.items()):
        if not (
            pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype)
        ):
            escaped = [escape_text(value) if isinstance(value, str) else value for value in column]
            safe.isetitem(place, pd.Series(escaped, index=column.index, dtype=object))
    safe.columns = pd.Index([escape_text(name) if isinstance(name, str) else name for name in frame.columns])
    return safe


def escape_text(text: str) -> str:
    """Return a text for a CSV: an apostrophe before a formula, and no control characters."""
    text = without_control_characters(text)  # first, because removing them may leave a formula at the start
    return "'" + text if _FORMULA.match(text) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_WRITERS: dict[str, Callable[[pd.DataFrame, BinaryIO], object]] = {
    ".csv": lambda frame, file: without_formulas(frame).to_csv(file, index=False),
    ".tsv": lambda frame, file: without_formulas(frame).to_csv(file, sep="\t", index=False),
    ".jsonl": lambda frame, file: frame.to_json(file, orient="records", lines=True, force_ascii=False),
    ".parquet": lambda frame, file: frame.to_parquet(file, index=False),
}


def check_table(path: Path, inputs: Collection[Path] = ()) -> None:
    """Raise ValueError if `write_table` could not write: wrong ending, no permission, or an input file."""
    check_file(path, _WRITERS, inputs)


def write_table(frame: pd.DataFrame, path: Path, inputs: Collection[Path] = ()) -> None:
    """Write a table in the format that the path's ending names: .csv, .tsv, .jsonl or .parquet.

    In CSV and TSV, a text that a spreadsheet could run as a formula (it begins with = + - @) gets a leading
    apostrophe, and terminal control characters are removed. Numbers, and all other formats, are not changed.

    Args:
        frame: the table.
        path: the file; an existing one is replaced when the new one is complete.
        inputs: files that the table was made from, which are never replaced.

    Raises:
        ValueError: another ending, the file is one of the inputs, or it cannot be written; nothing is left behind.
    """
    check_table(path, inputs)
    with write_atomically(path) as file:
        _WRITERS[path.suffix](frame, file)


def require_columns(frame: pd.DataFrame, columns: Collection[str], title: str) -> None:
    """Raise ValueError if a column is missing or has a missing value, or if there are no rows.

    The message names what was found, what was expected and what to do.
    """
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(
            f"{title} lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}; it has "
            f"{', '.join(map(str, frame.columns)) or 'none'}. "
            f"{other_separator(list(frame.columns)) or 'Rename or add the missing ones.'}"
        )
    if frame.empty:
        raise ValueError(
            f"{title} has no rows, so there is nothing to score. Check the file or the filter that you used."
        )
    for column in columns:
        empty = frame[column].isna()
        if empty.any():
            raise ValueError(
                f"{title} has no value in column {column!r} of row {int(empty.to_numpy().argmax()) + 1}; fill it in or "
                "remove the row."
            )


def require_text(frame: pd.DataFrame, columns: Collection[str], title: str) -> None:
    """Raise ValueError if a column contains values that are not text, such as a number or a list.

    The message names what was found, what was expected and what to do.
    """
    for column in columns:
        if isinstance(frame[column].dtype, pd.StringDtype):
            continue
        wrong = ~frame[column].map(lambda cell: isinstance(cell, str)).to_numpy(dtype=bool)
        if wrong.any():
            row = int(wrong.argmax())
            value = frame[column].iloc[row]
            raise ValueError(
                f"{title} holds {value!s:.80} ({type(value).__name__}) in column {column!r} of row {row + 1}; expected "
                "text. Fix this column."
            )


def require_words(frame: pd.DataFrame, columns: Collection[str], title: str) -> None:
    """Raise ValueError if a column contains values that are no text, or texts without a word.

    The message names what was found, what was expected and what to do.
    """
    require_text(frame, columns, title)
    for column in columns:
        for row, text in enumerate(frame[column], 1):
            if not text.strip() or has_half_character(text):
                expected = "whole characters" if text.strip() else "at least one word"
                raise ValueError(
                    f"{title} holds {text!r:.80} in column {column!r} of row {row}; expected a text with {expected}. "
                    "Fix this column, or remove the row."
                )


def as_numbers(column: "pd.Series[object]") -> "pd.Series[float]":
    """Return a column as numbers; NaN where it holds something else, or a number that is too large."""
    try:
        return pd.to_numeric(column, errors="coerce").astype(float)
    except (TypeError, OverflowError):
        return column.map(_as_number).astype(float)


def _as_number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


_BOOLEANS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


def require_boolean(frame: pd.DataFrame, column: str, title: str = "The table") -> pd.Series:
    """Return a column as booleans: true/false, yes/no and 1/0, as values or as text in any case.

    Raises:
        ValueError: a value is missing or none of these; the message names the row.
    """
    if pd.api.types.is_bool_dtype(frame[column].dtype) and not frame[column].isna().any():
        return frame[column].astype(bool)
    # A column of 0 and 1 with a missing value is read as floats.
    plain = (
        int(value) if isinstance(value, float) and value.is_integer() else value for value in frame[column]
    )
    booleans = [_BOOLEANS.get(str(value).strip().lower()) for value in plain]
    for row, (value, parsed) in enumerate(zip(frame[column], booleans, strict=True)):
        if parsed is None:
            raise ValueError(
                f"{title} holds {value!r:.80} in column {column!r} of row {row + 1}; expected true or false. Fix this "
                "column."
            )
    return pd.Series(booleans, index=frame.index, name=column, dtype=bool)


def require_unreserved(frame: pd.DataFrame, reserved: Collection[str], title: str) -> None:
    """Raise ValueError if a user's column has the name of a column that the output adds.

    Args:
        frame: the user's table.
        reserved: names of columns that are added to it, for instance `logprob` and `n_tokens`.
        title: of the table, for the message.
    """
    replaced = [str(column) for column in frame.columns if column in reserved]
    if replaced:
        raise ValueError(
            f"{title} has the column{'s' if len(replaced) > 1 else ''} {', '.join(replaced)}, which the output would "
            f"replace; these names are reserved: {', '.join(reserved)}. Rename the column, for instance to "
            f"{json.dumps('my_' + replaced[0])}."
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
