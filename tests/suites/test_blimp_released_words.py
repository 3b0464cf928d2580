"""The Hub's copy of BLiMP, which has sentences only, asks the prefix methods about the words of the release."""

import numpy as np
import pandas as pd
import pytest
from white_space import SPACES

from tse_scorers import load_scorer
from tse_scorers.suites.minimal_pairs.data.pair_tables import PREFIX_COLUMNS, pair_table
from tse_scorers.suites.minimal_pairs.data.prefixes import one_prefix, two_prefix
from tse_scorers.suites.minimal_pairs.data.tables import load

METHODS = {"one_prefix": 927, "two_prefix": 1_659}
"""Method -> pairs of the release for which words that are derived from the sentences are others."""

AUXILIARIES = (
    "is are was were has have had do does did ca can could wo will would might should must may sha shall"
).split()


@pytest.fixture(scope="module")
def released(upstream):
    return load(upstream / "blimp" / "data").set_index(["paradigm", "pair_id"])


@pytest.mark.slow
@pytest.mark.upstream
def test_a_copy_without_words_gives_the_queries_of_the_release(released):
    """All 67,000 pairs as a copy has them: numbers and sentences."""
    pairs = released.reset_index()
    copy = pairs[["sentence_good", "sentence_bad"]].assign(UID=pairs["paradigm"], pairID=pairs["pair_id"])
    for method in METHODS:
        copy[f"{method}_method"] = pairs[f"{method}_method"]
    table = pair_table(copy, "copy").set_index(["paradigm", "pair_id"])
    assert not table["prefixes_derived"].any()
    for columns in PREFIX_COLUMNS.values():
        pd.testing.assert_frame_equal(table[list(columns)], released[list(columns)], check_dtype=False)


@pytest.mark.upstream
@pytest.mark.parametrize("method", METHODS)
def test_derived_words_would_differ_as_the_documentation_says(released, method):
    pairs = released[released[f"{method}_method"].to_numpy(dtype=bool)]
    columns = list(PREFIX_COLUMNS[method])
    derived = [
        one_prefix(pair.sentence_good, pair.sentence_bad)
        if method == "one_prefix"
        else two_prefix(pair.sentence_good, pair.sentence_bad, pair.Index[0])
        for pair in pairs.itertuples()
    ]
    differs = np.array(
        [
            tuple(own) != other
            for own, other in zip(pairs[columns].itertuples(index=False), derived, strict=True)
        ]
    )
    assert (len(pairs), differs.sum()) == (20_000, METHODS[method])
    if method == "two_prefix":
        verbs = [word.word.removesuffix("n't") for word, other in zip(derived, differs, strict=True) if other]
        of_paradigm = pairs.index.get_level_values("paradigm")[differs] == "animate_subject_trans"
        assert np.isin(verbs, AUXILIARIES)[of_paradigm].sum() == 613


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
