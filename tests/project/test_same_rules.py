"""Rules that hold in all parts: what minus infinity means, and what is no log-probability."""

import numpy as np
import pytest

from tse_scorers import German, MinimalPairs, Regions, Scorer, run
from tse_scorers.io.bundle import metric_modules
from tse_scorers.models.scorer import ScoredTokens

ZERO = -np.inf
SIDES = {"right": (-1.0, ZERO), "wrong": (ZERO, -1.0), "tied": (ZERO, ZERO)}


@pytest.mark.parametrize("name", SIDES)
def test_minus_infinity_is_a_probability_of_zero_in_every_metric(name):
    """It is below every other log-probability, ties with another zero, and is never a missing value."""
    correct, incorrect = SIDES[name]
    pair = metric_modules("minimal_pair_accuracy").definitions.outcomes([correct], [incorrect])
    lemma = metric_modules("refined_tse").definitions.whole_scores(
        np.array([[[correct], [incorrect]]]), np.array([True])
    )
    variation = metric_modules("minimal_variation_auc").definitions
    sentences = [("t", cases, "123") for cases in ("NDA", *variation.violations("NDA"))]
    scores = [correct, *[incorrect] * (len(sentences) - 1)]
    compared = variation.compare(scores, *zip(*sentences, strict=True))
    expected = {"right": 1.0, "wrong": 0.0, "tied": 0.0}[name]
    assert (pair.correct.item(), pair.tie.item()) == (expected, name == "tied") and not pair.nonfinite.any()
    assert lemma.ew.item() == expected
    credits = set(compared["credit"])
    assert credits == {0.5 if name == "tied" else expected} and not compared["nonfinite"].any()


PAIRS = [{"UID": "mine", "sentence_good": "The author laughs.", "sentence_bad": "The author laugh."}]


class Liar(Scorer):
    """Answers everything with one value."""

    name = "liar"

    def __init__(self, value):
        self.value = value
        self.signature = {"model": self.name, "revision": "1"}

    def sentence_logprobs(self, sentences, progress=None):
        return [self.value] * len(sentences)

    def continuation_logprobs(self, prefixes, continuations, progress=None):
        return [self.value] * len(prefixes)

    def token_logprobs(self, sentences, progress=None):
        return [
            ScoredTokens(np.array([0]), np.array([len(text)]), np.array([self.value])) for text in sentences
        ]


@pytest.mark.parametrize("suite", [MinimalPairs, German, Regions])
@pytest.mark.parametrize("value", [5.0, "-1.0", True])
def test_what_is_no_log_probability_enters_no_suite(tmp_path, suite, value):
    """A scorer that answered +5.0, "-1.0" or True got an accuracy without a word."""
    conditions = [{"item": 1, "condition": name, "region": "x", "text": "The author"} for name in "ab"]
    made = {MinimalPairs: {"data": PAIRS}, German: {"limit": 1}, Regions: {"data": conditions}}[suite]
    with pytest.raises((ValueError, TypeError), match=r"liar returned .* expected natural|Cannot cast"):
        run(Liar(value), suite(**made), tmp_path / "out", report=False)
    assert not list(tmp_path.rglob("*.parquet"))


def test_small_rounding_above_zero_is_kept(tmp_path):
    rows = run(Liar(1e-4), MinimalPairs(data=PAIRS), tmp_path / "out", report=False).frame
    assert set(rows["score"]) == {0.0} and set(rows["n_ties"]) == {1}
