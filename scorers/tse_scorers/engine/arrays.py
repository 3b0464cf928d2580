"""Array types of the engine, and arithmetic on rows of different lengths."""

import hashlib
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
"""Vocabulary ids, positions and counts."""

Mask = NDArray[np.bool_]
"""Booleans that select entries."""

Values = NDArray[np.float64]
"""Numbers computed from distributions; log-probabilities are natural logs."""


def concatenate(sequences: Sequence[Sequence[int]]) -> tuple[Indices, Indices]:
    """Return (ids of all sequences, start of each sequence and end of the last one)."""
    first = np.cumsum([0, *map(len, sequences)], dtype=np.int64)
    return np.fromiter(chain.from_iterable(sequences), dtype=np.int64, count=first[-1]), first


def expand_ranges(lengths: Indices, starts: Indices) -> tuple[Indices, Indices]:
    """Return (index of the range, number) for every number in ranges with these starts and lengths.

    >>> [part.tolist() for part in expand_ranges(np.array([2, 0, 3]), np.array([7, 1, 0]))]
    [[0, 0, 2, 2, 2], [7, 8, 0, 1, 2]]
    """
    which = np.repeat(np.arange(len(lengths)), lengths)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(lengths) - lengths - starts, lengths)


def pad(rows: Sequence[Indices], fill: int) -> Indices:
    """Stack rows of different lengths into a matrix, padded on the right."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    padded = np.full((len(rows), int(lengths.max(initial=0))), fill, dtype=np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.concatenate([*rows, np.zeros(0, np.int64)])
    return padded


def digest(*arrays: NDArray[np.integer[Any]]) -> str:
    """Return a hash of arrays and their lengths: different arrays get different hashes."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(len(array).to_bytes(8, "little"))  # distinguishes [1, 2], [3] from [1], [2, 3]
        total.update(np.ascontiguousarray(array).data)
    return total.hexdigest()
