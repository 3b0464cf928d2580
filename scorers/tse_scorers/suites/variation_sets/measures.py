"""Headline measures of variation sets: the AUC over each kind of set."""

from ...report.measure import Measure

KINDS = ("1-6", "1-2_nominative", "1-2_accusative", "1-2_dative")
KIND_LABELS = {kind: f"AUC {kind.replace('_', ' ')}" for kind in KINDS}

MEASURES = tuple(
    Measure(
        label,
        {"metric": "auc", "variation_set": kind},
        "any case twice" if kind == "1-6" else f"{kind.removeprefix('1-2_')} twice",
        live_key="german/auc" if kind == "1-6" else None,
        comparisons=6 if kind == "1-6" else 2,
    )
    for kind, label in KIND_LABELS.items()
)
