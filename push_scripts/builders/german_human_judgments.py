"""Human judgments of German argument structure: the published AUCs; nothing else was released."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from builders import published_results


def build(source: Path | None = None) -> dict[str, dict[str, pa.Table]]:
    """Return the cells of human judgments from the published results; `source` is not used."""
    published = published_results.build()["rochereau2020_auc"]["train"]
    human = published.filter(pc.equal(published["system"], "human"))
    return {"published_auc": {"test": human.drop_columns(["system", "repeats_table"])}}
