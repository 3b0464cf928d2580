"""Items for `tse compare` on agreement templates: EW and MW of contexts, TSE of pairs.

A causal model does not see the text after the gap, so its context is a prefix and a number. A masked model has one
context for each suffix. If one of the two models is causal, the scores of a masked model are averaged over suffixes.
If both runs stored the outcomes of lemmas, EW and MW use only the lemmas that both systems have.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from ....report.inputs import ScoreFile
from ....report.measure import Measure
from ....statistics.clustered import Units
from ...items import Group, ItemScores
from ..ask.columns import score_column
from ..ask.outcomes import Outcomes, read_outcomes
from .context_scores import KEY, ContextScores, context_groups
from .intervals import groups_of, with_pair_units, with_units
from .mixed_models import EW, MW, TSE

_SEEN = ["prefix", "number"]
_PAIR = ["group", "construction", "pair_id", "form_correct", "form_incorrect"]


def compared_items(file: ScoreFile, measures: Sequence[Measure]) -> Mapping[str, ItemScores]:
    """Return EW and MW of each context at the points of these measures, or TSE of each pair, by their labels."""
    if file.kind == "contexts":
        columns = {
            score_column(own.name, own.at["cutoff_side"], own.at["cutoff"]): own
            for own in measures
            if own.table == file.kind
        }
        frame = file.read_known([*KEY, "construction", "cluster", "item", "context_id", *columns])
        frame = frame.fillna({"suffix": ""}).assign(group=frame.get("group", ""))
        frame = with_units(frame.drop_duplicates(KEY)).set_index(KEY)
        outcomes = _outcomes(file)
        return {
            own.label: ContextScores(
                frame.drop(columns=list(columns), errors="ignore").assign(score=frame[column]),
                context_groups,
                {"ew": EW, "mw": MW}[own.name],
                measure=own,
                outcomes=outcomes,
                forms=file.sibling("forms"),
            )
            for column, own in columns.items()
            if column in frame  # of an imported record, only TSE is known
        }
    if file.kind == "pairs" and any(own.table == file.kind for own in measures):
        frame = file.read_known([*_PAIR, "cluster", "item", "context_id", "tse"]).rename(
            columns={"tse": "score"}
        )
        contexts = file.sibling("contexts")
        if contexts is not None and "context_id" in frame:
            frame = with_pair_units(frame, contexts.read_known(["context_id", *_SEEN, "cluster", "item"]))
        key = [column for column in _PAIR if column in frame]
        frame = frame.drop_duplicates(key).set_index(key)
        return {"TSE": ItemScores(frame.astype({"score": float}), _pair_groups, TSE)}
    return {}


def _outcomes(file: ScoreFile) -> Outcomes | None:
    """Return the stored outcomes; None without them, or if gaps of two kinds have different lemmas."""
    files = [file.sibling(kind) for kind in ("outcomes", "lemmas")]
    if any(found is None for found in files):
        return None
    known = list(read_outcomes(*(found.read_table() for found in files if found is not None)))
    return known[0] if len(known) == 1 and known[0].lemmas.is_unique else None


def _pair_groups(pairs: pd.DataFrame) -> Iterator[Group]:
    items = pairs.reset_index()
    if "noun" in items:
        yield from groups_of(items, "verb")
        return
    for group in groups_of(items.assign(noun=0, stratum=0, unit="", verb=0), "verb"):
        # Without contexts, the units are unknown.
        yield group._replace(units=Units(np.arange(len(group.items)), "pairs"))
