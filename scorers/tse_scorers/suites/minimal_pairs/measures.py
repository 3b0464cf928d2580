"""Headline measures of minimal pairs: accuracy by each method, and after each kind of context."""

from ...report.measure import Measure
from .data.contexts import KINDS, NONE

METHOD_LABELS = {"full": "accuracy", "one_prefix": "one prefix", "two_prefix": "two prefixes"}
METHODS = tuple(METHOD_LABELS)
_LONG = {"one_prefix": "two words after one beginning", "two_prefix": "one word after two beginnings"}
_WORDS = {
    "one_prefix": "how often the right next word is more probable (“The cats annoy”, not “annoys”)",
    "two_prefix": "how often the word is more probable after the right beginning (“annoy” after “The cats”, not "
    "“The cat”)",
}
IN_CONTEXT = "in_context"
"""The table of scores of pairs in context, which has other columns than that of pairs by themselves."""
CONTEXT_LABELS = {NONE: "no context"} | {kind: kind for kind in KINDS}
"""Context -> label of its measure, at its greatest length; short, so that tables fit a terminal."""


def _accuracy(method: str) -> Measure:
    is_full = method == "full"
    return Measure(
        "accuracy",
        METHOD_LABELS[method],
        _LONG.get(method, ""),
        words=_WORDS.get(method, ""),
        at={"method": method},
        default={"method": "full"},
        live_key="minimal_pairs/accuracy" if is_full else None,
        main_level="phenomenon",
        right_or_wrong=True,
        curve_levels=("all", "phenomenon") if is_full else (),
        counted="pairs",
        why_excluded="" if is_full else "the pair has no such prefixes",
    )


def _in_context(context: str) -> Measure:
    return Measure(
        "accuracy_in_context",
        CONTEXT_LABELS[context],
        at={"context": context, "longest": "longest"},
        table=IN_CONTEXT,
        column="correct",
        live_key=f"in_context/{context}",
        main_level="phenomenon",
        right_or_wrong=True,
        counted="pairs",
        detail="" if context == NONE else "sentences of context {length:.0f}",
    )


MEASURES = (*map(_accuracy, METHOD_LABELS), *map(_in_context, CONTEXT_LABELS))
ACCURACY = MEASURES[0]
