"""The text of a user's CSV, TSV or JSON, checked before pandas reads it, because pandas guesses if it is wrong."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .declared import HALF_CHARACTER, has_half_character
from .files import decoded, read_bytes

_MAGIC = {
    b"\x1f\x8b": "a gzip archive; unpack it first (`gunzip`)",
    b"PK\x03\x04": "an Excel workbook or a zip archive; save the sheet as CSV (UTF-8)",
    b"\xd0\xcf\x11\xe0": "an Excel workbook; save the sheet as CSV (UTF-8)",
    b"PAR1": "a Parquet file; give it the ending .parquet",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"\x28\xb5\x2f\xfd": "a zstd archive; unpack it first",
    b"BZh": "a bzip2 archive; unpack it first",
    b"\xfd7zXZ": "an xz archive; unpack it first",
}


def checked_text(path: Path) -> str:
    """Return the content of a file; raises ValueError if it is empty or is not UTF-8 text (an archive, a workbook)."""
    content = read_bytes(path)
    if not content.strip(b"\xef\xbb\xbf \t\r\n"):
        raise ValueError(
            f"{path} could not be read as {path.suffix[1:]}: the file is empty. Check that it is complete."
        )
    for magic, description in _MAGIC.items():
        if content.startswith(magic):
            kind, _, remedy = description.partition("; ")
            raise ValueError(
                f"{path} is {kind}; expected {path.suffix[1:]} as UTF-8 text. To fix it: {remedy}."
            )
    return decoded(path, content)


def check_delimited(path: Path, text: str, sep: str) -> list[str]:
    """Return the header of the text of a CSV or TSV.

    Raises:
        ValueError: two columns have the same name, or a row has more or fewer fields than the header; with its line.
    """
    header: list[str] | None = None
    first = 1  # the first line of a row
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    try:
        for row in rows:
            if header is None:
                if row:
                    header = row
                    if repeated := sorted({name for name in header if header.count(name) > 1}):
                        raise ValueError(
                            f"{path} has more than one column named {', '.join(map(repr, repeated))}; expected each "
                            "name once. Rename or remove one."
                        )
            elif row and len(row) != len(header):
                raise ValueError(_wrong_count(path, first, len(row), header, sep))
            first = rows.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f'{path}, line {first}: {error}. A quotation mark may be open there; close it, or double it ("").'
        ) from error
    return header or []


def other_separator(header: Sequence[object]) -> str:
    """Say that a header is one field because another character separates its fields; empty if it is not.

    Spreadsheets save CSV with semicolons where the decimal mark is a comma.

    >>> other_separator(["one;two"])
    "Its fields seem to be separated by ';'; save it with commas (.csv) or tabs (.tsv)."
    """
    for separator, name in ((";", "';'"), ("\t", "tabs"), (",", "commas")):
        if len(header) == 1 and separator in str(header[0]):
            return f"Its fields seem to be separated by {name}; save it with commas (.csv) or tabs (.tsv)."
    return ""


def _wrong_count(path: Path, line: int, n_fields: int, header: Sequence[str], sep: str) -> str:
    expected, separator = len(header), "comma" if sep == "," else "tab"
    if hint := other_separator(header):
        return f"{path}, line {line}: {n_fields} fields, but the header has {expected}. {hint}"
    if n_fields > expected:
        cause = f"an unquoted {separator} in a text is the usual cause. Put that text in double quotes"
    else:
        cause = (
            f"a {separator} is missing, or a quotation mark is open. Add the missing {separator}s or quotes"
        )
    return f"{path}, line {line}: {n_fields} fields, but the header has {expected}; {cause}."


def check_json(path: Path, text: str, lines: bool) -> None:
    """Raise ValueError if a JSON file has lists, objects or half characters in cells, or the same name twice in a row.

    Args:
        path: the file.
        text: its content.
        lines: True if each line is a row. If False, the file is a list of rows, or columns in the format of pandas.
    """
    if lines:
        content: object = [_parsed(line) for line in text.split("\n") if line.strip()]
    else:
        content = _parsed(text)
    if isinstance(content, _Pairs):  # {column: {row: value}}
        columns = [(name, values) for name, values in content if isinstance(values, _Pairs)]
        n_rows = max((len(values) for _, values in columns), default=0)
        content = [
            _Pairs((name, values[row][1]) for name, values in columns if row < len(values))
            for row in range(n_rows)
        ]
        _check_cells(path, content)
    elif isinstance(content, list):
        _check_rows(path, content)
        _check_cells(path, content)
    else:
        raise ValueError(f"{path} holds a single value; expected a list of objects, one for each row.")


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as (name, value) pairs, which keeps names that occur twice."""


def _parsed(text: str) -> object:
    return json.loads(text, object_pairs_hook=_Pairs)


def _check_rows(path: Path, rows: list[object]) -> None:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, _Pairs):
            raise ValueError(
                f'{path} holds {row!r:.60} in row {number}; expected an object such as {{"sentence": "It rains."}}. '
                "Write one object for each row."
            )
        names = [name for name, _ in row]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{path} has the name {twice!r} twice in row {number}. Remove one of the two.")


def _check_cells(path: Path, rows: list[_Pairs]) -> None:
    for number, row in enumerate(rows, 1):
        if has_half_character(row):
            name = next(name for name, value in row if has_half_character([name, value]))
            raise ValueError(
                f"{path} holds {HALF_CHARACTER} in column {name!r:.60} of row {number}; expected text. Write the "
                r"whole character, or both of its escapes (\ud83d\ude00)."
            )
        for name, value in row:
            if isinstance(value, list):
                kind = "object" if isinstance(value, _Pairs) else "list"
                raise ValueError(
                    f"{path} holds {value!r:.60} ({kind}) in column {name!r} of row {number}; expected text or a "
                    "number. Write its parts as separate columns, or remove the column."
                )
