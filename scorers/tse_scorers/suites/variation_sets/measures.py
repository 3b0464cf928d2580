"""Headline measures of variation sets: the AUC over each kind of set."""

from ...report.measure import Measure

KINDS = ("1-6", "1-2_nominative", "1-2_accusative", "1-2_dative")
KIND_LABELS = {kind: f"AUC {kind.replace('_', ' ')}" for kind in KINDS}

MEASURES = tuple(
    Measure(
        "auc",
        label,
        "any case twice" if kind == "1-6" else f"{kind.removeprefix('1-2_')} twice",
        at={"variation_set": kind},
        default={"variation_set": "1-6"},
        live_key="german/auc" if kind == "1-6" else None,
        comparisons=6 if kind == "1-6" else 2,
    )
    for kind, label in KIND_LABELS.items()
)
