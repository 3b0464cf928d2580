"""BLiMP's human judgments: how an assignment is read, and the published accuracies that come out."""

import json

import pyarrow.parquet as pq
import pytest
from datasets import load_dataset

from build_datasets import main
from builders import SourceMissing
from builders.blimp_human_judgments import (
    ACCURACY,
    DROPPED,
    JUDGMENTS,
    accuracy_by_paradigm,
    build,
    read_judgments,
)
from tse_scorers.io.bundle import metric_modules

PAIR = ["Mitchell's grandfathers are forgotten.", "Mitchell's grandfathers are concurred."]


def assignment(condition="passive_2ans1", answer="1. Mitchell", sentences=PAIR, **changes):
    """An assignment as in the release, with the same item five times."""
    items = {}
    for item in range(1, 6):
        items[f"Input.item_{item}_condition"] = condition
        items[f"Answer.Choice{item}"] = answer
        items[f"Input.field_{item}_1"], items[f"Input.field_{item}_2"] = sentences
    fixed = {
        "AssignmentStatus": "Approved",
        "anonCode": "42",
        "Input.list": "2",
        "Answer.english": "1",
        "Answer.native": "NA",
        "Answer.navtive": "1",
        "HITId": "3MVY",
        "Answer.useragent": "Mozilla/5.0",
    }
    return {**fixed, **items, **changes}


def first(row):
    return next(read_judgments([row]))


def test_an_answer_is_read_by_its_number():
    """The released answers break off at the first apostrophe, so that both of these say `Mitchell`."""
    assert first(assignment(answer="1. Mitchell"))["correct"] is True
    assert first(assignment(answer="2. Mitchell"))["correct"] is False


def test_the_condition_says_which_sentence_is_right():
    row = first(assignment(condition="passive_2ans2"))
    assert (row["paradigm"], row["sentence_good"], row["sentence_bad"]) == ("passive_2", PAIR[1], PAIR[0])
    assert (row["good_first"], row["correct"]) == (False, False)


def test_an_item_without_an_answer_is_no_judgment():
    rows = list(read_judgments([assignment(**{"Answer.Choice2": "NA"})]))
    assert [row["item"] for row in rows] == [1, 3, 4, 5]


def test_rejection_and_attention_checks_are_marked():
    row = first(assignment(condition="attnchkans1", AssignmentStatus="Rejected"))
    assert (row["paradigm"], row["attention_check"], row["rejected"]) == ("attention_check", True, True)


@pytest.mark.parametrize(
    ("english", "native", "navtive", "eligible"),
    [("1", "NA", "1", True), ("0", "0", "NA", False), ("0", "NA", "1", True), ("1", "0", "NA", True)],
)
def test_eligible_is_who_affirmed_either(english, native, navtive, eligible):
    boxes = {"Answer.english": english, "Answer.native": native, "Answer.navtive": navtive}
    assert first(assignment(**boxes))["eligible"] is eligible


def test_no_identifier_survives():
    assert set(first(assignment())) == set(JUDGMENTS.names)
    assert "3MVY" not in str(first(assignment())) and "Mozilla" not in str(first(assignment()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"condition": "passive_2"}, "does not end in ans1 or ans2"),
        ({"answer": "3. Mitchell"}, "neither 1. nor 2."),
        ({"answer": "1. Somebody else"}, "neither 1. nor 2."),
    ],
)
def test_what_cannot_be_read_is_an_error(changes, message):
    with pytest.raises(ValueError, match=message):
        first(assignment(**changes))


def judgments(answers, pair=0, **changes):
    """One judgment per answer, each by another worker."""
    return [
        {
            "paradigm": "p",
            "sentence_good": f"good {pair}",
            "sentence_bad": f"bad {pair}",
            "correct": answer,
            "worker": worker,
            "eligible": True,
            "rejected": False,
            "attention_check": False,
            **changes,
        }
        for worker, answer in enumerate(answers)
    ]


def test_accuracy_is_the_mean_of_the_pairs_and_an_even_split_no_majority():
    """Pair 0: 2 of 3 right (a majority); pair 1: 1 of 2 (even). Individual (2/3 + 1/2) / 2."""
    rows = judgments([True, True, False]) + judgments([True, False], pair=1)
    (row,) = accuracy_by_paradigm(rows)
    assert row["individual_accuracy"] == pytest.approx(7 / 12)
    assert row["majority_accuracy"] == 0.5
    assert (row["n_pairs"], row["n_judgments"], row["n_workers"]) == (2, 5, 3)


@pytest.mark.parametrize("excluded", [{"eligible": False}, {"rejected": True}, {"attention_check": True}])
def test_who_is_excluded_does_not_count(excluded):
    rows = judgments([True, True]) + judgments([False] * 5, **excluded)
    assert accuracy_by_paradigm(rows)[0]["individual_accuracy"] == 1


def test_without_the_release_the_builder_says_where_it_is():
    with pytest.raises(SourceMissing, match=r"human_responses\.csv of https://github.com/alexwarstadt/blimp"):
        build(None)


@pytest.fixture(scope="module")
def golden(root):
    path = root / "tests" / "golden" / "blimp_human_validation_summary.json"
    return json.loads(path.read_text(encoding="utf-8"))["paradigms"]


def test_committed_accuracy_is_the_published_one(root, golden, tmp_path):
    """88.6 % individual and 96.4 % majority (323 of 335 pairs): Warstadt et al. (2020), section 3.4."""
    folder = root / "datasets" / "blimp_human_judgments"
    table = load_dataset(str(folder), "accuracy", split="test", cache_dir=str(tmp_path)).to_pandas()
    assert set(table.paradigm) == set(metric_modules("minimal_pair_accuracy").definitions.BLIMP_PARADIGMS)
    assert round(table.individual_accuracy.mean() * 100, 1) == 88.6
    assert round(table.majority_accuracy.mean() * 100, 1) == 96.4
    assert sum(table.majority_accuracy * table.n_pairs) == pytest.approx(323)
    for row in table.itertuples():
        accepted, individual, n_judgments = golden[row.paradigm]
        assert row.individual_accuracy == pytest.approx(individual, abs=1e-12)
        assert row.majority_accuracy == accepted / 5
        assert row.n_judgments == n_judgments


@pytest.fixture(scope="module")
def built(upstream, tmp_path_factory):
    out = tmp_path_factory.mktemp("built")
    assert main(["blimp_human_judgments", "--source", str(upstream / "blimp"), "--out", str(out)]) == 0
    return out / "blimp_human_judgments"


@pytest.mark.upstream
def test_building_gives_the_committed_bytes(built, root):
    path = "accuracy/test.parquet"
    assert (built / path).read_bytes() == (root / "datasets" / "blimp_human_judgments" / path).read_bytes()
    assert pq.read_schema(built / path) == ACCURACY


@pytest.mark.upstream
def test_the_judgments_are_all_there(built):
    """1,744 assignments of five items, two of them unanswered."""
    table = pq.read_table(built / "judgments" / "test.parquet")
    dropped = pq.read_table(built / "judgments_dropped_paradigms" / "test.parquet")
    assert table.schema == dropped.schema == JUDGMENTS
    assert table.num_rows + dropped.num_rows == 1744 * 5 - 2
    rows = table.to_pandas()
    assert set(dropped["paradigm"].to_pylist()) == set(DROPPED)
    assert rows.attention_check.sum() == 1744
    assert rows[rows.attention_check & ~rows.rejected].correct.all()
    assert rows[~rows.eligible].worker.nunique() == 1
    assert rows[~rows.attention_check].groupby("paradigm").sentence_good.nunique().eq(5).all()
    counted = rows[~rows.attention_check & ~rows.rejected]
    assert round(counted.correct.mean() * 100, 1) == 88.6
    assert set(counted.paradigm) == set(metric_modules("minimal_pair_accuracy").definitions.BLIMP_PARADIGMS)


@pytest.mark.upstream
def test_the_dropped_paradigms_agree_with_the_published_summary(built, golden):
    """The summary has two of the three; both miss the four of five pairs that were needed."""
    rows = pq.read_table(built / "judgments_dropped_paradigms" / "test.parquet").to_pylist()
    found = {row["paradigm"]: row for row in accuracy_by_paradigm(rows)}
    for paradigm in set(DROPPED) & set(golden):
        accepted, individual, n_judgments = golden[paradigm]
        assert found[paradigm]["individual_accuracy"] == pytest.approx(individual, abs=1e-12)
        assert found[paradigm]["majority_accuracy"] == accepted / 5 < 0.8
        assert found[paradigm]["n_judgments"] == n_judgments


@pytest.mark.upstream
def test_each_judged_pair_is_a_pair_of_blimp(built, upstream):
    rows = pq.read_table(built / "judgments" / "test.parquet").to_pylist()
    judged = {(row["paradigm"], row["sentence_good"], row["sentence_bad"]) for row in rows}
    released = set()
    for path in (upstream / "blimp" / "data").glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            released.add((row["UID"], row["sentence_good"], row["sentence_bad"]))
    assert len({pair for pair in judged if pair[0] != "attention_check"} & released) == 335
