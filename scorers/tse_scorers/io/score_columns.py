"""The columns of tables of scores, as each suite declares them: name, type, meaning, and which values are possible.

The tables are made from these declarations, and so is the reference page of output files. Whoever reads a table of a
record checks it against them: a stranger can edit a score and make its checksum fit. The metrics of a suite's rows of
results are declared in the same way, as the columns of a table `rows`.
"""

import math
import re
from collections.abc import Iterable
from enum import Enum

import numpy as np
import pyarrow as pa

NOISE = 1e-6
"""How far floating point may take a share beyond 0 or 1."""
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
"""Which columns hold texts, or nothing at all."""


class Values(Enum):
    """The least and greatest value in a column of scores; NaN and null stand for none."""

    ANY = (-math.inf, math.inf)
    SHARE = (-NOISE, 1 + NOISE)
    CHANGE = (-1 - NOISE, 1 + NOISE)
    RIGHT_OR_WRONG = (0, 1)
    COUNT = (0, math.inf)
    LOGPROB = (-math.inf, 1e-3)
    SURPRISAL = (-1e-3 / math.log(2), math.inf)


def described(
    *columns: tuple[str, str | pa.DataType, str] | tuple[str, str | pa.DataType, str, Values],
) -> pa.Schema:
    """Return the schema of a table of scores.

    Args:
        columns: name, type, and what the column holds, as Markdown; then, of a score, which values are possible. The
            last two are the field's metadata. `<p>` in a name stands for the cut-offs, each of which has a column.
    """
    return pa.schema(
        pa.field(
            name,
            pa.type_for_alias(kind) if isinstance(kind, str) else kind,
            metadata={"meaning": meaning} | ({"values": values[0].name} if values else {}),
        )
        for name, kind, meaning, *values in columns
    )


def scores_among(names: Iterable[str], declared: pa.Schema) -> set[str]:
    """Return those of the names that are columns of scores, and so neither data nor conditions of a design."""
    patterns = [_pattern(field) for field in declared if b"values" in (field.metadata or {})]
    return {name for name in names if any(pattern.fullmatch(name) for pattern in patterns)}


def impossible(table: pa.Table, declared: Iterable[pa.Field]) -> str | None:
    """Name the first impossible score, or column of texts that holds something else; None where all are possible."""
    for field in declared:
        for column in filter(_pattern(field).fullmatch, table.column_names):
            kind = table[column].type
            stored = kind.value_type if pa.types.is_dictionary(kind) else kind
            if pa.types.is_string(field.type) and not any(is_text(stored) for is_text in _TEXTS):
                return f"the column {column!r} has values of the type {stored}; expected texts"
            if problem := _not_among(table, column, possible_values(field)):
                return problem
    return None


def possible_values(field: pa.Field) -> Values:
    """Return which values a declared column can have."""
    return Values[(field.metadata or {}).get(b"values", b"ANY").decode()]


def _pattern(field: pa.Field) -> re.Pattern[str]:
    return re.compile(re.escape(field.name).replace("<p>", r"[\d.e-]+"))


def _not_among(table: pa.Table, column: str, possible: Values) -> str | None:
    if possible is Values.ANY:
        return None
    try:
        values = table[column].cast(pa.float64()).to_numpy()
    except pa.ArrowException:
        return f"the column {column!r} has values of the type {table[column].type}; expected numbers"
    low, high = possible.value
    wrong, expected = (values < low) | (values > high), ""
    if not wrong.any() and possible is Values.RIGHT_OR_WRONG:
        wrong, expected = ~np.isin(values, (0, 1)) & ~np.isnan(values), "0 or 1"
    if not wrong.any():
        return None
    ends = [f"{round(end, 2) + 0.0:g}" for end in (low, high)]
    if not expected and math.isinf(low + high):
        expected = f"{ends[0]} or more" if math.isfinite(low) else f"at most {ends[1]}"
    row = int(wrong.argmax())
    value = table[column][row].as_py()
    return (
        f"row {row + 1} has {value!r:.40} in the column {column!r}; expected {expected or ' to '.join(ends)}"
    )
