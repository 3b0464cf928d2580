"""The columns of the user's table that no score needs: they come out beside the scores, as they went in."""

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..io.tables import fingerprint, require_unreserved


def own_columns(
    frame: pd.DataFrame, read_columns: Collection[str], reserved: Collection[str], table: str
) -> pd.DataFrame:
    """Return the columns that a suite does not know, each of one type: numbers, booleans, or text.

    Args:
        frame: the user's table.
        read_columns: names of columns that the suite reads.
        reserved: names of columns of the scores, which the user's may not have.
        table: the table's name for the message.

    Raises:
        ValueError: a column has a reserved name.
    """
    columns = frame[[column for column in frame.columns if column not in read_columns]]
    require_unreserved(columns, reserved, table)
    columns = columns.set_axis([str(column) for column in columns.columns], axis=1)
    return pd.DataFrame({name: of_one_type(column) for name, column in columns.items()}, index=columns.index)


def of_one_type(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return numbers and booleans as they are, everything else as text."""
    dtype = column.dtype
    is_number = pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype)
    if is_number or isinstance(dtype, pd.StringDtype):
        return column
    return column.map(str, na_action="ignore").astype("string")


def column_arrays(columns: pd.DataFrame) -> dict[str, pa.Array]:
    """Return columns of `own_columns` for a table of scores; the type does not depend on which rows are there."""
    return {str(name): _array(column) for name, column in columns.items()}


def score_table(
    schema: Iterable[pa.Field], scores: Mapping[str, Any], user_columns: pd.DataFrame
) -> pa.Table:
    """Return a table of scores: the declared columns, each with its type, then the user's own.

    Args:
        schema: the declared columns.
        scores: their values; others are left out.
        user_columns: from `own_columns`.
    """
    declared = {field.name: pa.array(scores[field.name], field.type) for field in schema}
    return pa.table(declared | column_arrays(user_columns))


def shared_arrays(columns: pd.DataFrame, groups: Collection[Hashable]) -> dict[str, pa.Array]:
    """Return one row per group, in order of appearance: a column's value where all rows of the group share it.

    Args:
        columns: the columns, from `own_columns`.
        groups: the group of each row.

    Returns:
        Columns of the same types as those of `column_arrays`; null where the rows of a group differ.
    """
    by_group = columns.groupby(pd.factorize(pd.Series(list(groups)))[0], sort=False)
    same = by_group.nunique(dropna=False).eq(1)
    return {
        name: pc.if_else(pa.array(same[name].to_numpy()), array, pa.scalar(None, array.type))
        for name, array in column_arrays(by_group.head(1)).items()
    }


def _array(column: "pd.Series[Any]") -> pa.Array:
    array = pa.array(column, from_pandas=True)
    return array.cast(pa.string()) if pa.types.is_large_string(array.type) else array


def data_signature(table: pd.DataFrame, user_columns: Collection[str]) -> dict[str, str]:
    """Return the fingerprints of the rows that a suite scores, for its signature.

    All columns count, since a suite's table has no others than those that decide a number, a group, a unit or a stored
    table.

    Args:
        table: the rows; the order of its columns does not matter.
        user_columns: names of the user's own columns, which have a fingerprint of their own, so that released data are
            known by their content with further columns too.
    """
    decisive = table[sorted(set(table.columns) - set(user_columns))]
    of_own = {"own_columns": fingerprint(table[list(user_columns)])} if len(user_columns) else {}
    return {"dataset_fingerprint": fingerprint(decisive), **of_own}
