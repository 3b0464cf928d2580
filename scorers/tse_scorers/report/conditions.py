"""The section of `tse compare --by`: scores of conditions, and contrasts between them, within each model."""

from collections.abc import Iterator

import pandas as pd

from .blocks import Section, View
from .differences import how_many_differ, units
from .measure import Measures, measure_named
from .names import Names
from .numbers import UNRELIABLE
from .tables import MISSING, Table, count, p_value, signed

TERMS = {
    "Difference": "The score in one condition minus that in another, of the same model. Units that occur in both "
    "conditions are compared with themselves.",
    "Interaction": "The difference of two differences: how much more the second factor changes the score at one value "
    "of the first factor than at the other.",
    "p": "How often chance alone gives a contrast this large, if the conditions do not differ. Adjusted by Holm's "
    "method over all differences (or interactions) of a measure, of all models.",
}


def section(rows: pd.DataFrame, names: Names, measures: Measures) -> Section:
    """Build the section from the rows of `runs.conditions`; `measures` say how scores are printed."""
    parts = []
    for (suite, config, measure), measure_rows in rows.groupby(
        ["suite", "config", "measure"], sort=False, dropna=False
    ):
        by = measure_rows["by"].iloc[0]
        tables = [
            _table(of_kind, str(kind), measures) for kind, of_kind in measure_rows.groupby("kind", sort=False)
        ]
        parts.append(
            View(
                f"{names.heading(str(suite), config)}: {measure} by {by}",
                " ".join(findings(measure_rows)),
                tables,
            )
        )
    return Section("conditions", "Conditions", "Scores with 95 % intervals.", TERMS, parts)


def overview(rows: pd.DataFrame, measures: Measures) -> pd.DataFrame:
    """Format rows of one kind and measure for people: one line per condition or contrast and system."""
    kind = rows["kind"].iloc[0]
    measure = measure_named(measures, rows["suite"].iloc[0], rows["measure"].iloc[0])
    form = measure.form if kind == "score" else signed
    shown = [
        {
            "model": row.system,
            "condition" if kind == "score" else str(kind): row.condition,
            "score" if kind == "score" else "value": form(row.value),
            "interval": MISSING
            if pd.isna(row.ci_low)
            else f"[{form(row.ci_low)}, {form(row.ci_high)}]{'' if row.reliable else UNRELIABLE}",
            **({} if kind == "score" else {"p": MISSING if pd.isna(row.p) else p_value(row.p_adjusted)}),
            "n": count(row.n_items),
        }
        for row in rows.itertuples()
    ]
    return pd.DataFrame(shown)


def findings(rows: pd.DataFrame) -> Iterator[str]:
    """Say what the intervals are over, what is left out, and how many contrasts of each family differ from 0."""
    over = dict.fromkeys(units(row | {"n_lemmas": None}) for row in rows.to_dict("records"))
    doubt = "" if rows["reliable"].all() else f"{UNRELIABLE} "
    yield f"{doubt}95 % intervals are over {'; '.join(over)}."
    if left_out := ", ".join(dict.fromkeys(count(n) for n in rows["n_without"] if n)):
        by = rows["by"].iloc[0].replace(" x ", " or ")
        yield f"Items excluded, because they have no value of {by}: {left_out}."
    contrasts = rows[rows["kind"] != "score"]
    for kind, of_kind in contrasts.groupby("kind", sort=False):
        yield how_many_differ(f"{str(kind).capitalize()}s", of_kind)


def _table(rows: pd.DataFrame, kind: str, measures: Measures) -> Table:
    text = overview(rows, measures).set_index("model").rename_axis("Model")
    numbers = rows.set_index("system")[["value", "se", "ci_low", "ci_high", "p_adjusted"]].rename_axis(
        "Model"
    )
    captions = {"score": "Scores of the conditions.", "difference": "Differences between conditions."}
    caption = captions.get(kind, "The interaction of the two factors.")
    return Table(caption, numbers, text, file=f"conditions_{kind}")
