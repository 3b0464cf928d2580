"""The agreement pairs of Marvin & Linzen and CLAMS: counts, form, agreement, and comparison with the releases."""

import json
import re
from collections import Counter

import pandas as pd
import pytest

from builders.agreement_templates import CONFIGS, inflect, parse_pattern

# Pairs, contexts and prefixes of each construction: from the lexicon's sizes, and the same as in the released pairs
# (github.com/bnewm0609/refining-tse, data/ML).
ENGLISH = {
    "simple_agrmt": ("Simple", 140, 100, 20),
    "sent_comp": ("In a sentential complement", 1_680, 1_200, 240),
    "vp_coord": ("VP coordination", 840, 620, 140),
    "long_vp_coord": ("VP coordination", 400, 400, 100),
    "prep_anim": ("Across prepositional phrase", 16_800, 12_000, 2_400),
    "prep_inanim": ("Across prepositional phrase", 5_040, 5_040, 720),
    "subj_rel": ("Across subject relative clause", 11_200, 8_000, 1_600),
    "obj_rel_across_anim": ("Across object relative clause", 11_200, 8_000, 1_600),
    "obj_rel_across_inanim": ("Across object relative clause", 10_080, 10_080, 1_440),
    "obj_rel_no_comp_across_anim": ("Across object relative (no that)", 11_200, 8_000, 1_600),
    "obj_rel_no_comp_across_inanim": ("Across object relative (no that)", 10_080, 10_080, 1_440),
    "obj_rel_within_anim": ("In object relative clause", 11_200, 2_800, 400),
    "obj_rel_within_inanim": ("In object relative clause", 10_080, 2_520, 360),
    "obj_rel_no_comp_within_anim": ("In object relative (no that)", 11_200, 2_800, 400),
    "obj_rel_no_comp_within_inanim": ("In object relative (no that)", 10_080, 2_520, 360),
}
# Those of CLAMS but for coordinations, where it lets a verb phrase be coordinated with itself (980 and 500 pairs).
CONSTRUCTIONS = (
    *("simple_agrmt", "vp_coord", "long_vp_coord", "prep_anim", "subj_rel"),
    *("obj_rel_across_anim", "obj_rel_within_anim"),
)
COUNTS = {
    "german": (140, 840, 400, 12_600, 11_200, 11_200, 11_200),
    "french": (280, 840, 400, 14_000, 11_200, 11_200, 11_200),
    "russian": (280, 840, 400, 5_880, 10_080, 11_200, 11_200),
    "hebrew": (140, 900, 400, 5_600, 11_200, 11_200, 11_200),
}
# Config, construction, prefix, correct verb, incorrect verb, suffix; written by hand.
EXAMPLES = """
marvin_linzen|simple_agrmt|The author|laughs|laugh|.
marvin_linzen|sent_comp|The mechanic said the senators|are|is| young.
marvin_linzen|vp_coord|The customers are old and|swim|swims|.
marvin_linzen|long_vp_coord|The authors enjoy playing tennis with colleagues and|write|writes| in a journal every day.
marvin_linzen|prep_anim|The teachers across from the taxi driver|are|is| tall.
marvin_linzen|prep_inanim|The movie from the guards|interests|interest| people.
marvin_linzen|subj_rel|The officer that hates the chefs|smiles|smile|.
marvin_linzen|obj_rel_across_anim|The author that the guards like|laughs|laugh|.
marvin_linzen|obj_rel_across_inanim|The movies that the guard likes|are|is| good.
marvin_linzen|obj_rel_no_comp_across_anim|The senators the skater admires|swim|swims|.
marvin_linzen|obj_rel_no_comp_across_inanim|The poem the ministers hate|is|are| unpopular.
marvin_linzen|obj_rel_within_anim|The senators that the skater|likes|like| are young.
marvin_linzen|obj_rel_within_inanim|The show that the architects|love|loves| brings joy to people.
marvin_linzen|obj_rel_no_comp_within_anim|The pilot the assistants|admire|admires| swims.
marvin_linzen|obj_rel_no_comp_within_inanim|The novels the parent|hates|hate| are popular.
clams_german|vp_coord|Die Kunden lachen und|sind|ist| alt.
clams_german|prep_anim|Die Piloten in der Nähe von dem Architekten|lachen|lacht|.
clams_german|subj_rel|Die Berater, die dem Koch helfen,|sind|ist| jung.
clams_german|obj_rel_across_anim|Der Lehrer, den die Brüder hassen,|lacht|lachen|.
clams_german|obj_rel_within_anim|Die Lehrer, die der Tänzer|mag|mögen|, lachen.
clams_french|simple_agrmt|L'auteur|parle|parlent|.
clams_french|simple_agrmt|Les chauffeurs de taxi|sont|est| petits.
clams_french|prep_anim|Le client à côté de l'architecte|sourit|sourient|.
clams_french|obj_rel_within_anim|Le pilote que les parents|aiment|aime| est grand.
clams_russian|simple_agrmt|Рабочие|спят|спит|.
clams_russian|obj_rel_across_anim|Пилот, которого агенты любят,|спит|спят|.
clams_russian|obj_rel_within_anim|Пилоты, которых агент|ищет|ищут|, спят.
clams_hebrew|vp_coord|המלצר רוקד וגם|אוכל|אוכלים|.
clams_hebrew|subj_rel|הנהגים ששונאים את השר|רצים|רץ|.
clams_hebrew|obj_rel_within_anim|הנהג שהעובדים|מכירים|מכיר| צוחק.
""".strip().splitlines()
# What a CLAMS sentence holds where our grammar departs from it (the card gives the reasons).
DEPARTURES = {
    "german": r"vermeide|\bnach\b|\bvom\b|den (Wächter|Taxifahrer|Köche)\b|dem Architekt\b|lieber|Journal|Leiter",
    "french": r"retourne|vingt trois",
    "russian": r"ждал|стар|маленьк|молод|больш|профессор|солдат|хо[чт]",
    "hebrew": r"\bחי(ים)?\b|(ש|את|ליד|מאחורי) ה נהג",
}
CODES = {"german": "de", "french": "fr", "russian": "ru", "hebrew": "he"}
LANGUAGES = pytest.mark.parametrize("language", COUNTS)


@pytest.fixture(scope="module")
def pairs(root) -> dict[str, pd.DataFrame]:
    """Those that are committed: `test_build.py` holds that the builder writes them."""
    folder = root / "datasets" / "agreement_templates"
    return {config: pd.read_parquet(folder / config / "test.parquet") for config in CONFIGS}


def test_english_pairs_contexts_and_prefixes(pairs):
    """121,220 pairs, 74,160 masked contexts and 12,820 left contexts, as in the data of Newman et al. (2021)."""
    rows = pairs["marvin_linzen"]
    counts = {"group": "first", "pair_id": "size", "context_id": "nunique", "prefix": "nunique"}
    found = rows.groupby("construction").agg(counts).itertuples(name=None)
    assert {construction: tuple(of) for construction, *of in found} == ENGLISH
    assert len(rows) == 121_220 and rows["group"].nunique() == 9
    assert (rows["context_id"].nunique(), rows["prefix"].nunique()) == (74_160, 12_820)
    assert len(rows[["prefix", "suffix", "context_id", "number"]].drop_duplicates()) == 74_160


@LANGUAGES
def test_pairs_of_the_other_languages(pairs, language):
    rows = pairs[f"clams_{language}"]
    counts = dict(zip(CONSTRUCTIONS, COUNTS[language], strict=True))
    assert rows["construction"].value_counts().to_dict() == counts
    groups = rows.groupby("construction")["group"].first()
    assert all(groups[construction] == ENGLISH[construction][0] for construction in CONSTRUCTIONS)
    # A subject is one cluster in either number.
    assert rows["cluster"].nunique() == 20 and rows.groupby("cluster")["number"].nunique().eq(2).all()
    one = rows[rows["number"] == "singular"]
    assert all(of.lower() in prefix.lower() for of, prefix in zip(one["cluster"], one["prefix"], strict=True))
    assert language != "hebrew" or rows["cluster"].str.startswith("ה").all()  # with the article, without ש


@pytest.mark.parametrize("config", CONFIGS)
def test_every_pair_is_two_sentences_that_differ_in_the_number_of_one_verb(pairs, config, root):
    rows = pairs[config]
    assert list(rows["pair_id"]) == list(range(len(rows)))
    assert not rows.duplicated(["sentence_good", "sentence_bad"]).any()
    assert not set(rows["sentence_good"]) & set(rows["sentence_bad"])
    for sentence, form in (("sentence_good", "form_correct"), ("sentence_bad", "form_incorrect")):
        assert (rows[sentence] == rows["prefix"] + " " + rows[form] + rows["suffix"]).all()
        assert rows[sentence].str.fullmatch(r"[^\W\d_a-zа-я][^.|_]*[^\s.,]\.").all()
        assert not rows[sentence].str.contains(r"\s\s|\s,|,\S|' ").any()
    assert rows.groupby("construction")["number"].value_counts(normalize=True).eq(0.5).all()
    # In every row, the two verbs are one lemma's forms, in the order that `number` says.
    singular = rows["form_correct"].where(rows["number"] == "singular", rows["form_incorrect"])
    plural = rows["form_correct"].where(rows["number"] == "plural", rows["form_incorrect"])
    forms = set(zip(singular, plural, strict=True))
    if config == "marvin_linzen":
        assert {(one, many) for one, many in forms if one != many + "s"} == {("is", "are")}
    else:
        language = config.removeprefix("clams_")
        lemmas = pd.read_parquet(root / "datasets" / "verb_lemmas" / language / "train.parquet")
        assert forms <= set(zip(lemmas["singular"], lemmas["plural"], strict=True))


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(pairs, example):
    config, construction, *parts = example.split("|")
    rows = pairs[config]
    found = rows[(rows[["prefix", "form_correct", "form_incorrect", "suffix"]] == parts).all(axis=1)]
    assert found["construction"].tolist() == [construction]


def test_no_german_subject_is_one_in_the_other_number_too(pairs):
    """*Die Leiter* was a plural subject here; as the ladder it is singular, so that 560 bad sentences were right."""
    assert not pairs["clams_german"]["sentence_good"].str.contains("Leiter").any()


def test_patterns():
    slots = parse_pattern("a <x:g>! <y>", {"x": ["is|are"], "y": ["b"]})
    assert [(slot.items, slot.group, slot.gap) for slot in slots] == [
        (("a",), None, False), (("is|are",), "g", True), (("b",), None, False),
    ]  # fmt: skip
    with pytest.raises(KeyError, match="unknown"):
        parse_pattern("the <unknown>", {})
    assert inflect("brings|bring joy to people", "plural") == "bring joy to people"


@pytest.mark.upstream
@LANGUAGES
def test_counts_are_those_of_clams_but_for_coordination(upstream, language):
    files = json.loads((upstream / "MANIFEST.json").read_text(encoding="utf-8"))["clams"]["files"]
    theirs = [files[f"{CODES[language]}_evalset/{name}.txt"]["pairs"] for name in CONSTRUCTIONS]
    first, _, _, *others = COUNTS[language]
    assert theirs == [first, 980, 500, *others]


@pytest.mark.upstream
@LANGUAGES
def test_every_clams_pair_without_a_departure_is_here(upstream, pairs, language):
    """Every sampled pair of CLAMS is regenerated, but for listed departures; most constructions have many such."""
    columns = ["construction", "sentence_good", "form_incorrect"]
    rows = set(pairs[f"clams_{language}"][columns].itertuples(index=False, name=None))
    compared = Counter()
    for construction in CONSTRUCTIONS:
        if (language, construction) == ("german", "subj_rel"):
            continue  # its relative clauses have other verbs here
        path = upstream / "clams" / f"{CODES[language]}_evalset" / f"{construction}.txt"
        lines = [line.split("\t")[1].split() for line in path.read_text(encoding="utf-8").splitlines()]
        for good, bad in zip(lines[::2], lines[1::2], strict=True):
            gap = next(place for place, word in enumerate(good) if word != bad[place])
            phrase = good[gap:]
            with_itself = good[gap - 1 - len(phrase) : gap - 1] == phrase  # the verb phrase before `and`
            if not (with_itself or re.search(DEPARTURES[language], " ".join(good))):
                assert (construction, _as_text(" ".join(good), language), bad[gap]) in rows, good
                compared[construction] += 1
    assert all(count >= 15 for count in compared.values()) and len(compared) >= 6, compared


def _as_text(sentence: str, language: str) -> str:
    """A sentence of CLAMS in ordinary spelling."""
    text = sentence.replace(" ,", ",").replace("' ", "'").replace("ё", "е")
    if language == "hebrew":
        text = re.sub(r"(?<= )ו ", "וגם ", text)
        text = re.sub(r"\b([הבש]) (?=\w)", r"\1", text)
    return text[0].upper() + text[1:] + "."
