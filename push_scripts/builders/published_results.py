"""Published numbers to compare results with, from the tables in `sources/published_results/`."""

from pathlib import Path

import pyarrow as pa
from pyarrow import csv

SOURCES = Path(__file__).resolve().parent.parent / "sources" / "published_results"
TABLES = (
    "newman2021_table2",
    "newman2021_table3",
    "warstadt2020_models",
    "warstadt2020_prefix_methods",
    "warstadt2020_slopes",
    "rochereau2020_auc",
    "hu2020_items",
)
TYPES = {**dict.fromkeys(("rank", "paper_table", "repeats_table"), pa.int32()), "correct": pa.string()}
"""Columns of another type than the one that their values look like."""
FINAL_STEP = 143_000
"""The last step of all Pythia models, by the names on the Hub."""
STEP_TOKENS = 2_097_152
"""Tokens in a step of Pythia, by the names on the Hub."""


def build(source: Path | None = None) -> dict[str, dict[str, pa.Table]]:
    """Return every table; `source` is not used."""
    options = csv.ConvertOptions(column_types=TYPES)
    tables = {config: csv.read_csv(SOURCES / f"{config}.csv", convert_options=options) for config in TABLES}
    phenomena = tables["warstadt2020_prefix_methods"].select(["paradigm", "phenomenon"])
    tables["biderman2023_blimp"] = _pythia(phenomena)
    tables["hu2020_items"] = _items(tables["hu2020_items"])
    return {config: {"train": table} for config, table in tables.items()}


def _items(suites: pa.Table) -> pa.Table:
    """Return one row per item; in the source, a row is a suite and model, with 1 or 0 for each item."""
    rows = [
        {"suite": row["suite"], "model": row["model"], "item": item, "correct": mark == "1"}
        for row in suites.to_pylist()
        for item, mark in enumerate(row["correct"])
    ]
    columns = {"suite": pa.string(), "model": pa.string(), "item": pa.int32(), "correct": pa.bool_()}
    return pa.Table.from_pylist(rows, pa.schema(list(columns.items())))


def _pythia(phenomena: pa.Table) -> pa.Table:
    """Return Pythia's accuracies, one row each; in the source, a row is a checkpoint and a column a paradigm.

    Models that were trained with twice the batch have half as many steps; the Hub names their checkpoints by twice the
    step, so that one name is the same number of tokens in all models.
    """
    wide = csv.read_csv(SOURCES / "biderman2023_blimp.csv").to_pylist()
    last = {row["model"]: row["step"] for row in wide}  # steps are in ascending order
    rows = []
    for row in wide:
        hub_step = row["step"] * FINAL_STEP // last[row["model"]]
        checkpoint = {"model": row["model"], "step": row["step"], "revision": f"step{hub_step}"}
        checkpoint["tokens"] = hub_step * STEP_TOKENS
        for labels in phenomena.to_pylist():
            rows.append(checkpoint | labels | {"accuracy": row[labels["paradigm"]] / 1000})
    schema = {"model": pa.string(), "step": pa.int32(), "revision": pa.string(), "tokens": pa.int64()}
    schema |= {"paradigm": pa.string(), "phenomenon": pa.string(), "accuracy": pa.float64()}
    return pa.Table.from_pylist(rows, schema=pa.schema(schema))
