"""The few numbers that say how a run went: one line per model, suite and measure."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from ..statistics.estimate import MIN_RELIABLE_UNITS, enough_units
from .comparable import Heading
from .measure import Measure, Measures, leading, measured
from .names import plain_heading
from .numbers import SYMMETRIC, UNRELIABLE, WHY_NO_INTERVAL, WHY_NO_SCORE
from .tables import with_interval

_COPIED = (
    "n", "n_excluded", "n_ties", "se", "ci_low", "ci_high", "unit", "n_units", "n_units_effective", "reliable",
    "n_lemmas",
)  # fmt: skip
_COLUMNS = (
    "system", "suite", "measure", "score", "text", "with_ends", *_COPIED, "chance", "over_lemmas",
    "counted", "why_excluded", "suite_name", "config", "digits", "leads", "place",
)  # fmt: skip


def headlines(rows: pd.DataFrame, measures: Measures, heading: Heading = plain_heading) -> pd.DataFrame:
    """Pick the results that stand for a whole suite.

    Args:
        rows: as `inputs.Runs` holds them.
        measures: headline measures of each suite.
        heading: names the data.

    Returns:
        Columns system, suite (as `heading` names its data), measure, score, text (the score as tables print it, with
        its interval), with_ends (as sentences do), n, n_excluded, n_ties, se, ci_low, ci_high, unit, n_units,
        n_units_effective, reliable, n_lemmas, chance (or None), over_lemmas, counted, why_excluded,
        suite_name, config, digits (of the measure's scores), leads (whether the report leads with it) and place (of the
        suite in `measures`); one system after the other, its suites in the order of `measures`.
    """
    overall = rows[rows["group"] == "all"].to_dict("records")
    lines = [
        _headline(row, measure, heading, measure is leading(measures[row["suite"]]))
        for row, measure in measured(overall, measures)
    ]
    frame = pd.DataFrame(lines, columns=list(_COLUMNS))
    systems = {system: place for place, system in enumerate(dict.fromkeys(rows["system"]))}
    places = {
        "place": frame["suite_name"].map(list(measures).index),
        "of_system": frame["system"].map(systems),
    }
    ordered = frame.assign(**places).sort_values(["of_system", "place"], kind="stable", ignore_index=True)
    return ordered.drop(columns="of_system")


def _headline(row: Mapping[str, Any], measure: Measure, heading: Heading, leads: bool) -> dict[str, Any]:
    suite, config = row["suite"], row["config"]
    return {
        "system": row["system"],
        "suite": heading(suite, config),
        "measure": measure.label,
        "score": row["score"],
        "text": _text(row, measure, SYMMETRIC),
        "with_ends": _text(row, measure, -1.0),
        **{column: row.get(column) for column in _COPIED},
        "chance": measure.chance,
        "over_lemmas": measure.over_lemmas,
        "counted": measure.counted,
        "why_excluded": measure.why_excluded,
        "suite_name": suite,
        "config": config,
        "digits": measure.digits,
        "leads": leads,
    }


def _text(row: Mapping[str, Any], measure: Measure, symmetric: float) -> str:
    if pd.isna(row["score"]):
        return "no score"
    if measure.all_tied(row):
        return f"{measure.form(row['score'])} (all ties)"
    return with_interval(float(row["score"]), row["ci_low"], row["ci_high"], measure.form, symmetric)


def marked(lines: pd.DataFrame) -> "pd.Series[str]":
    """Return the texts of `headlines`, with * after each interval that `warnings_of` warns of."""
    has_interval = lines["ci_low"].notna() & lines["ci_high"].notna()
    return lines["text"].mask(_is_unreliable(lines) & has_interval, lines["text"] + UNRELIABLE)


def _is_unreliable(lines: pd.DataFrame) -> "pd.Series[bool]":
    return lines["reliable"].eq(False) & lines["se"].notna()


def warnings_of(lines: pd.DataFrame) -> Iterator[str]:
    """Yield a line per suite and data set with unreliable or without intervals, among what `headlines` returns."""
    for (name, unit), of_unit in lines[_is_unreliable(lines)].groupby(["suite", "unit"], sort=False):
        labels = ", ".join(of_unit["measure"].unique())
        yield (
            f"{UNRELIABLE} Do not rely on the intervals of {labels} ({name}): they are over fewer than "
            f"{MIN_RELIABLE_UNITS} effective units, here {unit}."
        )
    has_units = enough_units(lines["n_units_effective"].astype(float))
    undefined = lines[lines["reliable"].eq(False) & lines["se"].isna() & has_units]
    for (name, measure), rows in undefined.groupby(["suite", "measure"], sort=False):
        for is_scored, why in (
            (True, f"has no interval, because it is {WHY_NO_INTERVAL}"),
            (False, f"is {WHY_NO_SCORE}"),
        ):
            if systems := list(rows.loc[rows["score"].notna() == is_scored, "system"]):
                yield f"{measure} ({name}) {why}: {', '.join(systems)}."
