"""Scores of conditions and contrasts between them, within one system, over the units that conditions share.

A contrast is a weighted sum of the conditions' means, Σ_c k_c · mean_c: with weights 1 and -1 a difference, with
1, -1, -1, 1 the interaction of a 2 x 2 design. It is the mean of z_i = N · k_c / n_c · y_i over all N items, where item
i is in condition c, which has n_c items. So `clustered_mean` estimates it with conditions as strata: residuals are
taken from the mean of the item's condition, and those of one unit are summed before they are squared. A unit that
occurs in several conditions is thereby paired with itself, and units that occur in one only are independent samples.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from .clustered import Units, clustered_mean, codes_of
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
    >>> found = condition_contrast(scores, ["near"] * 3 + ["far"] * 3, {"near": 1, "far": -1}, Units(items, "items"))
    >>> round(found.mean, 3), found.n_units
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
    weight_of = labels.map({c: len(labels) * k / counts[c] for c, k in weights.items()}).to_numpy(dtype=float)
    by_condition = replace(units, strata=codes_of(labels))
    if len(weights) == 1:
        return clustered_mean(scores * weight_of, by_condition)
    # Within -1 and 1, the range for which small samples are corrected; then back to the contrast's own scale.
    scale = float(np.abs(weight_of).max())
    found = clustered_mean(scores * weight_of / scale, by_condition, DIFFERENCE)
    kinds = [units.clusters] if units.crossed is None else [units.clusters, units.crossed]
    counts_of_units = [pd.Series(np.asarray(kind)).groupby(labels.to_numpy()).nunique() for kind in kinds]
    precision = scale if min(map(min, counts_of_units)) > 1 else float("nan")
    reach = (
        sum(abs(k) for k in weights.values()) / 2
    )  # a difference is from -1 to 1, an interaction from -2 to 2
    low, high = np.clip(np.array([found.ci_low, found.ci_high]) * precision, -reach, reach)
    return replace(
        found,
        mean=found.mean * scale,
        se=found.se * precision,
        ci_low=float(low),
        ci_high=float(high),
        variance=found.variance * precision**2,
        least_weight=found.least_weight * precision,
    )
