"""Differences between systems as text, for the terminal and for the page."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..statistics.estimate import MIN_RELIABLE_UNITS
from .tables import MISSING, p_value, score, signed

_COLUMNS = ("system", "score", "reference", "difference", "95 % interval", "p", "detectable", "units")


def overview(rows: pd.DataFrame, p: str = "p") -> pd.DataFrame:
    """Format rows of a comparison for people, without the measure and the group."""
    return pd.DataFrame([_shown(row, p) for row in rows.to_dict("records")], columns=list(_COLUMNS))


def _shown(row: dict[str, Any], p: str) -> dict[str, str]:
    def form(value: Any, how: Any) -> str:
        return MISSING if value is None or pd.isna(value) else str(how(value))

    missing = pd.isna(row["ci_low"])
    return {
        "system": str(row["system"]),
        "score": form(row["score"], score),
        "reference": form(row["reference_score"], score),
        "difference": form(row["difference"], signed),
        "95 % interval": MISSING if missing else f"[{signed(row['ci_low'])}, {signed(row['ci_high'])}]",
        "p": form(row[p], p_value),
        "detectable": form(row["minimum_detectable"], signed).lstrip("+"),
        "units": units(row),
    }


def units(row: Mapping[str, Any] | pd.Series) -> str:
    """Say what an interval is over, and whether there are too few of it.

    >>> units({"n_units": 8, "unit": "paradigms", "n_lemmas": None})
    '8 paradigms (fewer than 10: not reliable)'
    >>> units({"n_units": 29, "unit": "subject nouns x lemmas", "n_lemmas": 900})
    '29 subject nouns x 900 lemmas'
    """
    unit, counts = str(row["unit"]), [row["n_units"]]
    if " x " in unit and not pd.isna(row["n_lemmas"]):
        counts.append(row["n_lemmas"])
        unit = unit.replace(" x ", f" x {row['n_lemmas']:.0f} ")
    few = f" (fewer than {MIN_RELIABLE_UNITS}: not reliable)" if min(counts) < MIN_RELIABLE_UNITS else ""
    return f"{row['n_units']:.0f} {unit}{few}"
