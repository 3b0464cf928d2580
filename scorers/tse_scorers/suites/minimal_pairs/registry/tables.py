"""Reads the files of minimal-pair sets into tables of text, also without a header, and from archives."""

import csv
import io
import json
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pandas as pd

from ....io.files import not_utf8
from .pair_set import Layout
from .sources import LocalFile

_ARCHIVES = (".zip", ".tar.gz", ".tgz")
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}


def read_tables(file: LocalFile, layout: Layout) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables of a file, each with its name in the set; an archive holds several.

    Raises:
        ValueError: the file cannot be read.
    """
    try:
        for member, content in _members(file.path, file.name):
            with content:
                yield member, _read(content, member, layout, layout.separator.get(file.config))
    except UnicodeDecodeError as error:
        raise not_utf8(file.path) from error
    except (OSError, ValueError, csv.Error, tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{file.path} could not be read: {reason}. Check that the file is complete and of the set that was named."
        ) from error


def _members(path: Path, name: str) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the name and content of a file, or of each table in an archive; nothing is unpacked to the disk."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for inside in sorted(filter(_is_table, archive.namelist())):
                yield inside, archive.open(inside)
    elif path.name.endswith(_ARCHIVES):
        with tarfile.open(path, "r:gz") as archive:
            members = {member.name: member for member in archive.getmembers() if member.isfile()}
            for inside in sorted(filter(_is_table, members)):
                content = archive.extractfile(members[inside])
                assert content is not None  # it is a regular file
                yield inside, content
    else:
        yield name, path.open("rb")


def _is_table(name: str) -> bool:
    path = PurePosixPath(name)  # Mac resource files are in archives of others
    return (
        path.suffix in (*_SEPARATORS, ".jsonl")
        and "__MACOSX" not in path.parts
        and not path.name.startswith(".")
    )


def _read(file: IO[bytes], name: str, layout: Layout, separator: str | None) -> pd.DataFrame:
    if name.endswith(".json") and layout.header:
        rows = [list(_texts(row)) for row in json.load(file)]
        return _frame(rows, list(layout.header), name)
    if name.endswith((".jsonl", ".json")):
        return pd.read_json(file, lines=name.endswith("l"), dtype=False)
    separator = separator or _SEPARATORS.get(PurePosixPath(name).suffix, ",")
    text = file.read().decode("utf-8-sig")
    others = layout.alternating.get(PurePosixPath(name).name)
    if others is not None:
        return _alternating(text.split("\n"), others, layout.label)
    lines_read = [
        line
        for line in io.StringIO(text, newline="")  # sentences may hold other characters that separate lines
        if not layout.comment or (line.strip() and not line.startswith(layout.comment))
    ]
    if layout.header:  # text without a header is not quoted: a quotation mark is part of the sentence
        rows = list(csv.reader(lines_read, delimiter=separator, quoting=csv.QUOTE_NONE))
    else:
        rows = list(csv.reader(lines_read, delimiter=separator))
    if not rows:
        raise ValueError(f"{name} has no rows")
    header, body = (list(layout.header), rows) if layout.header else (rows[0], rows[1:])
    return _frame([row for row in body if any(row)], header, name)


def _frame(body: list[list[str]], header: list[str], name: str) -> pd.DataFrame:
    for number, row in enumerate(body):
        if len(row) < len(header):
            raise ValueError(f"row {number} of {name} has {len(row)} fields; expected {len(header)}")
    return pd.DataFrame([row[: len(header)] for row in body], columns=header, dtype=object)


def _texts(row: Any) -> Iterator[str]:
    """Yield the texts of nested lists, from left to right."""
    if isinstance(row, list):
        for part in row:
            yield from _texts(part)
    else:
        yield str(row)


def _alternating(lines: list[str], columns: Mapping[str, str], label: tuple[str, ...]) -> pd.DataFrame:
    """Return bare sentences as the rows of a labelled table: the first, third, … line is acceptable."""
    sentences = [line.strip() for line in lines if line.strip()]
    values = {
        column: [value.replace("{line}", sentence) for sentence in sentences]
        for column, value in columns.items()
    }
    labels = [label[1] if number % 2 == 0 else "" for number in range(len(sentences))]
    return pd.DataFrame({label[0]: labels, **values}, dtype=object)
