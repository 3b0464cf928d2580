"""The array types of the engine, and the arithmetic of ragged rows that its modules share."""

import hashlib
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
"""Vocabulary ids, positions and counts."""

Mask = NDArray[np.bool_]
"""Which entries are meant."""

Values = NDArray[np.float64]
"""Numbers that were read; where they are log-probabilities, natural logs."""


def one_after_the_other(sequences: Sequence[Sequence[int]]) -> tuple[Indices, Indices]:
    """Return (ids of all sequences, where each begins and the last one ends)."""
    first = np.cumsum([0, *map(len, sequences)], dtype=np.int64)
    return np.fromiter(chain.from_iterable(sequences), dtype=np.int64, count=first[-1]), first


def ranges(lengths: Indices, starts: Indices) -> tuple[Indices, Indices]:
    """Return (which range, number) of all numbers of ranges that start somewhere.

    >>> [part.tolist() for part in ranges(np.array([2, 0, 3]), np.array([7, 1, 0]))]
    [[0, 0, 2, 2, 2], [7, 8, 0, 1, 2]]
    """
    which = np.repeat(np.arange(len(lengths)), lengths)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(lengths) - lengths - starts, lengths)


def pad(rows: Sequence[Indices], fill: int) -> Indices:
    """Stack ragged rows into a matrix, filled on the right."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    padded = np.full((len(rows), int(lengths.max(initial=0))), fill, dtype=np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.concatenate([*rows, np.zeros(0, np.int64)])
    return padded


def digest(*arrays: NDArray[np.integer[Any]]) -> str:
    """Return a hash of arrays and their lengths: equal for equal arrays only."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(len(array).to_bytes(8, "little"))  # [1, 2], [3] is not [1], [2, 3]
        total.update(np.ascontiguousarray(array).data)
    return total.hexdigest()
