"""What results say about the lemmas behind EW and MW: how many, which, and why the others were not scored."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from ...io.results import Row
from ...io.table_files import fingerprint
from .listing import COUNTS, SCORED

_OVER_LEMMAS = ("ew", "mw")


def with_coverage(rows: Sequence[Row], listed: pa.Table | None) -> list[Row]:
    """Add `forms` and `word_end` to all rows, and to those of EW and MW what was listed and why it was not scored.

    Args:
        rows: of results.
        listed: see `listing.SCHEMA`; None for scores of a version that did not write it, which are of single tokens.
    """
    if listed is None or not listed.num_rows:
        return [row | {"forms": "single", "word_end": None} for row in rows]
    lemmas = main_list(listed)
    measured = {"forms": lemmas["forms"].iloc[0], "word_end": _plain(lemmas["word_end"].iloc[0])}
    about = coverage(lemmas)
    nothing: dict[str, Any] = dict.fromkeys(about)
    return [row | measured | (about if row["metric"] in _OVER_LEMMAS else nothing) for row in rows]


def main_list(listed: pa.Table) -> pd.DataFrame:
    """Return the lemmas at gaps inside sentences, or, if all gaps open their sentences, at those."""
    lemmas = listed.to_pandas()
    return lemmas[lemmas["opening"] == lemmas["opening"].min()]


def coverage(lemmas: pd.DataFrame) -> dict[str, Any]:
    """Count listed lemmas by what became of them: `n_lemmas_listed`, `lemmas_scored` (a fingerprint), `n_…`."""
    scored = lemmas.loc[lemmas["excluded"] == SCORED, ["singular", "plural"]].sort_values(
        ["singular", "plural"]
    )
    counts = {key: int((lemmas["excluded"] == reason).sum()) for reason, key in COUNTS.items()}
    return {"n_lemmas_listed": len(lemmas), "lemmas_scored": fingerprint(scored), **counts}


def _plain(value: Any) -> bool | None:
    return None if value is None or pd.isna(value) else bool(value)
