"""Rules that hold in all parts: what separates words, and what a log-probability of minus infinity means."""

import numpy as np
import pytest

from tse_scorers.explore.item_data import split_pair
from tse_scorers.io.bundle import metric_modules
from tse_scorers.models.queries import Slot
from tse_scorers.models.tokens import sum_by_word
from tse_scorers.models.words import WordSplitter
from tse_scorers.statistics.critical_words import critical_word
from tse_scorers.suites.agreement.gap_contexts import parse
from tse_scorers.suites.minimal_pairs.prefixes import one_prefix, two_prefix

ZERO = -np.inf
SIDES = {"right": (-1.0, ZERO), "wrong": (ZERO, -1.0), "tied": (ZERO, ZERO)}


@pytest.mark.parametrize("space", [" ", "\t", "\u00a0", "\u2003", "\u202f", "\u3000"])
def test_any_white_space_separates_words(space):
    def spaced(sentence: str) -> str:
        return sentence.replace(" ", space)

    good, bad = spaced("The cat eats mice."), spaced("The cat eat mice.")
    assert one_prefix(good, bad) == ("The cat", "eats", "eat")
    assert two_prefix(good, spaced("The cats eats mice.")) == ("The cat", "The cats", "eats")
    assert critical_word(good, bad) == critical_word("The cat eats mice.", "The cat eat mice.")
    assert split_pair(good, bad) == (spaced("The cat "), "eats", "eat", spaced(" mice."))
    assert parse(spaced("The cat ___ mice.")) == Slot("The cat", " mice.")
    assert WordSplitter("whitespace", lowercase=False)(good) == ["The", "cat", "eats", "mice."]
    words = sum_by_word(good, np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([3, 7, 12, 17, 18]))
    assert words == [("The", 1), ("cat", 2), ("eats", 3), ("mice.", 9)]


@pytest.mark.parametrize("name", SIDES)
def test_minus_infinity_is_a_probability_of_zero_in_every_metric(name):
    """It is below every other log-probability, ties with another zero, and is never a missing value."""
    correct, incorrect = SIDES[name]
    pair = metric_modules("minimal_pair_accuracy").accuracy.outcomes([correct], [incorrect])
    lemma = metric_modules("refined_tse").listed.word_scores(np.array([[correct]]), np.array([[incorrect]]))
    variation = metric_modules("minimal_variation_auc").variation_sets
    sentences = [("t", cases, "123") for cases in ("NDA", *variation.violations("NDA"))]
    scores = [correct, *[incorrect] * (len(sentences) - 1)]
    compared = variation.compare(scores, *zip(*sentences, strict=True))
    expected = {"right": 1.0, "wrong": 0.0, "tied": 0.0}[name]
    assert (pair.correct.item(), pair.tie.item()) == (expected, name == "tied") and not pair.nonfinite.any()
    assert (lemma.top.ew.item(), lemma.n_ties.item(), lemma.n_nonfinite.item()) == (
        expected,
        name == "tied",
        0,
    )
    credit = compared.credit[compared.present & compared.exists[..., None]]
    assert set(credit) == {0.5 if name == "tied" else expected} and not compared.nonfinite.any()
