"""What a table of scores shows, in one sentence: for readers who do not see its picture."""

from collections.abc import Callable

import numpy as np
import pandas as pd


def extremes(values: pd.DataFrame, form: Callable[[float], str]) -> str:
    """Name the highest and the lowest number of a table; empty if it has none.

    Args:
        values: numbers.
        form: formats a number.

    >>> extremes(pd.DataFrame({"a": [0.9, 0.2]}, index=["x", "y"]), "{:.1f}".format)
    'Highest: x, a (0.9); lowest: y, a (0.2).'
    """
    numbers = values.to_numpy(dtype=float)
    if np.isnan(numbers).all():
        return ""
    places = {"Highest": np.nanargmax(numbers), "lowest": np.nanargmin(numbers)}
    extreme_cells = [f"{word}: {_named(values, int(place), form)}" for word, place in places.items()]
    return "; ".join(extreme_cells) + "."


def _named(values: pd.DataFrame, place: int, form: Callable[[float], str]) -> str:
    row, column = divmod(place, values.shape[1])
    heading = values.columns[column]
    names = [values.index[row], *(heading if isinstance(heading, tuple) else (heading,))]
    return f"{', '.join(str(name) for name in names if str(name))} ({form(values.iat[row, column])})"
