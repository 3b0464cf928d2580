"""Correlation of a model's values with human ones (`evaluate` module): Pearson, Spearman, Kendall, with intervals."""

from collections.abc import Sequence

import datasets
import evaluate
import scipy

from .correlation import CONFIDENCE_LEVEL, N_RESAMPLES, SEED, VERSION, check_values, correlations
from .values import as_numbers

__all__ = ["VERSION", "HumanCorrelation", "as_numbers", "correlations"]

_DESCRIPTION = """\
Agreement of a model with humans: Pearson's r, Spearman's rho and Kendall's tau-b between the model's and the
human values of the same items, cells or paradigms, with p-values and paired bootstrap intervals.
"""

_INPUTS = """
Args:
    predictions: the model's values, one number per item.
    references: the human values of the same items, in the same order.
    confidence_level: of the intervals (0.95).
    n_resamples: bootstrap samples (1000); 0 means no intervals.
    seed: of the resampling (0).

Returns:
    pearson, spearman, kendall: correlations in [-1, 1].
    pearson_pvalue, ...: two-sided p-values of no correlation.
    pearson_interval, ...: [low, high].
    n, n_excluded: items used, and items excluded because a value is not finite.
    undefined: None, or the reason why the correlations are NaN (a constant side).
    signature: name and version of the metric, options, version of scipy.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("human_correlation")  # doctest: +SKIP
    >>> metric.compute(predictions=[0.9, 0.6, 0.5], references=[0.99, 0.7, 0.4])["spearman"]  # doctest: +SKIP
    1.0
"""

_CITATION = """\
@article{rochereau2020neural,
  title = {Neural language modeling of free word order argument structure},
  author = {Rochereau, Charlotte and Sagot, Beno{\\^\\i}t and Dupoux, Emmanuel},
  journal = {arXiv preprint arXiv:1912.00239}, year = {2020}
}
"""


class HumanCorrelation(evaluate.Metric):
    """Pearson, Spearman and Kendall between model and human values."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                predictions=datasets.Value("float64"), references=datasets.Value("float64")
            ),
            reference_urls=[
                "https://docs.scipy.org/doc/scipy/reference/generated/scipy.stats.bootstrap.html"
            ],
        )

    def add_batch(
        self, *, predictions: Sequence[float] | None = None, references: Sequence[float] | None = None
    ) -> None:
        """Add the values of items; they are checked before they are stored."""
        model, human = check_values(predictions, references)
        super().add_batch(predictions=model, references=human)

    def _compute(
        self,
        predictions: Sequence[float],
        references: Sequence[float],
        confidence_level: float = CONFIDENCE_LEVEL,
        n_resamples: int = N_RESAMPLES,
        seed: int = SEED,
    ) -> dict[str, object]:
        result = correlations(
            predictions,
            references,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            seed=seed,
        )
        signature = {
            "metric": "human_correlation",
            "version": VERSION,
            "n": result["n"],
            "interval": "percentile",
            "confidence_level": confidence_level,
            "n_resamples": n_resamples,
            "seed": seed,
            "scipy": scipy.__version__,
        }
        return {**result, "signature": signature}
