"""The columns of scores in a table of contexts, and how they become the metric's scores."""

from collections.abc import Collection, Iterator
from typing import Any

import pandas as pd

from ...io.bundle import metric_modules

MEASURES = ("ew", "mw", "covered_mass")
COUNTS = ("n_lemmas", "n_ties", "n_nonfinite")
Sides = tuple[tuple[str, tuple[float, ...]], ...]
"""`cutoff_side` of results -> its cut-offs."""


def sides_of(whole_words: bool) -> Sides:
    """Return the cut-offs of a run: those of the paper, or with whole words list percentiles, which are not."""
    metric = metric_modules("refined_tse")
    if whole_words:
        return (
            ("top", (1.0,)),
            ("list_top", metric.listed.LIST_TOP),
            ("list_bottom", metric.listed.LIST_BOTTOM),
        )
    return ("top", metric.scores.TOP_CUTOFFS), ("bottom", metric.scores.BOTTOM_CUTOFFS)


def score_columns(whole_words: bool = False) -> Iterator[str]:
    """Names of the score columns of a table of contexts, in order: `ew_top_0.1` … `covered_mass_bottom_1e-06`."""
    for side, cutoffs in sides_of(whole_words):
        for measure in MEASURES:
            yield from (f"{measure}_{side}_{cutoff:g}" for cutoff in cutoffs)


RESERVED = (
    "context_id", "unit", "logprob_correct", "logprob_incorrect", "tse", *score_columns(), *score_columns(True),
    *COUNTS,
)  # fmt: skip
"""Columns of scores; a user's columns must not have these names."""


def has_whole_words(columns: Collection[str]) -> bool:
    """Return whether a table of contexts was scored by whole words."""
    return "ew_list_bottom_0.5" in columns


def context_scores(contexts: pd.DataFrame) -> Iterator[tuple[dict[str, str], Any]]:
    """Yield the scores of a table of contexts in the metric's format, with what `cutoff_side` is called in results."""
    weighting = metric_modules("refined_tse").scores

    def side(name: str, cutoffs: tuple[float, ...]) -> Any:
        columns = ([f"{measure}_{name}_{cutoff:g}" for cutoff in cutoffs] for measure in MEASURES)
        return weighting.SideScores(*(contexts[names].to_numpy() for names in columns))

    counts = [contexts[name].to_numpy() for name in COUNTS]
    sides = sides_of(has_whole_words(contexts.columns))
    if len(sides) == 3:
        whole, sides = sides[0], sides[1:]
        yield {}, weighting.ContextScores(side(*whole), side("top", ()), *counts, whole[1], ())
    (top, at_top), (bottom, at_bottom) = sides
    scores = side(top, at_top), side(bottom, at_bottom)
    yield {"top": top, "bottom": bottom}, weighting.ContextScores(*scores, *counts, at_top, at_bottom)
