"""Headline measures of minimal pairs: accuracy by each method."""

from ...report.measure import Measure

METHOD_LABELS = {"full": "accuracy", "one_prefix": "one prefix", "two_prefix": "two prefixes"}
METHODS = tuple(METHOD_LABELS)
_LONG = {"one_prefix": "two words after one beginning", "two_prefix": "one word after two beginnings"}
_WORDS = {
    "one_prefix": "how often the right next word is more probable (“The cats annoy”, not “annoys”)",
    "two_prefix": "how often the word is more probable after the right beginning (“annoy” after “The cats”, not "
    "“The cat”)",
}


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


MEASURES = tuple(map(_accuracy, METHOD_LABELS))
ACCURACY = MEASURES[0]
