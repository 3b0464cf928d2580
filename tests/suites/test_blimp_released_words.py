"""Words that the prefix methods ask about: those of the release matter, and any white space separates them."""

import pytest
from white_space import SPACES

from tse_scorers import load_scorer
from tse_scorers.suites.minimal_pairs.data.pair_tables import PREFIX_COLUMNS
from tse_scorers.suites.minimal_pairs.data.prefixes import one_prefix, two_prefix
from tse_scorers.suites.minimal_pairs.data.tables import load


@pytest.fixture(scope="module")
def released(upstream):
    return load(upstream / "blimp" / "data").set_index(["paradigm", "pair_id"])


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.upstream
@pytest.mark.parametrize(
    ("start_token", "by_release", "by_guess"),
    [(None, 0.65, 0.453), ("none", 0.59, 0.443), ("<|im_start|>", 0.56, 0.453)],
)
def test_a_real_model_is_more_accurate_by_the_words_of_the_release(
    released, smollm2, start_token, by_release, by_guess
):
    """Two-prefix accuracy of SmolLM2 on the first 300 pairs of animate_subject_trans, by three start tokens.

    The prefix is often one word (*Tina*, *The horse*), so what precedes it matters. `<|im_start|>` opens a chat
    turn, and is what the tokenizer names as its start token.
    """
    pairs = released.loc["animate_subject_trans"].head(300)
    guessed = [
        two_prefix(pair.sentence_good, pair.sentence_bad, "animate_subject_trans")
        for pair in pairs.itertuples()
    ]
    scorer = load_scorer(smollm2, **({} if start_token is None else {"start_token": start_token}))

    def accuracy(queries):
        good, bad, words = map(list, zip(*queries, strict=True))
        return (scorer.continuation_logprobs(good, words) > scorer.continuation_logprobs(bad, words)).mean()

    words = list(pairs[list(PREFIX_COLUMNS["two_prefix"])].itertuples(index=False, name=None))
    assert sum(own != other for own, other in zip(words, guessed, strict=True)) == 224
    assert accuracy(words) == pytest.approx(by_release, abs=0.005)
    assert accuracy(guessed) == pytest.approx(by_guess, abs=0.005)


@pytest.mark.parametrize("space", SPACES)
def test_any_white_space_separates_words(space):
    good, bad, other = (
        sentence.replace(" ", space)
        for sentence in ("The cat eats mice.", "The cat eat mice.", "The cats eats mice.")
    )
    assert one_prefix(good, bad) == ("The cat", "eats", "eat")
    assert two_prefix(good, other) == ("The cat", "The cats", "eats")
