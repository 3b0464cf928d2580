"""`tse score`: sentences, words and tokens."""

import numpy as np
import pandas as pd
import pytest

from tse_scorers import load_scorer
from tse_scorers.runs.score_sentences import read_sentences, score_sentences
from tse_scorers.suites.data import DataWarning

FRAME = pd.DataFrame({"sentence": ["The author laughs.", "The authors laugh."], "number": ["sg", "pl"]})


@pytest.fixture(scope="module")
def model():
    return load_scorer("tiny-causal")


@pytest.mark.parametrize("by", ["word", "token"])
def test_words_and_tokens_sum_to_the_sentence(model, by):
    whole, parts = score_sentences(model, FRAME), score_sentences(model, FRAME, by=by, bits=True)
    np.testing.assert_allclose(
        parts.groupby("sentence_id")["logprob"].sum(), whole["logprob"], rtol=1e-6 if by == "token" else 1e-3
    )
    np.testing.assert_allclose(parts["surprisal_bits"], -parts["logprob"] / np.log(2))
    assert parts.groupby("sentence_id")["number"].first().tolist() == ["sg", "pl"]


def test_a_masked_models_numbers_are_not_called_surprisals():
    masked = load_scorer("tiny-masked")
    assert "pll_nats" in score_sentences(masked, FRAME)
    with pytest.raises(ValueError, match="no scores of tokens"):
        score_sentences(masked, FRAME, by="token")


def test_a_text_that_is_too_long_is_refused_by_its_row(model):
    long = pd.DataFrame({"sentence": ["The author laughs.", "The author laughs. " * 400]})
    with pytest.raises(ValueError, match="Row 2"):
        score_sentences(model, long)


def test_sources_of_sentences(tmp_path):
    FRAME.to_csv(tmp_path / "s.csv", index=False)
    (tmp_path / "s.txt").write_text("One line.\n\nAnother line.\n")
    assert read_sentences(str(tmp_path / "s.csv"))[0].columns.tolist() == ["sentence", "number"]
    assert len(read_sentences(str(tmp_path / "s.txt"))[0]) == 2
    assert read_sentences("A sentence of words.")[1]
    FRAME.assign(logprob=1.0).to_csv(tmp_path / "reserved.csv", index=False)
    with pytest.raises(ValueError, match="logprob"):
        read_sentences(str(tmp_path / "reserved.csv"))
    FRAME.assign(sentence="The  author laughs.").to_csv(tmp_path / "double.csv", index=False)
    with pytest.warns(DataWarning, match="white space"):
        read_sentences(str(tmp_path / "double.csv"))
