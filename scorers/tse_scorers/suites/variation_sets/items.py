"""Items for `tse compare` on variation sets: the AUC of each set, by kind of set. Their units are templates."""

import pandas as pd

from ...report.inputs import ScoreFile
from ..base import Items
from ..items import ItemScores, MixedModel
from .intervals import grouped, set_aucs
from .measures import KIND_LABELS

_SENTENCE = ["template", "case_order", "positions", "acceptable", "sentence", "logprob"]


def compared_items(file: ScoreFile) -> Items:
    """Return the AUC of each variation set, by kind of set.

    Templates with different sentences are different units, even if their numbers are equal.
    """
    sentences = file.read(_SENTENCE)
    if not sentences["acceptable"].any():
        return {}
    texts = sentences.groupby("template", sort=False)["sentence"].agg(lambda own: "\n".join(sorted(own)))
    sets = set_aucs(sentences).rename(columns={"auc": "score"})
    sets = sets.assign(text=sets["template"].map(texts))
    return {
        KIND_LABELS[str(kind)]: ItemScores(
            of_kind.set_index(["template", "text", "case_order", "role"]),
            lambda items: grouped(items.reset_index()),
            _MIXED_MODEL,
        )
        for kind, of_kind in sets.groupby("variation_set", sort=False)
    }


def _model_rows(scores: ItemScores) -> pd.DataFrame:
    """Return one row per variation set, with its template and cell."""
    sets = scores.items.reset_index()
    return sets.loc[sets["score"].notna(), ["template", "case_order", "role", "score"]]


_MIXED_MODEL = MixedModel(
    "score ~ system + (1 + system | template) + (1 + system | case_order:role)", _model_rows
)
