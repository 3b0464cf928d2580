"""Turns inputs into batches: rows of similar length, up to a budget of tokens.

A plan knows the lengths of its rows and turns any selection of them into a `Batch`. The runner in `run.py`
decides how many rows go together, so a batch that does not fit into memory can be built again as two halves.
A new kind of packing is a class that implements `Plan`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .arrays import Indices, Mask, digest, expand_ranges, pad
from .trie import PrefixTrie, leaf_rows, packed_rows


@dataclass(frozen=True)
class Batch:
    """Inputs of one forward pass and the positions that are read from it.

    Attributes:
        input_ids: (rows, width) vocabulary ids, padded on the right.
        present: (rows, width) False at padding.
        positions: (rows, width) position ids, or None for the model's own.
        visible: (rows, width, width) which positions (last axis) each position attends to, or None for the
            model's own attention.
        read_rows: (reads,) row of each position that is read.
        read_columns: (reads,) column of each position that is read.
        reads: (reads,) index of each read within the plan.
    """

    input_ids: Indices
    present: Mask
    positions: Indices | None
    visible: Mask | None
    read_rows: Indices
    read_columns: Indices
    reads: Indices


class Plan(Protocol):
    """Rows of inputs, and the positions in them that are read."""

    lengths: Indices
    """(rows,) tokens in each row"""
    fingerprint: str
    """Hash of the inputs and their rows."""

    def batch(self, rows: Sequence[int]) -> Batch:
        """Build the batch of these rows."""
        ...


class TriePlan:
    """Inputs of a causal model; every distinct prefix is read once (and, if packed, computed once).

    Args:
        trie: the inputs.
        read: nodes at which the distribution after their prefix is read.
        capacity: nodes in a packed row; None runs each distinct input in a row of its own with the model's
            ordinary attention, for models that cannot attend along a tree.
    """

    def __init__(self, trie: PrefixTrie, read: Indices, capacity: int | None) -> None:
        self.trie = trie
        self.packed = capacity is not None
        self._rows = leaf_rows(trie) if capacity is None else packed_rows(trie, capacity)
        self.lengths = np.array([len(row) for row in self._rows], dtype=np.int64)
        # Ancestors may be in several rows; they are read in the first.
        nodes = np.concatenate([*self._rows, np.zeros(0, np.int64)])
        rows = np.repeat(np.arange(len(self._rows)), self.lengths)
        first_rows = np.empty(len(trie), dtype=np.int64)
        first_rows[nodes[::-1]] = rows[::-1]
        self._home = np.full(len(trie), -1, dtype=np.int64)
        self._home[read] = first_rows[read]
        self._introduced_by = np.empty(len(trie), dtype=np.int64)  # a sequence whose path contains each node
        self._introduced_by[trie.places] = np.repeat(np.arange(len(trie.lengths)), trie.lengths)
        self.fingerprint = digest(trie.token, trie.parent, self._home, nodes, self.lengths)

    def batch(self, rows: Sequence[int]) -> Batch:
        """Build the batch of these rows."""
        nodes = pad([self._rows[row] for row in rows], fill=-1)
        present = nodes >= 0
        read = present & (self._home[nodes] == np.asarray(rows)[:, None])
        read_rows, read_columns = np.nonzero(read)
        return Batch(
            input_ids=np.where(present, self.trie.token[nodes], 0),
            present=present,
            positions=np.where(present, self.trie.depth[nodes], 0) if self.packed else None,
            visible=self._ancestors(nodes) if self.packed else None,
            read_rows=read_rows,
            read_columns=read_columns,
            reads=nodes[read_rows, read_columns],
        )

    def _ancestors(self, nodes: Indices) -> Mask:
        """(rows, width, width) True if the second node is an ancestor of the first, or the same node."""
        height, width = nodes.shape
        visible = np.zeros((height, width, width), dtype=bool)
        visible[:, np.arange(width), np.arange(width)] = True  # padding too: a softmax over nothing is NaN
        column = np.empty(len(self.trie), dtype=np.int64)
        for row in range(height):
            row_nodes = nodes[row][nodes[row] >= 0]
            column[row_nodes] = np.arange(len(row_nodes))
            # The ancestors of a node are the start of any path through it.
            below, depth = expand_ranges(self.trie.depth[row_nodes] + 1, np.zeros_like(row_nodes))
            begins = self.trie.first[self._introduced_by[row_nodes]]
            visible[row, below, column[self.trie.places[begins[below] + depth]]] = True
        return visible


class RowPlan:
    """Inputs in a row each, read at one position each; equal inputs are run once.

    Attributes:
        read_of: (inputs,) the read of each input; equal inputs that are read at the same position share it.

    Args:
        blocks: vocabulary ids; each block is one input, or a matrix with one input per row.
        columns: (inputs,) the column that is read in each input, over all blocks.
    """

    def __init__(
        self,
        blocks: Sequence[Sequence[int]] | Sequence[NDArray[np.integer[Any]]],
        columns: Sequence[int] | Indices,
    ) -> None:
        self._flat, self.lengths, row_of = _distinct([np.atleast_2d(np.asarray(block)) for block in blocks])
        self._starts = np.cumsum(self.lengths) - self.lengths
        width = int(self.lengths.max(initial=1))
        place_of_input = row_of * width + np.asarray(columns, dtype=np.int64)
        places, self.read_of = np.unique(place_of_input, return_inverse=True)
        row_of_read, self._columns = np.divmod(places, width)
        self._first = np.searchsorted(row_of_read, np.arange(len(self.lengths) + 1))
        self.n_reads = len(places)
        self.fingerprint = digest(self._flat, self.lengths, places, self.read_of)

    def batch(self, rows: Sequence[int]) -> Batch:
        """Build the batch of these rows."""
        chosen = np.asarray(rows)
        present = np.arange(self.lengths[chosen].max()) < self.lengths[chosen, None]
        places = np.where(present, self._starts[chosen, None] + np.arange(present.shape[1]), 0)
        read_rows, reads = expand_ranges(self._first[chosen + 1] - self._first[chosen], self._first[chosen])
        return Batch(
            input_ids=np.where(present, self._flat[places], 0).astype(np.int64),
            present=present,
            positions=None,
            visible=None,
            read_rows=read_rows,
            read_columns=self._columns[reads],
            reads=reads,
        )


def batches(lengths: Indices, batch_tokens: int, *, padded: bool = True) -> Iterator[list[int]]:
    """Group rows, longest first, so that rows times width stays within `batch_tokens` (or one row).

    A group that is a quarter full ends where the length changes, so that nothing is padded.

    Args:
        lengths: (rows,) tokens in each row.
        batch_tokens: tokens in one batch, padding included.
        padded: whether a group may contain rows of different lengths.
    """
    enough = batch_tokens / 4 if padded else 0
    group: list[int] = []
    width = 0
    for row in np.argsort(-lengths, kind="stable"):
        length = int(lengths[row])
        full = (len(group) + 1) * width > batch_tokens
        if group and (full or (length < width and len(group) * width >= enough)):
            yield group
            group = []
        if not group:
            width = length
        group.append(int(row))
    if group:
        yield group


def _distinct(
    blocks: Sequence[NDArray[np.integer[Any]]],
) -> tuple[NDArray[np.integer[Any]], Indices, Indices]:
    """Return the distinct rows of matrices, by length: (ids, lengths, the index of each row)."""
    rows_in = np.array([len(block) for block in blocks], dtype=np.int64)
    first = np.cumsum(rows_in) - rows_in
    row_of = np.empty(rows_in.sum(), dtype=np.int64)
    flat, lengths = [], [np.zeros(0, dtype=np.int64)]
    n_distinct = 0
    for length in sorted({block.shape[1] for block in blocks}):
        members = [index for index, block in enumerate(blocks) if block.shape[1] == length]
        rows, inverse = np.unique(
            np.concatenate([blocks[index] for index in members]), axis=0, return_inverse=True
        )
        row_of[np.concatenate([first[index] + np.arange(rows_in[index]) for index in members])] = (
            n_distinct + inverse
        )
        flat.append(rows.ravel())
        lengths.append(np.full(len(rows), length))
        n_distinct += len(rows)
    return np.concatenate(flat) if flat else lengths[0], np.concatenate(lengths), row_of
