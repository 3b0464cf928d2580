"""Items for `tse compare` on variation sets: the AUC of each set, by kind of set. Their units are templates."""

import hashlib

import pandas as pd

from ....report.inputs import ScoreFile
from ...base import Items
from ...items import ItemScores, MixedModel
from ..measures import KIND_LABELS
from .intervals import grouped, set_aucs

_SENTENCE = ["template", "case_order", "positions", "acceptable", "sentence", "logprob"]


def compared_items(file: ScoreFile) -> Items:
    """Return the AUC of each variation set, by kind of set.

    Templates with different sentences are different units, even if their numbers are equal.
    """
    sentences = file.read(_SENTENCE)
    if not sentences["acceptable"].any():
        return {}
    texts = sentences.groupby("template", sort=False)["sentence"].agg(_short_text)
    sets = set_aucs(sentences).dropna(subset=["auc"]).rename(columns={"auc": "score"})
    sets = sets.assign(text=sets["template"].map(texts))
    return {
        KIND_LABELS[str(kind)]: ItemScores(
            of_kind.set_index(["template", "text", "case_order", "role"]),
            lambda items: grouped(items.reset_index()),
            _MIXED_MODEL,
        )
        for kind, of_kind in sets.groupby("variation_set", sort=False)
    }


def _short_text(sentences: "pd.Series[str]") -> str:
    """Name a template's sentences by one of them and a hash of all, of which there are about 144.

    >>> _short_text(pd.Series(["…, dass der Koch schläft.", "…, dass den Koch schläft."]))
    '…, dass den Koch schläft. (one of 2 sentences, 2654dd78)'
    """
    ordered = sorted(sentences)
    name = hashlib.sha256("\n".join(ordered).encode()).hexdigest()[:8]
    return f"{ordered[0]} (one of {len(ordered)} sentences, {name})"


def _model_rows(scores: ItemScores) -> pd.DataFrame:
    """Return one row per variation set, with its template and cell."""
    sets = scores.items.reset_index()
    return sets.loc[sets["score"].notna(), ["template", "case_order", "role", "score"]]


_MIXED_MODEL = MixedModel(
    "score ~ system + (1 + system | template) + (1 + system | case_order:role)", _model_rows
)
