"""Single cells of a table: text that is safe in spreadsheets and terminals."""

import re

import pandas as pd

from .files import without_control_characters

_FORMULA = re.compile(r"[=+\-@\t\r]")


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
