"""Any class with the right methods is a scorer: each suite that it can answer scores it, the others refuse it."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from run_records import table_path

from tse_scorers import run
from tse_scorers.models.base import ContinuationScorer, GapScorer, PairScorer, Scorer, TokenCounter

FORMS = {"laughs": 6.0, "laugh": 3.0, "swims": 1.0, "swim": 2.0, "author": 4.0}
"""The toy's vocabulary and how often it has seen each word."""
PAIRS = pd.DataFrame(
    {
        "group": "Simple",
        "prefix": ["The author", "The authors", "The pilot"],
        "suffix": ".",
        "form_correct": ["laughs", "laugh", "swims"],
        "form_incorrect": ["laugh", "laughs", "swim"],
        "number": ["singular", "plural", "singular"],
    }
)
LEMMAS = pd.DataFrame({"singular": ["laughs", "swims", "sings"], "plural": ["laugh", "swim", "sing"]})


class Sentences:
    """Answers log P(sentence) and nothing else: the longer, the less probable."""

    name = "counts"
    signature = {"model": "counts", "revision": "1"}  # noqa: RUF012

    def sentence_logprobs(self, sentences, progress=None):
        return np.array([-len(sentence) for sentence in sentences], dtype=np.float64)


class Counts(Sentences):
    """Answers gaps as well, by how often it has seen each word, whatever stands around the gap."""

    context_columns = ("prefix",)
    vocabulary_size = len(FORMS)

    def single_token_ids(self, words, opening=False):
        places = {word: place for place, word in enumerate(FORMS)}
        return np.array([places.get(word, -1) for word in words], dtype=np.int64)

    def token_text(self, token):
        return list(FORMS)[token]

    def read_slots(self, slots, function, width, progress=None):
        counts = torch.tensor(list(FORMS.values()), dtype=torch.float64)
        logits = counts.log().expand(len(slots), -1).clone()
        answers = function(logits, np.arange(len(slots)))
        assert answers.shape == (len(slots), width)
        return answers


@pytest.fixture
def files(tmp_path):
    """A table of agreement pairs, a lemma list and minimal pairs."""
    PAIRS.to_csv(tmp_path / "pairs.csv", index=False)
    LEMMAS.to_csv(tmp_path / "lemmas.csv", index=False)
    minimal = pd.DataFrame(
        {
            "UID": "passive_1",
            "sentence_good": ["Ann is.", "Bo was seen."],
            "sentence_bad": ["Ann are.", "Bo seen."],
        }
    )
    minimal.to_csv(tmp_path / "minimal.csv", index=False)
    return tmp_path


def test_what_a_class_can_answer_is_known_from_its_methods():
    assert isinstance(Sentences(), Scorer) and isinstance(Counts(), GapScorer)
    assert not isinstance(Sentences(), GapScorer)
    assert not any(isinstance(Counts(), kind) for kind in (ContinuationScorer, PairScorer, TokenCounter))
    assert Counts.__mro__ == (Counts, Sentences, object)


def test_gaps_are_scored_on_agreement(files):
    """The forms are as probable as they are frequent: laughs 6/16, laugh 3/16, swims 1/16, swim 2/16."""
    rows = run(
        Counts(),
        out=files / "out",
        data=files / "pairs.csv",
        lemmas=str(files / "lemmas.csv"),
        report=False,
    )
    found = {row["metric"]: row for row in rows if row["group"] == "all" and row.get("cutoff") in (None, 1.0)}
    assert found["tse"]["score"] == pytest.approx(1 / 3) and found["tse"]["n"] == 3
    # Singular (two contexts): laughs > laugh, swims < swim; plural (one context): the reverse.
    assert found["ew"]["score"] == pytest.approx(1 / 2)
    assert found["mw"]["score"] == pytest.approx((2 * 7 / 12 + 5 / 12) / 3)
    forms = pd.read_parquet(table_path(files / "out", "top_forms"))
    first = forms[forms["rank"] == 1]
    assert set(first["form"]) == {"laughs"} and first["probability"].iloc[0] == pytest.approx(6 / 16)


def test_sentences_are_scored_on_minimal_pairs(files):
    rows = run(
        Sentences(), suite="minimal_pairs", out=files / "out", data=files / "minimal.csv", report=False
    )
    assert {row["method"] for row in rows} == {"full"}
    # The shorter one: the first pair.
    assert next(row for row in rows if row["group"] == "all")["score"] == 1 / 2
    items = pd.read_parquet(table_path(files / "out"))
    assert items["n_tokens_good"].tolist() == [2, 3]  # words, where a scorer does not count tokens


def test_sentences_are_scored_on_variation_sets(files):
    rows = run(Sentences(), suite="german", out=files / "out", limit=1)
    whole = next(row for row in rows if row["group"] == "all" and row["metric"] == "auc")
    assert 0 <= whole["score"] <= 1 and not math.isnan(whole["score"])
    items = pd.read_parquet(table_path(files / "out"))
    assert items["n_tokens"].isna().all()
    assert "German" in (files / "out" / "report.html").read_text(encoding="utf-8")


def test_a_suite_of_gaps_refuses_a_scorer_of_sentences(files):
    with pytest.raises(ValueError, match=r"distribution .*gap; counts .*whole sentences.*--suite"):
        run(Sentences(), out=files / "out", limit=1)
    assert not list((files / "out").rglob("*.parquet"))


def test_the_prefix_methods_refuse_a_scorer_without_continuations(files):
    options = {"data": files / "minimal.csv", "methods": ["one_prefix"]}
    with pytest.raises(ValueError, match=r"counts .*whole sentences; .*'one_prefix' .*'full'"):
        run(Counts(), suite="minimal_pairs", out=files / "out", **options)
