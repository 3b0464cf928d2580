"""The gaps of a table of pairs, each asked about once: what a model is asked there, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ....engine.plan import Indices
from ....models.scorer import Scorer, Slot
from ...own_columns import shared_arrays
from ..options import AgreementOptions
from .listing import Listing
from .template_verbs import TemplateVerbs


@dataclass(frozen=True)
class Gaps:
    """The contexts of pairs, unique as the model sees them.

    Attributes:
        pairs: the pairs with a column `unit`, the index of their context.
        units: the first pair of each context.
        slots: the queries, (contexts,).
        is_singular: (contexts,) whether the subject is singular.
        opens: (contexts,) whether the gap opens its sentence.
    """

    pairs: pd.DataFrame
    units: pd.DataFrame
    slots: list[Slot]
    is_singular: NDArray[np.bool_]
    opens: NDArray[np.bool_]


def gaps_of(scorer: Scorer, pairs: pd.DataFrame) -> Gaps:
    """Return the contexts of pairs as a model sees them."""
    pairs = pairs.assign(unit=pairs.groupby([*scorer.context_columns, "number"], sort=False).ngroup())
    units = pairs.drop_duplicates("unit").sort_values("unit")
    slots = [Slot(prefix, suffix) for prefix, suffix in zip(units["prefix"], units["suffix"], strict=True)]
    return Gaps(
        pairs,
        units,
        slots,
        (units["number"] == "singular").to_numpy(),
        (units["prefix"] == "").to_numpy(),
    )


@dataclass(frozen=True)
class Questions:
    """What a model is asked at the gaps.

    Attributes:
        gaps: the contexts.
        listed: the lemmas at each kind of gap: those that open their sentences (True), and the others.
        verbs: the templates' own verbs.
        options: which forms are scored, and how.
    """

    gaps: Gaps
    listed: Mapping[bool, Listing]
    verbs: TemplateVerbs
    options: AgreementOptions


@dataclass(frozen=True)
class Answers:
    """What a model answers at the gaps.

    Attributes:
        scores: (contexts, scores and counts), see `columns`.
        own_verbs: (contexts, forms of the templates' own verbs) log-probabilities.
        outcomes: whether a gap opens its sentence -> contexts, encoded outcomes, number of lemmas.
    """

    scores: NDArray[np.float64]
    own_verbs: NDArray[np.float64]
    outcomes: dict[bool, tuple[Indices, NDArray[np.float64], int]] = field(default_factory=dict)


def context_table(
    pairs: pd.DataFrame, values: NDArray[np.float64], names: Sequence[str], user_columns: Sequence[str]
) -> pa.Table:
    """Return one row per context and group.

    Args:
        pairs: with a column `unit`, the index of their context.
        values: (contexts, scores and counts).
        names: of the scores and counts.
        user_columns: the user's columns, which a context gets if all its pairs have the same value.
    """
    columns = [c for c in ("group", "construction", "number", "prefix", "suffix") if c in pairs]
    contexts = pairs.drop_duplicates(["unit", "group"])
    scores = values[contexts["unit"].to_numpy()]
    table = {"context_id": contexts["unit"].to_numpy()} | {c: contexts[c].to_numpy() for c in columns}
    for index, name in enumerate(names):
        table[name] = scores[:, index].astype(np.int64) if name.startswith("n_") else scores[:, index]
    if user_columns:
        table |= shared_arrays(
            pairs[list(user_columns)], list(zip(pairs["unit"], pairs["group"], strict=True))
        )
    return pa.table(table)
