"""What results say about the lemmas behind EW and MW: how many, which, and why the others were not scored."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from ....io.result_row import Scalar
from ....io.tables import fingerprint
from ...gaps import REASONS, SCORED
from .measures import EW, MW


class Coverage(NamedTuple):
    """What rows of results say about a lemma list.

    Attributes:
        forms: which forms were scored, `single` or `all`.
        word_end: whether probabilities include the end of the word; None where this has no meaning.
        counts: what rows of EW and MW say, see `coverage`.
    """

    forms: str = "single"
    word_end: bool | None = None
    counts: Mapping[str, Scalar] = MappingProxyType({})

    @classmethod
    def of(cls, listed: pa.Table | None) -> "Coverage":
        """Count what became of listed lemmas; see `listing.LISTED`."""
        if listed is None or not listed.num_rows:
            return cls()
        lemmas = listed.to_pandas()
        forms, word_end = lemmas["forms"].iloc[0], lemmas["word_end"].iloc[0]
        return cls(forms, None if pd.isna(word_end) else bool(word_end), coverage(main_list(lemmas)))

    def columns(self, metric: str) -> dict[str, Scalar]:
        """Return the columns of a row."""
        columns: dict[str, Scalar] = {"forms": self.forms, "word_end": self.word_end}
        return {**columns, **self.counts} if metric in (EW.name, MW.name) else columns


def main_list(lemmas: pd.DataFrame) -> pd.DataFrame:
    """Return the lemmas at gaps inside sentences, or, if all gaps open their sentences, at those."""
    return lemmas[lemmas["opening"] == lemmas["opening"].min()]


def coverage(lemmas: pd.DataFrame) -> dict[str, Scalar]:
    """Count lemmas by outcome (scored, excluded and why): `n_lemmas_listed`, `lemmas_scored` (a fingerprint), `n_…`."""
    scored = lemmas.loc[lemmas["excluded"] == SCORED, ["singular", "plural"]].sort_values(
        ["singular", "plural"]
    )
    counts = {
        f"n_{reason.replace(' ', '_')}": int((lemmas["excluded"] == reason).sum()) for reason in REASONS
    }
    return {"n_lemmas_listed": len(lemmas), "lemmas_scored": fingerprint(scored), **counts}
