"""The verb lemmas of German, French, Russian and Hebrew: rules, configs, what is excluded, what the builder refuses."""

import re
from collections import Counter

import pyarrow.parquet as pq
import pytest
import yaml

import build_datasets
from builders import (
    check_lemmas,
    french_verbs,
    german_verbs,
    hebrew_verbs,
    lemma_lists,
    russian_verbs,
    verb_lemmas,
)
from builders.lemma_lists import LANGUAGES, Verb

ROWS = {"german": 1_735, "french": 1_718, "russian": 1_833, "hebrew": 1_848}
LETTERS = {"german": "a-zäöüß", "french": "a-zàâçéèêëîïôûœ", "russian": "а-я", "hebrew": "א-ת"}
# Each language's verbs with forms that rules alone would get wrong.
FORMS = {
    "german": (
        "sein ist sind, haben hat haben, werden wird werden, geben gibt geben, fahren fährt fahren, "
        "laufen läuft laufen, nehmen nimmt nehmen, halten hält halten, wissen weiß wissen, können kann können, "
        "beantragen beantragt beantragen, veranlassen veranlasst veranlassen, knien kniet knien, tun tut tun, "
        "atmen atmet atmen, wohnen wohnt wohnen, öffnen öffnet öffnen, wechseln wechselt wechseln, "
        "grüßen grüßt grüßen, reisen reist reisen, sitzen sitzt sitzen, bieten bietet bieten, "
        "saugen saugt saugen"
    ),
    "french": (
        "être est sont, avoir a ont, aller va vont, faire fait font, dire dit disent, prendre prend prennent, "
        "venir vient viennent, finir finit finissent, partir part partent, vendre vend vendent, manger mange mangent, "
        "commencer commence commencent, appeler appelle appellent, acheter achète achètent, jeter jette jettent, "
        "répéter répète répètent, célébrer célèbre célèbrent, créer crée créent, "
        "envoyer envoie envoient, appuyer appuie appuient, vexer vexe vexent, geler gèle gèlent, "
        "boire boit boivent, craindre craint craignent, résoudre résout résolvent, ouvrir ouvre ouvrent"
    ),
    "russian": (
        "читать читает читают, говорить говорит говорят, писать пишет пишут, молчать молчит молчат, "
        "хотеть хочет хотят, бежать бежит бегут, идти идет идут, давать дает дают, рисовать рисует рисуют, "
        "воевать воюет воюют, танцевать танцует танцуют, смеяться смеется смеются, мочь может могут, "
        "бояться боится боятся, петь поет поют, жить живет живут, видеть видит видят, тонуть тонет тонут, "
        "любить любит любят, искать ищет ищут, лгать лжет лгут, печь печет пекут, есть ест едят"
    ),
    "hebrew": (
        "כתב כותב כותבים, רצה רוצה רוצים, הלך הולך הולכים, קם קם קמים, ישן ישן ישנים, נכנס נכנס נכנסים, "
        "דיבר מדבר מדברים, תרגם מתרגם מתרגמים, טייל מטייל מטיילים, קיווה מקווה מקווים, התחיל מתחיל מתחילים, "
        "התקשר מתקשר מתקשרים, השתמש משתמש משתמשים, לווה לווה לווים, הודה מודה מודים, נהנה נהנה נהנים, "
        "הגיה מגיה מגיהים, ויתר מוותר מוותרים, התווה מתווה מתווים"
    ),
}


@pytest.fixture(scope="module")
def tables() -> dict[str, list[dict]]:
    return {config: splits["train"].to_pylist() for config, splits in lemma_lists.build().items()}


@pytest.mark.parametrize("language", LANGUAGES)
def test_forms(tables, language):
    forms = {row["lemma"]: (row["singular"], row["plural"]) for row in tables[language]}
    for expected in FORMS[language].split(", "):
        lemma, singular, plural = expected.split()
        assert forms[lemma] == (singular, plural)


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_are_unique_words_with_two_different_forms(tables, language):
    rows = tables[language]
    assert len(rows) == ROWS[language] >= 1_000
    assert [row["lemma_id"] for row in rows] == list(range(len(rows)))
    assert len({row["lemma"] for row in rows}) == len(rows)
    forms = [form for row in rows for form in (row["singular"], row["plural"])]
    assert len(set(forms)) == len(forms)
    assert all(re.fullmatch(f"[{LETTERS[language]}]+", form) for form in forms)
    assert {(row["flag"], row["note"], row["past_homograph"]) for row in rows} == {(None, None, False)}


@pytest.mark.parametrize(
    ("language", "singular", "plural"),
    [
        ("german", r"(t|ist|kann|soll|will|mag|vermag|darf|bedarf|weiß|muss|wird)$", r"(n|sind)$"),
        ("french", r"(e|t|d|a|c)$", r"(ent|ont|sont|vont|font)$"),
        ("russian", r"[еиё]т(ся)?$|ест$", r"[уюая]т(ся)?$"),
        ("hebrew", r"[^ים]$|.[ים]$", r"ים$"),
    ],
)
def test_endings(tables, language, singular, plural):
    for row in tables[language]:
        assert re.search(singular, row["singular"]) and re.search(plural, row["plural"]), row


def test_excluded_lemmas_are_in_no_list_and_have_a_reason(tables):
    for row in tables["excluded"]:
        assert row["note"] and row["flag"]
        assert row["lemma"] not in {kept["lemma"] for kept in tables[row["language"]]}
    counts = Counter((row["language"], row["flag"]) for row in tables["excluded"])
    assert counts[("french", "other_number")] == 3 and counts[("hebrew", "other_number")] == 28
    # No verb has two equal forms; see `check`.
    assert not [flag for _, flag in counts if flag == "equal_forms"]


@pytest.mark.parametrize(
    ("language", "flag", "lemmas"),
    [
        ("german", "two_forms", "erschrecken quellen schwellen"),
        (
            "german",
            "reflexive",
            "beeilen befinden benehmen nähern schämen sehnen weigern verbeugen verlieben",
        ),
        ("french", "reflexive", "envoler moquer évanouir réfugier écrouler exclamer morfondre"),
        ("french", "two_forms", "balayer effrayer essayer payer rayer"),
        ("russian", "two_forms", "двигать двигаться"),
        ("russian", "other_number", "гнуть тянуть"),
        ("hebrew", "two_forms", "הטיב"),
        ("hebrew", "other_number", "השלים הטעים הדהים נע הלחים"),
    ],
)
def test_verbs_that_readers_objected_to_are_excluded_with_the_reason(tables, language, flag, lemmas):
    """Both forms in use, only with a reflexive pronoun, or right in both numbers: such a verb says nothing here."""
    flags = {row["lemma"]: row["flag"] for row in tables["excluded"] if row["language"] == language}
    assert {lemma: flags.get(lemma) for lemma in lemmas.split()} == dict.fromkeys(lemmas.split(), flag)


def test_what_has_two_forms_has_them_in_all_its_verbs(tables):
    """French verbs in -ayer have two forms each; a Russian verb in -ся has as many forms as the one without."""
    assert not [row for row in tables["french"] if row["lemma"].endswith("ayer")]
    russian = {row["lemma"] for row in tables["russian"]}
    excluded = [
        row for row in tables["excluded"] if (row["language"], row["flag"]) == ("russian", "two_forms")
    ]
    assert not {row["lemma"] + "ся" for row in excluded} & russian


def test_every_language_is_in_the_same_columns_as_the_english_list():
    configs = verb_lemmas.build()
    assert {configs[language]["train"].schema for language in (*LANGUAGES, "clean")} == {verb_lemmas.SCHEMA}


@pytest.mark.parametrize(
    ("verbs", "message"),
    [
        ([Verb("a", "x", "x", True)], "the forms of 'a' are equal"),
        ([Verb("a", "x", "y", True), Verb("a", "v", "w", True)], "share the lemma 'a'"),
        ([Verb("a", "x", "y", True), Verb("b", "y", "z", True)], "'b' and 'a' .*form 'y'"),
    ],
)
def test_the_builder_refuses_equal_and_shared_forms(verbs, message):
    with pytest.raises(ValueError, match=message):
        lemma_lists.check("german", verbs)


@pytest.mark.parametrize(
    ("inflect", "arguments"),
    [
        (german_verbs.third_person_singular, ("lache",)),
        (french_verbs.third_person, ("finir", "er")),
        (russian_verbs.third_person, ("читать", "n")),
        (hebrew_verbs.lemma, ("כתב", "piel")),
        (hebrew_verbs.masculine_plural, ("מגיה",)),  # its ה is a consonant, which the rules do not see
    ],
)
def test_what_has_another_shape_is_refused(inflect, arguments):
    with pytest.raises(ValueError, match=r"must|ends in|List it"):
        inflect(*arguments)


@pytest.mark.parametrize("config", [*LANGUAGES, "excluded"])
def test_committed_parquet_is_what_the_build_writes(config, root, built_once):
    built = built_once / "verb_lemmas" / config / "train.parquet"
    committed = root / "datasets" / "verb_lemmas" / config / "train.parquet"
    assert pq.read_table(built).equals(pq.read_table(committed))
    if pq.read_metadata(built).created_by == pq.read_metadata(committed).created_by:
        assert built.read_bytes() == committed.read_bytes()


@pytest.fixture(scope="module")
def built_once(tmp_path_factory):
    out = tmp_path_factory.mktemp("built")
    assert build_datasets.main(["verb_lemmas", "--out", str(out)]) == 0
    return out


@pytest.mark.parametrize("language", LANGUAGES)
def test_loads_offline_by_its_name(language):
    from tse_scorers import load_data

    assert load_data("verb_lemmas", language).num_rows == ROWS[language]


def test_new_configs_are_not_the_default(root):
    for name, default in (("verb_lemmas", "released"), ("agreement_templates", "marvin_linzen")):
        text = (root / "datasets" / name / "README.md").read_text(encoding="utf-8")
        card = yaml.safe_load(text.split("---\n")[1])
        assert [c["config_name"] for c in card["configs"] if c.get("default")] == [default]


@pytest.mark.upstream
def test_hebrew_forms_are_those_of_unimorph(upstream, capsys):
    """The published rate: of the verbs that UniMorph has, none is inflected in another way."""
    source = upstream / "unimorph-heb" / "heb"
    assert check_lemmas.main(["hebrew", "--source", str(source)]) == 0
    sample, all_verbs, several, other_number, subjects = capsys.readouterr().out.splitlines()
    assert "sample: 200 verbs, 200 in the second source, 0 differ" in sample
    assert "1848 verbs, 736 in the second source, 0 differ" in all_verbs
    assert all(": 0. " in line for line in (several, other_number, subjects))


@pytest.mark.upstream
def test_a_form_that_is_the_other_number_of_a_verb_outside_the_list_is_found(upstream):
    """The plural of *נע* (moves) is also the singular of *נעם* (is pleasant), which no list has."""
    source = check_lemmas.Hebrew(upstream / "unimorph-heb" / "heb")
    verbs = lemma_lists.read_verbs("hebrew", lemma_lists.read_facts("hebrew"))
    assert list(check_lemmas.other_number_forms(verbs, source)) == ["נעים (נע)"]
