"""A trie of token sequences: a prefix that several inputs of a causal model share is computed once.

Node i is one distinct prefix; the model's distribution after that prefix is read at node i, and the
edge from `parent[i]` to i carries log P(token[i] | the prefix before it).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Indices, concatenate, expand_ranges

WORTH_SHARING = 0.95
"""A packed trie is probed only if its cost, relative to running the texts one by one, is below this."""


@dataclass(frozen=True)
class PrefixTrie:
    """Distinct prefixes of a list of token sequences.

    Attributes:
        token: (nodes,) vocabulary id of the last token of each node's prefix.
        parent: (nodes,) node of the prefix without that token; -1 for first tokens.
        depth: (nodes,) number of tokens before it; the position id.
        places: (tokens,) node of each token of all input sequences, one sequence after the other.
        first: (sequences + 1,) start of each sequence in `places`, and end of the last one.
        order: (sequences,) lexicographic order of the input sequences.
        shared: (sequences,) along `order`: leading tokens in common with the sequence before.
    """

    token: Indices
    parent: Indices
    depth: Indices
    places: Indices
    first: Indices
    order: Indices
    shared: Indices

    @property
    def lengths(self) -> Indices:
        """(sequences,) number of tokens of each input sequence."""
        return np.diff(self.first)

    @property
    def ends(self) -> Indices:
        """(sequences,) node of the last token of each input sequence; all sequences must be nonempty."""
        return self.places[self.first[1:] - 1]

    def path(self, sequence: int) -> Indices:
        """(tokens,) node of each token of an input sequence."""
        return self.places[self.first[sequence] : self.first[sequence + 1]]

    def __len__(self) -> int:
        return len(self.token)


def build_trie(sequences: Sequence[Sequence[int]]) -> PrefixTrie:
    """Build the trie of token sequences.

    Memory is proportional to the number of tokens, even if one sequence is much longer than the others.

    >>> trie = build_trie([[5, 6, 7], [5, 6, 8], [5, 6]])
    >>> trie.token.tolist(), trie.parent.tolist(), [trie.path(index).tolist() for index in range(3)]
    ([5, 6, 7, 8], [-1, 0, 1, 1], [[0, 1, 2], [0, 1, 3], [0, 1]])
    """
    ids, first = concatenate(sequences)
    order = np.array(sorted(range(len(sequences)), key=lambda index: list(sequences[index])), dtype=np.int64)
    starts = first[order]
    lengths = first[order + 1] - starts
    shared = _shared_with_the_one_before(ids, starts, lengths)
    # Tokens after the shared prefix are new nodes, numbered in order.
    numbers = np.cumsum(lengths - shared) - (lengths - shared)
    introduced, depth = expand_ranges(lengths - shared, shared)
    place = starts[introduced] + depth
    places = _nodes_along(len(ids), starts, lengths, shared, numbers)
    parent = np.where(depth > 0, places[np.maximum(place - 1, 0)], -1)
    return PrefixTrie(ids[place], parent, depth, places, first, order, shared)


def _shared_with_the_one_before(ids: Indices, starts: Indices, lengths: Indices) -> Indices:
    """(sequences,) leading tokens in common with the sequence before; all in lexicographic order."""
    shared = np.zeros(len(starts), dtype=np.int64)
    both = np.arange(1, len(starts))  # sequences that have shared all tokens so far
    column = 0
    while len(both):
        both = both[(lengths[both] > column) & (lengths[both - 1] > column)]
        both = both[ids[starts[both] + column] == ids[starts[both - 1] + column]]
        column += 1
        shared[both] = column
    return shared


def _nodes_along(n: int, starts: Indices, lengths: Indices, shared: Indices, numbers: Indices) -> Indices:
    """(tokens,) node of each token, given the number of each sequence's first new node."""
    nodes = np.empty(n, dtype=np.int64)
    sequences = np.arange(len(starts))  # sequences that have a token in this column
    column = 0
    while len(sequences := sequences[lengths[sequences] > column]):
        new = np.where(column >= shared[sequences], numbers[sequences] + column - shared[sequences], -1)
        # A shared token has the node of the sequence before: the latest one numbered in its column.
        nodes[starts[sequences] + column] = np.maximum.accumulate(new)
        column += 1
    return nodes


def leaf_rows(trie: PrefixTrie) -> list[Indices]:
    """Return the path of every sequence that is not a prefix of another: the paths to run without sharing."""
    lengths = trie.lengths[trie.order]
    # In lexicographic order, the sequence right after a prefix continues it (or equals it).
    continued = np.zeros(len(lengths), dtype=bool)
    continued[:-1] = trie.shared[1:] == lengths[:-1]
    return [trie.path(sequence) for sequence in trie.order[~continued]]


def packed_rows(trie: PrefixTrie, capacity: int) -> list[Indices]:
    """Pack the trie into rows of at most `capacity` nodes (more only if a single sequence is longer).

    A row contains sequences that are neighbours in lexicographic order, and all ancestors of a node before
    it. Rows are cut where little is shared, because tokens that are shared across a cut are computed twice.
    """
    lengths = trie.lengths[trie.order]
    first = lengths > trie.shared  # the first of equal sequences; the others add no node
    order, lengths, shared = trie.order[first], lengths[first], trie.shared[first]
    rows: list[Indices] = []
    start = 0
    while start < len(order):
        sizes = _running_size(lengths, shared, start, capacity)
        stop = start + _cut(sizes, shared[start + 1 : start + 1 + len(sizes)], capacity, len(order) - start)
        pieces = [trie.path(order[start])]
        pieces += [trie.path(order[i])[shared[i] :] for i in range(start + 1, stop)]
        rows.append(np.concatenate(pieces))
        start = stop
    return rows


def cheapest_capacity(trie: PrefixTrie, width: int) -> int | None:
    """Return the capacity at which running the packed trie costs least, to a factor of two; None if it saves little.

    Shorter rows repeat more ancestors; longer rows compute attention to more nodes of other texts. In a
    layer of this width, a node costs about 24 width^2 operations, and 4 width for each node of its row.
    Attention counts twice, because it runs at about half the rate of matrix products.
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
    """Return the number of nodes in a row after each sequence from `start` on, as long as they may fit."""
    window = slice(start, start + capacity + 1)  # each adds at least one node
    added = lengths[window] - shared[window]
    added[0] = lengths[start]
    sizes = np.cumsum(added)
    return sizes[: max(int(np.searchsorted(sizes, capacity, side="right")), 1)]


def _cut(sizes: Indices, shared_after: Indices, capacity: int, remaining: int) -> int:
    """Return how many sequences to put into the row: near its end, the cut that shares least with what follows."""
    if len(sizes) == remaining:
        return remaining
    late = min(int(np.searchsorted(sizes, 0.85 * capacity)), len(sizes) - 1)
    # Ties go to the fullest row.
    candidates = shared_after[late : len(sizes)][::-1]
    return len(sizes) - int(np.argmin(candidates))
