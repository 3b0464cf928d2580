"""Items for `tse compare` on minimal pairs: whether each pair is right, by method."""

import pandas as pd

from ....report.inputs import ScoreFile
from ....statistics.critical_words import critical_words
from ....statistics.units import own_units
from ...base import Items
from ...items import ItemScores, MixedModel
from ..measures import METHOD_LABELS
from .intervals import grouped, with_units

_PAIR = ["method", "paradigm", "pair_id", "sentence_good", "sentence_bad"]


def compared_items(file: ScoreFile) -> Items:
    """Return 1 for each pair that is right and 0 for one that is wrong, by method."""
    frame = file.read_known(
        [*_PAIR, "phenomenon", "field", "language", "cluster", "item", "correct"]
    ).drop_duplicates(_PAIR)
    frame = frame.rename(columns={"correct": "score"}).astype({"score": float})
    model = _OF_WORDS if own_units(frame.drop_duplicates(_PAIR[1:]), "sentence_good") is None else _OF_ITEMS
    return {
        METHOD_LABELS[str(method)]: ItemScores(
            of_method.set_index(_PAIR), lambda items: grouped(with_units(items.reset_index())), model
        )
        for method, of_method in frame.groupby("method", sort=False)
    }


def _model_rows(scores: ItemScores) -> pd.DataFrame:
    """Return one row per pair, with its critical word, or the item (or cluster) that the user's table names."""
    pairs = scores.items.reset_index()
    pairs = pairs[pairs["score"].notna()].drop(columns="method")
    if (own := own_units(pairs, "sentence_good")) is not None:
        return pairs.assign(item=own[1])
    return pairs.assign(word=critical_words(pairs))


_OF_WORDS = MixedModel(
    "score ~ system + (1 + system | paradigm) + (1 + system | paradigm:word)",
    _model_rows,
    binomial=True,
    unit="paradigm:word",
)
_OF_ITEMS = MixedModel("score ~ system + (1 + system | item)", _model_rows, binomial=True)
