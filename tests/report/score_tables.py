"""Tables of made-up scores, for the tests of their forms."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from tse_scorers.report.tables import Table, formatted, score


def score_table(n_systems: int, rows: Sequence[str] = ("a", "b"), **options: Any) -> Table:
    """EW and TSE of so many systems of one organisation, one row per group."""
    systems = [f"org/m_{i}" for i in range(n_systems)]
    columns = pd.MultiIndex.from_product([systems, ["EW", "TSE"]])
    values = pd.DataFrame(
        [[0.5 + 0.01 * place for place in range(len(columns))] for _ in rows],
        index=list(rows),
        columns=columns,
    )
    return Table(
        "Scores.", values, formatted(values, score), file="scores", number="Table 2", systems=systems, **options
    )  # fmt: skip
