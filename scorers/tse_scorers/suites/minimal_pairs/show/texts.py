"""What the section of the suite says, and what it calls its groups."""

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....io.bundle import metric_modules
from ....report.inputs import Runs
from ...shown import Text, with_labels
from ..data.released import KNOWN_DATA

_TEXT = Text(
    question="Does the model find the acceptable one of two sentences more probable?",
    lead=(
        "A model passes a pair when it finds the acceptable sentence more probable. Its accuracy is a proportion, from "
        "0 to 1."
    ),
    terms={
        "Accuracy": "The share of minimal pairs in which the model gives the acceptable sentence the higher "
        "probability. Guessing gives 0.5. Ties and pairs without a number are not right answers. A phenomenon's "
        "accuracy is the mean of its paradigms, the overall one the mean of all paradigms.",
        "One prefix, two prefixes": "Other ways to ask, where a paradigm allows it: which of two words is more "
        "probable after the same beginning; or after which of two beginnings the same word is more probable.",
    },
    source=(
        "Warstadt, Parrish, Liu, Mohananey, Peng, Wang & Bowman (2020), BLiMP: The Benchmark of Linguistic Minimal "
        "Pairs for English, TACL 8."
    ),
)
_SPELLINGS = {
    "npi": "NPI", "subject verb": "subject–verb", "determiner noun": "determiner–noun",
    "filler gap": "filler–gap", "control raising": "control and raising",
}  # fmt: skip


def text_of(runs: Runs) -> Text:
    """Return what the section says of the pairs that were scored."""
    rows = runs.suite("minimal_pairs")
    title = KNOWN_DATA.title_of(rows["config"].unique()) or "Minimal pairs"
    return replace(_TEXT, lead=f"{_pairs(rows, title)} {_TEXT.lead}", title=title)


def _pairs(rows: pd.DataFrame, title: str) -> str:
    """Say which pairs results are about."""
    is_blimp = from_blimp(pd.Index(rows.loc[rows["level"] == "paradigm", "value"].unique()))
    if is_blimp.all() and title == "BLiMP":
        kind = (
            "of English sentences, one acceptable and one not, from 67 paradigms in 12 phenomena of grammar"
        )
    else:
        kind = "of sentences, one acceptable and one not" + (": BLiMP's and others" if is_blimp.any() else "")
    return f"Minimal pairs {kind}."


def phenomenon_name(phenomenon: str) -> str:
    """Name a phenomenon as a heading.

    >>> phenomenon_name("npi_licensing"), phenomenon_name("subject_verb_agreement")
    ('NPI licensing', 'Subject–verb agreement')
    """
    name = phenomenon.replace("_", " ")
    for plain, printed in _SPELLINGS.items():
        name = name.replace(plain, printed)
    return name[:1].upper() + name[1:]


def group_name(level: str, value: str) -> str:
    """Name a group of results in a sentence or above a panel.

    >>> group_name("phenomenon", "determiner_noun_agreement"), group_name("all", "")
    ('Determiner–noun agreement', 'Overall')
    """
    return "Overall" if level == "all" else phenomenon_name(value)


def labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies; of pairs without paradigms, only those over all."""
    rows = with_labels(rows)
    if is_without_paradigms(rows):
        rows = rows[rows["level"] == "all"]
    of_phenomenon = rows["level"] == "phenomenon"
    names = rows["label"].where(~of_phenomenon, rows["value"].map(phenomenon_name))
    return rows.assign(label=names, method=rows["method"].fillna("full"))


def from_blimp(paradigms: pd.Index) -> NDArray[np.bool_]:
    """Mark the paradigms that are BLiMP's."""
    return paradigms.isin(list(metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS))


def is_without_paradigms(rows: pd.DataFrame) -> bool:
    """Whether results are of one's own pairs without paradigms, whose only group has their name and all of them."""
    return (
        set(rows.loc[rows["level"] != "all", "value"]) == set(rows["config"])
        and len(set(rows["config"])) == 1
    )
