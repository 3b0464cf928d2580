"""Agreement pairs as two-way choices: the two forms of the template's own verb after the left context."""

import pandas as pd

from ....models.words import capitalized
from ...items import CHOICES, TwoWayChoices

OF_LEMMAS = frozenset({"forms"})
"""Options that decide how lemmas are scored; the choices are between forms of the template's own verb."""
OF_CHECKS = frozenset({"lemmas", "allow_unverified"})
"""Options that decide how the user's own pairs are checked."""


def verb_choices(name: str, pairs: pd.DataFrame, is_own: bool) -> TwoWayChoices:
    """Return the pairs as choices; at a gap that opens its sentence, the forms have capitals and no space.

    Args:
        name: of the data.
        pairs: the pairs.
        is_own: whether the data is the user's own.
    """
    opening = (pairs["prefix"] == "").to_numpy()
    sides = {
        side: [
            capitalized(form) if opens else f" {form}"
            for form, opens in zip(pairs[f"form_{column}"], opening, strict=True)
        ]
        for side, column in (("good", "correct"), ("bad", "incorrect"))
    }
    rows = pairs.assign(
        group=pairs["group"], item=pairs["pair_id"].map(str), context=pairs["prefix"], **sides
    )
    return TwoWayChoices(
        name,
        rows[list(CHOICES)].reset_index(drop=True),
        mean_of_groups=False,
        note="A form of several tokens counts with the sum over its tokens; `tse run` excludes its pair from TSE.",
        unused=OF_LEMMAS if is_own else OF_LEMMAS | OF_CHECKS,
    )
