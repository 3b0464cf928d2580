"""The interval of MW where only a sample of the lemma list was scored.

MW is a ratio of sums over lemmas, m_c = A_c / T_c in context c. Let a_cl and t_cl be the shares of lemma l in T_c, of
its correct form and of both. With N of the list's M lemmas scored, drawn at random, the ratio estimator has

    V = (1 - N/M) · N/(N-1) · Σ_l (mean over c of (a_cl - m_c t_cl))²

This is added to the variance over subject nouns. Shares are known for the heaviest lemmas of each context; the others
are taken as 0, so V is slightly too small if many lemmas have a little probability each. EW's interval needs no
addition, because lemmas are among its units.

Source: Cochran (1977), Sampling techniques, chapters 2.6 and 6.4.
"""

import numpy as np
import pandas as pd
import pyarrow as pa

from ....statistics.estimate import ACCURACY, Estimate, make_estimate
from ..ask.listing import SCORED, UNSAMPLED
from ..ask.outcomes import Outcomes


def unsampled_share(listed: pa.Table | None) -> float:
    """Return 1 - N/M: the share of the lemmas of a list that a sample left out, 0 without a sample."""
    if listed is None or not listed.num_rows:
        return 0.0
    excluded = listed["excluded"].to_pandas()
    n_scored, n_left = (int((excluded == reason).sum()) for reason in (SCORED, UNSAMPLED))
    n_tried = len(excluded) - n_left
    return n_left / (n_left + n_tried) if n_scored else 0.0


def over_sampled_lemmas(
    estimate: Estimate, outcomes: Outcomes, items: pd.DataFrame, unsampled: float
) -> Estimate:
    """Add the variance over sampled lemmas to an estimate of MW over the whole distribution.

    Args:
        estimate: the estimate over subject nouns.
        outcomes: of the contexts.
        items: the contexts, columns `context_id` and `mw_top_1`.
        unsampled: share of the list that was left out.
    """
    n_lemmas = len(outcomes.lemmas)
    places = outcomes.places(items)
    mw = items["mw_top_1"].to_numpy(dtype=float)
    is_known = (places >= 0) & np.isfinite(mw)
    if n_lemmas < 2 or not is_known.any() or np.isnan(estimate.se):
        return estimate
    correct, incorrect = outcomes.shares[:, places[is_known]]
    residuals = correct - mw[is_known, None] * (correct + incorrect)
    heaviest = outcomes.heaviest[places[is_known]].ravel()
    of_lemma = np.bincount(heaviest, residuals.ravel(), n_lemmas) / is_known.sum()
    variance = unsampled * n_lemmas / (n_lemmas - 1) * float((of_lemma**2).sum())
    return make_estimate(
        estimate.mean,
        estimate.variance + variance,
        min(estimate.df, n_lemmas - 1),
        [estimate.n_units],
        ACCURACY,
        estimate.unit.replace("lemmas fixed", "lemmas"),
        estimate.n_items,
        estimate.n_effective,
        estimate.least_weight,
    )
