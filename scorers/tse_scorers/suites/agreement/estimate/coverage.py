"""What results say about the lemmas behind EW and MW: how many, which, and why the others were not scored."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa

from ....io.result_row import ResultRow
from ....io.table_files import fingerprint
from ..ask.listing import COUNTS, SCORED

_OVER_LEMMAS = ("ew", "mw")


def with_coverage(rows: Sequence[ResultRow], listed: pa.Table | None) -> list[ResultRow]:
    """Add `forms` and `word_end` to all rows, and to those of EW and MW what was listed and why it was not scored.

    Args:
        rows: of results.
        listed: see `listing.LISTED`. If groups have lemmas of their own, the score over several groups has no list.
    """
    if listed is None or not listed.num_rows:
        return [replace(row, forms="single") for row in rows]
    frame = listed.to_pandas()
    measured = {"forms": frame["forms"].iloc[0], "word_end": _plain(frame["word_end"].iloc[0])}
    known = _by_group(frame)
    of_all = next(iter(known.values())) if len(known) == 1 else {}
    return [
        replace(row, **measured, **(known.get(row.value, of_all) if row.metric in _OVER_LEMMAS else {}))
        for row in rows
    ]


def _by_group(listed: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the coverage of each group with lemmas of its own; of all lemmas, called "", if none has."""
    if "group" not in listed:
        return {"": coverage(main_list(listed))}
    return {str(group): coverage(main_list(own)) for group, own in listed.groupby("group", sort=False)}


def main_list(lemmas: pd.DataFrame) -> pd.DataFrame:
    """Return the lemmas at gaps inside sentences, or, if all gaps open their sentences, at those."""
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
