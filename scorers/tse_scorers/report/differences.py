"""Differences between models as text, for the terminal and for the page."""

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..statistics.estimate import MIN_RELIABLE_UNITS, enough_units
from .measure import Measures, measure_named
from .numbers import UNRELIABLE, counted
from .tables import MISSING, count, decimals, p_value, signed

ALPHA = 0.05
_COLUMNS = ("model", "score", "reference", "difference", "95 % interval", "p", "detectable", "units")


def how_many_differ(heading: str, family: pd.DataFrame) -> str:
    """Count the differences of one family of tests; a test over too few units does not count.

    >>> family = pd.DataFrame({"n_family": 2, "reliable": [True, False], "p": 0.01, "p_adjusted": 0.02})
    >>> family["n_units_effective"] = [9, 3]
    >>> how_many_differ("EW, paradigms", family)
    "EW, paradigms: 1 of 1 differs (p below 0.05 after Holm's adjustment of 2 tests). 1 has too few units to count."
    >>> how_many_differ("EW, paradigms", family[1:])
    'EW, paradigms: too few units for a test.'
    >>> how_many_differ("MCC, groups", family[:1].assign(p=float("nan")))
    'MCC, groups: 1 has no test, because a score is undefined or does not vary.'
    """
    tested = family[family["reliable"].astype(bool) & family["p"].notna()]
    n = int((tested["p_adjusted"] < ALPHA).sum())
    n_undefined = int((family["p"].isna() & enough_units(family["n_units_effective"])).sum())
    n_few = len(family) - len(tested) - n_undefined
    sentences = []
    if len(tested):
        n_tests = int(family["n_family"].iloc[0])
        adjusted = f" after Holm's adjustment of {count(n_tests)} tests" if n_tests > 1 else ""
        sentences.append(f"{n} of {len(tested)} differ{'s' if n == 1 else ''} (p below {ALPHA}{adjusted}).")
    if n_few and sentences:
        sentences.append(f"{n_few} {'has' if n_few == 1 else 'have'} too few units to count.")
    elif n_few:
        sentences.append(f"too few units for a test{f' of any of {count(n_few)}' if n_few > 1 else ''}.")
    if n_undefined:
        verb = "has" if n_undefined == 1 else "have"
        sentences.append(
            f"{count(n_undefined)} {verb} no test, because a score is undefined or does not vary."
        )
    return f"{heading}: {' '.join(sentences)}"


def overview(rows: pd.DataFrame, measures: Measures) -> pd.DataFrame:
    """Format rows of a comparison for people, without the measure and the group; p-values are the adjusted ones."""
    return pd.DataFrame([_shown(row, measures) for row in rows.to_dict("records")], columns=list(_COLUMNS))


def _shown(row: dict[str, Any], measures: Measures) -> dict[str, str]:
    measure = measure_named(measures, row["suite"], row["measure"])

    def form(value: Any, how: Any) -> str:
        return MISSING if value is None or pd.isna(value) else str(how(value))

    missing, doubt = pd.isna(row["ci_low"]), "" if row["reliable"] else UNRELIABLE
    return {
        "model": str(row["system"]),
        "score": form(row["score"], measure.form),
        "reference": form(row["reference_score"], measure.form),
        "difference": form(row["difference"], signed),
        "95 % interval": MISSING
        if missing
        else f"[{signed(row['ci_low'])}, {signed(row['ci_high'])}]{doubt}",
        "p": form(row["p_adjusted"], p_value),
        "detectable": form(
            row["minimum_detectable"],  # above 1 it is more than any two scores can differ
            lambda least: "more than any" if least > 1 else signed(least).replace("+", ""),
        ),
        "units": units(row),
    }


def units(row: Mapping[str, Any] | pd.Series) -> str:
    """Say what an interval is over, and whether there are too few of it.

    >>> few = {"n_units": 8, "n_units_effective": 2.71, "se": 0.1, "reliable": False}
    >>> units({"unit": "paradigms", "n_lemmas": None} | few)
    '8 paradigms (2.7 effective, fewer than 4: not reliable)'
    >>> units({"n_units": 29, "unit": "subject nouns x lemmas", "n_lemmas": 900, "reliable": True})
    '29 subject nouns x 900 lemmas that both have'
    """
    first, by, second = str(row["unit"]).partition(" x ")
    text = counted(count(row["n_units"]), first)
    if by:
        whose = "that all have" if "n_lemmas_own" in row else "that both have"  # with --common-lemmas
        second = re.sub("^lemmas", f"lemmas {whose}", second)
        text += by + (second if pd.isna(row["n_lemmas"]) else counted(count(row["n_lemmas"]), second))
    if row["reliable"]:
        return text
    if enough_units(row["n_units_effective"]) and pd.isna(row["se"]):
        return f"{text} (a score is undefined)"
    return f"{text} ({too_few(row['n_units_effective'])}: not reliable)"


def too_few(n_effective: float) -> str:
    """Say how many effective units there are.

    >>> too_few(2.71), too_few(4.0)
    ('2.7 effective, fewer than 4', 'too few in each group')
    """
    if n_effective >= MIN_RELIABLE_UNITS:  # two strata of two units
        return "too few in each group"
    return f"{decimals(n_effective, 1)} effective, fewer than {MIN_RELIABLE_UNITS}"
