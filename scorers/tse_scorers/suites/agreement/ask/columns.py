"""The columns of scores in tables of contexts and of forms; results on disk are read without PyTorch."""

from collections.abc import Collection, Iterator

import pyarrow as pa

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
        "lemmas of the list whose two forms are single tokens of the vocabulary",
        Values.COUNT,
    ),
    ("n_ties", "int64", "lemmas whose two forms are equally probable", Values.COUNT),
    ("n_nonfinite", "int64", "1 if a log-probability was NaN", Values.COUNT),
)
"""Columns of the table `contexts` of single tokens, before the user's own."""

LIST_CONTEXTS = described(
    (
        "ew_list_top_<p>",
        "double",
        "EW over the most probable listed forms that hold the share p of the listed probability",
        Values.SHARE,
    ),
    ("mw_list_top_<p>", "double", "MW over them", Values.SHARE),
    (
        "covered_mass_list_top_<p>",
        "double",
        "share of the listed probability that the lemmas that count hold",
        Values.SHARE,
    ),
    ("ew_list_bottom_<p>", "double", "EW over the least probable listed forms", Values.SHARE),
    ("mw_list_bottom_<p>", "double", "MW over them", Values.SHARE),
    (
        "covered_mass_list_bottom_<p>",
        "double",
        "share of the listed probability that the lemmas that count hold",
        Values.SHARE,
    ),
    (
        "ew_sampler_top_<p>",
        "double",
        "with `--sampler`: EW over the lemmas that nucleus sampling with top p can say",
        Values.SHARE,
    ),
    ("mw_sampler_top_<p>", "double", "MW of the sampler's probabilities", Values.SHARE),
    (
        "covered_mass_sampler_top_<p>",
        "double",
        "probability that the sampler gives to the listed forms",
        Values.SHARE,
    ),
    ("n_lemmas", "int64", "lemmas scored", Values.COUNT),
    ("n_ties", "int64", "lemmas whose two forms are equally probable", Values.COUNT),
    ("n_nonfinite", "int64", "lemmas with a log-probability that is NaN", Values.COUNT),
)
"""Columns of whole words, besides those over the whole distribution (`ew_top_1`, …)."""
UNEQUAL = "ew_different_lengths"
"""The metric of lemmas with forms of different lengths, and the column of contexts."""
BY_SENTENCE = described(
    (UNEQUAL, "double", "EW over lemmas with forms of different lengths", Values.SHARE),
)
"""The column of contexts that `--sentence-pll` adds."""
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
KEPT_FORMS = described(
    ("context_id", "int64", "its row in the file of contexts", Values.COUNT),
    ("opening", "bool", "whether the gap opens its sentence"),
    (
        "logprob_singular",
        pa.list_(pa.float32()),
        "log-probability of the singular of each lemma, in the order of the file of lemmas",
    ),
    ("logprob_plural", pa.list_(pa.float32()), "the same of the plural"),
)
"""Columns of the table `forms`."""
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
            yield from (f"{measure}{POINT}".format(cutoff_side=side, cutoff=cutoff) for cutoff in cutoffs)


RESERVED = (
    "context_id", "unit", "logprob_correct", "logprob_incorrect", "tse", *score_columns(), *score_columns(True, True),
    *COUNTS, UNEQUAL,
)  # fmt: skip
"""Columns of scores; a user's columns must not have these names."""


def sides_in(columns: Collection[str]) -> Sides:
    """Return the cut-offs of a table of contexts."""
    return sides_of("ew_list_bottom_0.5" in columns, "ew_sampler_top_0.5" in columns)
