"""The columns of scores in tables of contexts and of forms; results on disk are read without PyTorch."""

from collections.abc import Collection, Iterator

from ....io.bundle import metric_modules
from ....io.score_columns import Values, described

MEASURES = ("ew", "mw", "covered_mass")
POINT = "_{cutoff_side}_{cutoff:g}"
"""What follows the measure in the name of a column of scores: `ew_bottom_1e-06`."""
CONTEXTS = described(
    (
        "context_id",
        "int64",
        "number of the context in this run, from 0; a context that counts into two groups has the same "
        "id in both",
        Values.COUNT,
    ),
    ("group", "string", "group, as a row of Table 2"),
    ("construction", "string", "construction of the templates; for your own data the group"),
    (
        "number",
        "string",
        "number of the subject: `singular` or `plural`; of a [contrast of your "
        "own](../tutorials/contrasts.md), its value",
    ),
    ("prefix", "string", "text before the gap"),
    (
        "suffix",
        "string",
        "text after the gap. For a causal model, which does not see it, this is the first suffix with "
        "that prefix",
    ),
    (
        "ew_top_<p>",
        "double",
        "EW in the top p; `ew_top_1` is over the whole distribution; NaN if no lemma is inside",
        Values.SHARE,
    ),
    ("mw_top_<p>", "double", "MW in the top p", Values.SHARE),
    (
        "covered_mass_top_<p>",
        "double",
        "probability of both forms of the lemmas that count in the top p",
        Values.SHARE,
    ),
    ("ew_bottom_<p>", "double", "EW in the bottom p", Values.SHARE),
    ("mw_bottom_<p>", "double", "MW in the bottom p", Values.SHARE),
    (
        "covered_mass_bottom_<p>",
        "double",
        "probability of both forms of the lemmas that count in the bottom p",
        Values.SHARE,
    ),
    (
        "n_lemmas",
        "int64",
        "lemmas scored",
        Values.COUNT,
    ),
    ("n_ties", "int64", "lemmas whose two forms are equally probable", Values.COUNT),
    ("n_nonfinite", "int64", "lemmas with a log-probability that is NaN", Values.COUNT),
)
"""Columns of the table `contexts`, before the user's own; whole words have no cut-offs other than `top_1`."""

TOP_FORMS = described(
    ("context_id", "int64", "its row in the file of contexts", Values.COUNT),
    ("group", "string", "group"),
    ("prefix", "string", "text before the gap"),
    ("suffix", "string", "text after the gap"),
    ("number", "string", "number of the subject"),
    ("rank", "int64", "1 is the most probable token"),
    ("form", "string", "text of the token"),
    ("probability", "double", "its probability, 0 to 1", Values.SHARE),
    ("status", "string", "`correct` or `incorrect` for forms of listed lemmas, else `other`"),
)
"""Columns of the table `top_forms`."""
COUNTS = ("n_lemmas", "n_ties", "n_nonfinite")
Sides = tuple[tuple[str, tuple[float, ...]], ...]
"""`cutoff_side` of results -> its cut-offs."""


def sides_of(whole_words: bool) -> Sides:
    """Return the cut-offs of a run: those of the paper, or with whole words only the whole distribution."""
    scores = metric_modules("refined_tse").scores
    if whole_words:
        return (("top", (1.0,)),)
    return ("top", scores.TOP_CUTOFFS), ("bottom", scores.BOTTOM_CUTOFFS)


def score_columns(whole_words: bool = False) -> Iterator[str]:
    """Names of the score columns of a table of contexts, in order: `ew_top_0.1` … `covered_mass_bottom_1e-06`."""
    for side, cutoffs in sides_of(whole_words):
        for measure in MEASURES:
            yield from (f"{measure}{POINT}".format(cutoff_side=side, cutoff=cutoff) for cutoff in cutoffs)


RESERVED = ("context_id", "unit", "logprob_correct", "logprob_incorrect", "tse", *score_columns(), *COUNTS)
"""Columns of scores; a user's columns must not have these names."""


def sides_in(columns: Collection[str]) -> Sides:
    """Return the cut-offs of a table of contexts."""
    return sides_of("ew_top_0.5" not in columns)
