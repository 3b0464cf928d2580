"""Published sets of minimal pairs: their facts, each layout, downloads, the real samples."""

import io
import re
import tarfile
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import served_folder

from tse_scorers import load_scorer
from tse_scorers.suites import pair_sets
from tse_scorers.suites.minimal_pairs import MinimalPairs
from tse_scorers.suites.pair_sets import SETS, find_set, load_set

LABELLED = "Phenomenon,Number (paradigm),Paradigm,Grammaticality,Sentence\n"
FIXTURES = {
    "blimp": ("data/wh_island.jsonl", '{"UID": "wh_island", "sentence_good": "A good.", "sentence_bad": "A bad."}',
              "wh_island"),
    "blimp-nl": ("datastore/BLiMP-NL/Phenomenon01.csv",
                 LABELLED + "P,1,number,Grammatical,A good.\r\nP,1,number,Ungrammatical,A bad.", "1 number"),
    "climp": ("CLiMP_corpus.zip", ",0,1,2,3\n0,passive,formal,A good.,1\n1,passive,formal,A bad.,0\n", "formal"),
    "freq-blimp": ("data/processed/freq_blimp_tail_zipf2_2-3_0_generated.jsonl", '{"phenomenon": "binding", "subtask": '
                   '"case_1", "field": "syntax", "good_freq": "A good.", "bad_freq": "A bad."}\n', "tail/case_1"),
    "clams": ("de_evalset/simple_agrmt.txt", "True\ta good\nFalse\ta bad", "deu/simple_agrmt"),
    "jblimp": ("data/validated/validated_minimal_pairs.jsonl", '{"good_sentence": "A good.", "bad_sentence": "A bad.", '
               '"phenomenon": "island effects", "paradigm": "NP"}\n', "island effects/NP"),
    "lindsea": ("lindsea/ta/syntax/morphology.jsonl", '{"linguistic_phenomenon": "morphology", "category": "case", '
                '"subcategory": null, "correct": "A good.", "wrong": "A bad."}\n', "tam/case/none"),
    "multiblimp": ("deu/data.tsv", "\tsen\twrong_sen\tphenomenon\n0\tA good.\tA bad.\tSV-#\n", "deu/SV-#"),
    "nocola": ("datasets/NoCoLa_zero.txt", "# learners\nA bad.\tA good.\tINFL\n\n", "INFL"),
    "qfrblimp": ("datastore/QFrBLiMP/human_llm_annotations.tsv",
                 "id\tsentence_good\tsentence_bad\ttype\n1\tA good.\tA bad.\t7\n", "type 7"),
    "rublimp": ("datasets/tense.csv", "source_sentence,target_sentence,level,phenomenon,PID\nA good.,A bad.,S,T,tense",
                "tense"),
    "sling": ("SLING_Data/Anaphor/Plural/self.jsonl",
              '{"sentence_good": "A good.", "sentence_bad": "A bad.", "field": "syntax"}\n', "Anaphor/Plural/self"),
    "syntaxgym-ml": ("suites/hindi-S_O_V.json", '[[["A", "A"], ["good.", "bad."]]]', "hindi-S_O_V"),
    "turblimp": ("data/base/binding.csv", "good_sentence;bad_sentence;good_cue;bad_cue;critical_region;phenomenon\n"
                 "A good.;A bad.;a;b;c;binding  \n", "binding"),
    "xcomps": ("data/comps_de.json", '[{"acceptable_sent": "A good.", "unacceptable_sent": "A bad."}]', "deu/concepts"),
    "zhoblimp": ("data/ZhoBLiMP.tar.gz",
                 '{"UID": "BA", "phenomenon": "BA", "sentence_good": "A good.", "sentence_bad": "A bad."}\n', "zho/BA"),
    "zorro": ("sentences/babyberta/case-subjective_pronoun.txt", "A bad.\nA good.\n", "case-subjective_pronoun"),
}  # fmt: skip
"""A file of each set, with sentences of our own: its path, its content, the paradigm."""


@pytest.mark.parametrize("name", SETS)
def test_each_set_is_described_completely(name):
    found = find_set(name)
    assert found.title and found.citation and found.licence and found.note
    assert found.linking in ("", "sum", "mean_token", "mean_continuation", "slln")
    assert re.fullmatch(r"hub:[\w/-]+(@\w{40})?|github:[\w/-]+@\w{40}", found.at) or name == "zorro"
    assert all(re.fullmatch(r"[a-z]{3}", language) for language in found.configs.values())
    assert found.title in str(found) and found.licence in str(found) and found.address in str(found)
    assert found.at.partition("@")[2] in str(found)  # the commit that was checked


def test_sets_have_as_many_pairs_as_their_papers_say():
    sizes = {"blimp": (67, 1_000), "blimp-nl": (84, 100), "climp": (16, 1_000), "rublimp": (45, 1_000),
             "zhoblimp": (118, 300), "zorro": (23, 2_000)}  # fmt: skip
    for name, (n_paradigms, n_pairs) in sizes.items():
        assert SETS[name].n_pairs == n_paradigms * n_pairs, name


def test_another_function_than_the_authors_is_marked():
    assert "which is not its authors' function" in str(SETS["blimp-nl"])
    assert (
        MinimalPairs(data="blimp-nl").compared_by == "sum"
        and MinimalPairs(data="zhoblimp").compared_by == "slln"
    )


def packed(path, content):
    if path.endswith(".tar.gz"):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w:gz") as archive:
            (member := tarfile.TarInfo("ZhoBLiMP/BA.jsonl")).size = len(content.encode())
            archive.addfile(member, io.BytesIO(content.encode()))
        return file.getvalue()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("CLiMP_corpus/passive_formal_1000.csv", content)
        archive.writestr("CLiMP_corpus/ba_construction_1000.csv", "A good, long one.\r\nA bad one.\r\n")
        archive.writestr("__MACOSX/CLiMP_corpus/._passive_formal_1000.csv", b"\x00\x05")
    return file.getvalue()


def put(folder, name):
    """Write the fixture of a set, and return its file and configuration."""
    path, content, _ = FIXTURES[name]
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    is_packed = path.endswith((".gz", ".zip"))
    (folder / path).write_bytes(packed(path, content) if is_packed else content.encode())
    configs = [config for config in SETS[name].configs or ["deu"] if config in re.split(r"[/_.-]", path)]
    return folder / path, configs or None


@pytest.mark.parametrize("name", SETS)
def test_each_layout_is_read(name, tmp_path):
    _, configs = put(tmp_path, name)
    rows = [row for _, frame in load_set(name, configs, tmp_path) for row in frame.to_dict("records")]
    if name == "climp":  # one file has bare sentences
        assert (rows[0]["sentence_good"], rows.pop(0)["UID"]) == ("A good, long one.", "ba_construction")
    (row,) = rows
    assert (row["sentence_good"], row["sentence_bad"], row["UID"]) == ("A good.", "A bad.", FIXTURES[name][2])
    (item,) = MinimalPairs(data=name, configs=configs, source=tmp_path).items.to_dict("records")[-1:]
    assert (item["good"], item["paradigm"]) == ("A good.", FIXTURES[name][2])


def test_a_semicolon_of_a_sentence_separates_no_fields(tmp_path):
    """TurBLiMP has semicolons between the fields of one configuration, and commas in the other."""
    (tmp_path / "data" / "experimental").mkdir(parents=True)
    (tmp_path / "data" / "experimental" / "order.csv").write_text(
        "good_sentence,bad_sentence,good_cue,bad_cue,critical_region,phenomenon\nA; good.,A; bad.,a,b,c,order\n"
    )
    ((_, frame),) = load_set("turblimp", ["experimental"], tmp_path)
    assert frame[["sentence_good", "sentence_bad"]].values.tolist() == [["A; good.", "A; bad."]]


def test_configurations_are_in_the_name_and_languages_are_groups(tmp_path):
    for language in ("deu", "fra"):
        (tmp_path / language).mkdir()
        (tmp_path / language / "data.tsv").write_text(
            "sen\twrong_sen\tphenomenon\nA\u2028 good.\tA bad.\tSV-#\n"
        )
    both, one = (MinimalPairs(data="multiblimp", configs=of, source=tmp_path) for of in (None, ["deu"]))
    assert (both.config, len(both.items), one.config, len(one.items)) == (
        "multiblimp",
        2,
        "multiblimp-deu",
        1,
    )
    assert both.items["good"].tolist() == ["A\u2028 good."] * 2  # only line ends end a row
    assert len(MinimalPairs(data="multiblimp", groups=["fra"], source=tmp_path).items) == 1
    assert MinimalPairs.title_of("multiblimp-deu") == "MultiBLiMP 1.0 (deu)"
    assert (
        MinimalPairs.title_of("blimp-nl") == "BLiMP-NL"
        and MinimalPairs.title_of("mine") == "Minimal pairs: mine"
    )


def test_missing_files_columns_and_unequal_sides_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"data/\{config\}/\*\.csv of TurBLiMP .*--source"):
        list(load_set("turblimp", None, tmp_path))
    with pytest.raises(ValueError, match=r"configuration of TurBLiMP 'xyz'.* base, experimental"):
        list(load_set("turblimp", ["xyz"], tmp_path))
    with pytest.raises(ValueError, match="is not loaded from the Hub"):
        find_set("turblimp@v1")
    path, _ = put(tmp_path, "clams")
    for content, said in (
        (b"True\ta\nTrue\tb\nFalse\tc\n", "2 acceptable sentences and 1 others"),
        (b"\xff", "utf-8"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=said):
            list(load_set("clams", ["de"], tmp_path))
    path, _ = put(tmp_path, "qfrblimp")
    path.write_text("sentence_good\ttype\nA.\t1\n")
    with pytest.raises(ValueError, match=r"QFrBLiMP \(KeyError.*sentence_bad"):
        list(load_set("qfrblimp", None, tmp_path))


def test_a_set_is_downloaded_once(tmp_path, monkeypatch):
    put(tmp_path, "rublimp")
    (served := tmp_path / "served" / "me" / "own" / "archive").mkdir(parents=True)
    with zipfile.ZipFile(served / "1.zip", "w") as archive:
        archive.write(tmp_path / "datasets" / "tense.csv", "own-1/datasets/tense.csv")
        archive.writestr("own-1/other.csv", "not of the set")
    monkeypatch.setattr("datasets.config.DOWNLOADED_DATASETS_PATH", tmp_path / "cache")
    monkeypatch.setattr("datasets.config.EXTRACTED_DATASETS_PATH", tmp_path / "extracted")
    monkeypatch.setitem(SETS, "rublimp", replace(SETS["rublimp"], at="github:me/own@1"))
    with served_folder.served(tmp_path / "served") as address:
        monkeypatch.setattr(pair_sets, "GITHUB", address)
        assert len(MinimalPairs(data="rublimp").items) == 1
    assert len(MinimalPairs(data="rublimp").items) == 1  # nobody serves it any more
    monkeypatch.setitem(SETS, "rublimp", replace(SETS["rublimp"], at="github:me/own@2"))
    with pytest.raises(ValueError, match=r"2\.zip could not be downloaded: .*name a copy"):
        list(load_set("rublimp"))
    with pytest.raises(ValueError, match="No version of Zorro is pinned"):
        list(load_set("zorro"))


def test_masked_models_score_a_set_as_its_authors_do(tmp_path):
    """SLING's authors mask one token at a time, and compare means per token; what the user names wins."""
    put(tmp_path, "sling")
    default, within = load_scorer("tiny-masked"), load_scorer("tiny-masked", pll="within_word_l2r")
    suite = MinimalPairs(data="sling", source=tmp_path)
    assert (suite.facts(default)["pll"], suite.facts(within)["pll"]) == ("original", "within_word_l2r")
    assert suite.compared_by == "mean_token"
    (item,) = suite.ask(default, suite.items)["items"].to_dict("records")
    (original,) = load_scorer("tiny-masked", pll="original").sentence_logprobs([item["good"]])
    assert item["logprob_good"] == pytest.approx(original)
    assert item["score_good"] == pytest.approx(item["logprob_good"] / item["n_tokens_good"])


@pytest.mark.upstream
@pytest.mark.parametrize(("name", "n"), {"clams": 50, "lindsea": 130, "sling": 54, "turblimp": 38}.items())
def test_the_samples_of_the_pinned_files_are_read(upstream, name, n):
    items = MinimalPairs(data=name, source=upstream / name, configs=list(SETS[name].configs)).items
    assert items["paradigm"].nunique() == n and np.all(items["good"].str.len() > 0)
