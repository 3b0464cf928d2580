"""The verb lemmas: inflection rules, both configs, the card, and what the release and the paper hold."""

import csv
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import build_datasets
from builders import verb_lemmas
from builders.inflection import is_regular, third_person_plural, third_person_singular

# Every released pair that the rules do not give, with what they give: lemma_id -> (released, rules, reason).
DISAGREEMENTS = {
    707: (("fine-tunines", "fine-tune"), ("fine-tunes", "fine-tune"), "the released form is no word"),
    821: (("haves", "have"), ("has", "have"), "irregular; haves is a noun"),
    1295: (("quizes", "quiz"), ("quizzes", "quiz"), "z doubles after a single vowel"),
    1690: (("stomaches", "stomach"), ("stomachs", "stomach"), "ch is pronounced k"),
    1932: (("wooes", "woo"), ("woos", "woo"), "o after a vowel takes -s"),
    1949: (("was", "were"), ("is", "are"), "past forms of be"),
}
# The 18 lemmas of the paper's Appendix B that were released without inflections.
APPENDIX_ONLY = set(
    "associate born breathe click fuck lack nod pray score scream shall smell smile stare suck surround wake "
    "wan".split()
)


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    return {config: splits["train"] for config, splits in verb_lemmas.build(None).items()}


@pytest.fixture(scope="module")
def released(tables) -> list[dict]:
    return tables["released"].to_pylist()


@pytest.fixture(scope="module")
def clean(tables) -> list[dict]:
    return tables["clean"].to_pylist()


@pytest.mark.parametrize(
    ("lemma", "singular"),
    [
        ("be", "is"),
        ("have", "has"),
        ("do", "does"),
        ("go", "goes"),
        ("undo", "undoes"),
        ("say", "says"),
        ("walk", "walks"),
        ("like", "likes"),
        ("lie", "lies"),
        ("see", "sees"),
        ("buy", "buys"),
        ("cry", "cries"),
        ("soliloquy", "soliloquies"),
        ("pass", "passes"),
        ("focus", "focuses"),
        ("gas", "gasses"),
        ("fix", "fixes"),
        ("wish", "wishes"),
        ("watch", "watches"),
        ("soothe", "soothes"),
        ("psych", "psychs"),
        ("buzz", "buzzes"),
        ("waltz", "waltzes"),
        ("quiz", "quizzes"),
        ("whiz", "whizzes"),
        ("veto", "vetoes"),
        ("photo", "photos"),
        ("video", "videos"),
        ("ski", "skis"),
        ("co-exist", "co-exists"),
        ("pre-try", "pre-tries"),
        ("back up", "backs up"),
        ("have to", "has to"),
        ("co-have in mind", "co-has in mind"),
        ("naïf", "naïfs"),
    ],
)
def test_third_person_singular(lemma, singular):
    assert third_person_singular(lemma) == singular


def test_third_person_plural_is_the_lemma_except_for_be():
    assert [third_person_plural(lemma) for lemma in ("be", "be off", "have", "re-do")] == [
        "are",
        "are off",
        "have",
        "re-do",
    ]
    assert [is_regular(lemma) for lemma in ("be", "have", "do", "say", "stomach")] == [
        False,
        False,
        True,
        True,
        True,
    ]


@settings(deadline=None, derandomize=True)
@given(st.from_regex(r"[a-z]{1,12}(-[a-z]{1,8})?( [a-z]{1,8})?", fullmatch=True))
def test_the_singular_is_the_inflected_word_longer_and_ending_in_s(lemma):
    """Only the inflected word changes; it ends in one more -s and keeps all but a final y."""
    singular, (first, *rest) = third_person_singular(lemma), lemma.split(" ")
    inflected, *untouched = singular.split(" ")
    assert untouched == rest
    assert inflected.endswith("s")
    if is_regular(lemma):
        assert inflected.startswith(first.removesuffix("y"))
        assert 0 < len(inflected) - len(first) <= 3


@pytest.mark.parametrize("lemma", ["", " ", "walk ", "walk  on", "re--do", "walk!", "4get", "a_b"])
def test_what_is_no_lemma_is_refused(lemma):
    for function in (third_person_singular, third_person_plural, is_regular):
        with pytest.raises(ValueError, match="expected a verb's base form"):
            function(lemma)


def test_a_lemma_must_be_a_string():
    with pytest.raises(TypeError, match="NoneType"):
        third_person_singular(None)


def test_rules_disagree_with_the_release_exactly_where_listed(released):
    found = {}
    for row in released:
        rules = (third_person_singular(row["lemma"]), third_person_plural(row["lemma"]))
        if rules != (row["singular"], row["plural"]):
            found[row["lemma_id"]] = ((row["singular"], row["plural"]), rules)
    assert found == {lemma_id: listed[:2] for lemma_id, listed in DISAGREEMENTS.items()}
    assert all(released[lemma_id]["flag"] for lemma_id in DISAGREEMENTS)


def test_released_has_every_row_once(released):
    assert [row["lemma_id"] for row in released] == list(range(1951))
    for column in ("singular", "plural"):
        assert len({row[column] for row in released}) == 1951
    assert [lemma for lemma, n in Counter(row["lemma"] for row in released).items() if n > 1] == ["be"]
    assert {row["sources"] for row in released} == {"coca_or_penn_treebank"}
    assert [row["plural"] for row in released if not row["regular"]] == ["are", "have", "were"]


def test_flags(released):
    assert Counter(row["flag"] for row in released if row["flag"]) == {
        "not_a_verb": 9,
        "wrong_inflection": 5,
        "inflected_lemma": 5,
        "misspelt": 3,
        "duplicate": 2,
        "modal": 1,
    }
    assert all(row["note"] for row in released if row["flag"])
    assert sum(row["note"] is not None for row in released if not row["flag"]) == 21  # kept, with a reason
    wrong = {row["lemma_id"] for row in released if row["flag"] == "wrong_inflection"}
    assert wrong == set(DISAGREEMENTS) - {1949}  # was/were is flagged as past forms


def test_what_notes_say_of_other_rows_holds(released):
    """A note that names another lemma as (not) on the list can be checked, and is."""
    verbs = {row["lemma"]: row["flag"] for row in released}
    on_the_list = (
        "accommodate respond allow increase refocus be buy grow plead escape speak reestablish stanch lose"
    ).split()
    assert all(lemma in verbs and verbs[lemma] is None for lemma in on_the_list if lemma != "be")
    assert released[151]["lemma"] == "be" and released[151]["flag"] is None
    assert not {"excoriate", "shear", "outsmart", "shoehorn"} & set(verbs)


def test_clean_is_released_without_the_faulty_pairs(released, clean):
    by_id = {row["lemma_id"]: row for row in clean}
    corrected = {i: row for i, row in by_id.items() if row["flag"]}
    assert len(clean) == 1933
    assert [row for row in clean if not row["flag"]] == [row for row in released if not row["flag"]]
    assert {(row["lemma"], row["singular"], row["plural"]) for row in corrected.values()} == {
        ("excoriate", "excoriates", "excoriate"),
        ("fine-tune", "fine-tunes", "fine-tune"),
        ("have", "has", "have"),
        ("quiz", "quizzes", "quiz"),
        ("shear", "shears", "shear"),
        ("stomach", "stomachs", "stomach"),
        ("woo", "woos", "woo"),
    }
    assert {row["flag"] for row in corrected.values()} == {"misspelt", "wrong_inflection", "inflected_lemma"}


def test_clean_pairs_are_unique_and_what_the_rules_give(clean):
    for column in ("lemma_id", "lemma", "singular", "plural"):
        assert len({row[column] for row in clean}) == len(clean)
    forms = [form for row in clean for form in (row["singular"], row["plural"])]
    assert len(set(forms)) == len(forms)  # no form is right for one verb and wrong for another
    for row in clean:
        assert row["singular"] == third_person_singular(row["lemma"])
        assert row["plural"] == third_person_plural(row["lemma"])
    assert [row["lemma"] for row in clean if not row["regular"]] == ["be", "have"]
    assert sum(row["past_homograph"] for row in clean) == 37


@pytest.mark.parametrize("config", ["released", "clean"])
def test_committed_parquet_is_what_the_build_writes(config, root, tmp_path, capsys):
    assert build_datasets.main(["verb_lemmas", "--out", str(tmp_path)]) == 0
    built = tmp_path / "verb_lemmas" / config / "train.parquet"
    committed = root / "datasets" / "verb_lemmas" / config / "train.parquet"
    assert pq.read_table(built).equals(pq.read_table(committed))
    if pq.read_metadata(built).created_by == pq.read_metadata(committed).created_by:
        assert built.read_bytes() == committed.read_bytes()


@pytest.mark.parametrize("config", ["released", "clean"])
def test_loads_from_the_repository_root(config, root, tables, tmp_path, monkeypatch):
    from datasets import load_dataset

    monkeypatch.chdir(root)
    loaded = load_dataset("datasets/verb_lemmas", config, split="train", cache_dir=str(tmp_path))
    assert loaded.to_list() == tables[config].to_pylist()


def test_card_states_the_true_features_and_sizes(root, tables):
    folder = root / "datasets" / "verb_lemmas"
    card = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert [config["config_name"] for config in card["configs"]] == list(tables)
    assert list(tables) == ["released", "clean", "german", "french", "russian", "hebrew", "excluded"]
    dtypes = {"int32": pa.int32(), "string": pa.string(), "bool": pa.bool_()}
    for info in card["dataset_info"]:
        table = tables[info["config_name"]]
        assert pa.schema([(f["name"], dtypes[f["dtype"]]) for f in info["features"]]) == table.schema
        assert info["splits"][0]["num_examples"] == table.num_rows
        assert info["download_size"] == (folder / info["config_name"] / "train.parquet").stat().st_size


def test_card_lists_every_flagged_pair(root, released, clean):
    text = (root / "datasets" / "verb_lemmas" / "README.md").read_text(encoding="utf-8")
    kept = {row["lemma_id"]: row for row in clean}
    rows = [line for line in text.splitlines() if line.startswith("| ") and line.split()[1].isdigit()]
    expected = []
    for row in released:
        if row["flag"]:
            right = kept.get(row["lemma_id"])
            in_clean = f"*{right['singular']}, {right['plural']}*" if right else "left out"
            pair = f"{row['singular']}, {row['plural']}"
            expected.append(f"| {row['lemma_id']} | {pair} | `{row['flag']}` | {in_clean} |")
    assert [line[: len(start)] for line, start in zip(rows, expected, strict=True)] == expected


@pytest.mark.upstream
def test_released_equals_the_upstream_file(upstream, released):
    """Row for row; and the upstream index is the same in every row, so that nothing may be keyed by it."""
    path = upstream / "refining-tse" / "data" / "verbs" / "combined_verb_list.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["idx"] for row in rows} == {"_"}
    assert [(row["sing"], row["plur"]) for row in rows] == [
        (row["singular"], row["plural"]) for row in released
    ]


@pytest.mark.upstream
def test_appendix_holds_the_released_lemmas_and_eighteen_more(upstream, released):
    """What the card says about Appendix B; there, one comma is missing and a column header is a lemma."""
    paper = upstream.parent / "papers" / "newman2021_refining_tse.txt"
    if not paper.is_file():
        pytest.skip(f"needs the paper's text, not found at {paper}")
    lines = paper.read_text(encoding="utf-8").splitlines()
    printed = next(line for line in lines if line.startswith("abandon, abate,"))
    lemmas = printed.replace("mandate maneuver", "mandate, maneuver").split(", ")
    assert len(lemmas) == 1970
    assert set(lemmas) - {row["plural"] for row in released} == APPENDIX_ONLY | {"plur"}
    assert {row["plural"] for row in released} <= set(lemmas)
