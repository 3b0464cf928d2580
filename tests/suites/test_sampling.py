"""Samples of a suite: no more than the budget, even over the groups, fixed by the seed, whole sets."""

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from tse_scorers.suites.sampling import share, stratified_sample

from tse_scorers import make_suite

groups_of = st.lists(st.sampled_from("abcd"), min_size=1, max_size=60).map(pd.Series)


@given(groups_of, st.integers(1, 70), st.integers(0, 5))
def test_samples_are_even_and_grow_with_the_budget(groups, budget, seed):
    chosen = stratified_sample(groups, budget, seed)
    assert len(chosen) == min(budget, len(groups)) and chosen.is_monotonic_increasing and chosen.is_unique
    assert set(stratified_sample(groups, budget + 1, seed)) >= set(chosen)
    assert stratified_sample(groups, budget, seed).equals(chosen)
    left = groups.drop(chosen)
    counts = groups[chosen].value_counts().reindex(groups.unique(), fill_value=0)
    # A group gets less than another (by more than one) only if it has no more.
    for group, count in counts.items():
        assert count >= counts.max() - 1 or group not in set(left)


def test_seeds_differ():
    groups = pd.Series(["a"] * 100)
    assert not stratified_sample(groups, 10, 0).equals(stratified_sample(groups, 10, 1))


def test_seed_zero_takes_what_a_limit_takes():
    limited, sampled = make_suite("agreement", limit=2), make_suite("agreement")
    sampled.keep_sample(2 * 9, seed=0)
    assert sampled.pairs["pair_id"].tolist() == limited.pairs["pair_id"].tolist()


def test_shares_are_stretches_of_items_in_order_of_appearance():
    """Shares that are put together in their order give the order of the whole table."""
    items = pd.Series([*"bbadace"])  # the items b, a, d, c, e
    assert ["".join(items[share(items, number, 2)]) for number in (1, 2)] == ["bbada", "ce"]
    assert ["".join(items[share(items, number, 5)]) for number in range(1, 6)] == ["bb", "aa", "d", "c", "e"]
