"""EW over parts of the lemma list, whose rows of results follow those of the whole list.

| metric | lemmas |
|---|---|
| `ew_single_token`, `ew_several_tokens` | whose two forms are single tokens, or not, where all forms were scored |
| `ew_different_lengths` | whose forms have different numbers of tokens; see `ask.unequal_forms` |
| `ew_frequency_…` | of a band of frequency, and slopes over frequency; see `frequency` |
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....io.result_row import ResultRow
from ....report.inputs import ScoreTables, optional_table, table_named
from ....statistics.clustered import clustered_mean
from ...items import Group
from ..ask.columns import UNEQUAL
from ..ask.listing import LISTED, SCORED, UNLIKE
from ..ask.outcomes import Outcomes
from .coverage import main_list
from .frequency import frequency_rows
from .intervals import cells_of, groups_of
from .scored import LemmaTables, read_contexts

STRATA = {"ew_single_token": "single token", "ew_several_tokens": "several tokens"}
"""Metric of results -> what its lemmas are."""


def part_rows(tables: ScoreTables) -> list[ResultRow]:
    """Return the rows of all groups over parts of the list, where there are such parts.

    EW by kinds of lemmas and by frequency needs one list for all contexts.
    """
    stored, frequencies = LemmaTables(tables), optional_table(tables, "frequencies")
    contexts = table_named(tables, "contexts")
    lemmas = pd.DataFrame(columns=LISTED.names) if stored.listed is None else stored.listed.to_pandas()
    kinds = _kinds(lemmas)
    n_unequal = int((main_list(lemmas)["excluded"] == UNLIKE).sum())
    has_unequal = stored.listed is not None and UNEQUAL in contexts.column_names
    if not kinds and not has_unequal and frequencies is None:
        return []
    groups = list(groups_of(read_contexts(contexts, [UNEQUAL])))
    outcomes = stored.outcomes
    rows: list[ResultRow] = []
    if len(outcomes) == 1:
        rows += _kind_rows(groups, outcomes[0], kinds)
    if has_unequal:
        for group in groups:
            estimate = clustered_mean(group.values(UNEQUAL), group.units)  # the lemmas are fixed
            rows.append(group.row(UNEQUAL, estimate, n_lemmas=n_unequal))
    if len(outcomes) == 1 and frequencies is not None:
        rows += frequency_rows(groups, outcomes[0], frequencies)
    coverage = stored.coverage
    return [replace(row, forms=coverage.forms, word_end=coverage.word_end) for row in rows]


def _kinds(lemmas: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """Return which scored lemmas are of each kind (metric of `STRATA`), where all forms were scored and both occur."""
    if not len(lemmas) or not (lemmas["forms"] == "all").all():
        return {}
    scored = lemmas[lemmas["excluded"] == SCORED]
    has_several = (scored[["n_tokens_singular", "n_tokens_plural"]] > 1).any(axis=1).to_numpy()
    if has_several.all() or not has_several.any():
        return {}
    return dict(zip(STRATA, (~has_several, has_several), strict=True))


def _kind_rows(
    groups: Sequence[Group], outcomes: Outcomes, kinds: Mapping[str, NDArray[np.bool_]]
) -> Iterator[ResultRow]:
    """Yield EW of each group over each kind of lemmas."""
    for group in groups:
        places = outcomes.places(group.items)
        contexts, places = group.items[places >= 0], places[places >= 0]
        for metric, of_kind in kinds.items():
            if len(of_kind) == len(outcomes.lemmas):
                bits = outcomes.correct(places, np.flatnonzero(of_kind))
                yield group.row(metric, cells_of(contexts, bits).mean(), n_lemmas=int(of_kind.sum()))
