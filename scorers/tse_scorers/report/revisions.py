"""Where a revision is in a series, and which of many revisions of a model are shown."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import pandas as pd

from ..io.series_order import position
from .inputs import Runs
from .selection import only

HASH = r"\w+:\w+|[0-9a-f]{40}"
"""Revisions whose digits are not a position in a series: hashes of weights, commits."""
MOST = 20
"""The number of revisions of a model that tables and figures beside its curve show; of more, only the last one."""


def without_earlier(runs: Runs) -> Runs:
    """Leave out all revisions but the last one of each model that has more than `MOST` of them."""
    shown = only(runs, _is_shown(runs.rows), "earlier revisions")
    return runs if shown is runs else replace(shown, all_revisions=runs.rows)


def latest(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of a results.json without those of earlier revisions, as `without_earlier` does."""
    return list(compress(rows, _is_shown(pd.DataFrame(rows)))) if rows else []


def _is_shown(rows: pd.DataFrame) -> pd.Series:
    """Whether each row is of the last revision of its model, or of one with few revisions."""
    of_model = rows.groupby([rows["suite"], rows["config"].astype(str), rows["model"]], sort=False)
    many = of_model["revision"].transform("nunique") > MOST
    places = positions(rows["revision"])
    last = places.groupby([rows["suite"], rows["config"].astype(str), rows["model"]]).transform("max")
    return ~many | places.isna() | (places == last)


def positions(revisions: pd.Series) -> pd.Series:
    """Return the place of each revision in its series; NaN for hashes and names without a number."""
    places = {
        revision: math.nan if re.fullmatch(HASH, str(revision)) else position(str(revision))[0]
        for revision in revisions.unique()
    }
    return revisions.map(places).replace(math.inf, math.nan)
