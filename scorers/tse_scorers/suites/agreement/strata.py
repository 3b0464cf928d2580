"""EW over the lemmas whose two forms are single tokens, and over those with a form of several tokens."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa

from ...engine.arrays import Indices
from ...io.results import Row
from .intervals import cells_of, groups_of, with_units
from .listing import SCORED
from .outcomes import Outcomes, read_outcomes

STRATA = {"ew_single_token": "single token", "ew_several_tokens": "several tokens"}
"""Metric of results -> what its lemmas are."""


def strata_rows(
    contexts: pd.DataFrame, outcomes: pa.Table, lemmas: pa.Table, listed: pa.Table
) -> Iterator[Row]:
    """Yield EW of each group over both kinds of lemmas, where all forms were scored and both kinds occur.

    Args:
        contexts: `AgreementScores.contexts`.
        outcomes: `AgreementScores.outcomes`.
        lemmas: `AgreementScores.lemmas`.
        listed: `AgreementScores.listed`.
    """
    known = list(read_outcomes(outcomes, lemmas))
    frame = listed.to_pandas()
    if len(known) != 1 or not (frame["forms"] == "all").all():
        return
    scored = frame[frame["excluded"] == SCORED]
    several = (scored[["n_tokens_singular", "n_tokens_plural"]] > 1).any(axis=1).to_numpy()
    if len(several) != len(known[0].lemmas) or several.all() or not several.any():
        return
    for group, items in groups_of(with_units(contexts)):
        for metric, chosen in zip(STRATA, (~several, several), strict=True):
            yield _row(group, items, metric, known[0], np.flatnonzero(chosen))


def _row(group: str, items: pd.DataFrame, metric: str, outcomes: Outcomes, lemmas: Indices) -> Row:
    places = pd.Index(outcomes.context_id).get_indexer(items["context_id"])
    own, bits = items[places >= 0], outcomes.correct(places[places >= 0], lemmas)
    found = cells_of(own, bits).mean()
    counts = {"n": len(own), "n_excluded": len(items) - len(own), "n_ties": None, "n_lemmas": len(lemmas)}
    about = {"group": group, "metric": metric, "cutoff_side": None, "cutoff": None, "score": found.mean}
    return about | counts | {"n_lemmas_effective": None} | found.columns()
