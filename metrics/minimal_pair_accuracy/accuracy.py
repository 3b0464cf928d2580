"""Accuracy on minimal pairs: the share of pairs whose acceptable sentence is the more probable one.

    accuracy = mean over pairs of 1[log P(good) > log P(bad)]

per paradigm; a phenomenon or a field is the mean of its paradigms, and the overall figure is the mean of all
paradigms, so that each weighs the same however many pairs it has (Warstadt et al. 2020, section 4 and
Table 3: https://doi.org/10.1162/tacl_a_00321). A tie is not correct, and neither is a pair with a value that
is not finite; both are counted.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .blimp_paradigms import BLIMP_PARADIGMS

VERSION = "1.0.0"


class Outcomes(NamedTuple):
    """What became of each pair; three boolean arrays of shape (pairs,), at most one of them true per pair.

    Attributes:
        correct: the acceptable side has the higher log-probability, and both are finite.
        tie: both are finite and equal.
        nonfinite: either is NaN or infinite, so that they cannot be compared.
    """

    correct: np.ndarray
    tie: np.ndarray
    nonfinite: np.ndarray


def outcomes(good: Sequence[float], bad: Sequence[float]) -> Outcomes:
    """Compare the two sides of each pair.

    Args:
        good: natural log-probabilities of the acceptable sides, (pairs,); None counts as NaN.
        bad: those of the unacceptable sides, in the same order.

    Raises:
        ValueError: values that are no numbers, more than one dimension, or different lengths.

    >>> outcomes([-1.0, -2.0, -3.0, -4.0], [-2.0, -1.0, -3.0, float("nan")]).correct.tolist()
    [True, False, False, False]
    """
    good, bad = _logprobs(good, "good"), _logprobs(bad, "bad")
    if good.shape != bad.shape:
        raise ValueError(
            f"Mismatched lengths: {len(good)} log-probabilities of acceptable sentences (good) and "
            f"{len(bad)} of unacceptable ones (bad). Pass one of each per minimal pair, in the same order."
        )
    nonfinite = ~(np.isfinite(good) & np.isfinite(bad))
    return Outcomes((good > bad) & ~nonfinite, (good == bad) & ~nonfinite, nonfinite)


def accuracies(
    good: Sequence[float],
    bad: Sequence[float],
    paradigm: Sequence[str] | None = None,
    phenomenon: Sequence[str] | None = None,
    field: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Score minimal pairs by paradigm, phenomenon, field and overall.

    Args:
        good: natural log-probabilities of the acceptable sides, (pairs,).
        bad: those of the unacceptable sides.
        paradigm: each pair's paradigm. Without it there is only the overall share of correct pairs.
        phenomenon: each pair's phenomenon. Without it, BLiMP's paradigms have theirs by name (a paradigm that
            is not BLiMP's then counts in the overall figure alone).
        field: each pair's field; as `phenomenon`.

    Returns:
        `accuracy` (overall, 0 to 1), `n`, `n_ties`, `n_nonfinite`, and `by_paradigm`, `by_phenomenon`,
        `by_field`: for each name a dict with the same four keys (and `n_paradigms` in the latter two).

    Raises:
        ValueError: no pairs, columns of different lengths, pairs without a paradigm beside pairs with one,
            or a paradigm with two phenomena or fields.

    >>> accuracies([-1, -2, -3], [-2, -3, -2], ["a", "a", "b"])["accuracy"]
    0.5
    """
    pairs = outcomes(good, bad)
    if not len(pairs.correct):
        raise ValueError(
            "There are no minimal pairs to score: good and bad are empty. Pass one pair or more."
        )
    if paradigm is None:
        if phenomenon is not None or field is not None:
            raise ValueError(
                "phenomenon and field are means over paradigms, and no paradigms came. "
                "Pass paradigm=[...], one name per pair."
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
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} holds something that is not a number ({error}). Pass natural log-probabilities."
        ) from error
    if array.ndim != 1:
        raise ValueError(
            f"{name} has shape {array.shape}; one log-probability per pair is needed. For token "
            "log-probabilities, sum over each sentence first."
        )
    return array


def _labels(values: Sequence[str], name: str, n_pairs: int) -> np.ndarray:
    if len(values) != n_pairs:
        raise ValueError(
            f"Mismatched lengths: {n_pairs} pairs and {len(values)} values of {name}. Pass one per pair."
        )
    empty = sum(value is None or value == "" for value in values)
    if empty:
        raise ValueError(
            f"{empty} of {n_pairs} pairs have no {name}. Name it for every pair, or leave the column out."
        )
    return np.asarray([str(value) for value in values])


def _share(pairs: Outcomes, where: Any) -> dict[str, Any]:
    return {
        "accuracy": float(pairs.correct[where].mean()),
        "n": int(pairs.correct[where].size),
        "n_ties": int(pairs.tie[where].sum()),
        "n_nonfinite": int(pairs.nonfinite[where].sum()),
    }


def _mean(shares: Iterable[dict[str, Any]]) -> dict[str, Any]:
    shares = list(shares)
    totals = {key: sum(share[key] for share in shares) for key in ("n", "n_ties", "n_nonfinite")}
    return {"accuracy": float(np.mean([share["accuracy"] for share in shares])), **totals}


def _groups(
    names: np.ndarray, member: np.ndarray, labels: Sequence[str] | None, name: str, position: int
) -> Mapping[str, str]:
    """Map each paradigm to its phenomenon or field: from the column if there is one, else by BLiMP's list."""
    if labels is None:
        known = [str(paradigm) for paradigm in names if paradigm in BLIMP_PARADIGMS]
        return {paradigm: BLIMP_PARADIGMS[paradigm][position] for paradigm in known}
    column = _labels(labels, name, len(member))
    groups = {}
    for index, paradigm in enumerate(names):
        there = np.unique(column[member == index])
        if len(there) > 1:
            raise ValueError(
                f"The paradigm {str(paradigm)!r} has more than one {name}: {', '.join(there)}. "
                f"A {name} is a set of paradigms, so that each paradigm needs one."
            )
        groups[str(paradigm)] = str(there[0])
    return groups


def _by_group(by_paradigm: Mapping[str, dict[str, Any]], groups: Mapping[str, str]) -> dict[str, Any]:
    result = {}
    for group in sorted(set(groups.values())):
        shares = [by_paradigm[paradigm] for paradigm, label in groups.items() if label == group]
        result[group] = {**_mean(shares), "n_paradigms": len(shares)}
    return result
