"""The outcome of each lemma in each context, read from disk: for intervals of EW, and for EW over other lemmas."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ....engine.plan import Indices

Bytes = NDArray[np.uint8]
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)
"""The bits of each byte that are 1."""


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of one kind of gap, read from disk.

    Attributes:
        context_id: (contexts,).
        lemmas: the lemma of each bit, as (singular, plural).
        packed: (contexts, bytes) one bit per lemma, in the order of `numpy.packbits`.
    """

    context_id: Indices
    lemmas: pd.MultiIndex
    packed: Bytes

    @cached_property
    def _index(self) -> "pd.Index[Any]":
        return pd.Index(self.context_id)

    def places(self, contexts: pd.DataFrame) -> Indices:
        """Return the row of each context, named by `context_id`; -1 for one without outcomes, (contexts,)."""
        return self._index.get_indexer(contexts["context_id"])

    def correct(self, rows: Indices, lemmas: Indices | None = None) -> NDArray[np.uint8]:
        """Return 1 where the correct form is more probable, (rows, lemmas); all lemmas for None."""
        bits = np.unpackbits(self.packed[rows], axis=1, count=len(self.lemmas))
        is_whole = lemmas is None or np.array_equal(lemmas, np.arange(len(self.lemmas)))
        return bits if is_whole else bits[:, lemmas]  # selecting takes longer than unpacking

    def n_correct(self, rows: Indices, is_chosen: NDArray[np.bool_]) -> Indices:
        """Count the chosen lemmas whose correct form is more probable, (rows,)."""
        return np.asarray(_ONES[self.packed[rows] & np.packbits(is_chosen)].sum(axis=1))


def read_outcomes(outcomes: pa.Table, lemmas: pa.Table) -> Iterator[Outcomes]:
    """Yield the outcomes of each kind of gap (opening its sentence or not) from their two tables.

    Raises:
        ValueError: the two tables do not belong together.
    """
    frame, names = (table.to_pandas() for table in (outcomes, lemmas))
    for opening, of_kind in frame.groupby("opening", sort=True):
        list_names = names[names["opening"] == opening].sort_values("lemma")
        size, cells = _size(len(list_names)), of_kind["correct"].tolist()
        if not np.array_equal(list_names["lemma"], np.arange(len(list_names))) or any(
            not isinstance(cell, bytes) or len(cell) != size for cell in cells
        ):
            raise ValueError(
                "The tables 'outcomes' and 'lemmas' do not belong together: one of them was changed. Run the same "
                "`tse run` command again with --overwrite."
            )
        yield Outcomes(
            of_kind["context_id"].to_numpy(),
            pd.MultiIndex.from_frame(list_names[["singular", "plural"]]),
            np.frombuffer(b"".join(cells), dtype=np.uint8).reshape(len(cells), size),
        )


def _size(n_lemmas: int) -> int:
    """Return the bytes of the bits of so many lemmas."""
    return -(-n_lemmas // 8)
