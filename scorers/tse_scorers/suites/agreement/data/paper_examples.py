"""The two sentences of Table 3 of Newman et al. (2021), shown where the data has them, with the paper's numbers."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....report.blocks import Example, Form
from ....report.published import published

TABLE_3 = (("The senators that the skater", "are young."), ("The pilots that the executive", "are tall."))
"""(prefix, suffix) of the two contexts"""
_MODEL = "bert-large-cased (published)"


def positions(contexts: pd.DataFrame) -> NDArray[np.int64]:
    """Return the positions of the table's sentences: the same prefix, and the same suffix if any context has it.

    A causal model does not see the suffix: its context has the first suffix of the data.

    Args:
        contexts: columns `prefix` and `suffix`.
    """
    prefixes, suffixes = (contexts[side].fillna("").str.strip() for side in ("prefix", "suffix"))
    places = []
    for prefix, suffix in TABLE_3:
        same = np.flatnonzero(prefixes == prefix)
        exact = same[(suffixes.iloc[same] == suffix).to_numpy()]
        places += list(exact if len(exact) else same)[:1]
    return np.array(places, dtype=np.int64)


def with_paper_contexts(chosen: NDArray[np.int64], contexts: pd.DataFrame) -> NDArray[np.int64]:
    """Add the table's sentences to a sample of contexts, given by position, unless they are in it."""
    return np.concatenate([chosen, np.setdiff1d(positions(contexts), chosen)])


def published_examples() -> list[Example]:
    """Return the table as printed."""
    table = published("newman2021_table3")
    if table.empty:
        return []
    return [
        Example(
            _MODEL,
            "Table 3",
            str(prefix),
            str(suffix),
            [Form(str(row.form), float(row.probability), row.status) for row in of_context.itertuples()],
        )
        for (prefix, suffix), of_context in table.groupby(["prefix", "suffix"], sort=False)
    ]
