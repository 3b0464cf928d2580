"""The most probable forms at a few gaps, marked as right or wrong (Newman et al. 2021, Table 3)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from ....engine.plan import Indices
from ....io.results import Row
from ....models.scorer import Scorer, Slot
from ..data.paper_examples import with_paper_contexts
from .columns import TOP_FORMS
from .gaps import gaps_of
from .inflections import find_inflections

FORMS_SHOWN = 10
CONTEXTS_SHOWN = 2
"""Number of contexts per table row whose most probable forms are stored."""


def top_forms(scorer: Scorer, pairs: pd.DataFrame, lemmas: pd.DataFrame) -> pa.Table:
    """Return the most probable tokens of a few contexts of each table row, with verbs marked as right or wrong.

    There are none of a scorer that does not give the distribution over its tokens.
    """
    if not scorer.can("read_slots"):
        return TOP_FORMS.empty_table()
    gaps = gaps_of(scorer, pairs)
    listed = {opens: find_inflections(scorer, lemmas, opens) for opens in np.unique(gaps.opens).tolist()}
    by_row = gaps.units.groupby("group", sort=False)["unit"]
    chosen = np.concatenate([_spread(rows.to_numpy()) for _, rows in by_row])
    chosen = with_paper_contexts(chosen, gaps.units)
    rows: list[Row] = []
    for unit, forms in zip(
        chosen, _most_probable(scorer, [gaps.slots[unit] for unit in chosen]), strict=True
    ):
        context = gaps.units.iloc[unit]
        about = {name: context[name] for name in ("group", "prefix", "suffix", "number")}
        status = listed[context["prefix"] == ""].statuses(gaps.is_singular[unit])
        for rank, (token, probability) in enumerate(forms, 1):
            text = scorer.token_text(token)
            rows.append(
                {"context_id": int(unit), **about, "rank": rank, "form": text.strip() or repr(text)}
                | {"probability": probability, "status": status.get(token, "other")}
            )
    return pa.Table.from_pylist(rows, TOP_FORMS)


def _most_probable(scorer: Scorer, slots: list[Slot]) -> Iterator[list[tuple[int, float]]]:
    """Yield the ids of the most probable tokens at each gap, and their probabilities."""
    shown = min(FORMS_SHOWN, scorer.vocabulary_size)

    def read(logits: Tensor, _: Indices) -> NDArray[np.float64]:
        top = torch.softmax(logits, dim=-1).topk(shown, dim=-1)
        # In this order: MPS has no float64.
        return torch.cat([top.indices.cpu().double(), top.values.cpu().double()], dim=1).numpy()

    for tokens, probabilities in scorer.read_slots(slots, read, 2 * shown).reshape(-1, 2, shown):
        yield list(zip(tokens.astype(int).tolist(), probabilities.tolist(), strict=True))


def _spread(units: Indices) -> Indices:
    """Return a few of these units, evenly spread."""
    places = np.linspace(0, len(units) - 1, CONTEXTS_SHOWN + 2)[1:-1]
    return units[np.unique(places.astype(int))]
