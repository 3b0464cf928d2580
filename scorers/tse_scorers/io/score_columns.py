"""The columns of tables of scores, as each suite declares them: name, type and meaning.

The tables are made from these declarations, and so is the reference page of output files. The metrics of a suite's rows
of results are declared in the same way, as the columns of a table `rows`.
"""

import math
import re
from collections.abc import Iterable
from enum import Enum

import pyarrow as pa

NOISE = 1e-6
"""How far floating point may take a share beyond 0 or 1."""


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


def _pattern(field: pa.Field) -> re.Pattern[str]:
    return re.compile(re.escape(field.name).replace("<p>", r"[\d.e-]+"))
