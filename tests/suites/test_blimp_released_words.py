"""The Hub's copy of BLiMP, which has sentences only, asks the prefix methods about the words of the release."""

import numpy as np
import pandas as pd
import pytest

from tse_scorers.suites.minimal_pairs.data import PREFIX_COLUMNS, load, pair_table
from tse_scorers.suites.minimal_pairs.prefixes import one_prefix, two_prefix

METHODS = {"one_prefix": 927, "two_prefix": 1_659}
"""Method -> pairs of the release for which words that are derived from the sentences are others."""

AUXILIARIES = (
    "is are was were has have had do does did ca can could wo will would might should must may sha shall"
).split()


@pytest.fixture(scope="module")
def released(upstream):
    return load(upstream / "blimp" / "data").set_index(["paradigm", "pair_id"])


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
