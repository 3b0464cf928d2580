"""EW by the number of tokens."""

from collections.abc import Iterator

import pandas as pd

from ...report.blocks import View
from ...report.tables import Table
from ...suites.agreement.ask.columns import UNEQUAL
from ...suites.agreement.estimate.strata import STRATA
from .table2 import by_metric


def strata_views(rows: pd.DataFrame) -> Iterator[View]:
    """Yield EW over lemmas of single tokens and over those of several, where all forms were scored."""
    of_strata = by_metric(rows, STRATA | {UNEQUAL: "different lengths, by whole sentences"})
    if of_strata.empty:
        return
    yield View(
        "EW by number of tokens",
        "Lemmas with a form of several tokens are rarer words. A difference between the two columns is not only about "
        "the number of tokens. A masked model's lemmas with forms of different lengths are scored on request "
        "(--sentence-pll), by another measure: the pseudo-log-likelihood of the whole sentence.",
        [
            Table.of_scores(
                of_strata,
                "EW by kind of lemma.",
                "Templates",
                across=("system", "measure"),
                file="ew_by_tokens",
            )
        ],
    )
