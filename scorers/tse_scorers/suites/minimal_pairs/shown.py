"""What is shown of the suite: what it asks, what its groups are called, and its pairs with their units."""

import pandas as pd

from ...io.runs import ScoreFile
from ..shown import Shown, Text, whole_table
from .estimate.intervals import unit_labels

TEXT = Text(
    question="Does the model find the acceptable one of two sentences more probable?",
    lede=(
        "Each item is a pair of sentences that differ in little, one acceptable and one not. We count how often the "
        "model gives the acceptable one the higher probability."
    ),
    terms={
        "Accuracy": "The share of pairs in which the acceptable sentence is the more probable one. Ties and pairs "
        "without a number are not right answers. A phenomenon's accuracy is the mean of its paradigms, the overall "
        "one the mean of all paradigms.",
        "One prefix, two prefixes": "Other ways to ask, where a paradigm allows it: which of two words is more "
        "probable after the same beginning; or after which of two beginnings the same word is more probable.",
    },
    source="Warstadt et al. (2020), BLiMP: The Benchmark of Linguistic Minimal Pairs for English, TACL 8.",
)
_SPELLINGS = {
    "npi": "NPI", "subject verb": "subject–verb", "determiner noun": "determiner–noun",
    "filler gap": "filler–gap", "control raising": "control and raising",
}  # fmt: skip


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
    """Name a group: a phenomenon as a heading, a paradigm as it is.

    >>> group_name("phenomenon", "determiner_noun_agreement"), group_name("paradigm", "wh_island")
    ('Determiner–noun agreement', 'wh_island')
    """
    return phenomenon_name(value) if level in ("phenomenon", "field") else value


def item_table(file: ScoreFile) -> pd.DataFrame | None:
    """Return the pairs of a file of scores with `unit`: the critical word, or the user's own unit."""
    pairs = whole_table(file)
    return pairs if pairs is None or "unit" in pairs else pairs.assign(unit=unit_labels(pairs)[1])


SHOWN = Shown(TEXT, group_name, item_table)
