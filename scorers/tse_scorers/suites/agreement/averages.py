"""Averages of the scores of contexts and pairs, with intervals, and with what they rest on."""

from collections.abc import Iterator, Mapping

import pandas as pd
import pyarrow as pa

from ...io.bundle import metric_modules
from ...io.results import Row
from .columns import context_scores
from .coverage import with_coverage
from .frequency import frequency_rows
from .intervals import with_intervals
from .strata import strata_rows
from .unequal_forms import unequal_rows

_KEPT = ("group", "metric", "cutoff_side", "cutoff", "score", "n", "n_excluded", "n_ties")


def aggregate_scores(
    contexts: pd.DataFrame,
    pairs: pd.DataFrame,
    outcomes: pa.Table | None = None,
    lemmas: pa.Table | None = None,
    listed: pa.Table | None = None,
    frequencies: pa.Table | None = None,
) -> list[Row]:
    """Average the scores of contexts and pairs over each table row and over all.

    Args:
        contexts: `AgreementScores.contexts`.
        pairs: `AgreementScores.pairs`.
        outcomes: `AgreementScores.outcomes`; without it, the lemmas are fixed in the interval of EW.
        lemmas: `AgreementScores.lemmas`.
        listed: `AgreementScores.listed`; without it, why lemmas were excluded is unknown.
        frequencies: the table that `tse frequency` writes (`frequency.FREQUENCIES`), if there is one.

    Returns:
        Rows with `group`, `metric` (tse, ew, mw, covered_mass, share_without_lemmas), `cutoff_side`, `cutoff`,
        `score`, `n` (contexts or pairs averaged), `n_excluded` (no lemma is inside the cut-off, or a verb is not
        a single token), `n_ties` and the interval (`intervals.with_intervals`). In the group `all`, a context that
        belongs to several table rows counts once.
    """
    groups = [("all", pairs), *pairs.groupby("table_row", sort=False)]
    found = [_tse_row(str(group), of_group) for group, of_group in groups]
    found += [{key: row[key] for key in _KEPT} for row in _context_rows(contexts)]
    order = ["all", *contexts["table_row"].unique()]
    rows = sorted(found, key=lambda row: order.index(row["group"]))
    rows = with_intervals(rows, contexts, pairs, outcomes, lemmas, listed)
    if outcomes is not None and lemmas is not None and listed is not None:
        rows += strata_rows(contexts, outcomes, lemmas, listed)
    rows = with_coverage([*rows, *unequal_rows(contexts, listed)], listed)
    if outcomes is not None and lemmas is not None and frequencies is not None:
        rows += with_coverage([*frequency_rows(contexts, outcomes, lemmas, frequencies)], listed)
    return rows


def _context_rows(contexts: pd.DataFrame) -> Iterator[Row]:
    """Yield the averages over all different contexts, then those over each table row."""
    aggregate = metric_modules("refined_tse").averaging.aggregate
    for names, of_all in context_scores(contexts.drop_duplicates("context_id")):
        yield from (_named(row, names) for row in aggregate(of_all))
    for names, of_groups in context_scores(contexts):
        by_group = aggregate(of_groups, contexts["table_row"].tolist())
        yield from (_named(row, names) for row in by_group if row["group"] != "all")


def _named(row: Row, names: Mapping[str, str]) -> Row:
    """Name the side of a cut-off as results do."""
    return row | {"cutoff_side": names.get(row["cutoff_side"], row["cutoff_side"])}


def _tse_row(group: str, pairs: pd.DataFrame) -> Row:
    judged = pairs["tse"].dropna()
    return {
        "group": group,
        "metric": "tse",
        "cutoff_side": None,
        "cutoff": None,
        "score": float(judged.mean()) if len(judged) else float("nan"),
        "n": len(judged),
        "n_excluded": len(pairs) - len(judged),
        "n_ties": int((pairs["logprob_correct"] == pairs["logprob_incorrect"]).sum()),
    }
