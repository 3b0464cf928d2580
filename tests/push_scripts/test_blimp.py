"""BLiMP's agreement pairs, and the judgments that validated it: how a release is read, and what the paper states."""

import json
from collections import Counter

import pandas as pd
import pyarrow as pa
import pytest

from builders import blimp_agreement
from builders.blimp_agreement import PARADIGMS, derive_number, split_pair
from builders.blimp_human_judgments import DROPPED, accuracy_by_paradigm, build, read_judgments
from tse_scorers.io.bundle import metric_modules

PAIRS = (
    "is are, isn't aren't, was were, has have, hasn't haven't, does do, doesn't don't, goes go, embarrasses embarrass, "
    "watches watch, vanishes vanish, fixes fix, worries worry, enjoys enjoy, loses lose, isn't weren't, is were"
)


@pytest.mark.parametrize("forms", PAIRS.split(", "))
def test_number_comes_from_the_two_forms(forms):
    singular, plural = forms.split()
    assert (derive_number(singular, plural), derive_number(plural, singular)) == ("singular", "plural")


@pytest.mark.parametrize("forms", ["is was", "have haven't", "sang sing", "pass passed"])
def test_forms_without_a_contrast_of_number_are_refused(forms):
    with pytest.raises(ValueError, match="singular and a plural form"):
        derive_number(*forms.split())


def test_gap_is_the_word_that_differs():
    pair = split_pair("Those boys look like Ann.", "Those boys looks like Ann.")
    assert pair[:5] == ("Those boys", " like Ann.", "look", "looks", "plural")
    for bad in ("A guest salutes.", "That guest salute.", "A guest who salute.", "A guest salute"):
        with pytest.raises(ValueError, match="differ in one word"):
            split_pair("A guest salutes.", bad)


@pytest.fixture(scope="module")
def tables(upstream) -> dict[str, pd.DataFrame]:
    return {config: splits["test"].to_pandas() for config, splits in blimp_agreement.build(upstream).items()}


@pytest.mark.upstream
def test_agreement_pairs_of_both_configs(tables):
    for rows in tables.values():
        assert rows["construction"].value_counts().to_dict() == dict.fromkeys(PARADIGMS, 1000)
        assert (rows["sentence_good"] == rows["prefix"] + " " + rows["form_correct"] + rows["suffix"]).all()
        assert (rows["sentence_bad"] == rows["prefix"] + " " + rows["form_incorrect"] + rows["suffix"]).all()
        assert (rows["context_id"].nunique(), rows["prefix"].nunique()) == (3993, 2768)
    (one,) = tables["blimp"].query("form_incorrect == 'singing'").itertuples()  # no pair of number
    assert (one.form_correct, one.number) == ("sing", "plural")
    for paradigm in PARADIGMS:
        first, second = (
            set(rows.loc[rows["construction"] == paradigm, "sentence_good"]) for rows in tables.values()
        )
        assert len(first & second) == (
            0 if paradigm == "distractor_agreement_relative_clause" else len(first)
        )


@pytest.mark.upstream
def test_derived_number_against_the_label_of_the_copy(upstream, tables):
    """The copy's labels (-1 singular, -2 plural) agree everywhere, also where the plural ends in s."""
    labels = [
        json.loads(line)["label"]
        for paradigm in PARADIGMS
        for line in (upstream / f"refining-tse/data/blimp/{paradigm}.jsonl").read_text().splitlines()
    ]
    rows = tables["newman2021"]
    assert rows["number"].tolist() == [{-1: "singular", -2: "plural"}[label] for label in labels]
    assert rows.query("number == 'plural'")["form_correct"].str.endswith("s").sum() == 38


SENTENCES = ["Mitchell's grandfathers are forgotten.", "Mitchell's grandfathers are concurred."]


def read(condition="passive_2ans1", answer="1. Mitchell", **changes):
    """The judgments of an assignment as in the release, with the same item five times."""
    row = {
        "AssignmentStatus": "Approved",
        "anonCode": "42",
        "Input.list": "2",
        "Answer.useragent": "Mozilla/5.0",
    }
    row |= {"Answer.english": "1", "Answer.native": "NA", "Answer.navtive": "1"}
    for item in range(1, 6):
        row |= {f"Input.item_{item}_condition": condition, f"Answer.Choice{item}": answer}
        row |= {f"Input.field_{item}_{side}": SENTENCES[side - 1] for side in (1, 2)}
    return list(read_judgments([row | changes]))


def test_an_assignment_is_read():
    """The released answers break off at the first apostrophe: both begin with `Mitchell`."""
    assert read()[0] == {
        "paradigm": "passive_2", "sentence_good": SENTENCES[0], "sentence_bad": SENTENCES[1], "good_first": True,
        "correct": True, "worker": 42, "list_id": 2, "item": 1, "attention_check": False, "rejected": False,
        "eligible": True,
    }  # fmt: skip
    assert not read(answer="2. Mitchell")[0]["correct"]
    second = read(condition="passive_2ans2")[0]
    assert (second["sentence_good"], second["good_first"], second["correct"]) == (SENTENCES[1], False, False)
    assert [row["item"] for row in read(**{"Answer.Choice2": "NA"})] == [1, 3, 4, 5]
    check = read(condition="attnchkans1", AssignmentStatus="Rejected")[0]
    assert (check["paradigm"], check["attention_check"], check["rejected"]) == ("attention_check", True, True)
    for english, native, navtive, eligible in ("1NN1", "00N0", "0N11", "10N1"):
        boxes = zip(("english", "native", "navtive"), (english, native, navtive), strict=True)
        changes = {f"Answer.{box}": {"N": "NA"}.get(value, value) for box, value in boxes}
        assert read(**changes)[0]["eligible"] == (eligible == "1")


def judgments(answers, pair=0, **changes):
    """One judgment per answer, each by another worker."""
    row = {"paradigm": "p", "sentence_good": f"good {pair}", "sentence_bad": f"bad {pair}", "eligible": True}
    row |= {"rejected": False, "attention_check": False} | changes
    return [row | {"correct": answer, "worker": worker} for worker, answer in enumerate(answers)]


def test_accuracy_is_the_mean_of_the_pairs_and_an_even_split_no_majority():
    """Pair 0: 2 of 3 right (a majority); pair 1: 1 of 2 (even). Individual (2/3 + 1/2) / 2."""
    rows = judgments([True, True, False]) + judgments([True, False], pair=1)
    for excluded in ({"eligible": False}, {"rejected": True}, {"attention_check": True}):
        rows += judgments([False] * 5, **excluded)
    (row,) = accuracy_by_paradigm(rows)
    assert row["individual_accuracy"] == pytest.approx(7 / 12) and row["majority_accuracy"] == 0.5
    assert (row["n_pairs"], row["n_judgments"], row["n_workers"]) == (2, 5, 3)


@pytest.fixture(scope="module")
def golden(root):
    path = root / "tests" / "golden" / "blimp_human_validation_summary.json"
    return json.loads(path.read_text(encoding="utf-8"))["paradigms"]


def test_committed_accuracy_is_the_published_one(root, golden):
    """88.6 % individual and 96.4 % majority (323 of 335 pairs): Warstadt et al. (2020), section 3.4."""
    table = pd.read_parquet(root / "datasets/blimp_human_judgments/accuracy/test.parquet")
    assert set(table.paradigm) == set(metric_modules("minimal_pair_accuracy").definitions.BLIMP_PARADIGMS)
    assert round(table.individual_accuracy.mean() * 100, 1) == 88.6
    assert round(table.majority_accuracy.mean() * 100, 1) == 96.4
    assert sum(table.majority_accuracy * table.n_pairs) == pytest.approx(323)
    for row in table.itertuples():
        accepted, individual, n_judgments = golden[row.paradigm]
        assert row.individual_accuracy == pytest.approx(individual, abs=1e-12)
        assert (row.majority_accuracy, row.n_judgments) == (accepted / 5, n_judgments)


@pytest.mark.upstream
def test_the_judgments_are_all_there(upstream, golden):
    """1,744 assignments of five items, two of them unanswered; each judged pair is a pair of BLiMP."""
    tables: dict[str, pa.Table] = {config: splits["test"] for config, splits in build(upstream).items()}
    rows, dropped = (tables[name].to_pandas() for name in ("judgments", "judgments_dropped_paradigms"))
    assert len(rows) + len(dropped) == 1744 * 5 - 2 and set(dropped["paradigm"]) == set(DROPPED)
    assert rows.attention_check.sum() == 1744
    assert rows[rows.attention_check & ~rows.rejected].correct.all()
    assert rows[~rows.eligible].worker.nunique() == 1
    counted = rows[~rows.attention_check & ~rows.rejected]
    assert round(counted.correct.mean() * 100, 1) == 88.6
    judged = Counter(
        rows[~rows.attention_check][["paradigm", "sentence_good", "sentence_bad"]].itertuples(
            index=False, name=None
        )
    )
    released = {
        (row["UID"], row["sentence_good"], row["sentence_bad"])
        for path in (upstream / "blimp" / "data").glob("*.jsonl")
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    }
    assert len(judged) == 335 and set(judged) <= released
    # The summary has two of the three dropped paradigms; both miss the four of five pairs that were needed.
    found = {row["paradigm"]: row for row in accuracy_by_paradigm(dropped.to_dict("records"))}
    for paradigm in set(DROPPED) & set(golden):
        accepted, individual, n_judgments = golden[paradigm]
        assert found[paradigm]["individual_accuracy"] == pytest.approx(individual, abs=1e-12)
        assert found[paradigm]["majority_accuracy"] == accepted / 5 < 0.8
        assert found[paradigm]["n_judgments"] == n_judgments
