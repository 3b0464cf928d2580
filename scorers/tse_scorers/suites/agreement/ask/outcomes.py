"""The outcome of each lemma in each context, for intervals of EW and for EW over other lemmas.

Each context has one bit per lemma: whether its correct form is more probable.

A reader's answers are float64. Six bytes are stored as one whole number below 2^48, which a float64 represents
exactly. So journals, shards and several processes handle the bytes like any other answer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ....engine.plan import Indices
from ....io.score_columns import Values, described
from .inflections import Inflections

if TYPE_CHECKING:
    from torch import Tensor

_BYTES = 6
"""Bytes of a whole number that a float64 represents exactly."""
Bytes = NDArray[np.uint8]


def outcome_width(n_lemmas: int) -> int:
    """Return the number of float64 for the outcomes of one context."""
    return -(-_size(n_lemmas) // _BYTES)


def encode(is_correct: "Tensor") -> NDArray[np.float64]:
    """Return the outcomes of lemmas, (contexts, lemmas), as whole numbers, (contexts, `outcome_width`)."""
    content = np.packbits(is_correct.cpu().numpy(), axis=1)
    (rows, size), width = content.shape, outcome_width(is_correct.shape[1])
    padded = np.zeros((rows, width * _BYTES), dtype=np.uint8)
    padded[:, :size] = content
    eight = np.zeros((rows, width, 8), dtype=np.uint8)
    eight[..., :_BYTES] = padded.reshape(rows, width, _BYTES)
    return eight.view("<u8")[..., 0].astype(np.float64)


def outcome_table(answers: Mapping[bool, tuple[Indices, NDArray[np.float64], int]]) -> pa.Table:
    """Return the table `outcomes`, one row per context that has lemmas.

    Args:
        answers: whether the gap opens its sentence -> contexts, their encoded outcomes, number of lemmas.
    """
    parts = []
    for opening, (contexts, numbers, n_lemmas) in answers.items():
        if n_lemmas:
            bits = [row.tobytes() for row in _as_bytes(numbers)[:, : _size(n_lemmas)]]
            columns = {"context_id": contexts, "opening": np.full(len(contexts), opening), "correct": bits}
            parts.append(pa.table(columns, schema=OUTCOMES))
    return pa.concat_tables(parts) if parts else OUTCOMES.empty_table()


OUTCOMES = described(
    ("context_id", "int64", "its row in the file of contexts", Values.COUNT),
    ("opening", "bool", "whether the gap opens its sentence, so that the forms have capitals"),
    (
        "correct",
        "binary",
        "one bit per lemma: the correct form is more probable (`numpy.packbits`, over the whole "
        "distribution)",
    ),
)
"""Columns of the table `outcomes`."""
LEMMAS = described(
    ("opening", "bool", "whether these are the forms that open a sentence"),
    ("lemma", "int64", "number of the bit, from 0"),
    (
        "singular",
        "string",
        "third person singular, as in the lemma list; of a contrast of your own, the form of the first value",
    ),
    ("plural", "string", "third person plural; of a contrast of your own, the form of the second value"),
    ("singular_id", "int64", "its token; null where whole words are scored"),
    ("plural_id", "int64", "its token; null where whole words are scored"),
)
"""Columns of the table `lemmas`."""


def lemma_table(listed: Mapping[bool, Inflections], lemmas: pd.DataFrame) -> pa.Table:
    """Return the table `lemmas`: the lemma of each bit of the outcomes.

    Args:
        listed: whether the gap opens its sentence -> inflections.
        lemmas: the list, columns `singular` and `plural`.
    """
    parts = [
        pa.table(
            {
                "opening": np.full(len(inflections), opening),
                "lemma": np.arange(len(inflections)),
                "singular": pa.array(lemmas["singular"].iloc[inflections.places], pa.string()),
                "plural": pa.array(lemmas["plural"].iloc[inflections.places], pa.string()),
                "singular_id": pa.array(inflections.singular, mask=inflections.singular < 0),
                "plural_id": pa.array(inflections.plural, mask=inflections.plural < 0),
            },
            schema=LEMMAS,
        )
        for opening, inflections in listed.items()
    ]
    return pa.concat_tables(parts)


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


def _as_bytes(numbers: NDArray[np.float64]) -> Bytes:
    """Undo `encode`; the bits of a context are followed by zeros."""
    eight = np.ascontiguousarray(numbers.astype("<u8"))[..., None].view(np.uint8)
    return np.ascontiguousarray(eight[..., :_BYTES]).reshape(len(numbers), -1)
