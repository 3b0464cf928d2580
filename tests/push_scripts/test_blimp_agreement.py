"""The BLiMP agreement pairs: the gap, the number from the two forms, the counts of the real files."""

import json
from collections import Counter

import pyarrow as pa
import pytest

from build_datasets import main
from builders import SourceMissing
from builders.blimp_agreement import PARADIGMS, build, derive_number, split_pair


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("is", "are"),
        ("isn't", "aren't"),
        ("was", "were"),
        ("wasn't", "weren't"),
        ("has", "have"),
        ("hasn't", "haven't"),
        ("does", "do"),
        ("doesn't", "don't"),
        ("goes", "go"),
        ("embarrasses", "embarrass"),
        ("passes", "pass"),
        ("impresses", "impress"),
        ("discusses", "discuss"),
        ("watches", "watch"),
        ("vanishes", "vanish"),
        ("fixes", "fix"),
        ("worries", "worry"),
        ("enjoys", "enjoy"),
        ("loses", "lose"),
        # these differ in tense as well
        ("isn't", "weren't"),
        ("wasn't", "aren't"),
        ("is", "were"),
        ("was", "are"),
    ],
)
def test_number_comes_from_the_two_forms(singular, plural):
    assert derive_number(singular, plural) == "singular"
    assert derive_number(plural, singular) == "plural"


@pytest.mark.parametrize(
    ("one", "other"), [("is", "was"), ("have", "haven't"), ("sang", "sing"), ("pass", "passed")]
)
def test_forms_without_a_contrast_of_number_are_refused(one, other):
    with pytest.raises(ValueError, match="singular and a plural form"):
        derive_number(one, other)


def test_gap_is_the_word_that_differs():
    assert split_pair("Those boys look like Ann.", "Those boys looks like Ann.")[:5] == (
        "Those boys", " like Ann.", "look", "looks", "plural",
    )  # fmt: skip
    assert split_pair("A guest salutes.", "A guest salute.")[:5] == (
        "A guest",
        ".",
        "salutes",
        "salute",
        "singular",
    )
    for bad in ("A guest salutes.", "That guest salute.", "A guest who salute.", "A guest salute"):
        with pytest.raises(ValueError, match="differ in one word"):
            split_pair("A guest salutes.", bad)


def test_without_upstream_files_it_says_where_they_come_from(tmp_path, capsys):
    with pytest.raises(SourceMissing, match=r"refining-tse at commit db423f8.*--source.*--download"):
        build(None)
    assert main(["blimp_agreement", "--source", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert "distractor_agreement_relational_noun.jsonl" in capsys.readouterr().err


@pytest.fixture(scope="module")
def tables(upstream) -> dict[str, dict[str, pa.Table]]:
    return build(upstream)


@pytest.mark.upstream
def test_rows_of_both_configs(tables):
    assert set(tables) == {"newman2021", "blimp"}
    for splits in tables.values():
        rows = splits["test"].to_pylist()
        assert Counter(row["construction"] for row in rows) == dict.fromkeys(PARADIGMS, 1000)
        assert {row["group"] for row in rows} == {"BLiMP"}
        for row in rows:
            assert row["sentence_good"] == row["prefix"] + " " + row["form_correct"] + row["suffix"]
            assert row["sentence_bad"] == row["prefix"] + " " + row["form_incorrect"] + row["suffix"]
            assert row["sentence_good"][0].isupper() and row["sentence_good"].endswith(".")
        assert len({row["context_id"] for row in rows}) == 3993
        assert len({row["prefix"] for row in rows}) == 2768
        assert len({(row["prefix"], row["number"]) for row in rows}) == 2779


@pytest.mark.upstream
def test_configs_differ_in_one_paradigm_only(tables):
    pairs = {
        (config, paradigm): {
            (row["sentence_good"], row["sentence_bad"])
            for row in splits["test"].to_pylist()
            if row["construction"] == paradigm
        }
        for config, splits in tables.items()
        for paradigm in PARADIGMS
    }
    for paradigm in PARADIGMS:
        shared = len(pairs["newman2021", paradigm] & pairs["blimp", paradigm])
        assert shared == (0 if paradigm == "distractor_agreement_relative_clause" else 1000)


@pytest.mark.upstream
def test_derived_number_against_the_label_of_the_copy(upstream, tables):
    """The copy's labels (-1 singular, -2 plural) agree everywhere, also where the plural ends in s."""
    labels = [
        json.loads(line)["label"]
        for paradigm in PARADIGMS
        for line in (upstream / f"refining-tse/data/blimp/{paradigm}.jsonl").read_text().splitlines()
    ]
    rows = tables["newman2021"]["test"].to_pylist()
    assert [row["number"] for row in rows] == [{-1: "singular", -2: "plural"}[label] for label in labels]
    plurals_in_s = [row for row in rows if row["number"] == "plural" and row["form_correct"].endswith("s")]
    assert len(plurals_in_s) == 38


@pytest.mark.upstream
def test_one_pair_of_blimp_is_none_of_number(tables):
    (row,) = [r for r in tables["blimp"]["test"].to_pylist() if r["form_incorrect"] == "singing"]
    assert (row["form_correct"], row["number"]) == ("sing", "plural")
