"""Accuracy on minimal pairs: the share of pairs whose acceptable sentence is more probable.

    accuracy = mean over pairs of 1[log P(good) > log P(bad)]

per paradigm. The accuracy of a phenomenon or field is the mean of its paradigms; overall accuracy is the mean of all
paradigms, so that each has the same weight whatever its number of pairs (Warstadt et al. 2020, section 4 and
Table 3: https://doi.org/10.1162/tacl_a_00321). Ties are not correct, and
neither are pairs with a value that is NaN or plus infinity; both are counted. Minus infinity is a probability of 0.
"""

from collections.abc import Collection, Mapping, Sequence
from types import EllipsisType
from typing import NamedTuple, TypedDict

import numpy as np

from .blimp_paradigms import BLIMP_PARADIGMS
from .values import as_numbers

VERSION = "1.2.0"


class Outcomes(NamedTuple):
    """The outcome of each pair; three boolean arrays of shape (pairs,), at most one of them true per pair.

    Attributes:
        correct: the acceptable side has the higher log-probability.
        tie: both are equal.
        nonfinite: either is NaN or plus infinity, which no log-probability is. Minus infinity is a probability of 0.
    """

    correct: np.ndarray
    tie: np.ndarray
    nonfinite: np.ndarray


class Share(TypedDict):
    """The share of correct pairs, in 0 to 1, and counts of pairs."""

    accuracy: float
    n: int
    n_ties: int
    n_nonfinite: int


class GroupMean(Share):
    """The mean of the paradigms of a phenomenon or field."""

    n_paradigms: int


class Accuracies(Share):
    """The overall accuracy, and those of paradigms, phenomena and fields by name."""

    by_paradigm: dict[str, Share]
    by_phenomenon: dict[str, GroupMean]
    by_field: dict[str, GroupMean]


def outcomes(good: Sequence[float], bad: Sequence[float]) -> Outcomes:
    """Compare the two sides of each pair.

    Args:
        good: natural log-probabilities of the acceptable sides, (pairs,); None counts as NaN.
        bad: those of the unacceptable sides, in the same order.

    Raises:
        ValueError: values that are not numbers, more than one dimension, or different lengths.

    >>> outcomes([-1.0, -2.0, -3.0, -4.0], [-2.0, -1.0, -3.0, float("nan")]).correct.tolist()
    [True, False, False, False]
    """
    higher, lower = _logprobs(good, "good"), _logprobs(bad, "bad")
    if higher.shape != lower.shape:
        raise ValueError(
            f"Mismatched lengths: {len(higher)} log-probabilities of acceptable sentences (good) and "
            f"{len(lower)} of unacceptable ones (bad). Give one of each per minimal pair, in the same order."
        )
    nonfinite = ~((higher < np.inf) & (lower < np.inf))  # NaN too
    return Outcomes((higher > lower) & ~nonfinite, (higher == lower) & ~nonfinite, nonfinite)


def accuracies(
    good: Sequence[float],
    bad: Sequence[float],
    paradigm: Sequence[str] | None = None,
    phenomenon: Sequence[str] | None = None,
    field: Sequence[str] | None = None,
) -> Accuracies:
    """Score minimal pairs by paradigm, phenomenon, field and overall.

    Args:
        good: natural log-probabilities of the acceptable sides, (pairs,).
        bad: those of the unacceptable sides.
        paradigm: each pair's paradigm. None: only the overall share of correct pairs is computed.
        phenomenon: each pair's phenomenon. None: known for BLiMP's paradigms by their names; other paradigms then
            only count in the overall accuracy.
        field: each pair's field. None: see `phenomenon`.

    Returns:
        `accuracy` (overall, 0 to 1), `n`, `n_ties`, `n_nonfinite`, and `by_paradigm`, `by_phenomenon`,
        `by_field`: for each name a dict with the same four keys (and `n_paradigms` in the latter two).

    Raises:
        ValueError: no pairs, columns of different lengths, only some pairs with a paradigm, or a paradigm with two
            phenomena or fields.

    >>> accuracies([-1, -2, -3], [-2, -3, -2], ["a", "a", "b"])["accuracy"]
    0.5
    """
    pairs = outcomes(good, bad)
    if not len(pairs.correct):
        raise ValueError(
            "There are no minimal pairs to score: good and bad are empty. Give at least one pair."
        )
    if paradigm is None:
        if phenomenon is not None or field is not None:
            raise ValueError(
                "phenomenon or field was given without paradigm, but their scores are means over paradigms. Give "
                "paradigm=[...], one name per pair."
            )
        return {**_share(pairs, ...), "by_paradigm": {}, "by_phenomenon": {}, "by_field": {}}
    names, member = np.unique(_labels(paradigm, "paradigm", len(pairs.correct)), return_inverse=True)
    by_paradigm = {str(name): _share(pairs, member == index) for index, name in enumerate(names)}
    return {
        **_mean(by_paradigm.values()),
        "by_paradigm": by_paradigm,
        "by_phenomenon": _by_group(by_paradigm, _groups(names, member, phenomenon, "phenomenon", 0)),
        "by_field": _by_group(by_paradigm, _groups(names, member, field, "field", 1)),
    }


def _logprobs(values: Sequence[float], name: str) -> np.ndarray:
    array = as_numbers(values, f"{name} holds", "natural log-probabilities")
    if array.ndim != 1:
        raise ValueError(
            f"{name} has shape {array.shape}; expected one log-probability per pair. Sum token log-probabilities "
            "over each sentence first."
        )
    return array


def _labels(values: Sequence[str], name: str, n_pairs: int) -> np.ndarray:
    if len(values) != n_pairs:
        raise ValueError(
            f"Mismatched lengths: {n_pairs} pairs and {len(values)} values of {name}. Give one per pair."
        )
    empty = sum(value is None or value == "" for value in values)
    if empty:
        raise ValueError(
            f"{empty} of {n_pairs} pairs have no {name}. Give a {name} for every pair, or for none."
        )
    return np.asarray([str(value) for value in values])


def _share(pairs: Outcomes, where: np.ndarray | EllipsisType) -> Share:
    return {
        "accuracy": float(pairs.correct[where].mean()),
        "n": int(pairs.correct[where].size),
        "n_ties": int(pairs.tie[where].sum()),
        "n_nonfinite": int(pairs.nonfinite[where].sum()),
    }


def _mean(shares: Collection[Share]) -> Share:
    return {
        "accuracy": float(np.mean([share["accuracy"] for share in shares])),
        "n": sum(share["n"] for share in shares),
        "n_ties": sum(share["n_ties"] for share in shares),
        "n_nonfinite": sum(share["n_nonfinite"] for share in shares),
    }


def _groups(
    names: np.ndarray, member: np.ndarray, labels: Sequence[str] | None, name: str, position: int
) -> Mapping[str, str]:
    """Map each paradigm to its phenomenon or field: from the column if there is one, else from BLiMP's list."""
    if labels is None:
        blimp_names = [str(paradigm) for paradigm in names if paradigm in BLIMP_PARADIGMS]
        return {paradigm: BLIMP_PARADIGMS[paradigm][position] for paradigm in blimp_names}
    column = _labels(labels, name, len(member))
    groups = {}
    for index, paradigm in enumerate(names):
        paradigm_labels = np.unique(column[member == index])
        if len(paradigm_labels) > 1:
            raise ValueError(
                f"The paradigm {str(paradigm)!r} has more than one {name}: {', '.join(paradigm_labels)}. "
                f"A {name} is a set of paradigms: give each paradigm the same {name} in all its pairs."
            )
        groups[str(paradigm)] = str(paradigm_labels[0])
    return groups


def _by_group(by_paradigm: Mapping[str, Share], groups: Mapping[str, str]) -> dict[str, GroupMean]:
    result: dict[str, GroupMean] = {}
    for group in sorted(set(groups.values())):
        shares = [by_paradigm[paradigm] for paradigm, label in groups.items() if label == group]
        result[group] = {**_mean(shares), "n_paradigms": len(shares)}
    return result
