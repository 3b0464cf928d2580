"""Which verbs a model gets right, from the stored outcomes of its lemmas; their mean is EW itself."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..io.runs import ScoreFile
from ..suites.agreement.estimate.outcomes import read_outcomes
from .blocks import Block, Plot, Table

MOST_SYSTEMS = 7
"""The best ones, which have colours."""
WORST, BEST = 10, 5
"""Verbs of the table of a system."""
_OURS = {"released", "clean"}
_RARE = " The list has every word that was seen as a verb, however rarely: to key, to man."
_TEXT = (
    "The share of contexts in which the right form of a verb is the more probable one. A verb near 1 after one number "
    "and near 0 after the other has one favourite form, whatever its subject is."
)


def by_lemma(outcomes: ScoreFile) -> pd.DataFrame:
    """Return for each lemma, at gaps inside a sentence, the share of contexts with its right form more probable.

    Columns `label`, `EW`, and `after singular` and `after plural` (or the two values of another contrast).
    """
    contexts, lemmas = outcomes.sibling("contexts"), outcomes.sibling("lemmas")
    if contexts is None or lemmas is None:
        raise ValueError(f"The record of {outcomes.path} has no tables of contexts and lemmas. Run it again.")
    about = contexts.read(["context_id", "number"]).drop_duplicates("context_id").set_index("context_id")
    kinds = read_outcomes(outcomes.read_table(), lemmas.read_table())
    kind = max(kinds, key=lambda kind: len(kind.context_id))
    numbers = about["number"].reindex(kind.context_id).to_numpy()
    right, totals = {}, {}
    for number in pd.unique(numbers):
        places = np.flatnonzero(numbers == number)
        parts = np.array_split(places, max(1, len(places) // 10_000))  # bits become bytes
        right[number] = sum(kind.correct(part).sum(axis=0, dtype=np.int64) for part in parts)
        totals[number] = len(places)
    shares = {f"after {number}": right[number] / totals[number] for number in right}
    ew = sum(right.values()) / sum(totals.values())
    labels = [" / ".join(forms) for forms in kind.lemmas]
    return pd.DataFrame({"label": labels, "EW": ew, **shares})


def parts(files: Mapping[str, ScoreFile], systems: list[str]) -> list[Block]:
    """Return the curve over all verbs, and for each of the best systems its worst and best verbs."""
    shown = [system for system in systems if system in files][:MOST_SYSTEMS]
    verbs = {system: by_lemma(files[system]) for system in shown}
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
    text = _TEXT + _RARE * (files[shown[0]].signature.get("lemmas") in _OURS)
    plot = Plot("verbs", title, "lines", pd.concat(curves), "% of verbs", "share right")
    return [text, plot, *(_table(*each, place, shown) for place, each in enumerate(verbs.items()))]


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
