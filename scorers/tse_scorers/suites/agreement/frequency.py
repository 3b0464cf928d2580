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

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa

from ...engine.arrays import Indices
from ...io.results import Row
from ...statistics.estimate import Floats, enough_units
from ...statistics.slope import Slope, clustered_slope
from ..own_columns import described
from .intervals import cells_of, groups_of, with_units
from .outcomes import Outcomes, read_outcomes

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


def frequency_rows(
    contexts: pd.DataFrame, outcomes: pa.Table, lemmas: pa.Table, frequencies: pa.Table
) -> Iterator[Row]:
    """Yield bands and slopes for each group.

    Args:
        contexts: `AgreementScores.contexts`.
        outcomes: `AgreementScores.outcomes`.
        lemmas: `AgreementScores.lemmas`.
        frequencies: see `FREQUENCIES`; a missing frequency excludes the lemma.
    """
    known = list(read_outcomes(outcomes, lemmas))
    if len(known) != 1:
        return  # gaps of two kinds have different lemmas
    places = pd.MultiIndex.from_frame(frequencies.select(["singular", "plural"]).to_pandas())
    order = places.get_indexer(known[0].lemmas)
    zipf = frequencies.select(["zipf_singular", "zipf_plural"]).to_pandas().to_numpy()
    zipf = np.where(order[:, None] >= 0, zipf[order], np.nan)
    counts = frequencies["counts"][0].as_py()
    for group, items in groups_of(with_units(contexts)):
        own = items[items["context_id"].isin(known[0].context_id)]
        for row in (*_bands(own, known[0], zipf), *_slopes(own, known[0], zipf)):
            yield {"group": group, "n_ties": None, "n_lemmas_effective": None, "counts": counts} | row


def band_name(low: float) -> str:
    """Name a band by its lower end on the Zipf scale.

    >>> band_name(0.0), band_name(2.0)
    ('below 2', '2 and more')
    """
    return f"{low:g} and more" if low else f"below {BANDS[0]:g}"


def of_lemmas(zipf: Floats) -> Floats:
    """Return the frequency of lemmas from those of their two forms, on the Zipf scale, (lemmas,)."""
    return np.asarray(np.log10((10.0**zipf).sum(axis=1)))


def _bands(items: pd.DataFrame, outcomes: Outcomes, zipf: Floats) -> Iterator[Row]:
    frequency = of_lemmas(zipf)
    band = np.digitize(frequency, BANDS)
    rows = pd.Index(outcomes.context_id).get_indexer(items["context_id"])
    for number, low in enumerate((0.0, *BANDS)):
        lemmas: Indices = np.flatnonzero((band == number) & np.isfinite(frequency))
        if not len(lemmas) or not len(rows):
            continue
        found = cells_of(items, outcomes.correct(rows, lemmas)).mean()
        about = {"metric": BAND, "cutoff_side": "zipf", "cutoff": low, "score": found.mean}
        counted = {
            "n": len(rows),
            "n_excluded": int((~np.isfinite(frequency)).sum()),
            "n_lemmas": len(lemmas),
        }
        yield about | counted | found.columns()


def _slopes(items: pd.DataFrame, outcomes: Outcomes, zipf: Floats) -> Iterator[Row]:
    by_lemma = _ew_by_lemma(items, outcomes)
    lemma = np.tile(np.arange(len(zipf)), 2)
    more_singular = zipf[:, 0] - zipf[:, 1]
    relative = np.concatenate([more_singular, -more_singular])  # singular, then plural subjects
    for metric, x in ((SLOPE, np.tile(of_lemmas(zipf), 2)), (RELATIVE, relative)):
        yield {"metric": metric} | _row(
            clustered_slope(x, by_lemma, lemma), int(np.isfinite(x * by_lemma).sum())
        )


def _row(found: Slope, n: int) -> Row:
    ends = {"se": found.se, "ci_low": found.ci_low, "ci_high": found.ci_high}
    about = {"cutoff_side": None, "cutoff": None, "score": found.slope, "n": n, "n_excluded": None}
    counts = {"unit": "lemmas", "n_units": found.n_units, "n_lemmas": found.n_units}
    effective = {"n_units_effective": found.n_effective, "reliable": enough_units(found.n_effective)}
    return about | ends | counts | effective


def _ew_by_lemma(items: pd.DataFrame, outcomes: Outcomes) -> Floats:
    """Return the EW of each lemma over singular subjects, and then over plural ones, (2 x lemmas,)."""
    parts = []
    for number in ("singular", "plural"):
        chosen = items.loc[items["number"] == number, "context_id"]
        rows = pd.Index(outcomes.context_id).get_indexer(chosen)
        nothing = np.full(len(outcomes.lemmas), np.nan)
        parts.append(outcomes.correct(rows).mean(axis=0) if len(rows) else nothing)
    return np.concatenate(parts)
