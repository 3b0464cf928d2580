"""`tse score`: texts, regions and words of tables, and what is refused before a model runs."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from faults.scorers import ANSWERS, Lengths
from faults.tables import (
    REFUSED_REGIONS,
    REGIONS,
    save,
)
from hypothesis import given
from hypothesis import strategies as st

from tse_scorers import load_scorer
from tse_scorers.runs.score_regions import read_regions, score_regions
from tse_scorers.runs.score_sentences import ScoreRequest


def faults(table):
    return pytest.mark.parametrize(("change", "said"), list(table.values()), ids=list(table))


@faults(REFUSED_REGIONS)
def test_regions_are_refused(tmp_path, change, said):
    with pytest.raises(ValueError, match=said):
        ScoreRequest(str(save(change(REGIONS.copy()), tmp_path / "r.jsonl")), "text", "region").read()


@pytest.mark.parametrize(
    ("by", "columns"),
    [
        ("sentence", ["logprob", "n_tokens", "surprisal_nats", "surprisal_bits", "pll_nats", "pll_bits"]),
        ("word", ["sentence_id", "word_id", "word", "logprob"]),
    ],
)
def test_columns_of_the_output_are_reserved(tmp_path, by, columns):
    for column in columns:
        path = save(pd.DataFrame({"sentence": ["It rains."], column: [1]}), tmp_path / "s.csv")
        with pytest.raises(ValueError, match=f"{column}, which the output would replace"):
            ScoreRequest(str(path), "sentence", by).read()


def regions(table):
    return read_regions(table, "text", "It")


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
def test_regions_are_sums_of_their_words(model):
    scorer = load_scorer(model)
    found = ScoreRequest(column="text", by="region").score(scorer, regions(REGIONS))
    first, second = scorer.word_logprobs(["The author near the senators laughs.", "The authors laugh."])
    values = [[value for _, value in words] for words in (first, second)]
    expected = [sum(values[0][:2]), sum(values[0][2:5]), values[0][5], sum(values[1][:2]), values[1][2]]
    np.testing.assert_allclose(found["logprob"], expected)
    assert found["n_words"].tolist() == [2, 3, 1, 2, 1]
    assert found["condition"].tolist() == REGIONS["condition"].tolist()
    measure = "pll_nats" if model == "tiny-masked" else "surprisal_nats"
    assert found.columns[-1] == measure and sum("surprisal" in name for name in found) == (
        model == "tiny-causal"
    )


@given(
    st.lists(
        st.lists(st.lists(st.text("ab", min_size=1), max_size=3), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_regions_of_a_sentence_sum_to_the_sentence(sentences):
    # White space in regions does not matter.
    rows = [(item, "  ".join(words)) for item, parts in enumerate(sentences) for words in [["x"], *parts]]
    frame = regions(pd.DataFrame(rows, columns=["item", "text"]))
    found = score_regions(Lengths(), frame, "text")
    whole = [" ".join(["x", *(word for words in parts for word in words)]) for parts in sentences]
    np.testing.assert_allclose(found.groupby("item")["logprob"].sum(), Lengths().sentence_logprobs(whole))
    assert (found.loc[found["n_words"] == 0, "logprob"] == 0).all()


def test_regions_are_put_into_the_order_of_their_numbers():
    shuffled = REGIONS.iloc[[2, 0, 4, 1, 3]].reset_index(drop=True)
    found = score_regions(Lengths(), regions(shuffled), "text")
    expected = score_regions(Lengths(), regions(REGIONS), "text")
    pd.testing.assert_frame_equal(found, expected)


def test_own_columns_are_repeated_for_each_word():
    frame = pd.DataFrame({"item": [1, 2], "sentence": ["aa b", "c"], "condition": ["x", "y"]})
    found = ScoreRequest(by="word").score(Lengths(), frame)
    assert list(found) == ["item", "condition", "sentence_id", "word_id", "word", "logprob", "surprisal_nats"]
    assert found["item"].tolist() == [1, 1, 1, 2, 2]
    assert found["condition"].tolist() == ["x", "x", "x", "y", "y"]


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
    source = save(REGIONS, tmp_path / "r.csv")
    scorer = load_scorer("tiny-causal")
    asked = {"source": str(source), "column": "text", "by": "region", "bits": False}
    ScoreRequest(**asked).write_signature(scorer, tmp_path / "x.csv", 5)
    written = json.loads((tmp_path / "x.csv.signature.json").read_text())
    of_sentences = {key: value for key, value in scorer.signature.items() if key != "bos_at_gap"}
    assert written.items() >= (asked | of_sentences | {"scores": "x.csv", "n_rows": 5}).items()
    assert len(written["source_sha256"]) == 64


def test_the_right_tables_are_right():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        regions(REGIONS.copy())


def test_numbers_in_a_list_are_an_answer():
    class Lists(Lengths):
        def sentence_logprobs(self, sentences, progress=None):
            return list(super().sentence_logprobs(sentences))

    frame = pd.DataFrame({"sentence": ["aa b", "c"]})
    pd.testing.assert_frame_equal(
        ScoreRequest().score(Lists(), frame), ScoreRequest().score(Lengths(), frame)
    )


@faults(ANSWERS)
def test_a_wrong_answer_of_a_scorer_is_refused(change, said):
    class Wrong:
        name = "wrong"
        signature = {"model": "wrong", "revision": "1"}  # noqa: RUF012

        def sentence_logprobs(self, sentences, progress=None):
            return change(list(sentences))

    with pytest.raises((ValueError, TypeError), match=r"Wrong\.sentence_logprobs") as raised:
        ScoreRequest().score(Wrong(), pd.DataFrame({"sentence": [f"It rains {n}." for n in range(4)]}))
    assert pd.Series([str(raised.value)]).str.contains(said).all(), raised.value
