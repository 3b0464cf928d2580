"""The mean of a matrix contexts x lemmas and its standard error, from sums per cluster of contexts and lemma.

The formula is that of `clustered.py` for two crossed kinds of units. It needs only two tables clusters x lemmas: the
sum of the outcomes in each cell, and the cell's weight. These tables are small. Scores over other lemmas (those that
two models share, a frequency band) and differences of two models use them instead of the matrix.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from .clustered import Codes, Kind, codes_of, count, crossed_variance
from .estimate import ACCURACY, Estimate, Floats, Range, least_weight, make_estimate

_BLOCK_VALUES = 2**22
"""Outcomes that are unpacked at once: 4 MB as bytes."""


@dataclass(frozen=True)
class CellSums:
    """Sums over a matrix of outcomes, from which its mean and precision follow.

    Attributes:
        sums: weighted sum of the outcomes in each cell, (clusters, lemmas).
        weights: sum of the weights, (clusters, lemmas); 0 for a cell without outcomes.
        clusters: label of each row, (clusters,).
        n_items: contexts with an outcome.
    """

    sums: Floats
    weights: Floats
    clusters: npt.NDArray[np.object_]
    n_items: int

    def minus(self, reference: "CellSums") -> "CellSums":
        """Return the cell sums of differences to another system that has outcomes in the same cells.

        Raises:
            ValueError: clusters or weights differ.
        """
        if not np.array_equal(self.clusters, reference.clusters) or not np.allclose(
            self.weights, reference.weights, rtol=1e-9, atol=0
        ):
            raise ValueError(
                "The two models have outcomes for different contexts or lemmas: select those that both have first."
            )
        return replace(self, sums=self.sums - reference.sums)


def cell_sums(
    outcomes: npt.NDArray[np.generic],
    clusters: npt.ArrayLike,
    n_lemmas: int | None = None,
) -> CellSums:
    """Sum a matrix of outcomes per cluster and lemma, block by block.

    Each context has the same weight, even if outcomes are missing (the mean of the contexts' means, the definition
    of EW).

    Args:
        outcomes: contexts x lemmas, bool or float (NaN where there is none), or its bits packed along the lemmas
            (`numpy.packbits(axis=1)`, uint8) if `n_lemmas` is given.
        clusters: label of each context's cluster, (contexts,).
        n_lemmas: number of lemmas of a packed matrix.

    Raises:
        ValueError: the numbers of labels and rows differ.
    """
    codes, labels = pd.factorize(np.asarray(clusters, dtype=object))
    if len(codes) != len(outcomes) or (codes < 0).any():
        raise ValueError(
            f"{len(outcomes)} contexts came with {int((codes >= 0).sum())} labels of clusters: label each context."
        )
    width = outcomes.shape[1] if n_lemmas is None else n_lemmas
    order = np.argsort(codes, kind="stable")
    sums = np.zeros((len(labels), width))
    weights = np.zeros((len(labels), width))
    n_items = 0
    for rows in _blocks(order, width):
        block = outcomes[rows] if n_lemmas is None else np.unpackbits(outcomes[rows], axis=1, count=n_lemmas)  # type: ignore[arg-type]
        n_items += _add(block, codes[rows].astype(np.intp), sums, weights)
    return CellSums(sums, weights, np.asarray(labels, dtype=object), n_items)


def crossed_mean(
    cells: CellSums,
    name: str,
    strata: npt.ArrayLike | None = None,
    score_range: Range = ACCURACY,
    units: npt.ArrayLike | None = None,
) -> Estimate:
    """Estimate the mean of a matrix, and its precision over clusters of contexts and lemmas.

    Args:
        cells: the sums of the matrix.
        name: name of the units, for instance "subject nouns x lemmas".
        strata: fixed group of each cluster, (clusters,); None without groups.
        score_range: the least and greatest possible outcome; the interval is cut there.
        units: unit of each cluster, (clusters,), if a unit has clusters in several strata; None means that each
            cluster is a unit.
    """
    present = (cells.weights.sum(axis=1) > 0, cells.weights.sum(axis=0) > 0)
    sums, weights = cells.sums[np.ix_(*present)], cells.weights[np.ix_(*present)]
    counts = (int(present[0].sum()), int(present[1].sum()))
    total = weights.sum()
    if not total:
        return make_estimate(math.nan, math.nan, 0, counts, score_range, name, 0)
    groups = codes_of(np.zeros(counts[0]) if strata is None else np.asarray(strata)[present[0]])
    of_unit = np.arange(counts[0]) if units is None else codes_of(np.asarray(units)[present[0]])
    counts = (count(of_unit), counts[1])
    mean, sums, weights = float(sums.sum() / total), sums / total, weights / total
    by_unit = np.zeros((count(groups), counts[0]))
    np.add.at(by_unit, (groups, of_unit), weights.sum(axis=1))
    kinds = [Kind.of(by_unit), Kind.of(sum_rows(weights, groups))]
    of_group = np.bincount(groups, sums.sum(axis=1))
    residuals = [sum_rows(sums - weights * kind.centres(of_group)[groups, None], of_unit) for kind in kinds]
    rows, columns = (
        kind.variance(of_kind.sum(axis=1 - axis))
        for axis, (kind, of_kind) in enumerate(zip(kinds, residuals, strict=True))
    )
    variance = crossed_variance(rows, columns, (residuals[0] * residuals[1]).sum())
    n_effective, df = (
        min(values) for values in zip(*((kind.n_effective, kind.df) for kind in kinds), strict=True)
    )
    least = least_weight(total, n_effective, score_range)
    return make_estimate(
        mean,
        float(variance),
        df,
        counts,
        score_range,
        name,
        cells.n_items,
        n_effective,
        float(least),
    )


def sum_rows(values: Floats, of_unit: Codes) -> Floats:
    """Add the rows of each unit: (clusters, lemmas) to (units, lemmas).

    Args:
        values: one row per cluster.
        of_unit: the number of each cluster's unit, from 0.
    """
    summed = np.zeros((int(of_unit.max()) + 1, values.shape[1]))
    np.add.at(summed, of_unit, values)
    return summed


def _blocks(order: Codes, width: int) -> Iterator[Codes]:
    size = max(1, _BLOCK_VALUES // max(width, 1))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _add(block: npt.NDArray[np.generic], codes: Codes, sums: Floats, weights: Floats) -> int:
    """Add a block of contexts, sorted by cluster; return how many have an outcome."""
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    clusters = codes[starts]
    if block.dtype.kind in "bu":  # nothing is missing
        for cluster, start, end in zip(clusters, starts, [*starts[1:], len(codes)], strict=True):
            sums[cluster] += block[start:end].sum(axis=0, dtype=np.int32)
        weights[clusters] += np.diff(starts, append=len(codes))[:, None]
        return len(block)
    values = block.astype(np.float64)
    is_known = ~np.isnan(values)
    per_context = is_known.sum(axis=1)
    if is_known.all():  # then all weights are 1
        sums[clusters] += np.add.reduceat(values, starts, axis=0)
        weights[clusters] += np.diff(starts, append=len(codes))[:, None]
        return len(block)
    weight = is_known / np.maximum(per_context, 1)[:, None] * block.shape[1]
    sums[clusters] += np.add.reduceat(np.where(is_known, values, 0.0) * weight, starts, axis=0)
    weights[clusters] += np.add.reduceat(weight, starts, axis=0)
    return int((per_context > 0).sum())
