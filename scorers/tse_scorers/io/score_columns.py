"""The columns of tables of scores, as each suite declares them: name, type and meaning.

The tables are made from these declarations, and so is the reference page of output files. The metrics of a suite's rows
of results are declared in the same way, as the columns of a table `rows`.
"""

import re
from collections.abc import Iterable
from enum import Enum, auto

import pyarrow as pa


class Values(Enum):
    """What kind of score a column holds; NaN and null stand for none."""

    ANY = auto()
    SHARE = auto()
    CHANGE = auto()
    RIGHT_OR_WRONG = auto()
    COUNT = auto()
    LOGPROB = auto()
    SURPRISAL = auto()


def described(
    *columns: tuple[str, str | pa.DataType, str] | tuple[str, str | pa.DataType, str, Values],
) -> pa.Schema:
    """Return the schema of a table of scores.

    Args:
        columns: name, type, and what the column holds, as Markdown; then, of a score, which kind it is. The last two
            are the field's metadata. `<p>` in a name stands for the cut-offs, each of which has a column.
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
    scores = [field.name for field in declared if b"values" in (field.metadata or {})]
    pattern = re.compile("|".join(re.escape(name).replace("<p>", r"[\d.e-]+") for name in scores))
    return {name for name in names if scores and pattern.fullmatch(name)}
