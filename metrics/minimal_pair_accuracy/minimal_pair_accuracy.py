"""Accuracy on minimal pairs (`evaluate` module): how often the acceptable sentence is more probable, as in BLiMP."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate
import pandas as pd

from .definitions import VERSION, accuracies, paired

_DESCRIPTION = """\
The share of minimal pairs whose acceptable sentence has the higher log-probability, by paradigm, by
phenomenon and by field of linguistics (each the mean of its paradigms), and overall (the mean of all
paradigms). Ties, NaN and plus infinity are not correct; they are counted. Minus infinity is a probability of 0.
"""

_INPUTS = f"""{accuracies.__doc__}
`groups`, as in other metrics, are the paradigms. The result also has `signature`: metric, version, counts.
Instead of lists, `compute` takes `predictions`: a data set that a scorer's `map` added scores to, or a data frame or
list of its rows. The other arguments then name its columns; `good` and `bad` are by default `logprob_sentence_good` and
`logprob_sentence_bad`.
"""

_CITATION = """\
@article{warstadt2020blimp,
  author = {Warstadt, Alex and Parrish, Alicia and Liu, Haokun and Mohananey, Anhad and Peng, Wei and
            Wang, Sheng-Fu and Bowman, Samuel R.},
  title = {{BLiMP}: The Benchmark of Linguistic Minimal Pairs for {E}nglish},
  journal = {Transactions of the Association for Computational Linguistics},
  volume = {8}, pages = {377--392}, year = {2020}, doi = {10.1162/tacl_a_00321}
}
"""

_LABELS = ("groups", "phenomenon", "field")


class MinimalPairAccuracy(evaluate.Metric):
    """Share of minimal pairs whose acceptable side is more probable."""

    def _info(self) -> evaluate.MetricInfo:
        number, text = datasets.Value("float64"), datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(good=number, bad=number, **dict.fromkeys(_LABELS, text)),
            reference_urls=["https://doi.org/10.1162/tacl_a_00321", "https://github.com/alexwarstadt/blimp"],
        )

    def add_batch(
        self, *, good: Sequence[float] = (), bad: Sequence[float] = (), **labels: Sequence[str] | None
    ) -> None:
        """Add minimal pairs: natural log-probabilities of both sides and, if known, their labels.

        A batch is checked before it is stored, so an invalid batch does not affect the earlier ones.
        """
        good, bad = (() if side is None else side for side in (good, bad))  # `evaluate` gives None
        pairs = paired(good, bad, paradigm=labels.pop("groups", None), **labels)
        pairs = pairs.rename(columns={"paradigm": "groups"})
        columns = {name: pairs.get(name, [""] * len(pairs)) for name in _LABELS}  # it stores every column
        super().add_batch(good=good, bad=bad, **columns)

    def add(self, *, good: float, bad: float, **labels: str | None) -> None:
        """Add one minimal pair."""
        self.add_batch(good=[good], bad=[bad], **{name: [of] for name, of in labels.items() if of})

    def compute(self, *, predictions: Any = None, **columns: Any) -> dict[str, Any]:
        """Compute the accuracies of the pairs added and of those given here, or of a scored data set."""
        columns = {name: column for name, column in columns.items() if column is not None}
        if predictions is None:
            result: dict[str, Any] = super().compute(**columns)
            return result
        names = {"good": "logprob_sentence_good", "bad": "logprob_sentence_bad"} | columns
        return self._compute(**_columns(predictions, names))

    def _compute(
        self,
        good: Sequence[float],
        bad: Sequence[float],
        groups: Sequence[str] | None = None,
        phenomenon: Sequence[str] | None = None,
        field: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        labels = [column if column and any(column) else None for column in (groups, phenomenon, field)]
        result = accuracies(good, bad, *labels)
        signature = {"metric": "minimal_pair_accuracy", "version": VERSION, "n": result["n"]}
        return {**result, "signature": {**signature, "n_paradigms": len(result["by_paradigm"])}}


def _columns(scored: Any, names: dict[str, str]) -> dict[str, list[Any]]:
    """Return columns of a scored data set by the argument that names each."""
    scored = scored.to_pandas() if isinstance(scored, datasets.Dataset) else pd.DataFrame(scored)
    if missing := [name for name in names.values() if name not in scored]:
        raise ValueError(
            f"The predictions lack {', '.join(missing)}; they have {', '.join(map(str, scored)) or 'no columns'}. Add "
            "scores with scorer.map(dataset, columns=[...]), or correct the name of a column of your own."
        )
    return {argument: scored[name].tolist() for argument, name in names.items()}
