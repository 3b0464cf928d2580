"""Tidy tables of agreement scores for mixed models: nouns and lemmas (for TSE: verbs) are random effects.

EW has a row for each cell construction x noun x number x lemma with the number of its contexts and of those where the
correct form is more probable. This is all that a binomial model without an effect of single contexts needs, in
far fewer rows than contexts x lemmas. TSE has a row for each pair, MW for each context.
"""

import numpy as np
import pandas as pd

from ....statistics.cells import cell_sums
from ....statistics.units import subject_clusters, verb_lemmas
from ...items import ItemScores, MixedModel
from .context_scores import ContextScores
from .intervals import with_construction

_CELL = ["construction", "noun", "number"]
_DERIVED = {
    *_CELL, "cluster", "item", "context_id", "score", "stratum", "unit", "verb", "prefix", "suffix", "group",
}  # fmt: skip
_COUNTS = "cbind(n_correct, n_items - n_correct)"


def _own_columns(scores: ItemScores) -> list[str]:
    """Return the columns of the user's own table among those of items."""
    return [column for column in scores.items if column not in _DERIVED]


def _pair_rows(scores: ItemScores) -> pd.DataFrame:
    items = scores.items.reset_index()
    pairs = with_construction(items[items["score"].notna()])
    rows = pairs.rename(columns={"prefix": "context"}).assign(
        noun=subject_clusters(pairs), lemma=verb_lemmas(pairs), n_items=1, n_correct=pairs["score"]
    )
    columns = [*_CELL, "lemma", "context", "pair_id", "n_items", "n_correct", "score"]
    return rows[[*columns, *_own_columns(scores)]]


def _contexts(scores: ItemScores) -> pd.DataFrame:
    """Return each context once, with its noun and text."""
    items = scores.items.reset_index()
    items = with_construction(items[items["score"].notna()])
    items = items.drop_duplicates(["construction", "prefix", "suffix", "number"])
    text = items["prefix"] + " ___" + items["suffix"]
    return items.assign(noun=subject_clusters(items), context=text)


def _context_rows(scores: ItemScores) -> pd.DataFrame:
    return _contexts(scores)[[*_CELL, "context", "score", *_own_columns(scores)]].assign(n_items=1)


def _lemma_rows(scores: ItemScores) -> pd.DataFrame:
    """Count in each cell and lemma; without stored outcomes, the scores of contexts."""
    outcomes = scores.outcomes if isinstance(scores, ContextScores) else None
    if outcomes is None:
        return _context_rows(scores).assign(lemma=None)
    contexts = _contexts(scores)
    places = outcomes.places(contexts)
    contexts, places = contexts[places >= 0], places[places >= 0]
    cell = [*_CELL, *_own_columns(scores)]
    codes = contexts.groupby(cell, sort=False, dropna=False).ngroup().to_numpy()
    cells = cell_sums(outcomes.packed[places], codes, len(outcomes.lemmas))
    about = contexts.assign(code=codes).drop_duplicates("code").set_index("code")
    about = about.loc[cells.clusters.astype(int), cell]
    rows = about.loc[about.index.repeat(cells.sums.shape[1])].reset_index(drop=True)
    names = np.asarray(outcomes.lemmas.get_level_values(0), dtype=object)
    rows["lemma"] = np.tile(names, len(about))
    n_items, n_correct = cells.weights.ravel(), cells.sums.ravel()
    return rows.assign(n_items=n_items, n_correct=n_correct, score=n_correct / n_items)


_NOUNS_AND_LEMMAS = f"{_COUNTS} ~ system + construction + (1 + system | noun) + (1 + system | lemma)"
OF_PAIRS = MixedModel(_NOUNS_AND_LEMMAS, _pair_rows, binomial=True, unit="noun")
MIXED_MODELS = {
    "ew": MixedModel(_NOUNS_AND_LEMMAS, _lemma_rows, binomial=True, unit="noun"),
    "mw": MixedModel(
        "score ~ system + construction + (1 + system | noun) + (1 | context)", _context_rows, unit="noun"
    ),
}
"""Measure of contexts -> its model."""
