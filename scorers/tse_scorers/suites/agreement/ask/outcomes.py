"""The outcome of each lemma in each context, in a few bytes, for intervals and for scores over other lemmas.

Each context has one bit per lemma: whether its correct form is more probable. For the lemmas with the most
probability, it also has their numbers and the shares of their two forms in the probability of all listed forms. This
gives the exact EW over any lemmas. MW over other lemmas is approximate for the probability of the remaining lemmas.

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

from ....engine.arrays import Indices
from ....io.score_columns import Values, described
from .inflections import Inflections

if TYPE_CHECKING:
    from torch import Tensor

N_HEAVIEST = 16
"""Number of lemmas per context whose probabilities are stored."""
_BYTES = 6
"""Bytes of a whole number that a float64 represents exactly."""
_UINT16, _FLOAT16 = np.dtype("<u2"), np.dtype("<f2")
Bytes = NDArray[np.uint8]


def outcome_width(n_lemmas: int) -> int:
    """Return the number of float64 for the outcomes of one context."""
    return -(-sum(_sizes(n_lemmas)) // _BYTES) if n_lemmas else 0


def encode(correct: "Tensor", incorrect: "Tensor", is_correct: "Tensor") -> NDArray[np.float64]:
    """Reduce the log-probabilities of all lemmas to the outcomes of each context, (contexts, `outcome_width`).

    Args:
        correct: log-probabilities of the correct forms, (contexts, lemmas), float64.
        incorrect: log-probabilities of the incorrect forms.
        is_correct: whether the correct form is the more probable one, bool.
    """
    import torch  # here only: comparisons read outcomes and need no torch

    masses = torch.stack([correct.exp(), incorrect.exp()]).nan_to_num(nan=0.0)
    listed = masses.sum(dim=(0, 2))[:, None]
    n_kept = min(N_HEAVIEST, correct.shape[1])
    heaviest = masses.sum(dim=0).topk(n_kept, dim=1).indices.sort(dim=1).values
    stored = [heaviest, *((mass.gather(1, heaviest) / listed).nan_to_num(nan=0.0) for mass in masses)]
    lemma, *shares = torch.stack(stored).cpu().numpy()  # in one copy from a GPU
    parts = [
        np.packbits(is_correct.cpu().numpy(), axis=1),
        np.ascontiguousarray(lemma.astype(_UINT16)).view(np.uint8),
        *(np.ascontiguousarray(share.astype(_FLOAT16)).view(np.uint8) for share in shares),
    ]
    return _as_numbers(np.concatenate(parts, axis=1))


def outcome_table(answers: Mapping[bool, tuple[Indices, NDArray[np.float64], int]]) -> pa.Table:
    """Return the table `outcomes`, one row per context that has lemmas.

    Args:
        answers: whether the gap opens its sentence -> contexts, their encoded outcomes, number of lemmas.
    """
    parts = []
    for opening, (contexts, numbers, n_lemmas) in answers.items():
        if n_lemmas:
            ends = np.cumsum(_sizes(n_lemmas))
            columns = np.split(_as_bytes(numbers)[:, : ends[-1]], ends[:-1], axis=1)
            cells = ([row.tobytes() for row in column] for column in columns)
            outcomes = zip(_COLUMNS, cells, strict=True)
            about = {"context_id": contexts, "opening": np.full(len(contexts), opening)}
            parts.append(pa.table(about | dict(outcomes), schema=OUTCOMES))
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
    ("heaviest", "binary", "uint16: numbers of the 16 lemmas with the most probability"),
    (
        "share_correct",
        "binary",
        "float16: shares of their correct forms in the probability of all listed forms",
    ),
    ("share_incorrect", "binary", "float16: the same for their incorrect forms"),
)
"""Columns of the table `outcomes`."""
_COLUMNS = OUTCOMES.names[2:]
_KINDS: tuple[np.dtype[Any], ...] = (np.dtype(np.uint8), _UINT16, _FLOAT16, _FLOAT16)
_APART = (
    "The tables 'outcomes' and 'lemmas' do not belong together: one of them was changed. Run the same `tse run` "
    "command again with --overwrite."
)
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
        heaviest: (contexts, kept) numbers of the lemmas with the most probability.
        shares: (2, contexts, kept) shares of their correct and incorrect forms in the probability of all listed forms.
        group: the group of pairs whose own lemmas these are; None if all groups have the same lemmas.
    """

    context_id: Indices
    lemmas: pd.MultiIndex
    packed: Bytes
    heaviest: Indices
    shares: NDArray[np.float64]
    group: str | None = None

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

    def mw(self, rows: Indices, mw: NDArray[np.float64], lemmas: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Estimate MW of contexts over some of the lemmas, (rows,).

        The heaviest lemmas are known. The remaining probability is divided by the number of lemmas.

        Args:
            rows: indices of contexts.
            mw: their MW over all lemmas, (rows,).
            lemmas: (lemmas,) booleans that select lemmas.
        """
        shares = self.shares[:, rows]
        counted = lemmas[self.heaviest[rows]]
        remaining = np.stack([mw, 1 - mw]) - shares.sum(axis=2)
        n_other = max(len(lemmas) - shares.shape[2], 1)
        part = (lemmas.sum() - counted.sum(axis=1)) / n_other
        correct, incorrect = np.where(counted, shares, 0.0).sum(axis=2) + remaining.clip(min=0) * part
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(correct / (correct + incorrect))

    def weights(self, rows: Indices) -> NDArray[np.float64]:
        """Return the mean share of each lemma in the probability of listed forms over some contexts, (lemmas,)."""
        shares = self.shares[:, rows].sum(axis=0)
        total = np.bincount(self.heaviest[rows].ravel(), shares.ravel(), len(self.lemmas)) / max(len(rows), 1)
        return np.asarray(total + max(0.0, 1.0 - total.sum()) / max(len(total), 1))


def read_outcomes(outcomes: pa.Table, lemmas: pa.Table) -> Iterator[Outcomes]:
    """Yield the outcomes of each kind of gap (opening its sentence or not) from their two tables.

    If groups have lemmas of their own, each group's outcomes are yielded by themselves.

    Raises:
        ValueError: the two tables do not belong together.
    """
    frame, names = (table.to_pandas() for table in (outcomes, lemmas))
    frame, names = (table if "group" in table else table.assign(group="") for table in (frame, names))
    for (opening, group), of_kind in frame.groupby(["opening", "group"], sort=True):
        list_names = names[(names["opening"] == opening) & (names["group"] == group)].sort_values("lemma")
        correct, heaviest, *shares = (
            _matrix(of_kind[name], kind, size)
            for name, kind, size in zip(_COLUMNS, _KINDS, _sizes(len(list_names)), strict=True)
        )
        numbers = np.arange(len(list_names))
        if not np.array_equal(list_names["lemma"], numbers) or not np.isin(heaviest, numbers).all():
            raise ValueError(_APART)
        yield Outcomes(
            of_kind["context_id"].to_numpy(),
            pd.MultiIndex.from_frame(list_names[["singular", "plural"]]),
            correct,
            heaviest.astype(np.int64),
            np.stack(shares).astype(float),
            group or None,
        )


def _sizes(n_lemmas: int) -> tuple[int, int, int, int]:
    """Return the bytes of the bits, the heaviest lemmas and the two shares."""
    n_kept = 2 * min(N_HEAVIEST, n_lemmas)
    return -(-n_lemmas // 8), n_kept, n_kept, n_kept


def _as_numbers(content: Bytes) -> NDArray[np.float64]:
    rows, size = content.shape
    padded = np.zeros((rows, -(-size // _BYTES) * _BYTES), dtype=np.uint8)
    padded[:, :size] = content
    eight = np.zeros((rows, padded.shape[1] // _BYTES, 8), dtype=np.uint8)
    eight[..., :_BYTES] = padded.reshape(rows, -1, _BYTES)
    return eight.view("<u8")[..., 0].astype(np.float64)


def _as_bytes(numbers: NDArray[np.float64]) -> Bytes:
    eight = np.ascontiguousarray(numbers.astype("<u8"))[..., None].view(np.uint8)
    return np.ascontiguousarray(eight[..., :_BYTES]).reshape(len(numbers), -1)


def _matrix(column: "pd.Series[Any]", dtype: np.dtype[Any], size: int) -> NDArray[Any]:
    """Return the numbers in cells of so many bytes, (cells, numbers)."""
    if any(not isinstance(cell, bytes) or len(cell) != size for cell in column):
        raise ValueError(_APART)
    return np.frombuffer(b"".join(column), dtype=dtype).reshape(len(column), size // dtype.itemsize)
