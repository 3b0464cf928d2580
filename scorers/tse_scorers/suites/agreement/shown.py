"""What is shown of the suite: what it asks, and contexts and pairs with their sentences and units."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ...io.runs import ScoreFile
from ..shown import Shown, Text
from .data.sentences import sentence, sentence_with_gap
from .data.tables import load
from .estimate.intervals import with_construction
from .options import CLAMS
from .subjects import subject_clusters, verb_lemmas

_SHIPPED = ("marvin_linzen", *CLAMS)
_TEXT = Text(
    question="Does the model make a verb agree with its subject?",
    lede=(
        "At a gap for a verb, we count for how many verbs of a long list a model finds the form that fits the subject "
        "more probable than the other one."
    ),
    terms={
        "EW, equally weighted": "Each verb of a long list counts alike: does the model know the rule for any verb, "
        "likely or not?",
        "MW, model-weighted": "Each verb counts by its probability at the gap: if the model went on, would it be "
        "right?",
        "TSE, targeted syntactic evaluation": "The usual test: the one or few verbs that the data set names. Pairs "
        "whose two forms are not both single tokens of the model's vocabulary are excluded and counted.",
        "Most and least probable p": "EW and MW with the list limited to forms among the most probable p of what "
        "the model would say, or to verbs with both forms among the least probable p.",
        "Covered mass": "The total probability of the listed verbs' forms at the gap. Other words have the rest.",
    },
    source=(
        "Newman, Ang, Gong & Hewitt (2021), Refining Targeted Syntactic Evaluation of Language Models. Sentences: "
        "Marvin & Linzen (2018); Warstadt et al. (2020)."
    ),
)


def _text(signatures: Sequence[Mapping[str, Any]]) -> Text:
    """Return what the section says; of data with other values than the two numbers, of words instead of verbs."""
    contrasts = sorted({str(signature["contrast"]) for signature in signatures if "contrast" in signature})
    if not contrasts:
        return _TEXT
    lede = (
        "A model reads a sentence with a gap. For many words at each gap we count how often it finds the form that "
        f"fits more probable than the other form ({'; '.join(contrasts)})."
    )
    return replace(
        _TEXT, question="Does the model find the form of a word that fits more probable?", lede=lede
    )


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
    contexts = file.sibling("contexts")
    if contexts is None:
        raise ValueError(
            f"The record of {file.path} has no table of contexts. Run the same `tse run` command again."
        )
    of_contexts = contexts.read_known(["context_id", "prefix", "suffix", "number"]).drop_duplicates(
        "context_id"
    )
    with_suffix = of_contexts.assign(suffix=_seen(of_contexts, signature)).set_index("context_id")
    both = frame.join(with_suffix[[column for column in with_suffix if column not in frame]], on="context_id")
    for side, verb in (("good", "form_correct"), ("bad", "form_incorrect")):
        prefix, form, suffix = (both[column].to_numpy(object) for column in ("prefix", verb, "suffix"))
        both[f"sentence_{side}"] = prefix + " " + form + suffix
        opens = prefix == ""
        both.loc[opens, f"sentence_{side}"] = list(map(sentence, prefix[opens], form[opens], suffix[opens]))
    units = {"unit": subject_clusters(with_construction(both)), "verb": verb_lemmas(both)}
    both = both.assign(**{name: values for name, values in units.items() if name not in both})
    return _of_shipped_data(both, signature)


def _seen(frame: pd.DataFrame, signature: Mapping[str, object]) -> "pd.Series[str]":
    """Return what follows the gap, as far as the model sees it."""
    if signature.get("kind") == "causal" or "suffix" not in frame:
        return pd.Series("", index=frame.index)
    return frame["suffix"].fillna("")


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
        starts = zip(sentences_of[column].fillna("").tolist(), pairs[column].tolist(), strict=True)
        is_shipped &= np.array([text.startswith(start) for text, start in starts], dtype=bool)
    for column in sentences:
        pairs[column] = pairs[column].where(~is_shipped, sentences_of[column].to_numpy())
    return pairs


SHOWN = Shown(_text, item_table=item_table)
