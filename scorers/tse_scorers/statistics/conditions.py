"""Scores of conditions and contrasts between them, within one system, over the units that conditions share.

A contrast is a weighted sum of the conditions' means, Σ_c k_c · mean_c: with weights 1 and -1 a difference, with
1, -1, -1, 1 the interaction of a 2 x 2 design. It is C times the mean, over C conditions, of the means of k_c · y. So
`clustered_mean` estimates it with conditions as strata of equal weight: residuals are taken from the mean of the item's
condition, and those of one unit are summed before they are squared. A unit that occurs in several conditions is thereby
paired with itself, and units that occur in one only are independent samples.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from .clustered import Units, clustered_mean, codes_of, table_of
from .estimate import DIFFERENCE, Estimate


def condition_contrast(
    values: npt.ArrayLike, conditions: npt.ArrayLike, weights: Mapping[object, float], units: Units
) -> Estimate:
    """Estimate Σ_c k_c · mean_c over conditions c with its 95 % interval.

    Args:
        values: score of each item, 0 to 1, (items,); NaN for none.
        conditions: condition of each item, (items,).
        weights: condition -> k; items of other conditions are not used.
        units: the units of the items. Strata and weighting are not used: each item of a condition counts the same.

    Returns:
        NaN without a standard error where a condition has items of fewer than two units.

    Raises:
        ValueError: a condition has no item with a score.

    >>> scores, items = [1, 0, 1, 1, 0, 0], ["a", "b", "c"] * 2
    >>> contrast = condition_contrast(scores, ["near"] * 3 + ["far"] * 3, {"near": 1, "far": -1}, Units(items, "items"))
    >>> round(contrast.mean, 3), contrast.n_units
    (0.333, 3)
    """
    scores, labels = np.asarray(values, dtype=float), pd.Series(np.asarray(conditions, dtype=object))
    used = np.isfinite(scores) & labels.isin(list(weights)).to_numpy()
    scores, labels, units = (
        scores[used],
        labels[used],
        replace(units.of(used), weighting="items", strata=None),
    )
    counts = labels.value_counts()
    if missing := [condition for condition in weights if condition not in counts]:
        raise ValueError(f"No item with a score has the condition {missing[0]!r}; expected at least one.")
    strata, order = pd.factorize(labels)
    by_condition = replace(units, strata=strata, weighting="strata")
    k = np.array([weights[condition] for condition in order], dtype=float)
    if len(k) == 1:
        return clustered_mean(scores * k[0], by_condition)
    # Within -1 and 1, the range for which small samples are corrected; then back to the contrast's own scale.
    largest = float(np.abs(k).max())
    contrast = clustered_mean(scores * k[strata] / largest, by_condition, DIFFERENCE)
    kinds = [codes_of(kind) for kind in (units.clusters, units.crossed) if kind is not None]
    ones = np.ones(len(scores))
    single = any((table_of(strata, kind, ones) > 0).sum(axis=1).min() < 2 for kind in kinds)
    df = 0.0 if single else contrast.df
    scale = largest * len(k) if df > 0 else float("nan")
    reach = np.abs(k).sum() / 2  # a difference is from -1 to 1, an interaction from -2 to 2
    return replace(
        contrast,
        mean=contrast.mean * largest * len(k),
        se=contrast.se * scale,
        ci_low=float(np.clip(contrast.ci_low * scale, -reach, reach)),
        ci_high=float(np.clip(contrast.ci_high * scale, -reach, reach)),
        df=df,
        variance=contrast.variance * scale**2,
        least_weight=contrast.least_weight * scale,
    )
