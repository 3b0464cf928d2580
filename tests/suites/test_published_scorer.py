"""Published scores, looked up: sentences, and pairs as in BLiMP's released outputs."""

import hashlib
import json
import math

import numpy as np
import pandas as pd
import pytest
from scoring_tables import evaluate_pairs

from tse_scorers.suites.minimal_pairs import scores as blimp
from tse_scorers.suites.minimal_pairs.data.pair_tables import pair_table
from tse_scorers.suites.published_scores import PublishedPairs, PublishedScorer, load_published

PAIRS = [
    # UID, pairID, sentences, log-probabilities
    ("wh_island", "0", "Who did Al say they met?", "Who did Al say who met?", -20.5, -22.0),
    ("wh_island", "1", "Who did Bo say they met?", "Who did Bo say who met?", -24.0, -23.0),
    ("passive_1", "0", "Tom was greeted.", "Tom was giggled.", -9.0, -12.0),
]
FIELDS = ("UID", "pairID", "sentence_good", "sentence_bad", "prob_good", "prob_bad")


def write_pairs(path, rows=PAIRS, drop=(), **more):
    lines = [{**dict(zip(FIELDS, row, strict=True)), "linguistics_term": "x", **more} for row in rows]
    kept = [{key: value for key, value in line.items() if key not in drop} for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
    return path


def write_sentences(path, rows, columns=("sentence", "logprob")):
    pd.DataFrame(rows, columns=list(columns)).to_csv(path, index=False)
    return path


@pytest.fixture
def pairs(tmp_path):
    return load_published(write_pairs(tmp_path / "txl_outputs.jsonl"))


def table(*rows):
    columns = ("paradigm", "pair_id", "sentence_good", "sentence_bad")
    return pd.DataFrame(
        [(uid, int(number), good, bad) for uid, number, good, bad, *_ in rows], columns=columns
    )


# Sentences


@pytest.mark.parametrize("column", ["logprob", "log_probability"])
def test_sentences_are_looked_up(tmp_path, column):
    rows = [("Tom sat, and ran.", -7.25), ("Ann ran.", -3.5)]
    scorer = load_published(write_sentences(tmp_path / "s.csv", rows, ("sentence", column)))
    assert type(scorer) is PublishedScorer
    answers = scorer.sentence_logprobs(["Ann ran.", "Tom sat, and ran.", "Ann ran."])
    assert answers.tolist() == [-3.5, -7.25, -3.5] and answers.dtype == np.float64


def test_other_bases_become_natural_logs(tmp_path):
    path = write_sentences(tmp_path / "s.csv", [("Ann ran.", -2.0)])
    scorer = load_published(path, log_base=10)
    assert scorer.sentence_logprobs(["Ann ran."])[0] == pytest.approx(math.log(0.01))
    with pytest.raises(ValueError, match="base of logarithms is 0"):
        load_published(path, log_base=0)


def test_a_missing_sentence_is_an_error(tmp_path):
    scorer = load_published(write_sentences(tmp_path / "s.csv", [("Ann ran.", -2.0)]))
    with pytest.raises(ValueError, match=r"1 of 2 .*s\.csv.*'Bo ran\.'"):
        scorer.sentence_logprobs(["Ann ran.", "Bo ran."])


def test_two_scores_for_a_sentence_are_an_error_and_one_twice_is_not(tmp_path):
    twice = write_sentences(tmp_path / "s.csv", [("Ann ran.", -2.0), ("Ann ran.", -2.00001)])
    assert load_published(twice).sentence_logprobs(["Ann ran."]).tolist() == [-2.0]
    conflict = write_sentences(tmp_path / "c.csv", [("Ann ran.", -2.0), ("Ann ran.", -3.0)])
    with pytest.raises(ValueError, match=r"c\.csv .*'Ann ran\.': -2 and -3"):
        load_published(conflict)


def test_spaces_and_case_do_not_matter_where_nothing_else_is_there(tmp_path):
    """Released outputs write `Tom was n't greeted .` or `tom wasn't greeted`."""
    rows = [("Tom was n't greeted .", -5.0), ("Bill ran.", -1.0), ("bill ran.", -2.0)]
    scorer = load_published(write_sentences(tmp_path / "s.csv", rows))
    assert scorer.sentence_logprobs(["Tom wasn't greeted."]).tolist() == [-5.0]
    assert scorer.sentence_logprobs(["Bill ran.", "bill ran."]).tolist() == [-1.0, -2.0]
    with pytest.raises(ValueError, match=r"two different scores for 'BILL ran\.'"):
        scorer.sentence_logprobs(["BILL ran."])


NOT_FINITE = [("Ann ran.", "low"), ("Bea ran.", -1.0), ("Dan ran.", "inf"), ("Eva ran.", "-inf")]


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ([("Ann ran.", -2.0)], ("text", "logprob"), "lacks the column sentence"),
        ([("Ann ran.", -2.0)], ("sentence", "value"), "lacks the column logprob"),
        ([("Ann ran.", "low")], ("sentence", "logprob"), r"finite .*1 of 1 .*: 1 \(low\)\."),
        (NOT_FINITE, ("sentence", "logprob"), r"3 of 4 .*: 1 \(low\), 3 \(inf\), 4 \(-inf\)\."),
        ([*NOT_FINITE, ("Cy ran.", "x")], ("sentence", "logprob"), r"4 of 5 .*4 \(-inf\), …\."),
        ([], ("sentence", "logprob"), "has no rows"),
    ],
)
def test_bad_tables_are_refused(tmp_path, rows, columns, message):
    with pytest.raises(ValueError, match=message):
        load_published(write_sentences(tmp_path / "s.csv", rows, columns))


def test_the_signature_says_where_scores_come_from(tmp_path):
    path = write_sentences(tmp_path / "five_gram.csv", [("Ann ran.", -2.0)])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    scorer = load_published(path, log_base=10)
    assert scorer.name == "five_gram"
    assert scorer.signature == {
        "model": "five_gram",
        "revision": f"sha256:{digest[:16]}",
        "published_scores": "five_gram.csv",
        "sha256": digest,
        "log_base": 10,
    }
    json.dumps(scorer.signature)
    assert load_published(path, name="5-gram").name == "5-gram"


def test_probabilities_above_one_are_refused(tmp_path):
    """They were compared as they are, with a warning."""
    pairs = pd.DataFrame(
        {
            "UID": "x",
            "linguistics_term": "y",
            "field": "z",
            "sentence_good": ["Ann ran."],
            "sentence_bad": ["Ann run."],
        }
    )
    published = write_sentences(tmp_path / "s.csv", [("Ann ran.", 31.0), ("Ann run.", -3.0)])
    with pytest.raises(ValueError, match=r"s returned 31 in place \d"):
        evaluate_pairs(load_published(published), pair_table(pairs, "pairs"))


# Pairs


def test_pairs_are_found_by_their_number(pairs):
    assert isinstance(pairs, PublishedPairs)
    good, bad = pairs.pair_logprobs(table(PAIRS[2], PAIRS[0]))
    assert (good.tolist(), bad.tolist()) == ([-9.0, -20.5], [-12.0, -22.0])


def test_their_sentences_are_found_too(pairs):
    assert pairs.sentence_logprobs(["Who did Bo say who met?", "Tom was greeted ."]).tolist() == [-23.0, -9.0]


def test_pairs_of_a_file_are_evaluated_by_the_same_metric(pairs, tmp_path):
    """wh_island 1 of 2, passive_1 1 of 1; the mean of the paradigms is 3/4."""
    _, rows = evaluate_pairs(pairs, blimp.load(tmp_path / "txl_outputs.jsonl"))
    found = {row["group"]: row["score"] for row in rows}
    assert {row["method"] for row in rows} == {"full"}
    assert (found["wh_island"], found["passive_1"], found["all"]) == (0.5, 1.0, 0.75)
    assert (found["phenomenon:island_effects"], found["field:syntax"]) == (0.5, 0.75)


def test_without_sentences_the_data_bring_them(tmp_path):
    path = write_pairs(tmp_path / "o.jsonl", drop=("sentence_good", "sentence_bad"))
    data = [dict(zip(FIELDS[:4], row[:4], strict=True)) for row in PAIRS]
    (tmp_path / "data").mkdir()
    for row in data:
        with (tmp_path / "data" / f"{row['UID']}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    scorer = load_published(path)
    _, rows = evaluate_pairs(scorer, blimp.load(tmp_path / "data"))
    assert rows[0]["score"] == 0.75


def test_without_numbers_pairs_are_counted(tmp_path):
    scorer = load_published(write_pairs(tmp_path / "o.jsonl", drop=("pairID",)))
    assert scorer.pair_logprobs(table(PAIRS[1]))[0].tolist() == [-24.0]


def test_a_missing_pair_is_an_error(pairs):
    other = ("wh_island", "7", "A b?", "B a?")
    with pytest.raises(ValueError, match=r"1 of 2 .*7 of wh_island"):
        pairs.pair_logprobs(table(PAIRS[0], other))


def test_two_scores_for_a_pair_are_an_error(tmp_path):
    conflict = (*PAIRS[0][:5], -19.0)
    with pytest.raises(ValueError, match=r"two .*scores .*pair 0 of wh_island"):
        load_published(write_pairs(tmp_path / "o.jsonl", [*PAIRS, conflict]))


def test_a_sentence_with_two_scores_is_refused_but_not_its_pairs(tmp_path):
    other = ("wh_island", "2", PAIRS[0][2], "Who did Cy say who met?", -21.5, -25.0)
    scorer = load_published(write_pairs(tmp_path / "o.jsonl", [*PAIRS, other]))
    assert scorer.pair_logprobs(table(PAIRS[0], other))[0].tolist() == [-20.5, -21.5]
    with pytest.raises(ValueError, match=r"two .*scores .*say they met\?'"):
        scorer.sentence_logprobs([PAIRS[0][2]])


def test_other_sentences_under_the_same_number_are_refused(pairs):
    changed = ("wh_island", "0", "Who did Ed say they met?", PAIRS[0][3])
    told = r"1 of 2 pairs have other sentences in txl_outputs.jsonl.*pair 0 of wh_island: 'Who did Al.*'Who did Ed"
    with pytest.raises(ValueError, match=told):
        pairs.pair_logprobs(table(changed, PAIRS[2]))
    assert len(pairs.pair_logprobs(table(*PAIRS))[0]) == len(PAIRS)


@pytest.mark.slow
@pytest.mark.upstream
def test_scores_of_all_of_blimp_give_the_accuracies_they_were_made_with(upstream, root, tmp_path):
    """A file in the released format, made so that each paradigm has GPT-2's published accuracy."""
    data = blimp.load(upstream / "blimp")
    published = pd.read_csv(
        root / "push_scripts" / "sources" / "published_results" / "warstadt2020_models.csv"
    )
    gpt2 = published[published["model"] == "gpt2-large"].set_index("paradigm")["accuracy"]
    right = data["pair_id"] < (data["paradigm"].map(gpt2) * 1000).round()
    frame = data.rename(columns={"paradigm": "UID", "pair_id": "pairID"})[["UID", "pairID", *FIELDS[2:4]]]
    frame["prob_good"], frame["prob_bad"] = -50.0, np.where(right, -51.0, -49.0)
    frame.to_json(tmp_path / "gpt2_outputs.jsonl", orient="records", lines=True)
    _, rows = evaluate_pairs(load_published(tmp_path / "gpt2_outputs.jsonl"), data)
    found = {row["group"]: row["score"] for row in rows}
    for paradigm, accuracy in gpt2.items():
        assert found[paradigm] == pytest.approx(accuracy, abs=1e-9)
    assert found["all"] == pytest.approx(gpt2.mean(), abs=1e-9)
