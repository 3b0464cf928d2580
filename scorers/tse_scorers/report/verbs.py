"""Which verbs a model gets right, from the stored outcomes of its lemmas; their mean is EW itself."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..io.store import Record
from .blocks import Block, Plot, Table

MOST_SYSTEMS = 7
"""The best ones, which have colours."""
WORST, BEST = 10, 5
"""Verbs of the table of a system."""
_RARE = " The list has every word that was seen as a verb, however rarely: to key, to man."
_TEXT = (
    "The share of contexts in which the right form of a verb is the more probable one. A verb near 1 after one number "
    "and near 0 after the other has one favourite form, whatever its subject is."
)


def by_lemma(record: Record) -> pd.DataFrame:
    """Return for each lemma, at gaps inside a sentence, the share of contexts with its right form more probable.

    Columns `label`, `EW`, and `after singular` and `after plural` (or the two values of another contrast).
    """
    contexts = (
        record.tables["contexts"].read(["context", "number", "opening", "right"]).drop_duplicates("context")
    )
    inside = contexts[contexts["opening"] == contexts["opening"].mode().iloc[0]]
    lemmas = record.tables["lemmas"].read()
    lemmas = lemmas[(lemmas["opening"] == inside["opening"].iloc[0]) & (lemmas["excluded"] == "")]
    right = np.stack(inside["right"].tolist())
    shares = {
        f"after {number}": right[rows].mean(axis=0)
        for number, rows in inside.groupby("number", sort=False).indices.items()
    }
    labels = (lemmas["singular"] + " / " + lemmas["plural"]).tolist()
    return pd.DataFrame({"label": labels, "EW": right.mean(axis=0), **shares})


def parts(records: Mapping[str, Record]) -> list[Block]:
    """Return the curve over all verbs, and for each of the best systems its worst and best verbs."""
    systems = list(records)
    verbs = {system: by_lemma(records[system]) for system in systems[:MOST_SYSTEMS]}
    if not verbs:
        return []
    at = np.linspace(0, 1, 101)
    curves = [
        pd.DataFrame({"label": system, "panel": name, "x": 100 * at, "y": of[name].quantile(at).to_numpy()})
        for system, of in verbs.items()
        for name in of.columns[1:]
    ]
    title = (
        "Each model's own verbs, from its worst to its best; the area under the first curve is EW over these. With the "
        "rule, a line is at 1 throughout; dashed: guessing."
    )
    text = _TEXT + _RARE * (records[systems[0]].options.get("lemmas", "released") in ("released", "clean"))
    plot = Plot("verbs", title, "lines", pd.concat(curves), "% of verbs", "share right")
    return [text, plot, *(_table(*each, place, systems) for place, each in enumerate(verbs.items()))]


def _table(system: str, of: pd.DataFrame, place: int, systems: list[str]) -> Table:
    of = of.sort_values(["EW", "label"], kind="stable", ignore_index=True)
    first, second = of.columns[2], of.columns[-1]
    shares = (of["EW"].gt(0.9), of["EW"].lt(0.5), (of[first] - of[second]).abs().gt(0.5))
    sure, wrong, one_form = (f"{100 * share.mean():.0f} %" for share in shares)
    title = (
        f"{system}: of {len(of):,} verbs {sure} are right in more than 9 of 10 contexts, {wrong} in fewer than half; "
        f"{one_form} mostly keep one form whatever the subject."
    )
    if len(of) > WORST + BEST:
        between = pd.DataFrame({"label": [f"… {len(of) - WORST - BEST:,} more …"]})
        of = pd.concat([of.head(WORST), between, of.tail(BEST)])
    scores = of.melt("label", var_name="measure", value_name="score")
    scores = scores.assign(system=system, source="run", ci_low=np.nan, ci_high=np.nan, reliable=True)
    look: dict[str, Any] = {"intervals": False, "folded": place > 1, "bars": "share", "systems": systems}
    return Table(f"verbs_{place}", title, scores, columns=("measure",), **look)
