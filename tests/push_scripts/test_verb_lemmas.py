"""The verb lemmas: what the paper and the release state, words and forms of each language, and a second source."""

import csv
import re
from collections import Counter, defaultdict

import pandas as pd
import pytest

from builders.verb_lemmas import LANGUAGES

# Of each language: verbs, letters, endings of the singular and of the plural, and verbs that rules get wrong.
LISTS = {
    "german": (
        1_735, "a-zäöüß", r"(t|ist|kann|soll|will|mag|vermag|darf|bedarf|weiß|muss|wird)", r"(n|sind)",
        "sein ist sind, haben hat haben, werden wird werden, geben gibt geben, fahren fährt fahren, "
        "wissen weiß wissen, können kann können, beantragen beantragt beantragen, knien kniet knien, tun tut tun, "
        "atmen atmet atmen, wohnen wohnt wohnen, wechseln wechselt wechseln, reisen reist reisen, bieten bietet bieten",
    ),
    "french": (
        1_718, "a-zàâçéèêëîïôûœ", r"(e|t|d|a|c)", r"(ent|ont|sont|vont|font)",
        "être est sont, avoir a ont, aller va vont, faire fait font, prendre prend prennent, finir finit finissent, "
        "vendre vend vendent, appeler appelle appellent, acheter achète achètent, répéter répète répètent, "
        "créer crée créent, envoyer envoie envoient, vexer vexe vexent, craindre craint craignent",
    ),
    "russian": (
        1_833, "а-я", r"([еи]т(ся)?|ест)", r"[уюая]т(ся)?",
        "читать читает читают, говорить говорит говорят, писать пишет пишут, молчать молчит молчат, "
        "бежать бежит бегут, давать дает дают, воевать воюет воюют, танцевать танцует танцуют, бояться боится боятся, "
        "тонуть тонет тонут, любить любит любят, печь печет пекут, есть ест едят",
    ),
    "hebrew": (
        1_848, "א-ת", r"([^ים]|.[ים])", r"ים",
        "כתב כותב כותבים, רצה רוצה רוצים, הלך הולך הולכים, קם קם קמים, נכנס נכנס נכנסים, דיבר מדבר מדברים, "
        "תרגם מתרגם מתרגמים, קיווה מקווה מקווים, התחיל מתחיל מתחילים, הגיה מגיה מגיהים, ויתר מוותר מוותרים",
    ),
}  # fmt: skip
# Both forms in use, only with a reflexive pronoun, or right in both numbers: such a verb says nothing.
EXCLUDED = {
    ("german", "two_forms"): "erschrecken quellen schwellen",
    ("german", "reflexive"): "beeilen befinden nähern schämen sehnen weigern verlieben",
    ("french", "two_forms"): "balayer effrayer essayer payer rayer",
    ("french", "reflexive"): "envoler moquer évanouir réfugier écrouler",
    ("russian", "two_forms"): "двигать двигаться",
    ("russian", "other_number"): "гнуть тянуть",
    ("hebrew", "two_forms"): "הטיב",
    ("hebrew", "other_number"): "השלים הטעים הדהים נע הלחים",
}
# The 18 lemmas of the paper's Appendix B that were released without inflections.
APPENDIX_ONLY = set(
    "associate born breathe click fuck lack nod pray score scream shall smell smile stare suck surround wake "
    "wan".split()
)


@pytest.fixture(scope="module")
def lists(root) -> dict[str, pd.DataFrame]:
    """Those that are committed: `test_build.py` holds that the builder writes them."""
    return {
        path.parent.name: pd.read_parquet(path) for path in root.glob("datasets/verb_lemmas/*/train.parquet")
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_verb_of_a_language_has_two_forms_that_no_other_has(lists, language):
    rows, (n, letters, singular, plural, verbs) = lists[language], LISTS[language]
    assert len(rows) == n and list(rows["lemma_id"]) == list(range(n)) and rows["lemma"].is_unique
    forms = pd.concat([rows["singular"], rows["plural"]])
    assert forms.is_unique and forms.str.fullmatch(f"[{letters}]+").all()
    assert rows["singular"].str.fullmatch(f".*{singular}").all()
    assert rows["plural"].str.fullmatch(f".*{plural}").all()
    assert rows[["flag", "note"]].isna().all(axis=None) and not rows["past_homograph"].any()
    listed = set(rows[["lemma", "singular", "plural"]].itertuples(index=False, name=None))
    assert {tuple(verb.split()) for verb in verbs.split(", ")} <= listed


def test_excluded_verbs_are_in_no_list_and_have_a_reason(lists):
    excluded = lists["excluded"]
    assert excluded[["flag", "note"]].notna().all(axis=None)
    for language in LANGUAGES:
        of_language = excluded.loc[excluded["language"] == language, "lemma"]
        assert not set(of_language) & set(lists[language]["lemma"])
    flags = excluded.set_index(["language", "lemma"])["flag"]
    for (language, flag), lemmas in EXCLUDED.items():
        assert {flags[language, lemma] for lemma in lemmas.split()} == {flag}
    # A verb in -ayer has two forms of each number; one in -ся has as many as the one without.
    assert not lists["french"]["lemma"].str.endswith("ayer").any()
    two_forms = excluded.query("language == 'russian' and flag == 'two_forms'")["lemma"]
    assert not set(two_forms + "ся") & set(lists["russian"]["lemma"])


def test_the_released_list(lists):
    rows = lists["released"]
    assert len(rows) == 1951 and rows["singular"].is_unique and rows["plural"].is_unique
    assert rows["lemma"][rows["lemma"].duplicated()].tolist() == ["be"]
    assert rows.loc[~rows["regular"], "plural"].tolist() == ["are", "have", "were"]
    assert rows["flag"].value_counts().to_dict() == {
        "not_a_verb": 9, "wrong_inflection": 5, "inflected_lemma": 5, "misspelt": 3, "duplicate": 2, "modal": 1,
    }  # fmt: skip
    assert rows.loc[rows["flag"].notna(), "note"].notna().all()
    assert rows.loc[rows["flag"].isna(), "note"].notna().sum() == 21  # kept, with a reason
    unflagged = set(rows.loc[rows["flag"].isna(), "lemma"])  # what notes say of other verbs
    assert unflagged >= set("accommodate respond allow increase be plead escape reestablish stanch".split())
    assert not {"excoriate", "shear", "outsmart", "shoehorn"} & set(rows["lemma"])


def test_the_clean_list_is_the_released_one_without_its_faults(lists):
    released, clean = lists["released"], lists["clean"]
    corrected = clean["flag"].notna()
    assert len(clean) == 1933 and clean["past_homograph"].sum() == 37
    kept = released[released["flag"].isna()].reset_index(drop=True)
    assert clean[~corrected].reset_index(drop=True).equals(kept)
    assert set(clean.loc[corrected, ["singular", "plural"]].itertuples(index=False, name=None)) == {
        ("excoriates", "excoriate"), ("fine-tunes", "fine-tune"), ("has", "have"), ("quizzes", "quiz"),
        ("shears", "shear"), ("stomachs", "stomach"), ("woos", "woo"),
    }  # fmt: skip
    assert clean["lemma"].is_unique and pd.concat([clean["singular"], clean["plural"]]).is_unique
    assert clean.loc[~clean["regular"], "lemma"].tolist() == ["be", "have"]
    regular = clean[clean["regular"]]
    assert (regular["lemma"] == regular["plural"]).all()
    for plural, singular in zip(regular["plural"], regular["singular"], strict=True):
        assert re.fullmatch(rf"{plural}[zs]?e?s|{plural[:-1]}ies", singular), singular


def test_the_card_lists_every_flagged_pair(root, lists):
    text = (root / "datasets" / "verb_lemmas" / "README.md").read_text(encoding="utf-8")
    released, clean = lists["released"], lists["clean"].set_index("lemma_id")
    for row in released[released["flag"].notna()].itertuples():
        right = "left out"
        if row.lemma_id in clean.index:
            right = f"*{clean.singular[row.lemma_id]}, {clean.plural[row.lemma_id]}*"
        assert f"| {row.lemma_id} | {row.singular}, {row.plural} | `{row.flag}` | {right} |" in text


@pytest.mark.upstream
def test_the_released_list_is_upstreams_row_for_row(upstream, lists):
    """Its index is the same in every row, so that nothing may be keyed by it."""
    path = upstream / "refining-tse" / "data" / "verbs" / "combined_verb_list.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["idx"] for row in rows} == {"_"}
    ours = lists["released"][["singular", "plural"]].itertuples(index=False, name=None)
    assert [(row["sing"], row["plur"]) for row in rows] == list(ours)


@pytest.mark.upstream
def test_appendix_holds_the_released_lemmas_and_eighteen_more(upstream, lists):
    """What the card says about Appendix B; there, one comma is missing and a column header is a lemma."""
    paper = upstream.parent / "papers" / "newman2021_refining_tse.txt"
    if not paper.is_file():
        pytest.skip(f"needs the paper's text, not found at {paper}")
    lines = paper.read_text(encoding="utf-8").splitlines()
    printed = next(line for line in lines if line.startswith("abandon, abate,"))
    lemmas = printed.replace("mandate maneuver", "mandate, maneuver").split(", ")
    released = set(lists["released"]["plural"])
    assert len(lemmas) == 1970 and released <= set(lemmas)
    assert set(lemmas) - released == APPENDIX_ONLY | {"plur"}


@pytest.mark.upstream
def test_hebrew_forms_are_those_of_unimorph(upstream, lists):
    """Of the verbs that it has, none is inflected in another way; no form is any verb's in the other number."""
    singulars, plurals = defaultdict(set), defaultdict(set)  # form -> lemmas
    for line in (upstream / "unimorph-heb" / "heb").read_text(encoding="utf-8").splitlines():
        lemma, form, tag = line.split("\t") if line.strip() else ("", "", "")
        if tag == "V;SG;PRS;MASC":
            singulars[form].add(lemma)
        if tag == "V;PL;PRS;MASC":
            plurals[form].add(lemma)
    found = Counter()
    for row in lists["hebrew"].itertuples():
        assert row.singular not in plurals and row.plural not in singulars, row
        if row.singular in singulars:
            found[bool(singulars[row.singular] & plurals.get(row.plural, set()))] += 1
    assert found == {True: 736}
