"""`tse score`: texts, their words and tokens, and what is refused before a model runs."""

import json

import numpy as np
import pandas as pd
import pytest
from faults.scorers import ANSWERS, Lengths
from faults.tables import save

from tse_scorers import Scorer, load_scorer
from tse_scorers.runs.score_sentences import ScoreRequest


@pytest.mark.parametrize(
    ("by", "columns"),
    [
        ("sentence", ["logprob", "n_tokens", "surprisal_nats", "surprisal_bits", "pll_nats", "pll_bits"]),
        ("word", ["sentence_id", "word_id", "word", "logprob"]),
        ("token", ["sentence_id", "token_id", "token", "start", "end", "logprob"]),
    ],
)
def test_columns_of_the_output_are_reserved(tmp_path, by, columns):
    for column in columns:
        path = save(pd.DataFrame({"sentence": ["It rains."], column: [1]}), tmp_path / "s.csv")
        with pytest.raises(ValueError, match=f"{column}, which the output would replace"):
            ScoreRequest(str(path), "sentence", by).read()


def test_own_columns_are_repeated_for_each_word():
    frame = pd.DataFrame({"item": [1, 2], "sentence": ["aa b", "c"], "condition": ["x", "y"]})
    found = ScoreRequest(by="word").score(Lengths(), frame)
    assert list(found) == ["item", "condition", "sentence_id", "word_id", "word", "logprob", "surprisal_nats"]
    assert found["item"].tolist() == [1, 1, 1, 2, 2]
    assert found["condition"].tolist() == ["x", "x", "x", "y", "y"]


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-lstm"])
def test_tokens_have_their_characters_and_sum_to_the_sentence(model):
    scorer = load_scorer(model)
    frame = pd.DataFrame({"item": [7, 8], "sentence": ["我爱北京。", "The unlikely author laughs."]})
    found = ScoreRequest(by="token").score(scorer, frame)
    shown = ["item", "sentence_id", "token_id", "token", "start", "end", "logprob", "surprisal_nats"]
    assert list(found) == shown
    for number, text in enumerate(frame["sentence"]):
        tokens = found[found["sentence_id"] == number]
        assert tokens["token_id"].tolist() == list(range(len(tokens)))
        assert tokens["token"].tolist() == [
            text[a:b].strip() for a, b in zip(tokens["start"], tokens["end"], strict=True)
        ]
        assert tokens["logprob"].sum() == pytest.approx(scorer.sentence_logprobs([text])[0], abs=1e-4)


def test_a_masked_model_has_no_scores_of_tokens():
    frame = pd.DataFrame({"sentence": ["The author laughs."]})
    with pytest.raises(ValueError, match="tiny-masked has no scores of tokens"):
        ScoreRequest(by="token").score(load_scorer("tiny-masked"), frame)


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
@pytest.mark.parametrize("by", ["sentence", "word"])
def test_a_text_that_is_too_long_is_refused_by_its_row_before_the_model_runs(model, by, monkeypatch):
    scorer = load_scorer(model)
    monkeypatch.setattr(type(scorer), "run", None)
    frame = pd.DataFrame({"sentence": ["The author laughs.", "The pilots swim. " * 200]})
    with pytest.raises(
        ValueError, match=rf"^Row 2: .*longer than the \d+ positions of {model}.*Split it.*context="
    ):
        ScoreRequest(by=by).score(scorer, frame)


def test_a_masked_models_numbers_are_not_called_surprisals():
    scorer = load_scorer("tiny-masked")
    frame = pd.DataFrame({"sentence": ["The author laughs."]})
    for by in ("sentence", "word"):
        nats, bits = (ScoreRequest(by=by, bits=bits).score(scorer, frame) for bits in (False, True))
        assert not any("surprisal" in name for name in [*nats, *bits])
        np.testing.assert_allclose(nats["pll_nats"], nats["logprob"])
        np.testing.assert_allclose(bits["pll_bits"], bits["logprob"] / np.log(2))


def test_a_double_space_is_said_of_sentences():
    frame = pd.DataFrame({"sentence": ["The author laughs.", "The author  laughs."]})
    (finding,) = ScoreRequest().inspect(frame)
    assert finding.count == 1 and "row 2" in str(finding)
    assert ScoreRequest().inspect(frame[:1]) == []


def test_the_signature_lies_beside_the_table(tmp_path):
    source = save(pd.DataFrame({"text": ["It rains."]}), tmp_path / "r.csv")
    scorer = load_scorer("tiny-causal")
    asked = {"source": str(source), "column": "text", "by": "word", "bits": False}
    ScoreRequest(**asked).write_signature(scorer, tmp_path / "x.csv", 5)
    written = json.loads((tmp_path / "x.csv.signature.json").read_text())
    of_sentences = {key: value for key, value in scorer.signature.items() if key != "bos_at_gap"}
    assert written.items() >= (asked | of_sentences | {"scores": "x.csv", "n_rows": 5}).items()
    assert len(written["source_sha256"]) == 64


def test_numbers_in_a_list_are_an_answer():
    class Lists(Lengths):
        def sentence_logprobs(self, sentences, progress=None):
            return list(super().sentence_logprobs(sentences))

    frame = pd.DataFrame({"sentence": ["aa b", "c"]})
    pd.testing.assert_frame_equal(
        ScoreRequest().score(Lists(), frame), ScoreRequest().score(Lengths(), frame)
    )


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_wrong_answer_of_a_scorer_is_refused(answer):
    class Wrong(Scorer):
        name = "wrong"
        signature = {"model": "wrong", "revision": "1"}  # noqa: RUF012

        def sentence_logprobs(self, sentences, progress=None):
            return answer(list(sentences))

    with pytest.raises(TypeError, match=r"wrong returned .*; expected natural log-probabilities"):
        ScoreRequest().score(Wrong(), pd.DataFrame({"sentence": [f"It rains {n}." for n in range(4)]}))
