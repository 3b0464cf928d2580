"""Linking functions: against literal formulas, and in runs."""

import math

import numpy as np
import pandas as pd
import pytest

from tse_scorers import Scorer, load_scorer, make_suite
from tse_scorers.io.bundle import metric_modules
from tse_scorers.suites.minimal_pairs.ask.linking import n_scored

linking = metric_modules("minimal_pair_accuracy").definitions
SENTENCE = "Ünï is 走."
LITERAL = {
    "sum": -12.0,
    "mean_token": -12.0 / 5,
    "mean_byte": -12.0 / 13,
    "mean_continuation": -7.0 / 2,
    "slln": -12.0 / math.sqrt(5),
}


@pytest.fixture
def pairs(tmp_path):
    rows = [
        ("The author laughs.", "The author laugh."),
        ("The farmer near the pilots smiles.", "The pilots laughs."),
    ]
    frame = pd.DataFrame(rows, columns=["sentence_good", "sentence_bad"])
    path = tmp_path / "own.csv"
    frame.assign(UID=["a", "b"], linguistics_term="t", field="f").to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", linking.LINKING_FUNCTIONS)
def test_each_function_is_its_formula(name):
    assert len(SENTENCE.encode()) == 13
    sentence = (np.array([x]) for x in (-12.0, 5, 13, -7.0, 2))
    assert linking.linked_scores(name, *sentence).tolist() == pytest.approx([LITERAL[name]], rel=1e-12)


def test_a_sentence_without_scored_tokens_has_no_score():
    sentence = [np.array([x]) for x in (0.0, 0, 1)]
    assert np.isnan(linking.linked_scores("mean_token", *sentence)).all()
    with pytest.raises(
        ValueError, match=r"mean_continuation .*\(continuation_logprob, n_continuation_tokens\)"
    ):
        linking.linked_scores("mean_continuation", *sentence)


@pytest.mark.parametrize("name", ["product", "slln:0.5", "mean_token "])
def test_other_names_are_refused(name, pairs):
    with pytest.raises(ValueError, match=r"linking function '.*'; expected one of: sum, mean_token"):
        make_suite("minimal_pairs", data=pairs, linking=name)


def test_only_scored_tokens_count():
    assert n_scored([3, 0], {"first_token": "unscored"}).tolist() == [2, 0]
    assert n_scored([3], {"sentence_end": "scored"}).tolist() == [4]
    assert n_scored([3], {"first_token": "given the start token"}).tolist() == [3]


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
def test_runs_compare_by_the_function_of_whole_sentences(pairs, model):
    scorer = load_scorer(model)
    for name in ("mean_token", "mean_byte", "slln"):
        suite = make_suite("minimal_pairs", data=pairs, linking=name, methods=["full"])
        (table,) = suite.score(scorer, lambda done, total: None).values()
        scores = table.to_pandas()
        for side in ("good", "bad"):
            n_bytes = scores[f"sentence_{side}"].map(lambda text: len(text.encode()))
            n_tokens = n_scored(scores[f"n_tokens_{side}"], scorer.signature)
            divisor = {"mean_token": n_tokens, "mean_byte": n_bytes, "slln": np.sqrt(n_tokens)}[name]
            np.testing.assert_allclose(
                scores[f"score_{side}"], scores[f"logprob_{side}"] / divisor, rtol=1e-12
            )
        assert (scores["correct"] == (scores["score_good"] > scores["score_bad"])).all()


REST = {
    "The author laughs.": ("The author", "laughs.", "laugh."),
    "The farmer near the pilots smiles.": ("The", "farmer near the pilots smiles.", "pilots laughs."),
    "Some words are here.": ("", "Some words are here.", "Many words are here."),
    "It rains.": ("It", "rains.", "rains."),
}


def _their_means(model, scorer):
    minicons, tokenizer = pytest.importorskip("minicons.scorer"), scorer.tokenizer
    if model == "tiny-causal":
        theirs = minicons.IncrementalLMScorer(scorer.model, "cpu", tokenizer=tokenizer)
        return lambda start, rest: theirs.conditional_score([start], [rest], bos_token=True)[0]
    theirs = minicons.MaskedLMScorer(scorer.model, "cpu", tokenizer=tokenizer)

    def masked(start, rest):  # its conditional_score calls a method that transformers 5 has no more
        n_tokens = len(tokenizer.tokenize(rest))
        return theirs.sequence_score(
            tokenizer([f"{start} {rest}"], padding=True),
            reduction=lambda logprobs: logprobs[-n_tokens:].mean().item(),
            PLL_metric="within_word_l2r",
        )[0]

    return masked


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
def test_the_mean_over_a_continuation_is_that_of_its_authors_code(model, tmp_path):
    """Kryvosheieva & Levy call `partial_score` of minicons, now `conditional_score`; by default it is a mean."""
    pairs = [(f"{start} {good}".strip(), f"{start} {bad}".strip()) for start, good, bad in REST.values()]
    frame = pd.DataFrame(pairs, columns=["sentence_good", "sentence_bad"]).assign(
        UID="a", linguistics_term="t"
    )
    frame.assign(field="f").to_csv(tmp_path / "own.csv", index=False)
    scorer = load_scorer(model)
    suite = make_suite(
        "minimal_pairs", data=tmp_path / "own.csv", methods=["full"], linking="mean_continuation"
    )
    (table,) = suite.score(scorer, lambda done, total: None).values()
    found = table.to_pandas()
    theirs = _their_means(model, scorer)
    for side, place in (("good", 1), ("bad", 2)):
        expected = {number: theirs(row[0], row[place]) for number, row in enumerate(REST.values()) if row[0]}
        np.testing.assert_allclose(found[f"score_{side}"][list(expected)], list(expected.values()), atol=1e-4)
    whole = found["logprob_good"] / n_scored(found["n_tokens_good"], scorer.signature)
    assert found["score_good"][2] == pytest.approx(whole[2]), "no word is shared at the start"
    assert found["tie"].tolist() == [False, False, False, True]
    assert (found["correct"] == (found["score_good"] > found["score_bad"])).all()


def test_continuations_are_refused_where_they_cannot_be_scored(pairs):
    class Sentences(Scorer):
        name, signature = "sentences", {"model": "sentences", "revision": "1"}

        def sentence_logprobs(self, sentences, progress=None):
            raise AssertionError("the model was asked")

    with pytest.raises(ValueError, match="sentences only scores whole sentences"):
        make_suite("minimal_pairs", data=pairs, linking="mean_continuation").score(
            Sentences(), lambda done, total: None
        )
