"""The columns of scores in a table of contexts, and how they become the metric's scores."""

from collections.abc import Collection, Iterator
from typing import Any

import pandas as pd

from ...io.bundle import metric_modules

MEASURES = ("ew", "mw", "covered_mass")
COUNTS = ("n_lemmas", "n_ties", "n_nonfinite")
Sides = tuple[tuple[str, tuple[float, ...]], ...]
"""`cutoff_side` of results -> its cut-offs."""


def sides_of(whole_words: bool, sampler: bool = False) -> Sides:
    """Return the cut-offs of a run: those of the paper, or with whole words others, which are not.

    Args:
        whole_words: list percentiles.
        sampler: and what a nucleus sampler keeps.
    """
    metric = metric_modules("refined_tse")
    if whole_words:
        of_sampler = (("sampler_top", metric.sampler.SAMPLER_TOP),) if sampler else ()
        return (
            ("top", (1.0,)),
            ("list_top", metric.listed.LIST_TOP),
            ("list_bottom", metric.listed.LIST_BOTTOM),
            *of_sampler,
        )
    return ("top", metric.scores.TOP_CUTOFFS), ("bottom", metric.scores.BOTTOM_CUTOFFS)


def score_columns(whole_words: bool = False, sampler: bool = False) -> Iterator[str]:
    """Names of the score columns of a table of contexts, in order: `ew_top_0.1` … `covered_mass_bottom_1e-06`."""
    for side, cutoffs in sides_of(whole_words, sampler):
        for measure in MEASURES:
            yield from (f"{measure}_{side}_{cutoff:g}" for cutoff in cutoffs)


RESERVED = (
    "context_id", "unit", "logprob_correct", "logprob_incorrect", "tse", *score_columns(), *score_columns(True, True),
    *COUNTS, "ew_different_lengths",
)  # fmt: skip
"""Columns of scores; a user's columns must not have these names."""


def _sides_in(columns: Collection[str]) -> Sides:
    """Return the cut-offs of a table of contexts."""
    return sides_of("ew_list_bottom_0.5" in columns, "ew_sampler_top_0.5" in columns)


def context_scores(contexts: pd.DataFrame) -> Iterator[tuple[dict[str, str], Any]]:
    """Yield the scores of a table of contexts in the metric's format, with what `cutoff_side` is called in results."""
    metric = metric_modules("refined_tse").scores
    counts = [contexts[name].to_numpy() for name in COUNTS]
    cutoffs = dict(_sides_in(contexts.columns))

    def side(name: str) -> Any:
        columns = (
            [f"{measure}_{name}_{cutoff:g}" for cutoff in cutoffs.get(name, ())] for measure in MEASURES
        )
        return metric.SideScores(*(contexts[names].to_numpy() for names in columns))

    for top in (name for name in cutoffs if name.endswith("top")):
        bottom = top.replace("top", "bottom")
        bottom = bottom if bottom in cutoffs else ""
        at_cutoffs = cutoffs[top], cutoffs.get(bottom, ())
        scores = metric.ContextScores(side(top), side(bottom), *counts, *at_cutoffs)
        yield {"top": top, "bottom": bottom}, scores
