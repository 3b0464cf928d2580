"""Keller's (2001) constraints on German word order: means of AUC by the place of the nominative and of the dative."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from ...report.blocks import Chart, View
from ...report.tables import Table
from .cells import all_cells, contrast_means
from .templates import Sets, contrast_cells, over_templates

TEXT = (
    "Keller's two constraints on German word order: nominative before the rest, dative before accusative. People "
    "follow the first throughout and the second where the roles are plausible; the first is stronger. The effect is "
    "the first position's mean minus the last one's."
)
CAPTION = (
    "Where the nominative comes (NOMALIGN), and whether the dative comes before the accusative (DATALIGN), over all "
    "role assignments and over the two plausible ones."
)


def contrast_view(rows: pd.DataFrame, sets: Callable[[], Sets]) -> View:
    """Return the means of AUCs by constraint, of people and of models; `sets` returns what intervals are from."""
    return View("Word order constraints (NOMALIGN, DATALIGN)", TEXT, lambda: [_picture(rows, sets())])


def _picture(rows: pd.DataFrame, sets: Sets) -> Chart:
    values = pd.DataFrame(
        {
            system: contrast_means(grids["1-6"].to_numpy())
            for system, grids in all_cells(rows).items()
            if "1-6" in grids
        }
    )
    values = values.astype(np.float64).T.rename_axis("Model")
    table = Table.of_scores(
        contrast_cells(values, sets),
        "Means of AUC by constraint.",
        "Model",
        across=("panel", "measure"),
        about=over_templates("the mean", sets),
        file="german_contrasts",
    )
    return Chart.dots(
        "german_contrasts",
        values.loc[:, values.columns.get_level_values(1) != "effect"],
        table.intervals,
        CAPTION + (" Whiskers: 95 % intervals over templates." if table.interval_note else ""),
        alt="Means of AUC by position.",
        x="AUC",
        tables=[table],
    )
