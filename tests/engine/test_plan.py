"""Plans: every input once, every read once, within the budget; and what each place of a batch may see."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tse_scorers.engine.plan import RowPlan, TriePlan, batches
from tse_scorers.engine.trie import build_trie

lengths = st.lists(st.integers(1, 40), max_size=60).map(lambda values: np.array(values, dtype=np.int64))
texts = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=25)
capacities = st.one_of(st.none(), st.integers(6, 30))


def everything(plan):
    return plan.batch(list(range(len(plan.lengths))))


@given(lengths, st.integers(1, 200), st.booleans())
def test_batches_take_every_row_once_within_the_budget(lengths, tokens, padded):
    groups = list(batches(lengths, tokens, padded=padded))
    assert sorted(row for group in groups for row in group) == list(range(len(lengths)))
    for group in groups:
        width = lengths[group].max()
        assert len(group) == 1 or len(group) * width <= tokens
        assert padded or (lengths[group] == width).all()


@given(lengths, st.integers(1, 200))
def test_batches_go_from_long_to_short(lengths, tokens):
    """The longest come first, so that what does not fit into memory shows at once."""
    widths = [lengths[group].max() for group in batches(lengths, tokens)]
    assert widths == sorted(widths, reverse=True)


@given(lengths, st.integers(1, 200))
def test_batches_mix_lengths_only_while_less_than_a_quarter_full(lengths, tokens):
    for group in batches(lengths, tokens):
        width = lengths[group[0]]
        same = sum(lengths[row] == width for row in group)
        assert same == len(group) or same * width * 4 < tokens


@given(texts, st.data())
def test_row_plan_runs_equal_inputs_once_and_reads_each(texts, data):
    columns = [data.draw(st.integers(0, len(text) - 1)) for text in texts]
    plan = RowPlan(texts, columns)
    assert len(plan.lengths) == len({tuple(text) for text in texts})
    assert plan.n_reads == len({(tuple(text), column) for text, column in zip(texts, columns, strict=True)})
    batch = everything(plan)
    assert sorted(batch.reads) == list(range(plan.n_reads))
    place = {read: where for where, read in enumerate(batch.reads)}
    for text, column, read in zip(texts, columns, plan.read_of, strict=True):
        row = batch.read_rows[place[read]]
        assert batch.input_ids[row][batch.present[row]].tolist() == text
        assert column == batch.read_columns[place[read]]


@given(texts)
def test_row_plan_takes_inputs_as_matrices_too(texts):
    matrices = [np.array([text, text[::-1]]) for text in texts]
    columns = [len(text) - 1 for text in texts for _ in range(2)]
    together = RowPlan(matrices, columns)
    alone = RowPlan([row for matrix in matrices for row in matrix], columns)
    assert together.fingerprint == alone.fingerprint


@given(texts, st.integers(1, 40))
def test_row_plan_reads_each_once_over_all_batches(texts, tokens):
    plan = RowPlan(texts, [0] * len(texts))
    reads = np.concatenate([plan.batch(rows).reads for rows in batches(plan.lengths, tokens)])
    assert sorted(reads) == list(range(plan.n_reads))


@given(texts, capacities, st.integers(1, 60), st.data())
def test_trie_plan_reads_each_wanted_node_once(texts, capacity, tokens, data):
    trie = build_trie(texts)
    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=len(trie), max_size=len(trie))))
    plan = TriePlan(trie, np.flatnonzero(wanted), capacity)
    found = [plan.batch(rows) for rows in batches(plan.lengths, tokens)]
    reads = np.concatenate([batch.reads for batch in found])
    assert sorted(reads) == np.nonzero(wanted)[0].tolist()
    for batch in found:
        np.testing.assert_array_equal(
            batch.input_ids[batch.read_rows, batch.read_columns], trie.token[batch.reads]
        )


def ancestors_or_self(trie, node):
    lineage = set()
    while node >= 0:
        lineage.add(int(node))
        node = trie.parent[node]
    return lineage


@given(texts, st.integers(6, 30))
def test_packed_places_see_their_ancestors_and_themselves_and_no_other(texts, capacity):
    trie = build_trie(texts)
    plan = TriePlan(trie, np.arange(len(trie)), capacity)
    batch = everything(plan)
    for row, nodes in enumerate(plan._rows):
        for here, node in enumerate(nodes):
            seen = {
                int(nodes[there]) for there in np.nonzero(batch.visible[row, here])[0] if there < len(nodes)
            }
            assert seen == ancestors_or_self(trie, node)
            assert not batch.visible[row, here, len(nodes) :].any()
            assert batch.positions[row, here] == trie.depth[node]
        for padding in range(len(nodes), batch.visible.shape[1]):
            assert np.nonzero(batch.visible[row, padding])[0].tolist() == [padding]
            assert not batch.present[row, padding]


def test_plain_rows_leave_mask_and_positions_to_the_model():
    trie = build_trie([[1, 2, 3], [1, 2, 4], [1, 2]])
    batch = everything(TriePlan(trie, np.arange(len(trie)), None))
    assert batch.visible is None and batch.positions is None
    assert batch.input_ids.tolist() == [[1, 2, 3], [1, 2, 4]]


@pytest.mark.parametrize("capacity", [None, 8])
def test_fingerprint_tells_inputs_and_reads_apart(capacity):
    def fingerprint(texts, read=None):
        trie = build_trie(texts)
        return TriePlan(trie, np.arange(len(trie)) if read is None else read, capacity).fingerprint

    texts = [[1, 2, 3], [1, 4]]
    assert fingerprint(texts) == fingerprint(texts)
    assert fingerprint(texts) != fingerprint([[1, 2, 3], [1, 5]])
    assert fingerprint(texts) != fingerprint(texts, np.array([0, 2, 3]))


def test_row_plan_fingerprint_tells_columns_and_owners_apart():
    fingerprint = RowPlan([[1, 2], [3, 4]], [0, 1]).fingerprint
    assert fingerprint == RowPlan([[1, 2], [3, 4]], [0, 1]).fingerprint
    assert fingerprint != RowPlan([[1, 2], [3, 4]], [1, 1]).fingerprint
    assert fingerprint != RowPlan([[1, 2, 3], [4]], [0, 1]).fingerprint
    assert fingerprint != RowPlan([[3, 4], [1, 2]], [0, 1]).fingerprint
