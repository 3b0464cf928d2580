"""EW over the lemmas whose two forms are single tokens, and over those with a form of several tokens."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from ....io.result_row import ResultRow
from ...items import Group
from ..ask.listing import SCORED
from ..ask.outcomes import Outcomes
from .intervals import cells_of

STRATA = {"ew_single_token": "single token", "ew_several_tokens": "several tokens"}
"""Metric of results -> what its lemmas are."""


def strata_rows(groups: Iterable[Group], outcomes: Outcomes, listed: pa.Table) -> Iterator[ResultRow]:
    """Yield EW of each group over both kinds of lemmas, where all forms were scored and both kinds occur.

    Args:
        groups: of contexts.
        outcomes: of all contexts.
        listed: `AgreementScores.listed`.
    """
    frame = listed.to_pandas()
    if not (frame["forms"] == "all").all():
        return
    scored = frame[frame["excluded"] == SCORED]
    several = (scored[["n_tokens_singular", "n_tokens_plural"]] > 1).any(axis=1).to_numpy()
    if len(several) != len(outcomes.lemmas) or several.all() or not several.any():
        return
    for group in groups:
        places = outcomes.places(group.items)
        known = group.items[places >= 0]
        counts = {"n": len(known), "n_excluded": len(places) - len(known)}
        for metric, chosen in zip(STRATA, (~several, several), strict=True):
            bits = outcomes.correct(places[places >= 0], np.flatnonzero(chosen))
            yield group.row(metric, cells_of(known, bits).mean(), **counts, n_lemmas=int(chosen.sum()))
