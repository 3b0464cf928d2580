"""Tables as users have them, in each of their formats."""

from pathlib import Path

import pandas as pd

WORDS = {
    "singular": ["nulls", "NAs", "1984s", "2024-01-01s"],
    "plural": ["null", "NA", "x1984", "2024-01-01"],
}
"""Words that look like something else: pandas takes `null` and `NA` for nothing, and digits for numbers."""


def write_table(frame: pd.DataFrame, path: Path) -> Path:
    """Write a table in the format that the file's ending names; return the file."""
    writers = {
        ".csv": lambda: frame.to_csv(path, index=False),
        ".tsv": lambda: frame.to_csv(path, sep="\t", index=False),
        ".jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        ".json": lambda: frame.to_json(path, orient="records"),
        ".parquet": lambda: frame.to_parquet(path),
    }
    writers[path.suffix]()
    return path
