"""Loads the pairs of the tasks in this folder, for lm-evaluation-harness."""

from pathlib import Path

from datasets import Dataset


def load(group: str, pairs: str, **_: object) -> dict[str, Dataset]:
    """Return one group of a table of pairs, which is beside this file, as the split `test`."""
    path = Path(__file__).parent / pairs
    return {"test": Dataset.from_parquet(str(path), filters=[("group", "==", group)])}
