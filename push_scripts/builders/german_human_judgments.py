"""Human judgments of German argument structure: the published AUCs; nothing else was released."""

from pathlib import Path

import pyarrow as pa

from builders.published_results import read

COLUMNS = ("variation_set", "case_order", "role_assignment", "auc", "paper_table")


def build(source: Path | None = None) -> dict[str, dict[str, pa.Table]]:
    """Return the cells of human judgments from the published results; `source` is not used."""
    human = [row for row in read("rochereau2020_auc") if row["system"] == "human"]
    types = {**dict.fromkeys(COLUMNS, pa.string()), "auc": pa.float64(), "paper_table": pa.int32()}
    return {"published_auc": {"test": pa.Table.from_pylist(human, pa.schema(types))}}
