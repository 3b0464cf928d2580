"""Published scores, looked up: sentences, and pairs as in BLiMP's released outputs."""

import json

import numpy as np
import pandas as pd
import pytest

from tse_scorers import load_scorer, run
from tse_scorers.suites.german import German
from tse_scorers.suites.minimal_pairs import MinimalPairs
from tse_scorers.suites.published_scores import load_published

FIELDS = ("UID", "pairID", "sentence_good", "sentence_bad", "prob_good", "prob_bad")
PAIRS = [
    ("wh_island", "0", "Who did Al say they met?", "Who did Al say who met?", -20.5, -22.0),
    ("wh_island", "1", "Who did Bo say they met?", "Who did Bo say who met?", -24.0, -23.0),
    ("passive_1", "0", "Tom was greeted.", "Tom was giggled.", -9.0, -12.0),
]


def write_pairs(path, rows=PAIRS, drop=()):
    lines = [dict(zip(FIELDS, row, strict=True)) for row in rows]
    kept = [{key: value for key, value in line.items() if key not in drop} for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
    return path


def write_sentences(path, rows, columns=("sentence", "logprob")):
    pd.DataFrame(rows, columns=list(columns)).to_csv(path, index=False)
    return path


def accuracies(scorer, data):
    suite = MinimalPairs(data=data)
    rows = suite.rows(suite.ask(scorer, suite.items))
    return {row["value"] or row["level"]: row["score"] for row in rows}


@pytest.fixture
def pairs(tmp_path):
    return load_published(write_pairs(tmp_path / "txl_outputs.jsonl"))


def test_sentences_are_looked_up_without_regard_to_spaces_and_case(tmp_path):
    """Released outputs write `Tom was n't greeted .`; a sentence as it is written comes first."""
    rows = [
        ("Tom was n't greeted .", -5.0),
        ("Bill ran.", -1.0),
        ("bill ran.", -2.0),
        ("Bill ran.", -1.00001),
    ]
    path = write_sentences(tmp_path / "five_gram.csv", rows)
    scorer = load_scorer(path)
    assert scorer.sentence_logprobs(["Tom wasn't greeted.", "bill ran.", "Bill ran."]).tolist() == [
        -5.0,
        -2.0,
        -1.0,
    ]
    assert scorer.name == scorer.signature["model"] == "five_gram"
    assert scorer.signature["revision"].startswith("sha256:") and json.dumps(scorer.signature)
    with pytest.raises(ValueError, match=r"two scores for 'BILL ran\.': -1 and -2"):
        scorer.sentence_logprobs(["BILL ran."])
    with pytest.raises(ValueError, match=r"1 of 2 .*five_gram\.csv.*'Bo ran\.'"):
        scorer.sentence_logprobs(["Bill ran.", "Bo ran."])


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ([("Ann ran.", -2.0)], ("text", "logprob"), "lacks the column sentence"),
        ([("Ann ran.", -2.0)], ("sentence", "value"), "lacks the column logprob"),
        ([("Ann ran.", "low"), ("Bo ran.", -1), ("Cy ran.", "-inf")], ("sentence", "logprob"),
         r"'low' .*'logprob' of row 1; expected a finite number"),
        ([], ("sentence", "logprob"), "has no rows"),
    ],
)  # fmt: skip
def test_bad_tables_are_refused(tmp_path, rows, columns, message):
    with pytest.raises(ValueError, match=message):
        load_published(write_sentences(tmp_path / "s.csv", rows, columns))


def test_pairs_are_found_by_their_sentences(pairs, tmp_path):
    """wh_island 1 of 2, passive_1 1 of 1; the mean of the paradigms is 3/4."""
    table = MinimalPairs(data=str(tmp_path / "txl_outputs.jsonl")).items
    good, bad = pairs.pair_logprobs(table.iloc[[2, 0]])
    assert (good.tolist(), bad.tolist()) == ([-9.0, -20.5], [-12.0, -22.0])
    found = accuracies(pairs, str(tmp_path / "txl_outputs.jsonl"))
    assert (found["wh_island"], found["passive_1"], found["all"], found["syntax"]) == (0.5, 1.0, 0.75, 0.75)
    assert pairs.sentence_logprobs(["Who did Bo say who met?", "Tom was greeted ."]).tolist() == [-23.0, -9.0]
    other = write_pairs(tmp_path / "other.jsonl", [("wh_island", "7", "A b?", "B a?", 0, 0), PAIRS[0]])
    with pytest.raises(
        ValueError, match=r"1 of 2 pairs have no score in .*txl_outputs.jsonl.*'A b\? / B a\?'"
    ):
        accuracies(pairs, str(other))
    twice = write_pairs(tmp_path / "twice.jsonl", [PAIRS[0], (*PAIRS[0][:4], -30.0, -22.0)], drop=("pairID",))
    with pytest.raises(ValueError, match=r"2 of 2 pairs have two scores in .*number the pairs"):
        accuracies(load_published(twice), str(twice))
    with pytest.raises(ValueError, match="lacks the column sentence_bad"):
        load_published(write_pairs(tmp_path / "bare.jsonl", drop=("sentence_bad",)))


def test_samples_of_lm_eval_are_data_and_scores(tmp_path):
    """The lines of the documentation make such a table from the logs; two items with the same sentences stay two."""
    rows = [("tse_pairs", n, f"The {noun} laughs.", f"The {noun} laugh.", -10.0 - n, -11.0)
            for n, noun in enumerate(("author", "pilot", "author"))]  # fmt: skip
    path = write_sentences(tmp_path / "harness.csv", rows, FIELDS)
    results = run(str(path), MinimalPairs(data=str(path), methods=["full"]), tmp_path / "out", report=False)
    (overall,) = results.frame.query("level == 'all'").to_dict("records")
    assert (overall["score"], overall["n"], overall["n_ties"]) == (pytest.approx(1 / 3), 3, 1)


def test_german_sentences_are_looked_up_too(tmp_path):
    sentences = German(limit=1).items["sentence"]
    path = write_sentences(tmp_path / "scores.csv", [(text, -float(len(text))) for text in sentences])
    results = run(str(path), German(limit=1), tmp_path / "out", report=False)
    assert results.items()["logprob"].tolist() == [-float(len(text)) for text in sentences]


@pytest.mark.slow
@pytest.mark.upstream
def test_scores_of_all_of_blimp_give_the_accuracies_they_were_made_with(upstream, root, tmp_path):
    """A file in the released format, made so that each paradigm has GPT-2's published accuracy."""
    data = MinimalPairs(source=upstream / "blimp", methods=["full"])
    published = pd.read_csv(
        root / "push_scripts" / "sources" / "published_results" / "warstadt2020_models.csv"
    )
    gpt2 = published[published["model"] == "gpt2-large"].set_index("paradigm")["accuracy"]
    names = {"paradigm": "UID", "pair_id": "pairID", "good": "sentence_good", "bad": "sentence_bad"}
    frame = data.items.rename(columns=names)[[*names.values()]]
    right = frame["pairID"] < (frame["UID"].map(gpt2) * 1000).round()
    frame = frame.assign(prob_good=-50.0, prob_bad=np.where(right, -51.0, -49.0))
    frame.to_json(tmp_path / "gpt2_outputs.jsonl", orient="records", lines=True)
    rows = data.rows(data.ask(load_published(tmp_path / "gpt2_outputs.jsonl"), data.items))
    found = {row["value"] or row["level"]: row["score"] for row in rows}
    for paradigm, accuracy in gpt2.items():
        assert found[paradigm] == pytest.approx(accuracy, abs=0.005)  # a few pairs are there twice
    assert found["all"] == pytest.approx(gpt2.mean(), abs=1e-3)
