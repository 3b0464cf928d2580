"""Units from tables: each of the 121,220 agreement pairs has its subject; each BLiMP pair a critical word."""

import pandas as pd
import pytest
import yaml
from tse_scorers.suites.agreement.subjects import (
    SUBJECT_RULES,
    subject_clusters,
    subject_nouns,
    verb_lemmas,
)


@pytest.fixture(scope="module")
def pairs(root):
    table = pd.read_parquet(root / "datasets" / "agreement_templates" / "marvin_linzen" / "test.parquet")
    return table.assign(subject=subject_nouns(table), cluster_label=subject_clusters(table))


@pytest.fixture(scope="module")
def subject_class(root):
    """Construction -> items of the class from which the grammar takes its tested subject."""
    grammar = yaml.safe_load(
        (root / "push_scripts/sources/marvin_linzen_grammar.yaml").read_text(encoding="utf-8")
    )
    found = {}
    for name, entry in grammar["constructions"].items():
        nouns = [word for word in entry["pattern"].split() if "subject" in word and "predicate" not in word]
        found[name] = grammar["lexicon"][nouns[0].strip("<>").split(":")[0]]
    return found


def _forms(item, number):
    """`taxi driver|drivers` -> taxi driver / taxi drivers."""
    *first, last = item.split(" ")
    return " ".join([*first, last.split("|")[number == "plural"]])


def test_every_construction_has_a_rule(subject_class):
    assert set(SUBJECT_RULES) == set(subject_class)


def test_every_pair_has_its_subject_in_the_prefix(pairs, subject_class):
    assert len(pairs) == 121_220
    contexts = pairs.drop_duplicates(["prefix", "subject"])
    assert all(
        f" {noun} " in f"{prefix} "
        for prefix, noun in zip(contexts["prefix"], contexts["subject"], strict=True)
    )
    for (construction, number), own in pairs.groupby(["construction", "number"]):
        assert set(own["subject"]) == {_forms(item, number) for item in subject_class[construction]}


def test_clusters_are_the_grammars_nouns(pairs, subject_class):
    for construction, own in pairs.groupby("construction"):
        singulars = {_forms(item, "singular") for item in subject_class[construction]}
        assert set(own["cluster_label"]) == singulars and len(singulars) == len(subject_class[construction])
    assert pairs["cluster_label"].nunique() == 10 + 10 + 9


def test_subject_is_the_one_that_the_verb_agrees_with():
    rows = {
        "obj_rel_within_anim": ("The pilots that the taxi driver", "taxi driver"),
        "obj_rel_no_comp_within_inanim": ("The movies the guard", "guard"),
        "obj_rel_across_anim": ("The pilots that the taxi driver likes", "pilots"),
        "prep_anim": ("The farmers to the side of the parent", "farmers"),
        "sent_comp": ("The mechanics said the surgeon", "surgeon"),
    }
    table = pd.DataFrame([{"construction": name, "prefix": prefix} for name, (prefix, _) in rows.items()])
    assert subject_nouns(table).tolist() == [noun for _, noun in rows.values()]


def test_own_data_fall_back_to_the_prefix_or_give_their_clusters():
    own = pd.DataFrame(
        {"construction": ["mine", "simple_agrmt"], "prefix": ["Dogs", "Cats"], "number": "plural"}
    )
    assert subject_nouns(own).tolist() == ["Dogs", "Cats"]
    assert subject_clusters(own).tolist() == ["Dogs", "Cats"]
    assert subject_clusters(own.assign(cluster=["7", "8"])).tolist() == ["7", "8"]
    assert subject_nouns(own.assign(cluster=["7", None])).tolist() == ["7", "Cats"]


def test_rows_keep_their_index(pairs):
    some = pairs.sample(50, random_state=0)
    assert subject_nouns(some).equals(some["subject"].rename("subject"))


def test_verbs_are_named_in_the_singular(pairs):
    verbs = verb_lemmas(pairs)
    assert verbs.nunique() == 13 and set(verbs[pairs["construction"] == "simple_agrmt"]) == {
        "laughs", "swims", "smiles", "is",
    }  # fmt: skip
