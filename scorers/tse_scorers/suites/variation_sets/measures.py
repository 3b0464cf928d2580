"""Headline measures of variation sets: the AUC over each kind of set."""

from ..measure import Measure

KINDS = ("1-6", "1-2_nominative", "1-2_accusative", "1-2_dative")
KIND_LABELS = {kind: "AUC" if kind == "1-6" else f"AUC {kind.removeprefix('1-2_')} twice" for kind in KINDS}
CONFIG_NAMES = {"ours": "sentences of refined-tse", "rochereau2020": "sentences of Rochereau et al. (2020)"}
CASES = {"N": "nominative", "A": "accusative", "D": "dative"}
ROLES = {"ag": "agent", "re": "recipient", "pa": "patient"}


def group_name(level: str, value: str) -> str:
    """Name a group of results in a sentence or above a panel.

    >>> group_name("case_order", "NDA"), group_name("role", "ag1,re3,pa2")
    ('nominative–dative–accusative', 'agent 1, recipient 3, patient 2')
    >>> group_name("cell", "NDA|ag1,re2,pa3")
    'nominative–dative–accusative, agent 1, recipient 2, patient 3'
    """
    if level == "all":
        return "Overall"
    parts = [
        "–".join(CASES[case] for case in part)
        if set(part) <= set(CASES)
        else ", ".join(f"{ROLES.get(role[:2], role[:2])} {role[2:]}" for role in part.split(","))
        for part in value.split("|")
    ]
    return ", ".join(parts)


MEASURES = tuple(
    Measure(
        "auc",
        label,
        "share of wrong clauses that are less probable than the right one" if kind == "1-6" else "",
        at={"variation_set": kind},
        default={"variation_set": "1-6"},
        live_key="german/auc" if kind == "1-6" else None,
        main_level="case_order",
        counted="sets",
        comparisons=6 if kind == "1-6" else 2,
        ties="count half",
    )
    for kind, label in KIND_LABELS.items()
)
