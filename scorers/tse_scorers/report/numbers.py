"""How numbers are printed: scores, differences, p-values, counts. Scores are proportions, everywhere."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pandas as pd

MISSING = "–"
UNRELIABLE = "*"
"""Stands after an interval over too few units to rely on."""
UNLIKE = "†"
"""Stands after a score that does not compare with those of most other systems."""


def number(value: float, digits: int = 2) -> str:
    """Print a score from -1 to 1; one that is not exactly 0 or ±1 is not printed as such.

    Halves are rounded away from zero, as the papers do, whatever the last bits of a mean.

    >>> number(0.905), number(0.9996), number(-0.12), number(1.0), number(0.0004), number(float("nan"))
    ('0.91', '>0.99', '−0.12', '1.00', '<0.01', '–')
    """
    if pd.isna(value):
        return MISSING
    text, least = plain(value, digits), 10.0**-digits
    if 1 - least / 2 <= abs(value) < 1 - 1e-12:
        return f">{1 - least:.{digits}f}" if value > 0 else f"<−{1 - least:.{digits}f}"
    return f"<{least:.{digits}f}" if 0 < value < least / 2 else text


def plain(value: float, digits: int) -> str:
    """Print a number that is no proportion, such as a surprisal or a slope.

    >>> plain(-0.00125, 4), plain(2.345, 2)
    ('−0.0013', '2.35')
    """
    if pd.isna(value):
        return MISSING
    exact = Decimal(repr(round(float(value), 9)))
    return str(exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP) + 0).replace("-", "−")


def signed(value: float, digits: int = 3) -> str:
    """Print a difference of scores with its sign; one that is not exactly ±1 is not printed as ±1.

    >>> signed(0.0123), signed(-0.5), signed(0.9999), signed(0.0)
    ('+0.012', '−0.500', '>+0.999', '0.000')
    """
    if pd.isna(value):
        return MISSING
    if 1 - 0.5 * 10.0**-digits <= abs(value) < 1 - 1e-12:
        return f"{'>+' if value > 0 else '<−'}{1 - 10.0**-digits:.{digits}f}"
    text = plain(value, digits)
    return text if text.startswith("−") or not text.strip("0.") else f"+{text}"


def p_value(value: float) -> str:
    """Print a p-value; it is never printed as 0, and as 1 only if it is 1.

    >>> p_value(0.0321), p_value(1e-9), p_value(0.9997)
    ('0.032', '<0.001', '>0.999')
    """
    return MISSING if pd.isna(value) else "<0.001" if value < 0.001 else number(value, 3)


def interval(row: Any, digits: int = 2) -> str:
    """Print the ends of an interval (`ci_low`, `ci_high`), with * where it is not `reliable`; "" where there is none.

    >>> interval({"ci_low": 0.5, "ci_high": 0.75, "reliable": False})
    '[0.50, 0.75]*'
    """
    if pd.isna(row["ci_low"]) or pd.isna(row["ci_high"]):
        return ""
    doubt = UNRELIABLE if row["reliable"] is False or row["reliable"] == 0 else ""
    return f"[{number(row['ci_low'], digits)}, {number(row['ci_high'], digits)}]{doubt}"


def with_interval(row: Any, digits: int = 2) -> str:
    """Print a score with its 95 % interval.

    >>> with_interval({"score": 0.78, "ci_low": 0.75, "ci_high": 0.81, "reliable": True})
    '0.78 [0.75, 0.81]'
    """
    return f"{number(row['score'], digits)} {interval(row, digits)}".strip()


def count(value: float, plural: str = "") -> str:
    """Print a count with a comma between thousands, and what is counted, which loses its s after 1.

    >>> count(121220), count(1, "pairs")
    ('121,220', '1 pair')
    """
    return f"{value:,.0f} {plural.removesuffix('s') if value == 1 else plural}".strip()


def ranged(values: "pd.Series[float]", digits: int = 0) -> str:
    """Print the least and the greatest number, or the one that all are.

    >>> ranged(pd.Series([80, 1200.0])), ranged(pd.Series([4.9, 4.9]), 1)
    ('80 to 1,200', '4.9')
    """
    known = pd.to_numeric(values).dropna()
    if known.empty:
        return "unknown"
    low, high = (f"{end:,.{digits}f}" for end in (known.min(), known.max()))
    return low if low == high else f"{low} to {high}"
