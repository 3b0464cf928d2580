"""Human judgments of German argument structure: the published AUCs, which are all that has been released."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from builders import published_results


def build(source: Path | None = None) -> dict[str, dict[str, pa.Table]]:
    """Take the people's cells out of the published results; nothing upstream is needed, `source` is not read."""
    published = published_results.build()["rochereau2020_auc"]["train"]
    human = published.filter(pc.equal(published["system"], "human"))
    return {"published_auc": {"test": human.drop_columns(["system", "repeats_table"])}}
