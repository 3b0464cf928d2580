"""Accuracy on minimal pairs (`evaluate` module): how often the acceptable sentence is more probable, as in BLiMP."""

from collections.abc import Sequence
from typing import Any, TypeAlias

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
The result also has `signature`: name and version of the metric, pairs, paradigms.

Instead of lists, `compute` takes `predictions`: a data set that a scorer's `map` added scores to, or a data frame or
list of its rows. The other arguments then name its columns; `good` is `logprob_sentence_good` and `bad`
`logprob_sentence_bad` by default.
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

_LABELS = ("paradigm", "phenomenon", "field")

Scored: TypeAlias = datasets.Dataset | pd.DataFrame | list[dict[str, object]]
"""A data set with scores, as a data set, a data frame, or a list of its rows."""


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
        self,
        *,
        good: Sequence[float] | None = None,
        bad: Sequence[float] | None = None,
        **labels: Sequence[str] | None,
    ) -> None:
        """Add minimal pairs: natural log-probabilities of both sides and, if known, their labels.

        A batch is checked before it is stored, so an invalid batch does not affect the earlier ones.
        """
        if good is None or bad is None:
            raise ValueError(
                f"{'good' if good is None else 'bad'} is missing. Give good=[...] and bad=[...], the natural "
                "log-probabilities of the acceptable and the unacceptable side of each pair."
            )
        absent = [""] * len(paired(good, bad, **labels))  # the stored table has every column
        columns = dict.fromkeys(_LABELS, absent) | {
            name: values for name, values in labels.items() if values is not None
        }
        super().add_batch(good=good, bad=bad, **columns)

    def add(self, *, good: float, bad: float, **labels: str | None) -> None:
        """Add one minimal pair."""
        columns = {name: [label] for name, label in labels.items() if label is not None}
        self.add_batch(good=[good], bad=[bad], **columns)

    def compute(
        self, *, predictions: Scored | None = None, good: Any = None, bad: Any = None, **others: Any
    ) -> dict[str, Any]:
        """Compute the accuracies of the pairs added and of those given here, or of a scored data set."""
        if predictions is None:
            sides = {"good": good, "bad": bad} if good is not None or bad is not None else {}
            result: dict[str, Any] = super().compute(**sides, **others)
            return result
        unknown = sorted(set(others) - {*_LABELS, "references"})
        if unknown:
            raise ValueError(f"Unknown argument {unknown[0]!r}; expected {', '.join(_LABELS)}. Remove it.")
        names = {"good": good or "logprob_sentence_good", "bad": bad or "logprob_sentence_bad"}
        names |= {name: others[name] for name in _LABELS if others.get(name)}
        columns = dict(zip(names, _columns(predictions, list(names.values())), strict=True))
        return self._compute(**{name: columns.get(name, []) for name in ("good", "bad", *_LABELS)})

    def _compute(
        self,
        good: Sequence[float],
        bad: Sequence[float],
        paradigm: Sequence[str],
        phenomenon: Sequence[str],
        field: Sequence[str],
    ) -> dict[str, Any]:
        labels = [column if any(column) else None for column in (paradigm, phenomenon, field)]
        result = accuracies(good, bad, *labels)
        signature = {"metric": "minimal_pair_accuracy", "version": VERSION, "n": result["n"]}
        return {**result, "signature": {**signature, "n_paradigms": len(result["by_paradigm"])}}


def _columns(scored: Any, names: list[str]) -> list[list[Any]]:
    """Return columns of a data set, a data frame or a list of dicts; a missing value is None."""
    if isinstance(scored, list):
        scored = pd.DataFrame(scored, dtype=object)
    if not isinstance(scored, datasets.Dataset | pd.DataFrame):
        raise TypeError(
            f"predictions are a {type(scored).__name__}; expected a data set (one split, not streamed), a data frame, "
            "or a list of dicts. Load the split with split=..."
        )
    columns = list(scored.features if isinstance(scored, datasets.Dataset) else scored)
    if missing := [name for name in dict.fromkeys(names) if name not in columns]:
        raise ValueError(
            f"The predictions lack the column{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing))}; "
            f"they have {', '.join(map(str, columns)) or 'none'}. Add scores with scorer.map(dataset, columns=[...]), "
            "or correct the name of a column of your own."
        )
    if isinstance(scored, datasets.Dataset):
        scored = scored.select_columns(list(dict.fromkeys(names))).to_pandas()
    return [scored[name].astype(object).where(scored[name].notna(), None).tolist() for name in names]
