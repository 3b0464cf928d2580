"""A column `context` of one's own pairs: equal to naive concatenation, and refused where a model cannot."""

import numpy as np
import pandas as pd
import pytest
from plain_loop import causal_sum, float64_model
from run_records import read_table, signature_of
from tiny import tiny_model

import tse_scorers
from tse_scorers import Scorer, load_scorer, make_suite
from tse_scorers.models.causal import CausalScorer

CONTEXTS = ["", "The pilot swims.", "The movie is old. The guards laugh.", "The pilot swims."]
PAIRS = pd.DataFrame(
    {
        "UID": ["a", "a", "b", "b"],
        "sentence_good": [
            "The author laughs.",
            "The author laughs.",
            "The old guard swims.",
            "The pilot knows.",
        ],
        "sentence_bad": ["The author laugh.", "The author laugh.", "The old guard swim.", "The pilot know."],
        "context": CONTEXTS,
    }
)
SIDES = ("good", "bad")


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """The files of the pairs, with contexts and without."""
    folder = tmp_path_factory.mktemp("pairs")
    PAIRS.to_csv(folder / "after.csv", index=False)
    PAIRS.drop(columns="context").to_csv(folder / "alone.csv", index=False)
    return folder


def scores_of(path, scorer, **options):
    suite = make_suite("minimal_pairs", data=path, **options)
    return suite.score(scorer, lambda done, total: None)["scores"].to_pandas()


@pytest.mark.parametrize("start_token", [None, "none"])
def test_scores_equal_naive_concatenation(own, start_token):
    options = {} if start_token is None else {"start_token": start_token}
    tokenizer = tiny_model("causal", "llama")[1]
    scorer = CausalScorer(float64_model("causal", "llama"), tokenizer, name="tiny", revision="1", **options)

    def ids_of(text):
        return tokenizer(text, add_special_tokens=False)["input_ids"] if text else []

    scores = scores_of(own / "after.csv", scorer, linking="mean_token", methods=["full"])
    start = [] if start_token else [scorer.start_token]
    for row, context in zip(scores.to_dict("records"), CONTEXTS, strict=True):
        for side in SIDES:
            ids = [*start, *ids_of(f"{context} {row[f'sentence_{side}']}".strip())]
            n_before = max(len(start) + len(ids_of(context)), 1)  # a first token without a start has no score
            expected = causal_sum(scorer.model, ids, n_before)
            assert row[f"logprob_{side}"] == pytest.approx(expected, abs=1e-5)
            assert row[f"score_{side}"] == pytest.approx(
                row[f"logprob_{side}"] / (len(ids) - n_before), rel=1e-9
            )
    assert scores["context"].tolist() == CONTEXTS


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
def test_map_and_the_suite_score_alike(own, model):
    scorer = load_scorer(model)
    after, alone = (
        scores_of(own / f"{name}.csv", scorer, linking="mean_byte") for name in ("after", "alone")
    )
    table = PAIRS[PAIRS["context"] != ""].reset_index(drop=True)
    mapped = scorer.map(table, columns=["sentence_good", "sentence_bad"], context="context")
    for side in SIDES:
        column = f"logprob_{side}"
        np.testing.assert_allclose(after[column][1:], mapped[f"logprob_sentence_{side}"], rtol=0, atol=1e-4)
        assert after[column][0] == pytest.approx(alone[column][0], abs=1e-4)
        assert abs(after[column][1] - alone[column][1]) > 1e-3


def test_the_rest_of_a_sentence_and_prefixes_stand_after_the_context_too(own, tmp_path):
    scorer = load_scorer("tiny-causal")
    rests = scores_of(own / "after.csv", scorer, linking="mean_continuation", methods=["full"])
    (expected,) = scorer.continuation_logprobs(["The pilot swims. The author"], ["laughs."])
    n_tokens = np.diff(
        scorer.token_counts(["The pilot swims. The author", "The pilot swims. The author laughs."])
    )
    assert rests["score_good"][1] == pytest.approx(expected / n_tokens[0])
    PAIRS.assign(one_prefix_method=True).to_csv(tmp_path / "prefixes.csv", index=False)
    words = scores_of(tmp_path / "prefixes.csv", scorer, methods=["one_prefix"])
    (expected,) = scorer.continuation_logprobs(["The pilot swims. The author"], ["laughs"])
    assert words["logprob_good"][1] == pytest.approx(expected, abs=1e-5)


def test_contexts_decide_the_signature_and_are_stored_and_shown(own, tmp_path):
    out = tmp_path / "out"
    tse_scorers.run("tiny-causal", "minimal_pairs", out, data=own / "after.csv")
    assert read_table(out).to_pandas()["context"].tolist()[:4] == CONTEXTS
    scorer = load_scorer("tiny-causal")
    signature = signature_of(out)
    for path in (own / "alone.csv", tmp_path / "others.csv"):
        PAIRS.assign(context="The guards laugh.").to_csv(tmp_path / "others.csv", index=False)
        other = make_suite("minimal_pairs", data=path).signature(scorer)
        assert other["dataset_fingerprint"] != signature["dataset_fingerprint"]


def test_what_cannot_be_scored_is_refused(own, tmp_path):
    class Sentences(Scorer):
        name, signature = "sentences", {"model": "sentences", "revision": "1"}

        def sentence_logprobs(self, sentences, progress=None):
            raise AssertionError("the model was asked")

    with pytest.raises(
        ValueError, match="sentences only scores whole sentences, and these pairs have a column"
    ):
        scores_of(own / "after.csv", Sentences())
    PAIRS.assign(context=[1, 2, 3, 4]).to_csv(tmp_path / "numbers.csv", index=False)
    with pytest.raises(ValueError, match="in column 'context' of row 1; expected text"):
        make_suite("minimal_pairs", data=tmp_path / "numbers.csv")
