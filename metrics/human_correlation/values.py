"""Numbers that a user gives, checked.

This file is the same in every metric, because a metric on the Hub is one folder.
"""

from contextlib import suppress
from numbers import Real

import numpy as np


def as_numbers(values: object, subject: str, expected: str) -> np.ndarray:
    """Return values as float64, None as NaN.

    Args:
        values: an array, a list, a column of a table; of any shape.
        subject: the beginning of a message: "good holds".
        expected: "natural log-probabilities".

    Raises:
        ValueError: a value is not a real number (a text, true or false, a complex number), or is too large for a float.
    """
    if getattr(getattr(values, "dtype", None), "kind", "") in ("i", "u", "f"):  # also columns of pandas
        return np.asarray(values, dtype=np.float64)
    with suppress(ValueError):  # lists of different lengths
        array = np.asarray(values)
        if array.dtype.kind in "iuf":
            return array.astype(np.float64)
    objects = np.asarray(values, dtype=object)
    try:
        numbers = [_as_number(value, place) for place, value in enumerate(objects.flat)]
    except TypeError as error:
        raise ValueError(
            f"{subject} something that is not a number ({error!s:.200}). Expected {expected}."
        ) from error
    return np.asarray(numbers, dtype=np.float64).reshape(objects.shape)


def _as_number(value: object, place: int) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{str(value)!r:.60} in place {place} is of the type {type(value).__name__}")
    try:
        return float(value)
    except OverflowError as error:
        raise TypeError(f"the number in place {place} is too large for a float") from error
