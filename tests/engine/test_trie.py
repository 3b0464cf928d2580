"""The prefix trie and its packing: each distinct prefix once, each row sufficient unto itself."""

import doctest
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tse_scorers.engine import trie as trie_module
from tse_scorers.engine.arrays import digest, pad
from tse_scorers.engine.trie import build_trie, cheapest_capacity, leaf_rows, packed_rows

# Few symbols and short texts, so that prefixes are shared, repeated and continued.
sequences = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=7), min_size=1, max_size=40)


def prefixes(texts):
    return {tuple(text[:length]) for text in texts for length in range(1, len(text) + 1)}


def prefix_of(trie, node):
    """The tokens on the way from the root to a node, through `parent` alone."""
    tokens = []
    while node >= 0:
        tokens.append(int(trie.token[node]))
        node = trie.parent[node]
    return tuple(reversed(tokens))


def test_doctests():
    assert doctest.testmod(trie_module).failed == 0


@given(sequences)
def test_nodes_are_the_distinct_prefixes(texts):
    trie = build_trie(texts)
    found = [prefix_of(trie, node) for node in range(len(trie))]
    assert len(found) == len(set(found))
    assert set(found) == prefixes(texts)
    assert [len(prefix) - 1 for prefix in found] == trie.depth.tolist()


@given(sequences)
def test_paths_spell_the_sequences(texts):
    trie = build_trie(texts)
    assert trie.lengths.tolist() == [len(text) for text in texts]
    for index, text in enumerate(texts):
        assert trie.token[trie.path(index)].tolist() == text
    assert trie.token[trie.ends].tolist() == [text[-1] for text in texts]


@given(sequences)
def test_order_is_lexicographic_and_shared_counts_common_tokens(texts):
    trie = build_trie(texts)
    ordered = [texts[index] for index in trie.order]
    assert ordered == sorted(texts)
    assert trie.shared[0] == 0
    for before, text, shared in zip(ordered, ordered[1:], trie.shared[1:], strict=False):
        common = 0
        while common < min(len(before), len(text)) and before[common] == text[common]:
            common += 1
        assert shared == common


@given(sequences, st.integers(1, 30))
def test_packed_rows_hold_every_node_with_its_ancestors_before_it(texts, capacity):
    trie = build_trie(texts)
    rows = packed_rows(trie, capacity)
    assert set(np.concatenate(rows)) == set(range(len(trie)))
    for row in rows:
        seen = set()
        for node in row:
            assert node not in seen
            assert trie.parent[node] == -1 or trie.parent[node] in seen
            seen.add(node)


@given(sequences, st.integers(1, 30))
def test_packed_rows_stay_within_capacity(texts, capacity):
    trie = build_trie(texts)
    for row in packed_rows(trie, capacity):
        assert len(row) <= max(capacity, max(map(len, texts)))


@given(sequences, st.integers(8, 30))
def test_packing_repeats_little(texts, capacity):
    """What is computed twice are paths at cuts: at most one path for each row but the first."""
    trie = build_trie(texts)
    rows = packed_rows(trie, capacity)
    computed = sum(map(len, rows))
    assert len(trie) <= computed <= len(trie) + (len(rows) - 1) * (max(map(len, texts)) - 1)


@given(sequences)
def test_one_row_of_all_computes_each_prefix_once(texts):
    trie = build_trie(texts)
    (row,) = packed_rows(trie, len(trie))
    assert sorted(row) == list(range(len(trie)))


@given(sequences)
def test_leaf_rows_are_the_sequences_that_no_other_continues(texts):
    trie = build_trie(texts)
    rows = sorted(tuple(trie.token[row].tolist()) for row in leaf_rows(trie))
    maximal = {
        tuple(text)
        for text in texts
        if not any(len(other) > len(text) and other[: len(text)] == text for other in texts)
    }
    assert rows == sorted(maximal)


@settings(max_examples=20)
@given(sequences, st.randoms(use_true_random=False))
def test_trie_does_not_depend_on_the_order_of_texts(texts, random):
    shuffled = list(texts)
    random.shuffle(shuffled)
    trie, other = build_trie(texts), build_trie(shuffled)
    np.testing.assert_array_equal(trie.token, other.token)
    np.testing.assert_array_equal(trie.parent, other.parent)


def test_rows_of_real_sentences_are_full_and_overhead_is_small():
    """Pairs that share long prefixes, as the data sets have them: under 5 % of the nodes are computed twice."""
    rng = np.random.default_rng(0)
    stems = [rng.integers(0, 500, size=rng.integers(4, 9)).tolist() for _ in range(200)]
    texts = [[*stem, verb, end] for stem in stems for verb in (1, 2) for end in (3, 4)]
    trie = build_trie(texts)
    rows = packed_rows(trie, 128)
    assert sum(map(len, rows)) <= 1.05 * len(trie)
    assert np.mean([len(row) for row in rows[:-1]]) > 0.85 * 128


def test_capacity_follows_what_is_shared_and_how_wide_the_model_is():
    random = np.random.default_rng(0)
    strangers = build_trie([random.integers(1000, size=9).tolist() for _ in range(400)])
    family = build_trie([[*range(40), index, *range(5)] for index in range(400)])
    assert cheapest_capacity(strangers, 128) is None  # nothing to share
    assert cheapest_capacity(family, 128) > 150  # each cut repeats 40 nodes
    # Attention to strangers costs less.
    assert cheapest_capacity(family, 128) < cheapest_capacity(family, 4096)


def test_no_sequences_make_an_empty_trie():
    trie = build_trie([])
    assert len(trie) == 0
    assert packed_rows(trie, 8) == [] and leaf_rows(trie) == []


def test_pad_fills_on_the_right():
    assert pad([np.array([1, 2]), np.array([3])], fill=-1).tolist() == [[1, 2], [3, -1]]


@pytest.mark.parametrize(
    "one, other", [([[1, 2], [3]], [[1], [2, 3]]), ([[1, 2]], [[2, 1]]), ([[1]], [[1], []])]
)
def test_digest_tells_partitions_apart(one, other):
    """[1, 2], [3] and [1], [2, 3] once had the same hash, and so would their answers on disk."""
    assert digest(*map(np.array, one)) == digest(*map(np.array, one))
    assert digest(*map(np.array, one)) != digest(*map(np.array, other))


def test_one_long_text_among_many_costs_what_its_tokens_do():
    """A matrix of sequences by the longest one's tokens took gigabytes for twenty thousand short ones."""
    texts = [[index, 1, 2] for index in range(5000)] + [list(range(5000))]
    tracemalloc.start()
    trie = build_trie(texts)
    packed_rows(trie, 64)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(trie.places) == 20_000
    assert peak < 20e6
