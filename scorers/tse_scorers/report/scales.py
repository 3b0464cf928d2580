"""Axes: their scales and marks."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ENOUGH = 3
"""Marks from which on an axis can be read."""
_APART = 0.15
"""Least distance between values of the data that are marked, as a share of the axis."""


def scale_axis(axes: "Axes", x: "pd.Series[float]", logarithmic: bool, most: int | None = None) -> None:
    """Scale a horizontal axis for its values; a logarithmic one that begins at 0 is linear up to the next value.

    Args:
        axes: where it is.
        x: the values.
        logarithmic: whether the axis is, where the values allow it.
        most: the number of marks for which there is room; None for as many as are usual.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator

    if logarithmic and 0 < x.min() < x.max():  # one value, or none above 0, has no decades
        axes.set_xscale("log")
        decades = np.log10(x.max() / x.min())
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2 else (1,)))
        axes.minorticks_off()
    elif logarithmic and x.min() == 0 < x.max():
        above = sorted(x[x > 0].unique())
        axes.set_xscale("symlog", linthresh=above[0], linscale=0.4)
        axes.set_xticks([0.0, *(marks(above[0], above[-1]) or _apart(axes, above))])
        axes.minorticks_off()
    elif (x == x.round()).all():
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if logarithmic or x.max() >= 10_000:
        axes.xaxis.set_major_formatter(lambda value, _: short_number(value))
    if most is not None:
        low, high = axes.get_xlim()
        # Locators return marks outside of the view as well, and to set these widens it.
        visible = [tick for tick in axes.get_xticks() if low <= tick <= high]
        if len(visible) > most:
            axes.set_xticks(visible[:: -(-len(visible) // most)])


def marks(low: float, high: float) -> list[float]:
    """Return the marks of a logarithmic axis: powers of ten, or these with their double and half; empty if too few.

    >>> marks(1, 2000), marks(100, 700), marks(3, 7)
    ([1.0, 10.0, 100.0, 1000.0], [100.0, 200.0, 500.0], [])
    """
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5)):
        places = [step * 10.0**exponent for exponent in exponents for step in steps]
        inside = [mark for mark in places if low <= mark <= high]
        if len(inside) >= _ENOUGH:
            return inside
    return []


def _apart(axes: "Axes", values: Sequence[float]) -> list[float]:
    """Return those of sorted values above 0 whose names do not overlap on an axis from 0."""
    places = axes.xaxis.get_transform().transform([0.0, *values])
    gap = _APART * (places[-1] - places[0])
    marked: list[float] = []
    last = places[0]
    for value, place in zip(values, places[1:], strict=True):
        if place - last >= gap:
            marked.append(float(value))
            last = place
    return marked


def short_number(value: float) -> str:
    """Write a number of steps or tokens in few characters.

    >>> short_number(512.0), short_number(143000.0), short_number(2.5e9), short_number(0.5)
    ('512', '143k', '2.5B', '0.5')
    """
    for unit, letter in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:g}{letter}"
    return f"{value:g}"
