"""The numbers of Tables 1 to 28 of Rochereau et al. (2020), for `tse reproduce`."""

import numpy as np
import pandas as pd

from ...io.result_row import group_name
from ...statistics.jackknife import pearson
from ..numbers import PEOPLE, PaperNumbers
from .cells import by_level, grid_of


def _published(frame: pd.DataFrame, table: str | None) -> pd.DataFrame:
    """Return the cells of a table; their means by case order, by roles and by doubled case; and Table 5."""
    cells = frame[frame["repeats_table"].isna() | (frame["paper_table"].astype(str) == table)]
    cells = cells.rename(columns={"role_assignment": "role"})
    grids = {key: grid_of(part) for key, part in cells.groupby(["system", "variation_set"], sort=False)}
    numbers = []
    for (system, kind), grid in grids.items():
        about = {"system": system, "variation_set": kind, "metric": "auc"}
        numbers += [
            about | {"level": level, "group": group_name(level, value), "published": auc}
            for level, values in by_level(grid).items()
            for value, auc in values.items()
        ]
        if kind == "1-6":
            r = float(pearson(grid.to_numpy().ravel(), grids[PEOPLE, kind].to_numpy().ravel()))
            numbers.append(
                about | {"metric": "human_pearson", "level": "all", "group": "all", "published": r}
            )
    every = pd.DataFrame(numbers)
    models, six, level = every["system"] != PEOPLE, every["variation_set"] == "1-6", every["level"]
    means = every["metric"] == "auc"
    tables = {
        "2": models & six & means & level.isin(("case_order", "all")),
        "3": models & six & means & level.isin(("role", "all")),
        "4": models & means & (level == "all"),
        "5": models & ~means,
    }
    if table is None:
        chosen = (models & (level == "cell")) | np.logical_or.reduce([*tables.values()])
    elif table in tables:
        chosen = tables[table]
    else:
        of_table = cells[cells["paper_table"] == int(table)].iloc[0]
        chosen = (level == "cell") & (every["system"] == of_table["system"])
        chosen &= every["variation_set"] == of_table["variation_set"]
    return every.loc[chosen, ["system", "group", "variation_set", "metric", "published"]]


NUMBERS = PaperNumbers(_published)
