"""Data of suites: tables of the user's own, and what is wrong or odd about them.

What makes scores meaningless is a ValueError that names the row; what only limits them is a warning, and the data is
scored as it is.
"""

import json
import warnings
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..io.bundle import load_data
from ..io.files import read_text
from ..io.tables import fingerprint, is_table, read_table, require_columns, require_words, tables_in
from ..io.tables import refuse as refuse

WHITE_SPACE = r"^\s|\s$|\s\s|[^\S ]|[\u00ad\u200b\u2060\ufeff]"
"""White space that is not one space between two words: doubled, at an end, another character, or one without width."""
MOST_VALUES = 8
"""A column of the user's with more values than this is a name or a number of items, not a condition."""


class DataWarning(UserWarning):
    """Something about the data that limits what its scores mean."""


def read(data: Any, texts: Collection[str] = ()) -> pd.DataFrame:
    """Read a table of the user's own.

    Args:
        data: a file, a data set of the Hub (`org/name[@revision]`, with one configuration and
            split), a data frame, a `datasets.Dataset`, or a list of dicts.
        texts: columns of a CSV or TSV that are always text, so that 12 stays "12" and an empty field is the empty text.

    Raises:
        ValueError: there is no `data`, it cannot be read or downloaded, or the table is ambiguous.
    """
    if data is None:
        raise ValueError("There is no data: name a table with data (--data).")
    if isinstance(data, str | Path):
        return load_data(str(data)).to_pandas() if is_hub_id(data) else read_table(Path(data), texts)
    if isinstance(data, Mapping):
        raise ValueError(f"data is a DatasetDict with the splits {', '.join(data)}. Give one of them.")
    frame = pd.DataFrame(data) if isinstance(data, list | pd.DataFrame) else data.to_pandas()
    frame = frame if frame.columns.nlevels > 1 else frame.set_axis([*map(str, frame)], axis=1)
    if not frame.columns.is_unique:
        raise ValueError(f"data has two columns of one name: {', '.join(map(str, frame))}. Rename one.")
    return frame.reset_index(drop=True)


def is_hub_id(data: Any) -> bool:
    """Whether data are named by `org/name[@revision]`, and not by a path."""
    return str(data).count("/") == 1 and not is_table(str(data)) and not Path(str(data)).exists()


def columns_of(data: Any) -> list[str]:
    """Return the columns of a table of the user's own, or of the first one in a folder; of a JSON object, the keys.

    Raises:
        ValueError: there is no such data, or no table in the folder.
    """
    if isinstance(data, str | Path) and not is_hub_id(data):
        data = tables_in(Path(data))[0]
        if data.suffix == ".json":
            with suppress(ValueError, RecursionError):  # `read` says what is wrong
                if isinstance(content := json.loads(read_text(data)), dict):
                    return [*content]
    return [str(column) for column in read(data).columns]


def name_of(data: Any, default: str = "") -> str:
    """Return what data are called in results: a path or an id, or of a table in memory the name in its `attrs`."""
    if data is None or isinstance(data, str | Path):
        return default if data is None else str(data)
    named = getattr(data, "attrs", {}).get("name")
    return str(named) if named else f"data-frame-{fingerprint(read(data).astype(str))[:8]}"


def check(
    frame: pd.DataFrame,
    title: str,
    texts: Sequence[str] = (),
    among: Mapping[str, Collection[Any]] | None = None,
) -> pd.DataFrame:
    """Return a table; ValueError where a column is missing or a cell is not what it must be, naming the row.

    Args:
        frame: the table.
        title: of the table, for messages.
        texts: columns that must hold a text with at least one word in each row.
        among: column -> the values that it may have.

    >>> check(pd.DataFrame({"label": [1, 2]}), "cola.csv", among={"label": (0, 1)})
    Traceback (most recent call last):
    ValueError: cola.csv holds 2 (int) in column 'label' of row 2; expected 0 or 1. Fix this column, or remove the row.
    """
    require_columns(frame, [*texts, *(among or {})], title)
    require_words(frame, texts, title)
    for column, values in (among or {}).items():
        refuse(~frame[column].isin(list(values)), frame, title, column, " or ".join(map(str, values)))
    return frame


def numbers(frame: pd.DataFrame, column: str, title: str, whole: bool = False) -> "pd.Series[Any]":
    """Return a column of numbers, perhaps written as texts; ValueError for anything else, or one that is not finite."""
    values = pd.to_numeric(frame[column], errors="coerce").astype(float)
    expected = "a whole number" if whole else "a finite number"
    refuse(~np.isfinite(values) | (whole & (values % 1 != 0)), frame, title, column, expected)
    return values.astype("int64") if whole else values


def warn(marked: "pd.Series[bool] | np.ndarray", texts: Sequence[Any], what: str, advice: str) -> None:
    """Warn of marked rows, with their number and the first of them.

    Args:
        marked: which rows.
        texts: what to show of each row.
        what: what was found, which the count follows: "rows that repeat an earlier row".
        advice: what it does to scores, and what to do.
    """
    marked = np.asarray(marked, dtype=bool)
    if marked.any():
        row = int(marked.argmax())
        first = f"the first is row {row + 1}, {str(np.asarray(texts, dtype=object)[row])[:80]!r}"
        warnings.warn(f"{what}: {int(marked.sum()):,} ({first}). {advice}", DataWarning, stacklevel=3)


def warn_of_white_space(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Warn of rows with white space that changes scores."""
    odd = np.zeros(len(frame), dtype=bool)
    for column in columns:  # equal texts, which are many, are searched once
        codes, different = pd.factorize(frame[column].astype(str))
        odd |= pd.Series(different, dtype=object).str.contains(WHITE_SPACE).to_numpy(dtype=bool)[codes]
    advice = "These characters change scores. Replace each run of them by one space, and none at the ends."
    what = "rows with white space other than one space between words"
    warn(odd, frame[list(columns)].astype(str).agg(" ".join, axis=1) if odd.any() else [], what, advice)


def own_levels(frame: pd.DataFrame, known: Collection[str]) -> list[str]:
    """Return the columns of a user's own whose few values make groups of results."""
    names = [str(name) for name in frame if name not in known]
    plain = [name for name in names if not isinstance(frame[name].iloc[0], list | dict | np.ndarray)]
    return [name for name in plain if 2 <= frame[name].nunique() <= min(MOST_VALUES, len(frame) // 2)]
