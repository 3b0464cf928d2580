"""Accuracy on minimal pairs (`evaluate` module): how often the acceptable sentence is more probable, as in BLiMP."""

from collections.abc import Sequence, Sized
from typing import Any, TypeAlias

import datasets
import evaluate
import pandas as pd

from .accuracy import VERSION, Accuracies, Outcomes, accuracies, outcomes
from .blimp_paradigms import BLIMP_PARADIGMS
from .linking import LINKING_FUNCTIONS, SentenceStatistics, linked_scores, require_linking
from .values import as_numbers

__all__ = [
    "BLIMP_PARADIGMS",
    "LINKING_FUNCTIONS",
    "VERSION",
    "MinimalPairAccuracy",
    "Outcomes",
    "SentenceStatistics",
    "accuracies",
    "as_numbers",
    "linked_scores",
    "outcomes",
    "require_linking",
]

_DESCRIPTION = """\
The share of minimal pairs whose acceptable sentence has the higher log-probability, by paradigm, by
phenomenon and by field of linguistics (each the mean of its paradigms), and overall (the mean of all
paradigms). Ties, NaN and plus infinity are not correct; they are counted. Minus infinity is a probability of 0.
"""

_INPUTS = """
Args:
    good: natural log-probability of each pair's acceptable sentence (or word, for the prefix methods).
    bad: natural log-probability of its unacceptable one.
    paradigm: name of each pair's paradigm. Without it, only the overall share is computed.
    phenomenon, field: names of each pair's phenomenon and field. Without them, they are known for the paradigms of
        BLiMP by their names.
    predictions: a data set that a scorer's `map` added scores to, or a data frame or list of its rows. The other
        arguments then name its columns; `good` is `logprob_sentence_good` and `bad` `logprob_sentence_bad` by default.

Returns:
    accuracy: overall accuracy in [0, 1].
    n, n_ties, n_nonfinite: number of pairs, of ties, and of pairs with NaN or plus infinity (both not correct).
    by_paradigm, by_phenomenon, by_field: for each name the same four numbers.
    signature: name and version of the metric, pairs, paradigms.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("minimal_pair_accuracy")  # doctest: +SKIP
    >>> metric.compute(good=[-20.1, -18.3], bad=[-22.4, -18.0])["accuracy"]  # doctest: +SKIP
    0.5
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

_OPTIONAL = ("paradigm", "phenomenon", "field")


Scored: TypeAlias = datasets.Dataset | pd.DataFrame | list[dict[str, object]]
"""A data set with scores, as a data set, a data frame, or a list of its rows."""


class SignedAccuracies(Accuracies):
    """What `compute` returns; the description of the module says what its keys are."""

    signature: dict[str, str | int]


class MinimalPairAccuracy(evaluate.Metric):
    """Share of minimal pairs whose acceptable side is more probable."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                good=datasets.Value("float64"),
                bad=datasets.Value("float64"),
                **{name: datasets.Value("string") for name in _OPTIONAL},
            ),
            reference_urls=["https://doi.org/10.1162/tacl_a_00321", "https://github.com/alexwarstadt/blimp"],
        )

    def add_batch(
        self,
        *,
        good: Sequence[float] | None = None,
        bad: Sequence[float] | None = None,
        paradigm: Sequence[str] | None = None,
        phenomenon: Sequence[str] | None = None,
        field: Sequence[str] | None = None,
    ) -> None:
        """Add minimal pairs: natural log-probabilities of both sides and, if known, their labels.

        A batch is checked before it is stored, so an invalid batch does not affect the earlier ones.
        """
        if good is None or bad is None:
            raise ValueError(
                f"{'good' if good is None else 'bad'} is missing. Give good=[...] and bad=[...], the natural "
                "log-probabilities of the acceptable and the unacceptable side of each pair."
            )
        pairs = outcomes(good, bad)
        labels = {"paradigm": paradigm, "phenomenon": phenomenon, "field": field}
        for name, values in labels.items():
            if values is not None and not isinstance(values, Sized):
                raise TypeError(
                    f"{name} is a {type(values).__name__}; expected one name for each pair. Give a list of names."
                )
            if values is not None and len(values) != len(pairs.correct):
                raise ValueError(
                    f"Mismatched lengths: {len(pairs.correct)} pairs and {len(values)} values of {name}. "
                    "Give one per pair."
                )
        absent = [""] * len(pairs.correct)  # the stored table has every column
        columns = {name: absent if values is None else values for name, values in labels.items()}
        super().add_batch(good=good, bad=bad, **columns)

    def add(
        self,
        *,
        good: float,
        bad: float,
        paradigm: str | None = None,
        phenomenon: str | None = None,
        field: str | None = None,
    ) -> None:
        """Add one minimal pair."""
        labels = {"paradigm": paradigm, "phenomenon": phenomenon, "field": field}
        columns: dict[str, list[str]] = {name: [label] for name, label in labels.items() if label is not None}
        self.add_batch(good=[good], bad=[bad], **columns)

    def compute(
        self,
        *,
        predictions: Scored | None = None,
        good: Any = None,
        bad: Any = None,
        **others: Any,
    ) -> SignedAccuracies:
        """Compute the accuracies of the pairs added and of those given here, or of a scored data set."""
        if predictions is None:
            sides = {"good": good, "bad": bad} if good is not None or bad is not None else {}
            result: SignedAccuracies = super().compute(**sides, **others)
            return result
        unknown = sorted(set(others) - {*_OPTIONAL, "references"})
        if unknown:
            raise ValueError(f"Unknown argument {unknown[0]!r}; expected {', '.join(_OPTIONAL)}. Remove it.")
        names = {"good": good or "logprob_sentence_good", "bad": bad or "logprob_sentence_bad"}
        names |= {name: others[name] for name in _OPTIONAL if others.get(name)}
        columns = dict(zip(names, _columns(predictions, list(names.values())), strict=True))
        return self._compute(**{name: columns.get(name, ()) for name in ("good", "bad", *_OPTIONAL)})

    def _compute(
        self,
        good: Sequence[float],
        bad: Sequence[float],
        paradigm: Sequence[str],
        phenomenon: Sequence[str],
        field: Sequence[str],
    ) -> SignedAccuracies:
        result = accuracies(
            good,
            bad,
            *(labels if any(labels) else None for labels in (paradigm, phenomenon, field)),
        )
        signature: dict[str, str | int] = {
            "metric": "minimal_pair_accuracy",
            "version": VERSION,
            "n": result["n"],
            "n_paradigms": len(result["by_paradigm"]),
        }
        return {**result, "signature": signature}


def _columns(scored: Scored, names: list[str]) -> list[Any]:
    """Return columns of a data set, a data frame or a list of dicts."""
    if isinstance(scored, datasets.Dataset):
        columns = scored.column_names
    elif isinstance(scored, pd.DataFrame):
        columns = list(scored.columns)
    elif isinstance(scored, list) and all(isinstance(row, dict) for row in scored):
        columns = list(scored[0]) if scored else []
    else:
        raise TypeError(
            f"predictions are a {type(scored).__name__}; expected a data set (one split, not streamed), a data frame, "
            "or a list of dicts. Load the split with split=..."
        )
    missing = [name for name in dict.fromkeys(names) if name not in columns]
    if missing:
        raise ValueError(
            f"The predictions lack the column{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing))}; "
            f"they have {', '.join(map(str, columns)) or 'none'}. Add scores with scorer.map(dataset, columns=[...]), "
            "or correct the name of a column of your own."
        )
    if isinstance(scored, list):
        return [[row.get(name) for row in scored] for name in names]
    if isinstance(scored, pd.DataFrame):
        return [scored[name].astype(object).where(scored[name].notna(), None).tolist() for name in names]
    table = scored.with_format("arrow").select_columns(list(dict.fromkeys(names)))[:]
    return [table[name].to_numpy() for name in names]
