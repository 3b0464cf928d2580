"""A trie of token sequences: what several inputs of a causal model share at their start is computed once.

Node i stands for one distinct prefix; the model's distribution after that prefix is read at node i, and the
edge from `parent[i]` to i carries log P(token[i] | the prefix before it).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

WORTH_SHARING = 0.95
"""A packed trie that costs more than this, against its texts run one by one, is not worth a probe."""


@dataclass(frozen=True)
class PrefixTrie:
    """Distinct prefixes of a list of token sequences.

    Attributes:
        token: (nodes,) vocabulary id that each node ends in.
        parent: (nodes,) node of the prefix without that token; -1 for first tokens.
        depth: (nodes,) number of tokens before it; the position id.
        paths: (sequences, longest) node of each token of each input sequence; -1 past its end.
        order: (sequences,) lexicographic order of the input sequences.
        shared: (sequences,) along `order`: leading tokens in common with the sequence before.
    """

    token: Indices
    parent: Indices
    depth: Indices
    paths: Indices
    order: Indices
    shared: Indices

    @property
    def lengths(self) -> Indices:
        """(sequences,) number of tokens of each input sequence."""
        return (self.paths >= 0).sum(axis=1)

    def __len__(self) -> int:
        return len(self.token)


def build_trie(sequences: Sequence[Sequence[int]]) -> PrefixTrie:
    """Build the trie of non-empty token sequences.

    >>> trie = build_trie([[5, 6, 7], [5, 6, 8], [5, 6]])
    >>> trie.token.tolist(), trie.parent.tolist(), trie.paths.tolist()
    ([5, 6, 7, 8], [-1, 0, 1, 1], [[0, 1, 2], [0, 1, 3], [0, 1, -1]])
    """
    ids = pad([np.asarray(sequence, dtype=np.int64) for sequence in sequences], fill=-1)
    order = np.lexsort(ids.T[::-1]) if len(ids) else np.zeros(0, dtype=np.int64)
    ordered = ids[order]
    present = ordered >= 0
    same = np.zeros_like(present)
    same[1:] = np.logical_and.accumulate((ordered[1:] == ordered[:-1]) & present[1:], axis=1)
    new = present & ~same
    numbered = np.where(new, np.cumsum(new).reshape(new.shape) - 1, -1)
    # A shared position has the node of the row above: the latest one numbered in its column.
    nodes = np.where(present, np.maximum.accumulate(numbered, axis=0), -1)
    parents = np.concatenate([np.full((len(nodes), 1), -1), nodes[:, :-1]], axis=1)
    paths = np.empty_like(nodes)
    paths[order] = nodes
    depths = np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
    return PrefixTrie(ordered[new], parents[new], depths[new].copy(), paths, order, same.sum(axis=1))


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


def leaf_rows(trie: PrefixTrie) -> list[Indices]:
    """Return the path of every sequence that is not a prefix of another: what must be run without sharing."""
    paths, order = trie.paths, trie.order
    lengths = trie.lengths[order]
    # In lexicographic order a prefix is followed at once by a sequence that continues (or equals) it.
    continued = np.zeros(len(order), dtype=bool)
    continued[:-1] = trie.shared[1:] == lengths[:-1]
    return [
        paths[sequence, :length]
        for sequence, length, skip in zip(order, lengths, continued, strict=True)
        if not skip
    ]


def packed_rows(trie: PrefixTrie, capacity: int) -> list[Indices]:
    """Pack the trie into rows of at most `capacity` nodes (more only where one sequence is longer).

    A row holds neighbours of the lexicographic order and, with every node, all its ancestors, before it.
    Rows are cut where little is shared, because what is shared across a cut is computed twice.
    """
    lengths = trie.lengths[trie.order]
    first = lengths > trie.shared  # of equal sequences; the others add no node
    order, lengths, shared = trie.order[first], lengths[first], trie.shared[first]
    rows: list[Indices] = []
    start = 0
    while start < len(order):
        sizes = _running_size(lengths, shared, start, capacity)
        stop = start + _cut(sizes, shared[start + 1 : start + 1 + len(sizes)], capacity, len(order) - start)
        pieces = [trie.paths[order[start], : lengths[start]]]
        pieces += [trie.paths[order[i], shared[i] : lengths[i]] for i in range(start + 1, stop)]
        rows.append(np.concatenate(pieces))
        start = stop
    return rows


def cheapest_capacity(trie: PrefixTrie, width: int) -> int | None:
    """Return the capacity at which running the packed trie costs least, to a factor of two; None if it saves little.

    Shorter rows repeat more ancestors, longer ones attend to more strangers. Of a layer of this width, a node costs
    about 24 width^2 operations by itself and 4 width for each node of its row that it attends to; attention is
    counted twice, since it runs at about half the rate of matrix products.
    """

    def cost(rows: Sequence[Indices]) -> int:
        sizes = np.array([len(row) for row in rows], dtype=np.int64)
        return int(24 * width**2 * sizes.sum() + 8 * width * (sizes**2).sum())

    capacity = max(32, int(np.median(trie.lengths)))
    least = cost(packed_rows(trie, capacity))
    while (doubled := cost(packed_rows(trie, 2 * capacity))) < least:
        capacity, least = 2 * capacity, doubled
    return capacity if least < WORTH_SHARING * cost(leaf_rows(trie)) else None


def _running_size(lengths: Indices, shared: Indices, start: int, capacity: int) -> Indices:
    """Nodes in a row after each of the sequences from `start` on, as far as they may fit."""
    window = slice(start, start + capacity + 1)  # each adds a node at least
    added = lengths[window] - shared[window]
    added[0] = lengths[start]
    sizes = np.cumsum(added)
    return sizes[: max(int(np.searchsorted(sizes, capacity, side="right")), 1)]


def _cut(sizes: Indices, shared_after: Indices, capacity: int, remaining: int) -> int:
    """How many sequences to put into the row: near its end, the cut that shares least with what follows."""
    if len(sizes) == remaining:
        return remaining
    late = max(int(np.searchsorted(sizes, 0.85 * capacity)), 0)
    late = min(late, len(sizes) - 1)
    # Ties go to the fullest row.
    candidates = shared_after[late : len(sizes)][::-1]
    return len(sizes) - int(np.argmin(candidates))
