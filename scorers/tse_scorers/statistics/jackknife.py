"""Intervals of correlations of cell means, by leaving out one unit (template, word) at a time with all of its items.

Some statistics combine cells that share units, such as Pearson's r between 36 cell means from the same templates.
These cells are not independent, so a unit is left out and the cells are computed again.

A correlation of cell means is biased: noise in the cells pulls r towards 0, and a resample adds the same noise again.
So resamples are below the value, and percentile and BCa intervals contain the true r too rarely.
`jackknife_correlation` leaves out one unit at a time, which hardly changes the noise, and corrects the bias. Simulated
coverage with 50 templates and r = 0.8: jackknife 93 %, BCa 86 %, percentile 65 %. It is below 90 % for all three if
r is 0.95 or cells are mainly noise (tests/statistics/simulations.md).

Source: Arvesen (1969), Jackknifing U-statistics.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .estimate import Floats, t_quantile

Indices = npt.NDArray[np.intp]
MIN_JACKKNIFE_UNITS = 10
"""With fewer units, the interval of a correlation is not reliable."""


class Interval(NamedTuple):
    """A statistic with its standard error and 95 % interval."""

    value: float
    se: float
    ci_low: float
    ci_high: float
    n_units: int


def jackknife_correlation(statistic: Callable[[Indices], Floats], n_units: int) -> Interval:
    """Estimate the 95 % interval of a correlation by leaving out one unit at a time, on Fisher's z scale.

    With z = atanh r of all n units and z_i without unit i, the pseudo-values n·z - (n - 1)·z_i have their own mean
    (z corrected for bias) and standard error; the interval uses Student's t with n - 1 degrees of freedom.

    Args:
        statistic: takes the positions of units, (resamples, units), and returns each resample's correlation, as
            `correlation_of_cells` makes it.
        n_units: how many units there are.

    Returns:
        `value` is the plain r, not corrected for bias; `se` is on the scale of r. Ends are NaN with fewer than three
        units, or where r is ±1 or has no value.
    """
    nothing = float("nan")
    value = float(statistic(np.arange(n_units)[None])[0]) if n_units else nothing
    if n_units < 3:
        return Interval(value, nothing, nothing, nothing, n_units)
    # Row i does not contain unit i.
    without = np.arange(1, n_units)[None] - np.tri(n_units, n_units - 1, -1, dtype=np.intp)
    return _interval(value, statistic(without))


def _interval(value: float, without: Floats) -> Interval:
    """Return the interval of a correlation from its values without one unit each, (units,), at least three."""
    nothing, n_units = float("nan"), len(without)
    with np.errstate(divide="ignore", invalid="ignore"):
        pseudo = n_units * np.arctanh(value) - (n_units - 1) * np.arctanh(without)
    if not np.isfinite(pseudo).all():
        return Interval(value, nothing, nothing, nothing, n_units)
    centre, se = pseudo.mean(), float(pseudo.std(ddof=1) / np.sqrt(n_units))
    margin = t_quantile(0.975, n_units - 1) * se
    low, high = np.tanh([centre - margin, centre + margin])
    return Interval(value, se * (1 - value**2), float(low), float(high), n_units)


def correlation_of_cells(model: npt.ArrayLike, human: npt.ArrayLike) -> Callable[[Indices], Floats]:
    """Return the statistic "Pearson's r between two series of cell means", for `jackknife_correlation`.

    Args:
        model: score of each unit in each cell, (units, cells); NaN if a unit is not in a cell.
        human: the same for people, or one mean per cell, (cells,), which is then fixed.
    """
    scores, judgments = np.asarray(model, dtype=float), np.asarray(human, dtype=float)

    def statistic(drawn: Indices) -> Floats:
        counts = _counts(drawn, len(scores))
        means = _cell_means(counts, scores)
        people = (
            np.broadcast_to(judgments, means.shape) if judgments.ndim == 1 else _cell_means(counts, judgments)
        )
        return pearson(means, people)

    return statistic


def pearson(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> Floats:
    """Return Pearson's r along the last axis; NaN if a side is constant or has a missing value."""
    centred = [side - side.mean(axis=-1, keepdims=True) for side in (one, other)]
    norms = [np.sqrt((side**2).sum(axis=-1)) for side in centred]
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (centred[0] * centred[1]).sum(axis=-1) / (norms[0] * norms[1])
    return np.asarray(np.clip(r, -1, 1), dtype=float)


def _counts(drawn: Indices, n_units: int) -> Floats:
    """Return how often each unit was drawn, (resamples, units)."""
    flat = drawn + np.arange(len(drawn))[:, None] * n_units
    return (
        np.bincount(flat.ravel(), minlength=len(drawn) * n_units).reshape(len(drawn), n_units).astype(float)
    )


def _cell_means(counts: Floats, values: Floats) -> Floats:
    is_known = np.isfinite(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((counts @ np.where(is_known, values, 0.0)) / (counts @ is_known.astype(float)))
