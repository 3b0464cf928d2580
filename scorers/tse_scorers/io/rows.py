"""The rows of results: one number each, under one name, with its interval and what it rests on."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

Row = dict[str, Any]
COLUMNS = {
    "suite": "agreement, minimal_pairs, german, regions, or a suite of another package",
    "dataset": "the data set, or the path of one's own file",
    "config": "its configuration",
    "model": "the model; in a series, without its revision",
    "revision": "commit on the Hub, hash of the weights (`sha256:…`), or name of a checkpoint",
    "level": "the column whose values are groups (paradigm, group, a condition of one's own, …), or `all`",
    "value": "the group; empty for `all`",
    "measure": "what the number is: `ew`, or away from the headline point `ew@top-0.9`, `accuracy@one_prefix`",
    "score": "the number",
    "se": "the standard error that the interval is made from",
    "ci_low": "lower end of the 95 % interval",
    "ci_high": "upper end",
    "n": "items with a score",
    "n_excluded": "items without one",
    "n_ties": "ties, which are never correct (in an AUC they count half)",
    "unit": "what varies from sample to sample",
    "n_units": "how many units there are",
    "n_units_effective": "how many of equal size would say as much",
    "reliable": "whether at least four effective units carry the interval",
    "n_lemmas": "of EW and MW: lemmas that the model scores",
}
"""Columns of results -> what they mean. A suite may add others."""
IDENTITY = ("suite", "dataset", "config", "model", "revision")
"""What rows are about."""
_TEXTS = (*IDENTITY, "level", "value", "measure", "unit")


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows of results as a frame with all columns, in their order; missing numbers are NaN."""
    frame = pd.DataFrame(list(rows))
    frame = frame.reindex(columns=[*COLUMNS, *(name for name in frame if name not in COLUMNS)])
    numbers = [name for name in COLUMNS if name not in (*_TEXTS, "reliable")]
    frame = frame.astype(dict.fromkeys(numbers, float) | dict.fromkeys(_TEXTS, object))
    return frame.assign(**{name: frame[name].where(frame[name].notna(), None) for name in _TEXTS})


def plain(row: Mapping[str, Any]) -> Row:
    """Return a row as JSON has it: its columns in their order, without those that have no value."""
    ordered: Row = {name: row.get(name) for name in (*COLUMNS, *row)}
    values = {
        name: value.item() if isinstance(value, np.generic) else value for name, value in ordered.items()
    }
    return {name: value for name, value in values.items() if value is not None and value == value}
