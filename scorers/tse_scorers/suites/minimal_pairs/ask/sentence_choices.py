"""Minimal pairs as two-way choices: the two whole sentences, compared by their sums."""

import pandas as pd

from ...items import CHOICES, TwoWayChoices


def sentence_choices(config: str, pairs: pd.DataFrame, linking: str | None) -> TwoWayChoices:
    """Return the pairs as choices.

    Raises:
        ValueError: their sentences are not compared by their sums.
    """
    if linking not in (None, "sum"):
        raise ValueError(
            f"The sentences of {config} are compared by {linking}; expected the sum of log-probabilities, which other "
            "tools compare. Choose it with --linking sum, if it is what you want to measure."
        )
    rows = pd.DataFrame(
        {
            "group": pairs["paradigm"],
            "item": pairs["pair_id"].map(str),
            "context": "",
            "good": pairs["sentence_good"],
            "bad": pairs["sentence_bad"],
        }
    )
    return TwoWayChoices(
        config,
        rows[list(CHOICES)].reset_index(drop=True),
        mean_of_groups=True,
    )
