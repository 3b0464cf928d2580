"""A metric in a package of its own: the share of sentences that are more probable than their reversals."""

import datasets
import evaluate
import numpy as np

_DESCRIPTION = "Share of sentences that are more probable than the same words in reverse order."
_INPUTS = """
Args:
    forward: log-probabilities of sentences (natural logs).
    backward: log-probabilities of their reversals.

Returns:
    in_order: 0 to 1; ties are not in order, NaN where nothing is scored.
    n: sentences with two log-probabilities.
"""


def in_order(forward, backward):
    """Return 1.0 or 0.0 for each sentence, NaN where a log-probability is missing; arrays (sentences,)."""
    forward, backward = np.asarray(forward, dtype=float), np.asarray(backward, dtype=float)
    return np.where(np.isnan(forward) | np.isnan(backward), np.nan, forward > backward)


class ShareInOrder(evaluate.Metric):
    """The share of sentences in order."""

    def _info(self):
        features = datasets.Features({name: datasets.Value("float64") for name in ("forward", "backward")})
        return evaluate.MetricInfo(
            description=_DESCRIPTION, citation="", inputs_description=_INPUTS, features=features
        )

    def _compute(self, forward, backward):
        scores = in_order(forward, backward)
        n = int((~np.isnan(scores)).sum())
        return {"in_order": float(np.nanmean(scores)) if n else float("nan"), "n": n}
