"""Scores of contexts and pairs with their sentences and units, for `Results.items`."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ....report.inputs import ScoreFile
from ....statistics.units import subject_clusters, verb_lemmas
from ..data.sentences import sentence, sentence_with_gap
from ..data.tables import load
from ..estimate.intervals import with_construction
from ..options import CLAMS

_SHIPPED = ("marvin_linzen", *CLAMS)


def item_table(file: ScoreFile) -> pd.DataFrame | None:
    """Return a file of contexts or pairs with sentences, `unit` and (pairs) `verb`; None for the other tables.

    A causal model sees nothing after the gap, and its contexts stand for all suffixes. The sentences of shipped data
    are looked up by number; those of other data end with the verb.
    """
    if file.table not in ("contexts", "pairs"):
        return None
    frame, signature = file.read_table().to_pandas(), file.signature
    if file.table == "contexts":
        parts = zip(frame["prefix"], _seen(frame, signature), strict=True)
        unit = subject_clusters(with_construction(frame))
        return frame.assign(sentence=[sentence_with_gap(*part) for part in parts], unit=unit)
    return _with_sentences(frame, file, signature)


def _seen(frame: pd.DataFrame, signature: Mapping[str, object]) -> "pd.Series[str]":
    """Return what follows the gap, as far as the model sees it."""
    if signature.get("kind") == "causal" or "suffix" not in frame:
        return pd.Series("", index=frame.index)
    return frame["suffix"].fillna("")


def _with_sentences(pairs: pd.DataFrame, file: ScoreFile, signature: Mapping[str, object]) -> pd.DataFrame:
    contexts = file.sibling("contexts")
    if contexts is None:
        raise ValueError(
            f"The record of {file.path} has no table of contexts. Run the same `tse run` command again."
        )
    of_contexts = contexts.read_known(["context_id", "prefix", "suffix", "number"]).drop_duplicates(
        "context_id"
    )
    with_suffix = of_contexts.assign(suffix=_seen(of_contexts, signature)).set_index("context_id")
    both = pairs.join(with_suffix[[column for column in with_suffix if column not in pairs]], on="context_id")
    for side, verb in (("good", "form_correct"), ("bad", "form_incorrect")):
        parts = zip(both["prefix"], both[verb], both["suffix"], strict=True)
        both[f"sentence_{side}"] = [sentence(*part) for part in parts]
    units = {"unit": subject_clusters(with_construction(both)), "verb": verb_lemmas(both)}
    both = both.assign(**{name: values for name, values in units.items() if name not in both})
    return _of_shipped_data(both, signature)


def _of_shipped_data(pairs: pd.DataFrame, signature: Mapping[str, object]) -> pd.DataFrame:
    """Put the whole sentences of shipped data in place of their beginnings."""
    identity = signature.get("identity")
    config = identity.get("config") if isinstance(identity, dict) else None
    if config not in _SHIPPED:
        return pairs
    sentences = [f"sentence_{side}" for side in ("good", "bad")]
    sentences_of = load(str(config)).set_index("pair_id")[sentences].reindex(pairs["pair_id"])
    is_shipped = np.full(len(pairs), True)
    for column in sentences:
        starts = zip(sentences_of[column].fillna(""), pairs[column], strict=True)
        is_shipped &= np.array([text.startswith(start) for text, start in starts], dtype=bool)
    for column in sentences:
        pairs[column] = pairs[column].where(~is_shipped, sentences_of[column].to_numpy())
    return pairs
