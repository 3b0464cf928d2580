"""How differences between systems are shown: the overall ones as a table, the groups that differ below."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..statistics.estimate import MIN_RELIABLE_UNITS
from .section import Part, Section
from .tables import MISSING, Table, p_value, score, signed

TERMS = {
    "Difference": "The system's score minus the reference's, over the items that both scored, with its 95 % "
    "interval.",
    "p": "How often chance alone gives a difference this large, if the two systems do not differ. Groups: adjusted by "
    "Holm's method over the groups of one level.",
    "Detectable": "The least true difference that such data show in 80 % of samples.",
}
_COLUMNS = ("system", "score", "reference", "difference", "95 % interval", "p", "detectable", "units")


def section(rows: pd.DataFrame) -> Section:
    """Build the section of `tse compare`; rows as `runs.compare` returns them."""
    parts = []
    for (suite, config, reference), own in rows.groupby(
        ["suite", "config", "reference"], sort=False, dropna=False
    ):
        overall, groups = own[own["group"] == "all"], own[own["group"] != "all"]
        blocks = [_table(overall, f"Overall differences to {reference}.", "measure", "p")]
        if len(groups):
            named = groups.assign(measure=groups["measure"] + ", " + groups["group"])
            blocks.append(
                _table(named, f"Differences to {reference} by group.", "measure", "p_adjusted", True)
            )
        named_suite = suite if config in (None, "all", suite) else f"{suite}: {config}"
        parts.append(Part(f"{named_suite}, against {reference}", "", blocks))
    return Section("comparison", "Differences", "Systems on the same items.", TERMS, parts)


def _table(rows: pd.DataFrame, caption: str, header: str, p: str, folded: bool = False) -> Table:
    text = overview(rows, p)
    text.index = pd.Index(rows[header], name="Measure")
    values = rows.set_index(header)[["difference", "se", "ci_low", "ci_high", p]]
    return Table(caption, values, text, folded=folded)


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
