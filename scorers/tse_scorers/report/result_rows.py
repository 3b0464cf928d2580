"""Rows of results as a frame."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..io.result_row import COUNT, KINDS, NUMBER

COLUMNS = (
    "suite", "dataset", "config", "model", "revision", "group", "level", "value", "metric", "cutoff_side", "cutoff",
    "method", "variation_set", "score", "n", "n_excluded", "n_ties", "n_nonfinite", "se", "ci_low", "ci_high", "unit",
    "n_units", "n_units_effective", "n_lemmas", "reliable",
)  # fmt: skip
"""Columns of results that are always there, empty where a suite does not use them. A suite may add others."""
_REQUIRED = {"suite", "model", "group", "level", "value", "metric", "score"}
_NUMERIC = tuple(column for column in COLUMNS if KINDS.get(column) in (NUMBER, COUNT))


def data_name(suite: str, config: str | None) -> str:
    """Return what a suite's results are called in texts, with the configuration where it says more.

    >>> data_name("blimp", "all"), data_name("agreement", "marvin_linzen")
    ('blimp', 'agreement: marvin_linzen')
    """
    return suite if config in (None, "all", suite) else f"{suite}: {config}"


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Turn the rows of a results.json into a frame with the columns `COLUMNS` and those that suites add.

    Raises:
        ValueError: there are no rows, or one lacks suite, model, group, level, value, metric or score.
    """
    if not isinstance(rows, Sequence) or not rows:
        raise ValueError(
            "There are no results to report: expected a non-empty list of rows, as `tse run` writes it under "
            f"'results' in results.json, got {rows!r:.80}."
        )
    for number, row in enumerate(rows):
        missing = sorted(_REQUIRED - set(row if isinstance(row, Mapping) else ()))
        if missing:
            raise ValueError(
                f"Row {number} of the results lacks {', '.join(missing)}; every row needs "
                f"{', '.join(sorted(_REQUIRED))}."
            )
    frame = pd.DataFrame.from_records(rows)
    frame = frame.reindex(columns=[*COLUMNS, *frame.columns.difference(COLUMNS, sort=False)])
    for column in _NUMERIC:
        frame[column] = pd.to_numeric(frame[column], errors="coerce").astype(float)
    for column in frame.columns.difference(_NUMERIC):
        frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
    return frame
