"""Averages of the scores of contexts and pairs, with intervals, and with what they rest on."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from ....io.bundle import metric_modules
from ....io.result_row import ResultRow
from ....io.score_columns import Values, described
from ....statistics.clustered import clustered_mean, clustered_means
from ....statistics.estimate import effective_number
from ...items import Group
from ..ask.columns import MEASURES, score_column, sides_in
from ..ask.outcomes import Outcomes, read_outcomes
from ..ask.unequal_forms import unequal_rows
from ..measures import WHOLE
from .coverage import with_coverage
from .frequency import frequency_rows
from .intervals import cells_of, groups_of, with_pair_units, with_units
from .lemma_sample import over_sampled_lemmas, unsampled_share
from .strata import strata_rows

METRICS = described(
    ("tse", "double", "share of pairs with the correct form more probable", Values.SHARE),
    ("ew", "double", "mean share of lemmas with the correct form more probable", Values.SHARE),
    ("mw", "double", "mean share of probability on correct forms", Values.SHARE),
    ("covered_mass", "double", "mean probability of the listed forms", Values.SHARE),
    ("share_without_lemmas", "double", "share of contexts with no lemma inside the cut-off", Values.SHARE),
    (
        "ew_single_token",
        "double",
        "with `--forms all`: EW over lemmas with two single-token forms",
        Values.SHARE,
    ),
    (
        "ew_several_tokens",
        "double",
        "with `--forms all`: EW over lemmas with a form of several tokens",
        Values.SHARE,
    ),
    (
        "ew_different_lengths",
        "double",
        "with `--sentence-pll`: EW over lemmas with forms of different lengths",
        Values.SHARE,
    ),
    ("ew_frequency_band", "double", "EW over the lemmas of a band of frequency", Values.SHARE),
    (
        "ew_frequency_slope",
        "double",
        "change of EW for a lemma that is ten times as frequent",
        Values.ANY,
    ),
    (
        "ew_relative_frequency_slope",
        "double",
        "change of EW for a correct form that is ten times as frequent as the incorrect one",
        Values.ANY,
    ),
)
"""Metrics of the rows of results."""


def aggregate_scores(
    contexts: pd.DataFrame,
    pairs: pd.DataFrame,
    outcomes: pa.Table | None = None,
    lemmas: pa.Table | None = None,
    listed: pa.Table | None = None,
    frequencies: pa.Table | None = None,
) -> list[ResultRow]:
    """Average the scores of contexts and pairs over each table row and over all.

    Args:
        contexts: `AgreementScores.contexts`.
        pairs: `AgreementScores.pairs`.
        outcomes: `AgreementScores.outcomes`; without it, the lemmas are fixed in the interval of EW.
        lemmas: `AgreementScores.lemmas`.
        listed: `AgreementScores.listed`; without it, why lemmas were excluded is unknown.
        frequencies: the table that `tse frequency` writes (`frequency.FREQUENCIES`), if there is one.

    Returns:
        Rows of `METRICS`. `n` counts contexts or pairs; `n_excluded` those without a lemma inside the cut-off, or whose
        verb is not a single token. In the group `all`, a context that belongs to several table rows counts once.
    """
    contexts = with_units(contexts)
    pairs = with_pair_units(pairs, contexts)
    known = [] if outcomes is None or lemmas is None else list(read_outcomes(outcomes, lemmas))
    tse = {(group.level, group.value): _tse_row(group) for group in groups_of(pairs, "verb")}
    groups = list(groups_of(contexts))
    rows: list[ResultRow] = []
    for group in groups:
        rows += [tse[group.level, group.value], *_context_rows(group, known, unsampled_share(listed))]
    if len(known) == 1 and listed is not None:
        rows += strata_rows(groups, known[0], listed)
    rows = with_coverage([*rows, *unequal_rows(groups, listed)], listed)
    if len(known) == 1 and frequencies is not None:
        rows += with_coverage([*frequency_rows(groups, known[0], frequencies)], listed)
    return rows


def _tse_row(group: Group) -> ResultRow:
    pairs = group.items
    found = clustered_mean(pairs["tse"].astype(float), group.units)
    n_ties = int((pairs["logprob_correct"] == pairs["logprob_incorrect"]).sum())
    return group.row("tse", found, n_ties=n_ties, n_lemmas=found.n_crossed)


def _context_rows(group: Group, outcomes: Sequence[Outcomes], unsampled: float) -> Iterator[ResultRow]:
    """Yield the averages over a group of contexts at every cut-off.

    Args:
        group: contexts, with the columns of `with_units`.
        outcomes: of each kind of gap and, where groups have lemmas of their own, of each group.
        unsampled: share of the list that a sample left out; then MW's interval is for the whole list (`lemma_sample`).
    """
    items = group.items
    outcomes = [each for each in outcomes if each.group is None or group.value in (each.group, "")]
    without_lemmas = metric_modules("refined_tse").averaging.without_lemmas
    about = {
        "n_ties": int(items["n_ties"].sum()),
        "n_lemmas": int(items["n_lemmas"].max()) if len(items) else None,
    }
    scores = {}
    for side, cutoffs in sides_in(items.columns):
        for cutoff in cutoffs:
            for metric in MEASURES:
                scores[metric, side, cutoff] = items[score_column(metric, side, cutoff)].to_numpy(dtype=float)
            without = without_lemmas(scores["ew", side, cutoff], items["n_nonfinite"])
            scores["share_without_lemmas", side, cutoff] = without
    if not scores:  # an imported log only knows TSE
        return
    estimates = clustered_means(np.stack([*scores.values()]), group.units)
    for (metric, side, cutoff), found in zip(scores, estimates, strict=True):
        place = {"cutoff_side": side, "cutoff": cutoff}
        columns = about | place
        if place == WHOLE and metric == "ew" and len(outcomes) == 1:
            yield _ew_row(group, outcomes[0]) or group.row(metric, found, **columns)
            continue
        if place == WHOLE and metric == "mw" and len(outcomes) == 1:
            places = outcomes[0].places(items)
            weights = outcomes[0].weights(places[places >= 0])
            columns["n_lemmas_effective"] = effective_number(weights)
            if unsampled:
                found = over_sampled_lemmas(found, outcomes[0], items, unsampled)
        yield group.row(metric, found, **columns)


def _ew_row(group: Group, outcomes: Outcomes) -> ResultRow | None:
    """Return EW over the whole distribution, with lemmas as units; None where outcomes of a context are unknown."""
    items = group.items[group.items["ew_top_1"].notna()]
    places = outcomes.places(items)
    if not len(items) or (places < 0).any():
        return None
    found = cells_of(items, outcomes.packed[places], len(outcomes.lemmas)).mean()
    counts = {"n": len(items), "n_excluded": len(group.items) - len(items)}
    n_ties = int(group.items["n_ties"].sum())
    return group.row("ew", found, **WHOLE, **counts, n_ties=n_ties, n_lemmas=found.n_crossed)
