"""German sentences: declension, design, unambiguity, and parity with the released data set."""

import csv
import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import build_datasets
from builders import german_argument_structure, german_grammar, german_human_judgments
from builders import upstream as pinned
from builders.german_grammar import Noun, decline, plural_reading, read_lexicon, read_templates, sentence
from tse_scorers import load_data
from tse_scorers.io.bundle import bundle_path

LEXICON = read_lexicon()


@pytest.fixture(scope="module")
def ours() -> pd.DataFrame:
    return load_data("german_argument_structure", "ours").to_pandas()


@pytest.fixture(scope="module")
def released(upstream) -> pd.DataFrame:
    path = pinned.locate(upstream, german_argument_structure.RELEASED)
    return pd.read_csv(path, dtype={"positions": str})


@pytest.fixture(scope="module")
def released_templates(upstream) -> list[german_grammar.Template]:
    path = pinned.locate(upstream, "probing-LM-syntax/src/data/templates.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return [
            german_grammar.Template(
                row["principal"],
                tuple((row[f"art{i}"], row[f"noun{i}"]) for i in (1, 2, 3)),
                row["verb"],
                row["all_animate"] == "1",
            )
            for row in csv.DictReader(file)
        ]


@pytest.mark.parametrize(
    ("article", "noun", "nominative", "dative", "accusative"),
    [
        ("der", "Koch", "der Koch", "dem Koch", "den Koch"),
        ("ein", "Löffel", "ein Löffel", "einem Löffel", "einen Löffel"),
        ("ein", "Student", "ein Student", "einem Studenten", "einen Studenten"),
        ("der", "Bauer", "der Bauer", "dem Bauern", "den Bauern"),
        ("der", "Nachbar", "der Nachbar", "dem Nachbarn", "den Nachbarn"),
        ("sein", "Kollege", "sein Kollege", "seinem Kollegen", "seinen Kollegen"),
        ("der", "Junge", "der Junge", "dem Jungen", "den Jungen"),
        ("ein", "Held", "ein Held", "einem Helden", "einen Helden"),
        ("der", "Herr", "der Herr", "dem Herrn", "den Herrn"),
        ("der", "Fremder", "der Fremde", "dem Fremden", "den Fremden"),
        ("ein", "Fremder", "ein Fremder", "einem Fremden", "einen Fremden"),
        ("ihr", "Chef", "ihr Chef", "ihrem Chef", "ihren Chef"),
        ("unser", "Beamter", "unser Beamter", "unserem Beamten", "unseren Beamten"),
    ],
)
def test_declension(article, noun, nominative, dative, accusative):
    assert [decline(article, LEXICON[noun], case) for case in "NDA"] == [nominative, dative, accusative]


@given(st.sampled_from(sorted(LEXICON)), st.sampled_from(("der", *german_grammar.EIN_WORDS)))
def test_cases_of_every_noun_phrase_differ(noun, article):
    assert len({decline(article, LEXICON[noun], case) for case in "NDA"}) == 3


def test_unknown_article_is_an_error():
    with pytest.raises(ValueError, match="'die'"):
        decline("die", LEXICON["Koch"], "N")


@pytest.mark.parametrize(
    ("article", "noun", "case", "reading"),
    [
        ("der", "Student", "A", "dative"),  # den Studenten
        ("sein", "Student", "A", "dative"),  # seinen Studenten
        ("ein", "Student", "A", None),
        ("der", "Herr", "A", None),  # den Herrn, but den Herren
        ("der", "Orden", "A", "dative"),
        ("der", "Fremder", "A", "dative"),
        ("der", "Fremder", "N", None),  # der Fremde, but der Fremden
        ("der", "Fahrer", "N", "genitive"),
        ("der", "Fahrer", "A", None),  # den Fahrer, but den Fahrern
        ("sein", "Fahrer", "N", None),  # sein Fahrer, but seiner Fahrer
        ("der", "Student", "N", None),
        ("der", "Koch", "N", None),
        ("der", "Chef", "A", None),
        ("der", "Betrug", "A", None),
    ],
)
def test_plural_readings(article, noun, case, reading):
    assert plural_reading(article, LEXICON[noun], case) == reading


def test_design(ours):
    assert len(ours) == 7200 and ours["grammatical"].sum() == 1800
    assert ours["sentence"].is_unique and ours["sentence_id"].is_unique
    assert ours["index"].tolist() == list(range(7200))
    assert ours.groupby("template").size().eq(144).all() and ours["template"].nunique() == 50
    pattern = ours.groupby(["cases", "positions"]).size()
    assert len(pattern) == 144 and pattern.eq(50).all()
    assert ours.groupby("template")["animated"].first().sum() == 15


def test_columns_that_follow_from_the_cases(ours):
    right, wrong = ours[ours["grammatical"]], ours[~ours["grammatical"]]
    assert (right["case_order"] == right["cases"]).all() and right["case_order"].nunique() == 6
    assert right.groupby(["case_order", "role_assignment"]).size().eq(50).all()
    assert right[["doubled_case", "missing_case"]].isna().all(axis=None)
    assert wrong[["case_order", "role_assignment"]].isna().all(axis=None)
    for row in wrong.drop_duplicates("cases").itertuples():
        assert row.cases.count(row.doubled_case) == 2
        assert row.missing_case not in row.cases
        assert {row.doubled_case, row.missing_case} <= set("NDA")
    example = ours.set_index("sentence_id").loc["00-DNA-213"]
    assert example["sentence"] == "Es ist nett, dass dem Gast der Koch einen Löffel reicht."
    assert example["role_assignment"] == "ag1,re2,pa3"


def test_sentences_are_well_formed(ours):
    assert ours["sentence"].str.fullmatch(r"[A-ZÄÖÜ]\S*( \S+)+, \w+( \S+){6}( \S+){1,2}\.").all()
    assert not ours["sentence"].str.contains("  ").any()


def test_templates_are_as_the_card_says():
    templates = read_templates()
    assert len({template.verb for template in templates}) == 50
    assert len({template.matrix for template in templates}) == 50
    phrases = [phrase for template in templates for phrase in template.phrases]
    assert Counter(article for article, _ in phrases) == {
        "der": 96,
        "ein": 46,
        "sein": 6,
        "ihr": 1,
        "mein": 1,
    }
    kinds = Counter(
        "adjectival" if LEXICON[noun].adjectival else LEXICON[noun].oblique != noun for _, noun in phrases
    )
    assert kinds == {False: 117, True: 29, "adjectival": 4}
    assert all(len({noun for _, noun in template.phrases}) == 3 for template in templates)


def test_no_noun_phrase_can_be_a_plural():
    assert not readings(read_templates())


def test_ambiguous_template_is_refused():
    template = german_grammar.Template(
        "Es heißt, dass", (("der", "Koch"), ("der", "Student"), ("ein", "Brief")), "gibt", False
    )
    with pytest.raises(ValueError, match=r"'den Studenten' .*dative plural"):
        german_argument_structure._require_singular(template, LEXICON)


def readings(templates: list[german_grammar.Template]) -> Counter:
    """Count the violations that have another reading because a noun phrase can be a plural."""
    count: Counter = Counter()
    for template in templates:
        for cases, positions in german_grammar.patterns():
            nouns = (template.phrases[int(number) - 1] for number in positions)
            plural = [
                plural_reading(article, LEXICON[noun], case)
                for case, (article, noun) in zip(cases, nouns, strict=True)
            ]
            count["dative"] += sorted(cases) == ["A", "A", "N"] and "dative" in plural
            count["genitive"] += cases.count("N") == 2 and "genitive" in plural[1:]
    return +count


@pytest.mark.upstream
def test_grammar_makes_the_released_sentences(released, released_templates, root):
    """All but those in the list of differences, letter by letter and in the same order."""
    listed = json.loads((root / "push_scripts/sources/german_released_differences.json").read_text())
    expected = {
        (entry["template"], cases, positions)
        for entry in listed["differences"]
        for cases, positions in german_grammar.patterns()
        if cases[positions.index(str(entry["noun"]))] == entry["case"]
    }
    made = [
        (number, cases, positions, sentence(template, LEXICON, cases, positions))
        for number, template in enumerate(released_templates)
        for cases, positions in german_grammar.patterns()
    ]
    different = set()
    for row, (number, cases, positions, text) in zip(released.itertuples(), made, strict=True):
        assert (row.template, row.cases, row.positions) == (number, cases, positions)
        if row.sentence != text:
            different.add((number, cases, positions))
            assert " ".join(row.sentence.split()) == text  # the reason given: spaces
    assert different == expected
    assert len(different) == sum(entry["sentences"] for entry in listed["differences"]) == 48


@pytest.mark.upstream
def test_errors_of_the_released_templates_are_the_listed_ones(released_templates, root):
    listed = json.loads((root / "push_scripts/sources/german_released_differences.json").read_text())
    misspelt = {
        number
        for number, template in enumerate(released_templates)
        if {"is", "Est"} & set(template.matrix.split()) or template.matrix.startswith("Es stört sich")
    }
    assert misspelt == {entry["template"] for entry in listed["errors_in_both"]} == {3, 6, 28, 46}


@pytest.mark.upstream
def test_readings_of_the_released_sentences(released_templates):
    """The counts in the card's section on the released sentences."""
    assert readings(released_templates) == {"dative": 354, "genitive": 800}


@pytest.mark.upstream
def test_ours_shares_nothing_with_the_release(ours, released, released_templates):
    assert not set(ours["sentence"]) & set(released["sentence"])
    templates = read_templates()
    for part in ("matrix", "verb"):
        assert not {getattr(t, part) for t in templates} & {getattr(t, part) for t in released_templates}
    nouns = [{noun for _, noun in t.phrases} for t in released_templates]
    assert not any({noun for _, noun in template.phrases} in nouns for template in templates)


@pytest.mark.upstream
def test_released_config_keeps_the_released_columns(upstream, released):
    built = german_argument_structure.build(upstream)["rochereau2020"]["test"].to_pandas()
    for column in ("index", "template", "cases", "positions", "sentence", "grammatical", "animated"):
        assert built[column].tolist() == released[column].tolist()


@pytest.mark.parametrize("name", ["german_argument_structure", "german_human_judgments"])
def test_committed_files_are_built_byte_for_byte(tmp_path, name):
    build_datasets.build(name, None, tmp_path)
    files = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.parquet"))
    assert len(files) == 1
    for path in files:
        assert (tmp_path / path).read_bytes() == (bundle_path("datasets", name).parent / path).read_bytes()


def test_released_config_is_left_out_without_its_source(tmp_path, capsys):
    assert set(german_argument_structure.build(None)) == {"ours"}
    assert set(german_argument_structure.build(tmp_path)) == {"ours"}
    assert "rochereau2020 is excluded" in capsys.readouterr().err


def test_released_config_is_ignored_by_git(root):
    assert (
        "/datasets/german_argument_structure/rochereau2020/" in (root / ".gitignore").read_text().splitlines()
    )


def test_human_cells():
    """Tables 1, 11, 17 and 23 of the paper: counts, spot checks, and the means of its Table 4."""
    table = german_human_judgments.build()["published_auc"]["test"].to_pandas()
    assert len(table) == 144 and table["auc"].between(0, 1).all()
    assert table.groupby("variation_set")["paper_table"].first().to_dict() == {
        "1-6": 1, "1-2_nominative": 11, "1-2_accusative": 17, "1-2_dative": 23,
    }  # fmt: skip
    cell = table.set_index(["variation_set", "case_order", "role_assignment"])["auc"]
    assert cell["1-6", "NAD", "ag1,re2,pa3"] == 0.92
    assert cell["1-2_nominative", "ADN", "ag2,re3,pa1"] == 0.28
    assert cell["1-2_accusative", "AND", "ag3,re1,pa2"] == 0.43
    assert cell["1-2_dative", "NDA", "ag2,re1,pa3"] == 0.99
    means = table.groupby("variation_set")["auc"].mean()
    printed = {"1-6": 0.63, "1-2_nominative": 0.59, "1-2_accusative": 0.64, "1-2_dative": 0.68}
    assert all(abs(means[kind] - value) <= 0.005 + 1e-9 for kind, value in printed.items())


@pytest.mark.upstream
def test_lexicon_has_no_needless_noun(upstream, released_templates):
    used = {noun for t in [*read_templates(), *released_templates] for _, noun in t.phrases}
    assert used == set(LEXICON)


def test_weak_nouns_end_in_n():
    facts = json.loads(Path(german_grammar.FACTS).read_text(encoding="utf-8"))
    for noun, plural in facts["weak"].items():
        assert plural.removeprefix(noun) in ("n", "en")
        assert LEXICON[noun] == Noun(noun, plural, plural)


def test_parquet_carries_no_library_metadata(root):
    path = root / "datasets/german_argument_structure/ours/test.parquet"
    assert pq.read_schema(path).metadata is None
    assert path.stat().st_size < 200_000
