"""Where a revision is in a series, and which of many revisions of a model are shown."""

import math
import re
from dataclasses import replace

import pandas as pd

from ..io.series_order import position
from .inputs import Runs
from .selection import only

_HASH = r"\w+:\w+|[0-9a-f]{40}"
"""Revisions whose digits are not a position in a series: hashes of weights, commits."""
MOST = 20
"""The number of revisions of a model that tables and figures beside its curve show; of more, only the last one."""


def without_earlier(runs: Runs) -> Runs:
    """Leave out all revisions but the last one of each model that has more than `MOST` of them."""
    rows = runs.rows
    model_keys = [rows["suite"], rows["config"].astype(str), rows["model"]]
    is_long = rows["revision"].groupby(model_keys, sort=False).transform("nunique") > MOST
    places = positions(rows["revision"])
    is_last = places == places.groupby(model_keys).transform("max")
    shown = only(runs, ~is_long | places.isna() | is_last, "earlier revisions")
    return runs if shown is runs else replace(shown, all_revisions=rows)


def positions(revisions: pd.Series) -> pd.Series:
    """Return the place of each revision in its series; NaN for hashes and names without a number."""
    places = {
        revision: math.nan if re.fullmatch(_HASH, str(revision)) else position(str(revision))[0]
        for revision in revisions.unique()
    }
    return revisions.map(places).replace(math.inf, math.nan)
