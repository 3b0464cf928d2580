"""The generated Marvin & Linzen pairs: counts, one pair of every construction, the committed file."""

from collections import Counter

import pyarrow.parquet as pq
import pytest

from builders.grammar import Slot, inflect, parse_pattern

# Pairs, contexts and prefixes of each construction. They follow from the lexicon's sizes (10 and 10 persons,
# 2 speakers, 9 things, 7, 7 and 5 verb phrases, 4 verbs of liking, 6 and 2 prepositions) and were checked
# against the released pairs (github.com/bnewm0609/refining-tse, data/ML); the totals are those of the paper's
# data: 121,220 pairs, 74,160 masked contexts, 12,820 left contexts.
COUNTS = {
    "simple_agrmt": ("Simple", 2 * 10 * 7, 100, 20),
    "sent_comp": ("In a sentential complement", 4 * 2 * 3 * 10 * 7, 1_200, 240),
    "vp_coord": ("VP coordination", 2 * 10 * 7 * 6, 620, 140),
    "long_vp_coord": ("VP coordination", 2 * 10 * 5 * 4, 400, 100),
    "prep_anim": ("Across prepositional phrase", 4 * 10 * 6 * 10 * 7, 12_000, 2_400),
    "prep_inanim": ("Across prepositional phrase", 4 * 9 * 2 * 10 * 7, 5_040, 720),
    "subj_rel": ("Across subject relative clause", 4 * 10 * 4 * 10 * 7, 8_000, 1_600),
    "obj_rel_across_anim": ("Across object relative clause", 4 * 10 * 10 * 4 * 7, 8_000, 1_600),
    "obj_rel_across_inanim": ("Across object relative clause", 4 * 9 * 10 * 4 * 7, 10_080, 1_440),
    "obj_rel_no_comp_across_anim": ("Across object relative (no that)", 4 * 10 * 10 * 4 * 7, 8_000, 1_600),
    "obj_rel_no_comp_across_inanim": ("Across object relative (no that)", 4 * 9 * 10 * 4 * 7, 10_080, 1_440),
    "obj_rel_within_anim": ("In object relative clause", 4 * 10 * 10 * 4 * 7, 2_800, 400),
    "obj_rel_within_inanim": ("In object relative clause", 4 * 9 * 10 * 4 * 7, 2_520, 360),
    "obj_rel_no_comp_within_anim": ("In object relative (no that)", 4 * 10 * 10 * 4 * 7, 2_800, 400),
    "obj_rel_no_comp_within_inanim": ("In object relative (no that)", 4 * 9 * 10 * 4 * 7, 2_520, 360),
}

# Pairs of every construction, written by hand: construction, prefix, correct verb, incorrect verb, suffix.
EXAMPLES = [
    ("simple_agrmt", "The author", "laughs", "laugh", "."),
    ("simple_agrmt", "The consultants", "are", "is", " short."),
    ("sent_comp", "The bankers knew the officer", "smiles", "smile", "."),
    ("sent_comp", "The mechanic said the senators", "are", "is", " young."),
    ("vp_coord", "The senator is tall and", "is", "are", " short."),
    ("vp_coord", "The customers are old and", "swim", "swims", "."),
    (
        "long_vp_coord",
        "The pilot is twenty three years old and",
        "likes",
        "like",
        " to watch television shows.",
    ),
    (
        "long_vp_coord",
        "The authors enjoy playing tennis with colleagues and",
        "write",
        "writes",
        " in a journal every day.",
    ),
    ("prep_anim", "The farmer to the side of the parents", "laughs", "laugh", "."),
    ("prep_anim", "The teachers across from the taxi driver", "are", "is", " tall."),
    ("prep_inanim", "The paintings by the executive", "bring", "brings", " joy to people."),
    ("prep_inanim", "The movie from the guards", "interests", "interest", " people."),
    ("subj_rel", "The surgeons that love the dancer", "are", "is", " old."),
    ("subj_rel", "The officer that hates the chefs", "smiles", "smile", "."),
    ("obj_rel_across_anim", "The author that the guards like", "laughs", "laugh", "."),
    ("obj_rel_across_inanim", "The movies that the guard likes", "are", "is", " good."),
    ("obj_rel_no_comp_across_anim", "The senators the skater admires", "swim", "swims", "."),
    ("obj_rel_no_comp_across_inanim", "The poem the ministers hate", "is", "are", " unpopular."),
    ("obj_rel_within_anim", "The senators that the skater", "likes", "like", " are young."),
    ("obj_rel_within_inanim", "The show that the architects", "love", "loves", " brings joy to people."),
    ("obj_rel_no_comp_within_anim", "The pilot the assistants", "admire", "admires", " swims."),
    ("obj_rel_no_comp_within_inanim", "The novels the parent", "hates", "hate", " are popular."),
]


@pytest.fixture(scope="module")
def rows(root) -> list[dict]:
    """Those that are committed: `test_clams_templates.py` holds that they are what the builder returns."""
    return pq.read_table(root / "datasets/agreement_templates/marvin_linzen/test.parquet").to_pylist()


def test_counts_per_construction(rows):
    pairs = Counter(row["construction"] for row in rows)
    contexts = Counter(
        construction for construction, *_ in {(r["construction"], r["context_id"]) for r in rows}
    )
    prefixes = Counter(construction for construction, _ in {(r["construction"], r["prefix"]) for r in rows})
    group = {row["construction"]: row["group"] for row in rows}
    assert {c: (group[c], pairs[c], contexts[c], prefixes[c]) for c in pairs} == COUNTS
    assert len(set(group.values())) == 9


def test_totals_do_not_depend_on_the_unit_of_uniqueness(rows):
    assert len(rows) == len({(r["sentence_good"], r["sentence_bad"]) for r in rows}) == 121_220
    assert len({(r["prefix"], r["suffix"]) for r in rows}) == len({r["context_id"] for r in rows}) == 74_160
    assert len({r["prefix"] for r in rows}) == 12_820
    assert [sum(count[i] for count in COUNTS.values()) for i in (1, 2, 3)] == [121_220, 74_160, 12_820]


def test_a_context_id_stands_for_one_context(rows):
    assert len({(r["context_id"], r["prefix"], r["suffix"], r["number"]) for r in rows}) == 74_160
    assert [row["pair_id"] for row in rows] == list(range(len(rows)))


def test_sentences_are_made_of_their_parts(rows):
    for row in rows:
        assert row["sentence_good"] == row["prefix"] + " " + row["form_correct"] + row["suffix"]
        assert row["sentence_bad"] == row["prefix"] + " " + row["form_incorrect"] + row["suffix"]
        assert row["sentence_good"][0].isupper() and row["sentence_good"].endswith(".")
        assert row["prefix"].strip() == row["prefix"] and row["suffix"][0] in " ."
        singular, plural = row["form_correct"], row["form_incorrect"]
        if row["number"] == "plural":
            singular, plural = plural, singular
        assert (singular, plural) == ("is", "are") or singular == plural + "s"


@pytest.mark.parametrize(("construction", "prefix", "correct", "incorrect", "suffix"), EXAMPLES)
def test_example_of_a_construction(rows, construction, prefix, correct, incorrect, suffix):
    found = [
        row
        for row in rows
        if (row["prefix"], row["form_correct"], row["suffix"]) == (prefix, correct, suffix)
    ]
    assert [(row["construction"], row["form_incorrect"]) for row in found] == [(construction, incorrect)]


def test_every_construction_has_an_example_and_half_of_it_is_singular(rows):
    assert {example[0] for example in EXAMPLES} == set(COUNTS)
    singular = Counter(row["construction"] for row in rows if row["number"] == "singular")
    assert all(2 * singular[name] == count[1] for name, count in COUNTS.items())


def test_patterns():
    assert parse_pattern("a <x:g>! <y>", {"x": ["is|are"], "y": ["b"]}) == (
        Slot(("a",)),
        Slot(("is|are",), "g", True),
        Slot(("b",)),
    )
    with pytest.raises(KeyError, match="unknown"):
        parse_pattern("the <unknown>", {})
    assert inflect("brings|bring joy to people", "plural") == "bring joy to people"


def test_loads_from_the_repository_root(root, tmp_path, monkeypatch):
    from datasets import load_dataset

    monkeypatch.chdir(root)
    loaded = load_dataset(
        "datasets/agreement_templates", "marvin_linzen", split="test", cache_dir=str(tmp_path)
    )
    assert len(loaded) == 121_220
    assert loaded[0]["sentence_good"] == "The author laughs."
