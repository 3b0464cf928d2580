"""Scores that are 0.50 because everything ties: they say nothing, and are marked."""

import pandas as pd

from .section_cells import is_tied

ALL_TIED = "all tied"


def tied_systems(rows: pd.DataFrame, kind: str = "1-6") -> list[str]:
    """Return the systems for which every comparison in every set of a kind ties."""
    whole = rows[(rows["group"] == "all") & (rows["variation_set"] == kind)]
    return [str(system) for system in pd.unique(whole["system"][is_tied(whole)])]


def marked(text: pd.DataFrame, tied: pd.DataFrame) -> pd.DataFrame:
    """Append "all tied" to the cells of a formatted table where `tied` is 1; it may lack rows and columns."""
    where = tied.reindex(index=text.index, columns=text.columns) == 1
    return text.where(~where, text + f" ({ALL_TIED})")


def remark_on_ties(rows: pd.DataFrame) -> dict[str, str]:
    """Explain the AUCs of systems whose comparisons all tie, beside the section's terms; empty without such systems."""
    tied = tied_systems(rows)
    if not tied:
        return {}
    return {
        "All tied": f"{', '.join(tied)}: every comparison ties, so that each AUC is 0.50 whatever the model knows. "
        "Check the model and its scores per sentence."
    }
