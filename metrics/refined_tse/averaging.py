"""Averages of the contexts' scores, over all contexts and over each group, with the number of excluded contexts.

    ew, mw                  mean over the contexts that have a score at the cut-off
    covered_mass            mean over the contexts without a NaN log-probability (Figure 3)
    share_without_lemmas    share of those contexts in which no lemma is eligible (Figure 4)

A context without a score is not a zero: it is excluded from the mean and counted in `n_excluded`.
"""

from collections.abc import Iterator, Sequence
from typing import TypedDict

import numpy as np

from .arrays import Array, on_host
from .scores import VERSION, ContextScores, SideScores

ALL = "all"  # the group of all contexts
METRICS = ("ew", "mw", "covered_mass", "share_without_lemmas")


class AverageRow(TypedDict):
    """The mean of a group at a cut-off by one metric; `aggregate` says what its columns are."""

    group: str
    metric: str
    cutoff_side: str
    cutoff: float
    score: float
    n: int
    n_excluded: int
    n_lemmas: float
    n_ties: int
    n_nonfinite: int


class Signature(TypedDict):
    """What decides the scores."""

    metric: str
    version: str
    cutoffs_top: list[float]
    cutoffs_bottom: list[float]
    n_contexts: int


class VerbScores(TypedDict, total=False):
    """The scores of a scored data set's own verbs."""

    tse: float
    n_pairs: int
    n_pairs_excluded: int


class GroupScores(VerbScores):
    """Means over the contexts of a group, for the whole distribution, and their counts."""

    ew: float
    mw: float
    n_contexts: int
    n_excluded: int
    n_lemmas: float
    n_ties: int
    n_nonfinite: int
    covered_mass: float


class Summary(GroupScores):
    """What `compute` returns; the description of the module says what its keys are."""

    groups: dict[str, GroupScores]
    curves: dict[str, dict[str, list[float]]]
    rows: list[AverageRow]
    signature: Signature


def aggregate(scores: ContextScores, groups: Sequence[str] | None = None) -> list[AverageRow]:
    """Average the contexts' scores at every cut-off.

    Args:
        scores: from `context_scores` or `logit_scores`, on any device.
        groups: the name of each context's group, (contexts,); None for no break-down by group.

    Returns:
        One row for each group (`all` first, then in order of appearance), side, cut-off and metric: `group`,
        `metric` (ew, mw, covered_mass, share_without_lemmas), `cutoff_side` (top or bottom), `cutoff`, `score`
        (in [0, 1]; NaN if no context has one), `n` (contexts averaged), `n_excluded` (the other contexts of the
        group); and for the group `n_lemmas` (mean over contexts), `n_ties` (lemmas, summed over contexts) and
        `n_nonfinite` (contexts with a NaN log-probability).

    Raises:
        ValueError: there is no context, `groups` has another length, or a group is named `all`.

    >>> nan = np.nan  # of two contexts, the second has no lemma inside the cut-off
    >>> side = SideScores(*np.asarray([[[0.5], [nan]], [[0.7], [nan]], [[0.4], [0.0]]]))
    >>> nothing = SideScores(*np.empty((3, 2, 0)))
    >>> for row in aggregate(ContextScores(side, nothing, *np.asarray([[2, 2], [0, 1], [0, 0]]), (0.5,), ())):
    ...     print(row["metric"], round(row["score"], 2), row["n"], row["n_excluded"], row["n_ties"])
    ew 0.5 1 1 1
    mw 0.7 1 1 1
    covered_mass 0.2 2 0 1
    share_without_lemmas 0.5 2 0 1
    """
    scores = _in_numpy(scores)
    n_contexts = len(scores.n_ties)
    if n_contexts == 0 or (groups is not None and len(groups) != n_contexts):
        raise ValueError(
            f"There are {n_contexts} contexts and {'no' if groups is None else len(groups)} group names. Expected at "
            "least one context, and either one group name for each context or None."
        )
    members = {ALL: np.ones(n_contexts, dtype=bool)}
    if groups is not None:
        if ALL in groups:
            raise ValueError(f"A group is named {ALL!r}, which stands for all contexts. Rename it.")
        names = np.asarray(groups, dtype=object)
        members |= {name: names == name for name in dict.fromkeys(groups)}
    return [row for group, inside in members.items() for row in _group_rows(group, scores, inside)]


def summarize(scores: ContextScores, groups: Sequence[str] | None = None) -> Summary:
    """Return the averages of `aggregate` by name: for the whole distribution, by group, and as curves over cut-offs.

    Args:
        scores: see `aggregate`; 1 must be among the cut-offs of the top.
        groups: see `aggregate`.

    Returns:
        A dict of plain Python numbers; the description of the module's `compute` lists its keys.

    Raises:
        ValueError: see `aggregate`.
    """
    rows = aggregate(scores, groups)
    uncut_rows = {
        (row["group"], row["metric"]): row
        for row in rows
        if (row["cutoff_side"], row["cutoff"]) == ("top", 1.0)
    }

    def group_scores(group: str) -> GroupScores:
        ew, mw, covered_mass = (uncut_rows[group, metric] for metric in METRICS[:3])
        return {
            "ew": ew["score"],
            "mw": mw["score"],
            "n_contexts": mw["n"] + mw["n_excluded"],
            "n_excluded": mw["n_excluded"],
            "n_lemmas": mw["n_lemmas"],
            "n_ties": mw["n_ties"],
            "n_nonfinite": mw["n_nonfinite"],
            "covered_mass": covered_mass["score"],
        }

    names = dict.fromkeys(row["group"] for row in rows if row["group"] != ALL)
    return {
        **group_scores(ALL),
        "groups": {name: group_scores(name) for name in names},
        "curves": _curves([row for row in rows if row["group"] == ALL]),
        "rows": rows,
        "signature": {
            "metric": "refined_tse",
            "version": VERSION,
            "cutoffs_top": list(scores.cutoffs_top),
            "cutoffs_bottom": list(scores.cutoffs_bottom),
            "n_contexts": len(scores.n_ties),
        },
    }


def _curves(rows: list[AverageRow]) -> dict[str, dict[str, list[float]]]:
    """Collect the scores of each side by cut-off; a side that only has the cut-off 1 has no curve."""
    curves: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        curve = curves.setdefault(row["cutoff_side"], {"cutoff": [], **{metric: [] for metric in METRICS}})
        curve[row["metric"]].append(row["score"])
        if row["metric"] == METRICS[0]:
            curve["cutoff"].append(row["cutoff"])
    return {side: curve for side, curve in curves.items() if min(curve["cutoff"]) < 1}


def without_lemmas(ew: np.ndarray, n_nonfinite: np.ndarray) -> np.ndarray:
    """Return 1 for each context without an eligible lemma and 0 for the others, (contexts,).

    Args:
        ew: EW of the contexts at a cut-off, NaN for none.
        n_nonfinite: NaN log-probabilities of each context; one with any is excluded, NaN.
    """
    return np.where(np.asarray(n_nonfinite) > 0, np.nan, np.isnan(ew))


def _in_numpy(scores: ContextScores) -> ContextScores:
    def numpy(array: Array) -> np.ndarray:
        return np.asarray(on_host(array))

    top, bottom = (SideScores(*map(numpy, side)) for side in (scores.top, scores.bottom))
    counts = (numpy(scores.n_lemmas), numpy(scores.n_ties), numpy(scores.n_nonfinite))
    return ContextScores(top, bottom, *counts, scores.cutoffs_top, scores.cutoffs_bottom)


def _group_rows(group: str, scores: ContextScores, inside: np.ndarray) -> Iterator[AverageRow]:
    nonfinite = np.asarray(scores.n_nonfinite)[inside] > 0
    n_lemmas = float(scores.n_lemmas[inside].mean())
    n_ties, n_nonfinite = int(scores.n_ties[inside].sum()), int(nonfinite.sum())
    for name, side, cutoffs in (
        ("top", scores.top, scores.cutoffs_top),
        ("bottom", scores.bottom, scores.cutoffs_bottom),
    ):
        for column, cutoff in enumerate(cutoffs):
            ew, mw, covered_mass = (np.asarray(values)[inside, column] for values in side)
            shares = without_lemmas(ew, nonfinite)
            for metric, values in zip(METRICS, (ew, mw, covered_mass, shares), strict=True):
                scored = values[~np.isnan(values)]
                yield {
                    "group": group,
                    "metric": metric,
                    "cutoff_side": name,
                    "cutoff": cutoff,
                    "score": float(scored.mean()) if scored.size else float("nan"),
                    "n": int(scored.size),
                    "n_excluded": int(values.size - scored.size),
                    "n_lemmas": n_lemmas,
                    "n_ties": n_ties,
                    "n_nonfinite": n_nonfinite,
                }
