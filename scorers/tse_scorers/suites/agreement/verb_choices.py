"""Agreement pairs as two-way choices: the two forms of the template's own verb after the left context."""

import pandas as pd

from ...models.words import capitalized
from ..for_other_tools import COLUMNS, TwoWayChoices


def verb_choices(name: str, pairs: pd.DataFrame) -> TwoWayChoices:
    """Return the pairs as choices; at a gap that opens its sentence, the forms have capitals and no space."""
    opening = (pairs["prefix"] == "").to_numpy()
    sides = {
        side: [
            capitalized(form) if opens else f" {form}"
            for form, opens in zip(pairs[f"verb_{column}"], opening, strict=True)
        ]
        for side, column in (("good", "correct"), ("bad", "incorrect"))
    }
    rows = pairs.assign(
        group=pairs["table_row"], item=pairs["pair_id"].map(str), context=pairs["prefix"], **sides
    )
    return TwoWayChoices(
        name,
        rows[list(COLUMNS)].reset_index(drop=True),
        mean_of_groups=False,
        note="A form of several tokens counts with the sum over its tokens; `tse run` excludes its pair from TSE.",
    )
