"""Items as a reader sees them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from white_space import SPACES

from tse_scorers.report.observations import split_pair

WORDS_WITH_STOPS = (
    st.lists(st.sampled_from(["a", "b.", "cc", "d", ""]), min_size=1, max_size=6).map(" ".join).filter(bool)
)


@given(WORDS_WITH_STOPS, WORDS_WITH_STOPS)
def test_a_pair_is_split_so_that_both_texts_can_be_put_together_again(good, bad):
    before, one, other, after = split_pair(good, bad)
    assert before + one + after == good
    assert good == bad or before + other + after == bad


@pytest.mark.parametrize("space", SPACES)
def test_any_white_space_separates_words(space):
    def spaced(sentence: str) -> str:
        return sentence.replace(" ", space)

    found = split_pair(spaced("The cat eats mice."), spaced("The cat eat mice."))
    assert found == (spaced("The cat "), "eats", "eat", spaced(" mice."))
