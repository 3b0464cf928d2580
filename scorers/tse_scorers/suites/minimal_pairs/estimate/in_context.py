"""Accuracies of pairs in context, and how they change with its length."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ....report.inputs import TableSource, known_columns
from ....report.measure import Measure
from ....statistics.estimate import DIFFERENCE
from ....statistics.units import OWN_UNITS
from ...contract import Scored
from ...items import Group
from ..data.contexts import NONE
from .intervals import grouped, with_units

_PAIR = ("paradigm", "pair_id", "sentence_good", "sentence_bad")
_COLUMNS = (
    *_PAIR, "phenomenon", "field", "context", "length", "chain", "correct", "tie", *OWN_UNITS, "linking",
    "n_context_tokens",
)  # fmt: skip


def scored_in_context(table: TableSource, measures: Sequence[Measure] | None = None) -> Iterator[Scored]:
    """Yield accuracies and changes by context and length.

    `accuracy_change` is the accuracy minus that of the same pairs without a context, over all pairs.

    Args:
        table: scores per pair, context and length.
        measures: only these, each at its context and its greatest length; None: all contexts and lengths.
    """
    frame = (
        known_columns(table, _COLUMNS, (*_PAIR, "context", "length", "correct"))
        .rename(columns={"correct": "score"})
        .astype({"score": float})
    )
    logprobs = known_columns(table, ["logprob_good", "logprob_bad"])[["logprob_good", "logprob_bad"]]
    frame["nonfinite"] = ~np.isfinite(logprobs).all(axis=1)
    longest = frame.groupby("context")["length"].max()
    alone = frame[frame["context"] == NONE].set_index(["paradigm", "pair_id"])["score"]
    headlines = {
        measure.at["context"]: measure for measure in measures or () if measure.at["longest"] == "longest"
    }
    for (context, length), pairs in frame.groupby(["context", "length"], sort=False):
        is_longest = length == longest[context]
        if measures is not None:
            if is_longest and context in headlines:
                of_pairs = pairs.drop(columns=["n_context_tokens", "linking"], errors="ignore")
                yield Scored({headlines[context]: "score"}, of_pairs, in_groups, _PAIR)
            continue
        at = {"context": str(context), "length": int(length)}
        about = {
            "longest": "longest" if is_longest else None,
            "context_tokens": float(pairs["n_context_tokens"].mean()),
            "linking": pairs["linking"].iloc[0] if "linking" in pairs else None,
        }
        yield Scored({Measure("accuracy_in_context", at=at): "score"}, pairs, in_groups, about=about)
        if context != NONE:
            keys = pd.MultiIndex.from_frame(pairs[["paradigm", "pair_id"]])
            changed = pairs.assign(score=pairs["score"].to_numpy() - alone.reindex(keys).to_numpy())
            yield Scored(
                {Measure("accuracy_change", at=at): "score"}, changed, lambda items: [next(in_groups(items))],
                score_range=DIFFERENCE, about=about,
            )  # fmt: skip


def in_groups(frame: pd.DataFrame) -> Iterator[Group]:
    """Yield each group of pairs after one context.

    Other contexts could have been drawn, so within a paradigm or phenomenon the units are critical words crossed with
    chains of context sentences.
    """
    pairs = with_units(frame.reset_index(drop=True))
    for group in grouped(pairs):
        if group.level != "field":
            units, chains = group.units, group.values("chain")
            if units.name != "paradigms" and (chains != "").all():
                units = replace(units, name=f"{units.name} x contexts", crossed=chains)
            yield group._replace(units=units)
