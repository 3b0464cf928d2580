"""The rows of Table 2: their names, their order, and the line that each has in every picture."""

import numpy as np
import pandas as pd

from ....report.line_styles import HUES, INK, MARKERS, MUTED, Line
from ..options import CONFIG_NAMES

# Rows of Table 2, in its order, each with the line that it has in every picture of cut-offs. The two
# kinds of object relative share a hue with and without `that`.
ROW_LINES = {
    "Simple": Line(MUTED, MARKERS[0]),
    "In a sentential complement": Line(HUES[1], MARKERS[1]),
    "VP coordination": Line(HUES[2], MARKERS[2]),
    "Across prepositional phrase": Line(HUES[3], MARKERS[3]),
    "Across subject relative clause": Line(HUES[4], MARKERS[4]),
    "Across object relative clause": Line(HUES[0], MARKERS[5]),
    "Across object relative (no that)": Line(HUES[0], MARKERS[6], dashes=1),
    "In object relative clause": Line(HUES[5], MARKERS[7]),
    "In object relative (no that)": Line(HUES[5], MARKERS[8], dashes=1),
    "BLiMP": Line(INK, MARKERS[9], width=2.2),
}


def labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Add `label`, the row of Table 2 that a result belongs to, and put the rows into the table's order."""
    rows = rows.copy()
    config = rows["config"].fillna(rows["dataset"]).fillna("")
    configs = config.groupby(rows["group"]).nunique()
    whole = rows["group"] == "all"
    # The mean over everything is another one for each data set; other groups only where several have them.
    ambiguous = rows["group"].map(configs) > 1
    named = rows["group"].where(~ambiguous, rows["group"] + " (" + config + ")")
    rows["label"] = named.where(~whole, "All of " + config.replace(CONFIG_NAMES))
    # A data set that is a single row of the table would otherwise appear twice, as the row and as its mean.
    groups = rows[~whole].groupby(config[~whole])["group"].nunique()
    rows = rows[~(whole & (config.map(groups) == 1))]
    order = {label: position for position, label in enumerate(_ordered(rows["label"].unique()))}
    return rows.sort_values("label", key=lambda column: column.map(order), kind="stable")


def _ordered(labels: np.ndarray) -> list[str]:
    known = list(ROW_LINES)

    def place(label: str) -> tuple[bool, int, str]:
        group = label.split(" (newman2021)")[0].split(" (blimp)")[0]
        return label.startswith("All of "), known.index(group) if group in known else len(known), label

    return sorted(labels, key=place)
