"""The few numbers that say how a run went: one line per model, suite and measure."""

import pandas as pd

from .inputs import without_cutoff
from .tables import percent, score

_COLUMNS = ["system", "suite", "measure", "score", "text", "n", "n_excluded", "n_ties"]
_AGREEMENT = {"tse": "TSE", "ew": "EW", "mw": "MW"}
_METHODS = {"full": "accuracy %", "one_prefix": "one prefix %", "two_prefix": "two prefixes %"}


def headlines(rows: pd.DataFrame) -> pd.DataFrame:
    """Pick the results that stand for a whole suite.

    Args:
        rows: as `inputs.result_rows` returns them.

    Returns:
        Columns system, suite (with the configuration where it matters), measure, score (0–1), text (the
        score as it is printed: percentages for BLiMP, two decimals elsewhere), n, n_excluded, n_ties.
    """
    whole = without_cutoff(rows[rows["group"] == "all"])
    found = [_headline(row) for row in whole.to_dict("records")]
    frame = pd.DataFrame([line for line in found if line], columns=_COLUMNS)
    systems = {system: place for place, system in enumerate(dict.fromkeys(rows["system"]))}
    order = frame["system"].map(systems)
    return (
        frame.assign(order=order)
        .sort_values(["order"], kind="stable")
        .drop(columns="order")
        .reset_index(drop=True)
    )


def _headline(row: dict[str, object]) -> dict[str, object] | None:
    suite, metric, form = str(row["suite"]), str(row["metric"]), score
    name = suite if row["config"] in (None, "all", suite) else f"{suite}: {row['config']}"
    if suite == "agreement" and metric in _AGREEMENT:
        measure = _AGREEMENT[metric]
    elif suite == "blimp" and metric == "accuracy":
        measure, form = _METHODS.get(str(row["method"]), "accuracy %"), percent
    elif suite == "german" and metric == "auc":
        measure = f"AUC {str(row['variation_set']).replace('_', ' ')}"
    else:
        return None
    value = row["score"]
    text = "no score" if pd.isna(value) else form(float(str(value)))
    counts = {column: row[column] for column in ("n", "n_excluded", "n_ties")}
    return {
        "system": row["system"],
        "suite": name,
        "measure": measure,
        "score": value,
        "text": text,
        **counts,
    }
