"""Headline measures of minimal pairs: accuracy by each method."""

from ..measure import Measure

METHOD_LABELS = {"full": "accuracy", "one_prefix": "one prefix", "two_prefix": "two prefixes"}
METHODS = tuple(METHOD_LABELS)
_WORDS = {
    "full": "share of pairs whose acceptable sentence is the more probable one",
    "one_prefix": "share of pairs whose right next word is the more probable one",
    "two_prefix": "share of pairs whose word is more probable after the right beginning",
}


def _accuracy(method: str) -> Measure:
    is_full = method == "full"
    return Measure(
        "accuracy",
        METHOD_LABELS[method],
        words=_WORDS[method],
        at={"method": method},
        default={"method": "full"},
        live_key="minimal_pairs/accuracy" if is_full else None,
        main_level="phenomenon",
        right_or_wrong=True,
        counted="pairs",
        why_excluded="" if is_full else "the pair has no such prefixes",
    )


MEASURES = tuple(map(_accuracy, METHOD_LABELS))
ACCURACY = MEASURES[0]
