"""The highest correlation that predictions of human ratings can reach, from the reliability of the mean ratings.

Raters are split into halves at random; r is the correlation of the halves' item means, and the reliability of the
mean over all raters is 2r / (1 + r) (Spearman 1910, Brown 1910). The expected correlation of any prediction with the
means is at most the square root of the reliability (Spearman 1904, attenuation).
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..io.table_files import as_numbers
from .jackknife import pearson


class NoiseCeiling(NamedTuple):
    """Split-half correlation (mean over splits), reliability, highest expected correlation, number of valid splits."""

    split_half: float
    reliability: float
    ceiling: float
    n_splits: int


def noise_ceiling(ratings: npt.ArrayLike, n_splits: int = 1000, seed: int = 0) -> NoiseCeiling:
    """Estimate the noise ceiling of ratings.

    Args:
        ratings: items x raters; NaN if a rater did not rate an item. If each item has different raters, the order
            of raters within an item must not carry information.
        n_splits: random splits of the raters into halves.
        seed: seed of the random splits.

    Returns:
        NaN with fewer than two raters or three items that both halves rated; a reliability below 0 has no ceiling.
    """
    values = np.asarray(ratings, dtype=float)
    generator = np.random.default_rng(seed)
    correlations = [_half_correlation(values, generator) for _ in range(n_splits)]
    finite = [r for r in correlations if not math.isnan(r)]
    if not finite:
        return NoiseCeiling(math.nan, math.nan, math.nan, 0)
    r = float(np.mean(finite))
    reliability = 2 * r / (1 + r) if r > -1 else -math.inf  # Spearman and Brown
    return NoiseCeiling(r, reliability, math.sqrt(reliability) if reliability >= 0 else math.nan, len(finite))


def rating_matrix(ratings: pd.DataFrame, seed: int = 0) -> npt.NDArray[np.float64]:
    """Turn a long table of ratings into the matrix for `noise_ceiling`.

    If every rater rated every item, columns are raters. Otherwise the ratings of an item are in random order, so that
    a half is a random half of each item's ratings.

    Args:
        ratings: columns `item`, `rater`, `rating`, one row per rating.
        seed: seed of the random order.

    Raises:
        ValueError: a column is missing, a rating is not a number, or someone rated an item twice.
    """
    missing = [column for column in ("item", "rater", "rating") if column not in ratings]
    if missing:
        raise ValueError(
            f"The table of ratings has no column {', '.join(missing)}; expected item, rater and rating. Rename its "
            "columns."
        )
    values = as_numbers(ratings["rating"])
    if values.isna().any():
        first = ratings.loc[values.isna(), "rating"].tolist()[0]
        raise ValueError(
            f"{int(values.isna().sum())} ratings are not numbers, the first: {first!r:.80}. Remove judgments that were "
            "not given."
        )
    if ratings.duplicated(["item", "rater"]).any():
        first = ratings[ratings.duplicated(["item", "rater"])].iloc[0]
        raise ValueError(
            f"Rater {first['rater']} rated the item {first['item']!r} twice; expected one rating per item. Remove the "
            "others."
        )
    table = ratings.assign(rating=values)
    wide = table.pivot(index="item", columns="rater", values="rating")
    if not wide.isna().any(axis=None):
        return wide.to_numpy(dtype=float)
    shuffled = table.sample(frac=1, random_state=seed)
    shuffled["place"] = shuffled.groupby("item").cumcount()
    return shuffled.pivot(index="item", columns="place", values="rating").to_numpy(dtype=float)


def _half_correlation(ratings: npt.NDArray[np.float64], generator: np.random.Generator) -> float:
    order = generator.permutation(ratings.shape[1])
    half = len(order) // 2
    if not half:
        return math.nan
    means = []
    for raters in (order[:half], order[half:]):
        is_rated = np.isfinite(ratings[:, raters])
        with np.errstate(invalid="ignore"):
            means.append(np.where(is_rated, ratings[:, raters], 0.0).sum(axis=1) / is_rated.sum(axis=1))
    both = np.isfinite(means).all(axis=0)
    return float(pearson(means[0][both], means[1][both])) if both.sum() >= 3 else math.nan
