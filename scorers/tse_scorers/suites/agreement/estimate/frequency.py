"""EW by how frequent lemmas are, and by how frequent the correct form is relative to the incorrect one.

| metric | what |
|---|---|
| `ew_frequency_band` | EW over the lemmas of a band of frequency; `cutoff` is the band's lower end on the Zipf scale |
| `ew_frequency_slope` | change of EW for ten times the frequency of a lemma |
| `ew_relative_frequency_slope` | change of EW where the correct form is ten times as frequent as the incorrect one |

The Zipf scale is the base-10 logarithm of occurrences per billion words (van Heuven et al. 2014). A lemma's frequency
is that of its two forms together. Slopes are over the EW of each lemma, for singular and plural subjects apart; lemmas
are their units. After Wei, Garrette, Linzen and Pavlick (2021), Frequency effects on syntactic rule learning in
transformers: a model that has learned the rule does well on rare lemmas too, and whichever form is the frequent one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa

from ....engine.arrays import Indices
from ....io.result_row import ResultRow
from ....io.score_columns import described
from ....statistics.estimate import Floats, enough_units
from ....statistics.slope import clustered_slope
from ...items import Group
from ..ask.outcomes import Outcomes
from .intervals import cells_of

BANDS = (2.0, 3.0, 4.0, 5.0)
"""Lower ends of the bands above the first."""
BAND, SLOPE, RELATIVE = METRICS = ("ew_frequency_band", "ew_frequency_slope", "ew_relative_frequency_slope")
FREQUENCIES = described(
    ("singular", "string", "third person singular"),
    ("plural", "string", "third person plural"),
    (
        "zipf_singular",
        "double",
        "its frequency: log10 of occurrences per billion words; null if the word list does not have it",
    ),
    ("zipf_plural", "double", "the same of the plural"),
    ("counts", "string", "the word list or table of counts"),
)
"""Columns of the table `frequencies`."""


def frequency_rows(groups: Iterable[Group], outcomes: Outcomes, frequencies: pa.Table) -> Iterator[ResultRow]:
    """Yield bands and slopes for each group.

    Args:
        groups: of contexts.
        outcomes: of all contexts.
        frequencies: see `FREQUENCIES`; a missing frequency excludes the lemma.
    """
    places = pd.MultiIndex.from_frame(frequencies.select(["singular", "plural"]).to_pandas())
    order = places.get_indexer(outcomes.lemmas)
    zipf = frequencies.select(["zipf_singular", "zipf_plural"]).to_pandas().to_numpy()
    zipf = np.where(order[:, None] >= 0, zipf[order], np.nan)
    counts = frequencies["counts"][0].as_py()
    for group in groups:
        has_outcomes = np.isin(group.values("context_id"), outcomes.context_id)
        with_outcomes = group._replace(table=group.items[has_outcomes], rows=None)
        for row in (*_bands(with_outcomes, outcomes, zipf), *_slopes(with_outcomes, outcomes, zipf)):
            yield replace(row, counts=counts)


def band_name(low: float) -> str:
    """Name a band by its ends on the Zipf scale; the lower one belongs to it.

    >>> band_name(0.0), band_name(2.0), band_name(5.0)
    ('below 2', '2 to 3', '5 and more')
    """
    ends = (0.0, *BANDS)
    number = ends.index(low)
    if number == 0:
        return f"below {ends[1]:g}"
    return f"{low:g} and more" if number == len(BANDS) else f"{low:g} to {ends[number + 1]:g}"


def of_lemmas(zipf: Floats) -> Floats:
    """Return the frequency of lemmas from those of their two forms, on the Zipf scale, (lemmas,)."""
    return np.asarray(np.log10((10.0**zipf).sum(axis=1)))


def _bands(group: Group, outcomes: Outcomes, zipf: Floats) -> Iterator[ResultRow]:
    frequency = of_lemmas(zipf)
    band = np.digitize(frequency, BANDS)
    rows = outcomes.places(group.items)
    n_excluded = int((~np.isfinite(frequency)).sum())
    for number, low in enumerate((0.0, *BANDS)):
        lemmas: Indices = np.flatnonzero((band == number) & np.isfinite(frequency))
        if len(lemmas) and len(rows):
            estimate = cells_of(group.items, outcomes.correct(rows, lemmas)).mean()
            counts = {"n": len(rows), "n_excluded": n_excluded, "n_lemmas": len(lemmas)}
            yield group.row(BAND, estimate, cutoff_side="zipf", cutoff=low, **counts)


def _slopes(group: Group, outcomes: Outcomes, zipf: Floats) -> Iterator[ResultRow]:
    by_lemma = _ew_by_lemma(group.items, outcomes)
    lemma = np.tile(np.arange(len(zipf)), 2)
    more_singular = zipf[:, 0] - zipf[:, 1]
    relative = np.concatenate([more_singular, -more_singular])  # singular, then plural subjects
    for metric, x in ((SLOPE, np.tile(of_lemmas(zipf), 2)), (RELATIVE, relative)):
        slope = clustered_slope(x, by_lemma, lemma)
        yield ResultRow(
            level=group.level,
            value=group.value,
            metric=metric,
            score=slope.slope,
            n=int(np.isfinite(x * by_lemma).sum()),
            se=slope.se,
            ci_low=slope.ci_low,
            ci_high=slope.ci_high,
            unit="lemmas",
            n_units=slope.n_units,
            n_lemmas=slope.n_units,
            n_units_effective=slope.n_effective,
            reliable=enough_units(slope.n_effective),
        )


def _ew_by_lemma(items: pd.DataFrame, outcomes: Outcomes) -> Floats:
    """Return the EW of each lemma over singular subjects, and then over plural ones, (2 x lemmas,)."""
    parts = []
    for number in ("singular", "plural"):
        rows = outcomes.places(items[items["number"] == number])
        nothing = np.full(len(outcomes.lemmas), np.nan)
        parts.append(outcomes.correct(rows).mean(axis=0) if len(rows) else nothing)
    return np.concatenate(parts)
