"""The two values that pairs contrast: singular and plural, or two of the user's own, such as two genders or cases.

A table with a column `value` in place of `number` names its own two values; the lemma list has a column of forms for
each. Everything between the two tables and the scores works on two forms, called singular and plural there: the first
value is asked about like a singular, the second like a plural.
"""

from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ....io.tables import Tables

FORMS = ("singular", "plural")
"""The columns of forms of a lemma list, once it is loaded."""


@dataclass(frozen=True)
class Contrast:
    """Two values, and the column of pairs that holds them.

    Attributes:
        column: `number` or `value`.
        values: the value of the lemma list's first column of forms, and of its second.
    """

    column: str = "number"
    values: tuple[str, str] = FORMS

    @property
    def is_number(self) -> bool:
        """Whether the values are the two numbers."""
        return self.values == FORMS

    @property
    def signature(self) -> dict[str, str]:
        """What a signature says of a contrast that is not number."""
        return {} if self.is_number else {"contrast": " / ".join(self.values)}

    def as_numbers(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Return pairs with `singular` for the first value and `plural` for the second."""
        return pairs.assign(number=pairs["number"].map(dict(zip(self.values, FORMS, strict=True))))

    def restored(self, tables: Tables) -> Tables:
        """Return tables of scores with the values in place of singular and plural."""
        if self.is_number:
            return dict(tables)
        return {name: self._restored(table) for name, table in tables.items()}

    def _restored(self, table: pa.Table) -> pa.Table:
        if "number" not in table.column_names:
            return table
        column = table["number"]
        values = pc.if_else(pc.equal(column, FORMS[0]), *self.values).cast(column.type)
        return table.set_column(table.column_names.index("number"), "number", values)


def with_number(pairs: pd.DataFrame, table: str) -> tuple[pd.DataFrame, str]:
    """Return pairs with the column `number`, also if it is called `value`, and what it is called.

    Raises:
        ValueError: `value` does not hold exactly two values.
    """
    if "number" in pairs or "value" not in pairs:
        return pairs, "number"
    values = pairs["value"].drop_duplicates().tolist()
    if len(values) != 2:
        listed = ", ".join(repr(value) for value in values[:5])
        raise ValueError(
            f"{table} has {len(values)} different value(s) in its column 'value': {listed}. Expected two, each the "
            "name of a column of the lemma list. Fix the column, or split the table."
        )
    return pairs.rename(columns={"value": "number"}), "value"


def contrast_of(pairs: pd.DataFrame, column: str, lemmas: pd.DataFrame, lemma_list: str) -> Contrast:
    """Return the contrast of pairs; its first value is the one whose forms come first in the lemma list.

    Raises:
        ValueError: the lemma list has no column for a value.
    """
    if column == "number":
        return Contrast()
    values = pairs["number"].drop_duplicates().tolist()
    missing = [value for value in values if value not in lemmas]
    if missing:
        raise ValueError(
            f"The column 'value' has the values {values[0]} and {values[1]}, but the lemma list {lemma_list!r} has the "
            f"columns {', '.join(map(str, lemmas.columns))}; expected a column of forms for each value. Name a file "
            "that has them with --lemmas FILE."
        )
    first, second = (column for column in lemmas.columns if column in values)
    return Contrast("value", (str(first), str(second)))


def with_forms(lemmas: pd.DataFrame, contrast: Contrast) -> pd.DataFrame:
    """Return a lemma list with its two columns of forms called `singular` and `plural`."""
    if contrast.is_number:
        return lemmas
    return lemmas[[*contrast.values]].rename(columns=dict(zip(contrast.values, FORMS, strict=True)))
