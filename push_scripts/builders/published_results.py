"""Published numbers to compare results with, from the tables in `sources/published_results/`."""

from pathlib import Path

import pyarrow as pa
from pyarrow import csv

SOURCES = Path(__file__).resolve().parent.parent / "sources" / "published_results"
COLUMNS = {
    "newman2021_table2": {
        "construction": pa.string(),
        "model": pa.string(),
        "metric": pa.string(),
        "score": pa.float64(),
    },
    "newman2021_table3": {
        "prefix": pa.string(),
        "suffix": pa.string(),
        "rank": pa.int32(),
        "form": pa.string(),
        "probability": pa.float64(),
        "status": pa.string(),
    },
    "warstadt2020_models": {
        "paradigm": pa.string(),
        "phenomenon": pa.string(),
        "model": pa.string(),
        "accuracy": pa.float64(),
    },
    "warstadt2020_prefix_methods": {
        "paradigm": pa.string(),
        "phenomenon": pa.string(),
        "one_prefix": pa.bool_(),
        "two_prefix": pa.bool_(),
    },
    "warstadt2020_slopes": {
        "model": pa.string(),
        "phenomenon": pa.string(),
        "slope": pa.float64(),
    },
    "rochereau2020_auc": {
        "variation_set": pa.string(),
        "system": pa.string(),
        "case_order": pa.string(),
        "role_assignment": pa.string(),
        "auc": pa.float64(),
        "paper_table": pa.int32(),
        "repeats_table": pa.int32(),
    },
    "hu2020_suites": {
        "suite": pa.string(),
        "model": pa.string(),
        "n_correct": pa.int32(),
        "n_items": pa.int32(),
    },
}


def build(source: Path | None = None) -> dict[str, dict[str, pa.Table]]:
    """Return every table; `source` is not used."""
    return {
        config: {
            "train": csv.read_csv(
                SOURCES / f"{config}.csv", convert_options=csv.ConvertOptions(column_types=columns)
            )
        }
        for config, columns in COLUMNS.items()
    }
