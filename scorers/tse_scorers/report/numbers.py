"""How numbers are printed: scores, differences, p-values, intervals. Scores are proportions, everywhere."""

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import numpy.typing as npt
import pandas as pd

FEW_ITEMS = 30
"""A score over fewer items stands with their number and has a badge; points of curves are faded."""
MISSING = "–"
UNKNOWN = "unknown"
UNRELIABLE = "*"
"""Stands after an interval, and before the sentence that says why one should not rely on it."""
WHY_NO_INTERVAL = "at an end of its scale, or undefined without some unit"
"""A score over enough units has no interval where it is this."""
WHY_NO_SCORE = "undefined over these items, as is a correlation with a constant side"
"""A group has no score, although its items have, where its score is this."""


def score(value: float, digits: int = 2) -> str:
    """Format a score in 0–1; one that is not exactly 1 is not printed as 1.

    Two decimals are what the papers on agreement and on German print; `Measure.digits` says how many a measure has.

    >>> score(0.905), score(0.9996), score(1.0), score(-0.9996), score(0.9999, 3)
    ('0.91', '>0.99', '1.00', '<−0.99', '>0.999')
    """
    return _bounded(value, digits)


def interval(low: float, high: float, form: Callable[[float], str] = score) -> str:
    """Format the ends of an interval.

    >>> interval(0.5, 0.75), interval(0.963, 0.9999)
    ('[0.50, 0.75]', '[0.96, >0.99]')
    """
    return f"[{form(low)}, {form(high)}]"


def decimals(value: float, digits: int) -> str:
    """Format a number with fixed decimals; a score or probability that is not exactly 0 or 1 is not printed as one.

    >>> decimals(0.99996, 3), decimals(1.0, 3), decimals(0.0001, 3), decimals(-0.5, 1), decimals(float("nan"), 2)
    ('>0.999', '1.000', '<0.001', '-0.5', 'nan')
    """
    least = 10.0**-digits
    if 1 - least / 2 <= abs(value) < 1:
        return f">{1 - least:.{digits}f}" if value > 0 else f"<{least - 1:.{digits}f}"
    return f"<{least:.{digits}f}" if 0 < value < least / 2 else f"{value:.{digits}f}"


def signed(value: float) -> str:
    """Format a difference with its sign and three decimals; one that is not exactly ±1 is not printed as ±1.

    >>> signed(0.0123), signed(-0.5), signed(0.9999)
    ('+0.012', '−0.500', '>+0.999')
    """
    if 0.9995 <= abs(value) < 1 - 1e-12:
        return ">+0.999" if value > 0 else "<−0.999"
    text = _rounded(value, 3)
    return text if text.startswith("−") or text == "0.000" else f"+{text}"


def p_value(value: float) -> str:
    """Format a p-value; it is never printed as 0, and as 1 only if it is 1.

    >>> p_value(0.0321), p_value(1e-9), p_value(0.9997), p_value(1.0)
    ('0.032', '<0.001', '>0.999', '1.000')
    """
    return "<0.001" if value < 0.001 else _bounded(value, 3)


SYMMETRIC = 0.02
"""The largest difference between the two halves of an interval that is printed with ± in tables."""


def with_interval(
    value: float,
    low: float | None,
    high: float | None,
    form: Callable[[float], str] = score,
    symmetric: float = SYMMETRIC,
) -> str:
    """Format a score with its 95 % interval: half its width, or both ends where it is not symmetric.

    Args:
        value: the score, 0 to 1.
        low: lower end; None or NaN for none.
        high: upper end; None or NaN for none.
        form: formats a score.
        symmetric: the largest difference between the halves of an interval that is printed with ±; -1 for none.

    >>> with_interval(0.78, 0.75, 0.81), with_interval(1.0, 0.4, 1.0), with_interval(0.5, None, None)
    ('0.78 ± 0.03', '1.00 [0.40, 1.00]', '0.50')
    >>> with_interval(0.9996, 0.9956, 1.0)
    '>0.99 ± <0.01'
    """
    if pd.isna(value):
        return MISSING
    if low is None or high is None or pd.isna(low) or pd.isna(high):
        return form(value)
    below, above = value - low, high - value
    if abs(below - above) > symmetric + 1e-9:
        return f"{form(value)} {interval(low, high, form)}"
    margin = form(max(below, above))
    if max(below, above) > 0 and not margin.strip("0."):
        margin = f"<{margin[:-1]}1"
    return f"{form(value)} ± {margin}"


def number(value: float, digits: int) -> str:
    """Format a number that is not a score, such as a surprisal or a slope.

    >>> number(-0.00123, 4)
    '−0.0012'
    """
    return f"{value:.{digits}f}".replace("-", "−")


def _bounded(value: float, digits: int) -> str:
    text = _rounded(value, digits)
    if float(text.lstrip("−")) != 1 or abs(value) > 1 - 1e-12:
        return text
    below = f"{1 - 10.0**-digits:.{digits}f}"
    return f"<−{below}" if value < 0 else f">{below}"


def _rounded(value: float, digits: int) -> str:
    """Round half away from zero, as the papers do: the mean of decimals 0.905 is 0.91 whatever its last bits."""
    exact = Decimal(repr(round(float(value), 9)))
    return str(exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP) + 0).replace("-", "−")


def ranged(values: "pd.Series[float] | npt.NDArray[np.float64]", digits: int = 0) -> str:
    """Format the least and the greatest number, or the one that all are.

    >>> ranged(pd.Series([80, 1200.0])), ranged(pd.Series([4.9, 4.9]), 1), ranged(pd.Series([float("nan")]))
    ('80 to 1,200', '4.9', 'unknown')
    """
    numbers = [value for value in np.asarray(values, dtype=np.float64).ravel().tolist() if value == value]
    if not numbers:
        return UNKNOWN
    low, high = (decimals(end, digits) if digits else count(end) for end in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def counted(number: str, plural: str) -> str:
    """Put a number, or a range of numbers, before a plural, whose first noun loses its s after 1.

    >>> counted("1", "verbs (these constructions)"), counted("1,413 to 1,667", "contexts")
    ('1 verb (these constructions)', '1,413 to 1,667 contexts')
    """
    noun, space, remark = plural.partition(" (")
    return f"{number} {noun.removesuffix('s') if number == '1' else noun}{space}{remark}"


def count(value: float) -> str:
    """Format a count with a comma between thousands, as all texts of this package do.

    >>> count(121220)
    '121,220'
    """
    return f"{value:,.0f}"
