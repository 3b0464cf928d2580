"""Headline measures of minimal pairs: accuracy by each method."""

from typing import TYPE_CHECKING

from ...report.measure import Measure, PublishedCurves

if TYPE_CHECKING:
    import pandas as pd

METHOD_LABELS = {"full": "accuracy", "one_prefix": "one prefix", "two_prefix": "two prefixes"}
METHODS = tuple(METHOD_LABELS)


def _published_curves(rows: "pd.DataFrame") -> PublishedCurves | None:
    from .show.section_growth import pythia_curves  # loads scipy, which `--help` does not need

    return pythia_curves(rows)


def _accuracy(method: str) -> Measure:
    is_full = method == "full"
    return Measure(
        "accuracy",
        METHOD_LABELS[method],
        at={"method": method},
        default={"method": "full"},
        live_key="minimal_pairs/accuracy" if is_full else None,
        digits=3,  # the paper has one decimal of a percent
        right_or_wrong=True,
        curve_levels=("all", "phenomenon") if is_full else (),
        published_curves=_published_curves if is_full else None,
        why_excluded="" if is_full else "the pair has no such prefixes",
    )


MEASURES = tuple(map(_accuracy, METHOD_LABELS))
ACCURACY = MEASURES[0]
