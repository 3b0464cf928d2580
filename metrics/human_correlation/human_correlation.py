"""Correlation of a model's values with human ones (`evaluate` module): Pearson, Spearman, Kendall, with intervals."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate
import scipy

from .definitions import VERSION, check_values, correlations

_DESCRIPTION = """\
Agreement of a model with humans: Pearson's r, Spearman's rho and Kendall's tau-b between the model's and the
human values of the same items, cells or paradigms, with p-values and paired bootstrap intervals.
"""

_INPUTS = (
    f"{correlations.__doc__}\nThe result also has `signature`: metric, version, options, version of scipy."
)

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
        number = datasets.Value("float64")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(predictions=number, references=number),
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
        confidence_level: float = 0.95,
        n_resamples: int = 1000,
        seed: int = 0,
    ) -> dict[str, Any]:
        options: dict[str, Any] = dict(confidence_level=confidence_level, n_resamples=n_resamples, seed=seed)
        result = correlations(predictions, references, **options)
        signature = {
            "metric": "human_correlation",
            "version": VERSION,
            "n": result["n"],
            "interval": "percentile",
        }
        return {**result, "signature": {**signature, **options, "scipy": scipy.__version__}}
