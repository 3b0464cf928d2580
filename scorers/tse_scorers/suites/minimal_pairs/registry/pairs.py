"""Brings the files of a minimal-pair set into the columns of minimal pairs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from ....io.tables import require_columns
from .pair_set import PairSet
from .sources import files_of
from .tables import read_tables

_ENDINGS = (".tar.gz", ".jsonl", ".json", ".parquet", ".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class LoadedPairs:
    """A set as it was loaded.

    Attributes:
        table: columns `UID`, `linguistics_term`, `field`, `sentence_good`, `sentence_bad`, `language`, and `cluster`
            where the set says which pairs are variants of one item; in the order of the files.
        configs: the configurations that were loaded.
        revision: the commit; empty for a local copy that is not the pinned version.
    """

    table: pd.DataFrame
    configs: tuple[str, ...]
    revision: str


def load_pairs(pairs: PairSet, config: str | None = None, source: Path | None = None) -> LoadedPairs:
    """Load a set.

    Args:
        pairs: the set.
        config: its configurations, separated by commas; None: those by default.
        source: a local copy of its repository, or a file; None uses the Hub or the pinned repository.

    Raises:
        ValueError: a configuration is unknown, or a file or column is missing.
    """
    configs = pairs.chosen(config)
    files, revision = files_of(pairs, configs, source)
    frames = [
        _standard(pairs, frame, file.config, name)
        for file in files
        for name, frame in read_tables(file, pairs.layout)
    ]
    table = pd.concat(frames, ignore_index=True)
    loaded = tuple(dict.fromkeys(file.config for file in files))
    if files and all(file.is_pinned for file in files):
        revision = pairs.source.revision
    return LoadedPairs(table, loaded, revision)


def _standard(pairs: PairSet, frame: pd.DataFrame, config: str, name: str) -> pd.DataFrame:
    """Return the pairs of one file in the columns of `LoadedPairs.table`."""
    columns, where = pairs.columns, f"{pairs.title}, {name}"
    if pairs.layout.label:
        frame = _side_by_side(frame, pairs, where)
    sides = {side: column for side, column in (("good", columns.good), ("bad", columns.bad)) if column}
    require_columns(frame, [column for column in sides.values() if "{" not in column], where)
    values = _places(name, pairs.layout.files) | {"config": config, "language": pairs.language(config)}
    table = {
        "UID": _filled(columns.paradigm, frame, values, where),
        "linguistics_term": _filled(columns.phenomenon, frame, values, where),
        "field": _filled(columns.field, frame, values, where),
        **{
            f"sentence_{side}": _sentences(
                _filled(column, frame, values, where) if "{" in column else frame[column], pairs.prepare
            )
            for side, column in sides.items()
        },
        "language": values["language"],
    }
    if columns.cluster:
        table["cluster"] = _filled(columns.cluster, frame, values, where)
    return pd.DataFrame(table)


def _side_by_side(frame: pd.DataFrame, pairs: PairSet, where: str) -> pd.DataFrame:
    """Put the n-th acceptable and the n-th unacceptable row into one row.

    In the files, the column `columns.good` holds the sentence of either row; the result has the unacceptable one in
    `columns.bad`.
    """
    column, acceptable = pairs.layout.label
    require_columns(frame, (column, pairs.columns.good), where)
    is_good = frame[column].astype(str).str.strip() == acceptable
    good, bad = frame[is_good].reset_index(drop=True), frame[~is_good].reset_index(drop=True)
    if len(good) != len(bad) or not len(good):
        raise ValueError(
            f"{where} has {len(good)} rows with {column} = {acceptable!r} and {len(bad)} others; expected as many of "
            "each. Check the file."
        )
    return good.assign(**{pairs.columns.bad: bad[pairs.columns.good]})


def _places(name: str, pattern: str) -> dict[str, str]:
    """Return what a file's name says: `path` below the folder that the pattern names, its first part, its last part."""
    ending = next((ending for ending in _ENDINGS if name.endswith(ending)), "")
    fixed = re.match(r"(?:[^*{/]+/)*", pattern)
    path = name.removesuffix(ending).removeprefix(fixed[0] if fixed else "")
    return {"path": path, "top": path.split("/")[0], "file": PurePosixPath(path).name}


def _filled(template: str, frame: pd.DataFrame, values: Mapping[str, str], where: str) -> Any:
    """Return a text per row, with the values of columns in place of `{column}`; without spaces at its ends."""
    parts = re.split(r"\{([^{}]+)\}", template)
    filled = pd.Series([""] * len(frame), index=frame.index, dtype=object)
    for index, part in enumerate(parts):
        if index % 2 == 0 or part in values:
            filled = filled + (values[part] if index % 2 else part)
            continue
        if part not in frame:
            raise ValueError(
                f"{where} lacks the column {part}; it has {', '.join(frame.columns)}. Use another file."
            )
        filled = filled + frame[part].fillna("none").astype(str).str.strip()
    return filled.str.strip()


def _sentences(column: "pd.Series[Any]", prepare: str) -> "pd.Series[Any]":
    return column.map(sentence_case) if prepare == "sentence_case" else column


def sentence_case(tokens: str) -> str:
    """Write separated lower-case words as a sentence: a capital, no space before punctuation, a full stop.

    >>> sentence_case("the author , who laughs"), sentence_case("l' auteur rit")
    ('The author, who laughs.', "L'auteur rit.")
    """
    text = re.sub(r"\s+([,.;:!?])", r"\1", tokens.strip())
    text = re.sub(r"(?<=\w')\s+", "", text)  # the French article: l' auteur
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
