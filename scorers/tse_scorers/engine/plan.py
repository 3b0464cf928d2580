"""Inputs as rows of tokens: what several texts share is computed once, equal inputs once.

Every place in a row has a number, the *node*: a distinct prefix of a text, after which the distribution can be read.
Packed rows hold several texts; each token attends to its own predecessors only. Plain rows hold one text, and a batch
of them has one length, so that nothing is ever padded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
"""Vocabulary ids, places and counts."""
CAPACITY = 128
"""Tokens of a packed row: longer ones share little more, and attend to more tokens of other texts."""


class Row(NamedTuple):
    """One row of a batch."""

    ids: Sequence[int]  # (tokens,)
    parent: Sequence[int] | None  # (tokens,) column of each token's predecessor, -1: none; None: a plain row
    first: int  # the node of its first column; those of the others follow


class Batch(NamedTuple):
    """Inputs of one forward pass, and the places in them that are read."""

    ids: Indices  # (rows, width)
    positions: Indices | None  # (rows, width); None for the model's own
    visible: NDArray[np.bool_] | None  # (rows, width, width) one attends to another; None: the model's own
    rows: Indices  # (reads,) of the places that are read
    columns: Indices  # (reads,)
    reads: Indices  # (reads,) their places in `Plan.reads`, which holds nodes


@dataclass
class Plan:
    """Rows, and what is read in them."""

    rows: list[Row]
    read_of: Indices  # (answers,) the node at which each answer is read

    @cached_property
    def reads(self) -> Indices:
        """(reads,) the different nodes that are read, ascending."""
        return np.unique(self.read_of)

    @cached_property
    def _answers(self) -> tuple[Indices, Indices]:
        order = np.argsort(self.read_of, kind="stable")
        return order, np.searchsorted(self.read_of[order], [*self.reads, np.iinfo(np.int64).max])

    def answers_of(self, reads: Indices) -> tuple[Indices, Indices]:
        """Return the answers that some reads (`Batch.reads`) give, and the place of each one's read among these."""
        order, first = self._answers
        counts = first[reads + 1] - first[reads]
        at = np.repeat(np.arange(len(reads)), counts)
        within = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
        return order[first[reads][at] + within], at

    def batches(self, tokens: int, reads: int) -> Iterator[list[Row]]:
        """Group the rows that are read, longest first: at most so many tokens and so many reads, or one row."""
        starts = np.array([row.first for row in self.rows], dtype=np.int64)
        lengths = np.array([len(row.ids) for row in self.rows], dtype=np.int64)
        n_reads = np.searchsorted(self.reads, starts + lengths) - np.searchsorted(self.reads, starts)
        group: list[Row] = []
        width = n_group = 0
        for place in np.argsort(-lengths, kind="stable").tolist():
            if not n_reads[place]:
                continue
            row, length, n = self.rows[place], int(lengths[place]), int(n_reads[place])
            unlike = row.parent is None and length != width
            if group and (unlike or (len(group) + 1) * width > tokens or n_group + n > reads):
                yield group
                group, n_group = [], 0
            if not group:
                width = length
            group.append(row)
            n_group += n
        if group:
            yield group

    def batch(self, rows: Sequence[Row]) -> Batch:
        """Return the batch of these rows, padded on the right if they are packed ones."""
        starts = np.array([row.first for row in rows])
        lengths = np.array([len(row.ids) for row in rows])
        begin, end = np.searchsorted(self.reads, starts), np.searchsorted(self.reads, starts + lengths)
        row_of = np.repeat(np.arange(len(rows)), end - begin)
        reads = np.concatenate([np.arange(*limits) for limits in zip(begin, end, strict=True)])
        places = row_of, self.reads[reads] - starts[row_of], reads
        if rows[0].parent is None:
            return Batch(np.array([row.ids for row in rows], dtype=np.int64), None, None, *places)
        ids = np.zeros((len(rows), lengths.max()), dtype=np.int64)
        parent = np.full(ids.shape, -1)
        for place, row in enumerate(rows):
            ids[place, : len(row.ids)], parent[place, : len(row.ids)] = row.ids, row.parent
        return Batch(ids, *along_tree(parent), *places)


def along_tree(parent: Indices) -> tuple[Indices, NDArray[np.bool_]]:
    """Return each token's position, (rows, width), and which tokens it attends to, (rows, width, width).

    >>> positions, visible = along_tree(np.array([[-1, 0, 0]]))
    >>> positions.tolist(), visible.astype(int).tolist()
    ([[0, 1, 1]], [[[1, 0, 0], [1, 1, 0], [1, 0, 1]]])
    """
    n, width = parent.shape
    positions, visible = np.zeros((n, width), np.int64), np.zeros((n, width, width), bool)
    rows = np.arange(n)
    for column in range(width):
        before = parent[:, column]
        has = before >= 0
        positions[:, column] = np.where(has, positions[rows, before] + 1, 0)
        visible[:, column] = visible[rows, before] & has[:, None]
        visible[:, column, column] = True
    return positions, visible


def prefix_rows(texts: Sequence[list[int]], capacity: int | None) -> tuple[list[Row], list[Indices]]:
    """Return rows that hold every prefix of some texts, and the node of each token of each text.

    Args:
        texts: ids of each text.
        capacity: the most tokens of a packed row (more if one text has them). None: plain rows, one for each text that
            no other text continues.

    >>> rows, nodes = prefix_rows([[5, 6, 7], [5, 6, 8], [5, 6]], 128)
    >>> rows[0].ids, rows[0].parent, [of_text.tolist() for of_text in nodes]
    ([5, 6, 8, 7], [-1, 0, 1, 1], [[0, 1, 3], [0, 1, 2], [0, 1]])
    """
    rows: list[Row] = []
    nodes: list[Indices] = [np.zeros(0, np.int64)] * len(texts)
    ids: list[int] = []
    parent: list[int] = []
    path: list[int] = []
    first, before = 0, ids
    # What continues a text comes before it.
    for index in sorted(range(len(texts)), key=lambda place: texts[place], reverse=True):
        text = texts[index]
        shared = n_shared(before, text)
        if ids and shared < len(text) and (capacity is None or len(ids) + len(text) - shared > capacity):
            rows.append(Row(ids, None if capacity is None else parent, first))
            first, ids, parent, path, shared = first + len(ids), [], [], [], 0
        path = [*path[:shared], *range(len(ids), len(ids) + len(text) - shared)]
        parent += [-1, *path][shared : len(text)]
        ids += text[shared:]
        nodes[index] = np.array(path, dtype=np.int64) + first
        before = text
    if ids:
        rows.append(Row(ids, None if capacity is None else parent, first))
    return rows, nodes


def n_shared(one: Sequence[object], other: Sequence[object]) -> int:
    """Return how many items (tokens, words) two lists share at their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def capacity_for(texts: Sequence[list[int]]) -> int | None:
    """Return how many tokens a packed row holds; None where packing saves less than a twentieth of the tokens."""
    ordered = sorted(texts)
    shared = [*(n_shared(*neighbours) for neighbours in pairwise(ordered)), 0]
    alone = sum(len(text) for text, n in zip(ordered, shared, strict=True) if n < len(text))
    packed = sum(map(len, ordered)) - sum(shared)
    return max(CAPACITY, *map(len, texts)) if packed < 0.95 * alone else None


def plain_rows(inputs: Sequence[list[int]], columns: Sequence[int] | Indices) -> Plan:
    """Return a plan with one row for each different input, read at one column each.

    >>> plan = plain_rows([[1, 2], [1, 2], [1, 3]], [0, 1, 0])
    >>> [row.ids for row in plan.rows], plan.read_of.tolist()
    ([(1, 2), (1, 3)], [0, 1, 2])
    """
    first: dict[tuple[int, ...], int] = {}
    read_of, n = np.empty(len(inputs), np.int64), 0
    for place, (ids, column) in enumerate(zip(inputs, columns, strict=True)):
        key = tuple(ids)
        start = first.setdefault(key, n)
        n += len(key) if start == n else 0
        read_of[place] = start + column
    return Plan([Row(ids, None, start) for ids, start in first.items()], read_of)
