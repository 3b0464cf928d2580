"""The terminal's summary of a run."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from rich import box
from rich.table import Table
from rich.text import Text

from ..io.files import printable
from .inputs import result_rows
from .measure import Measures
from .summary import headlines
from .tables import count


def summary_table(results: Sequence[Mapping[str, Any]], measures: Measures) -> Table:
    """Return the headline numbers of a run as a table for a `rich` console.

    Args:
        results: the rows of a results.json.
        measures: headline measures of each suite.

    Returns:
        One row per model, suite and measure: score, number of items, excluded items and ties. Names are shown
        literally: console markup in them is not interpreted.

    Raises:
        ValueError: there are no rows, or a row lacks a required column.
    """
    table = Table(title="Results", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("Model", "Suite"):
        table.add_column(heading, overflow="fold")
    table.add_column("Measure")
    for heading in ("Score", "n", "Excluded", "Ties"):
        table.add_column(heading, justify="right", no_wrap=True)
    previous: dict[str, Any] = {"system": None, "suite": None}
    for line in headlines(result_rows(results), measures).to_dict("records"):
        same_model = line["system"] == previous["system"]
        same_suite = same_model and line["suite"] == previous["suite"]
        if previous["system"] is not None and not same_suite:
            table.add_section()
        counts = ["" if pd.isna(line[key]) else count(line[key]) for key in ("n", "n_excluded", "n_ties")]
        names = ["" if same_model else str(line["system"]), "" if same_suite else str(line["suite"])]
        cells = [*names, str(line["measure"]), str(line["text"]), *counts]
        table.add_row(*(Text(printable(cell)) for cell in cells))
        previous = line
    return table
