"""The registry of minimal-pair sets: its files, each layout, the real samples, and runs by the authors' rule."""

import hashlib
import io
import json
import re
import subprocess
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import served_folder
import yaml
from hub_fixtures import read_from
from huggingface_hub import CommitOperationAdd, HfApi
from loopback_api import WRITE_TOKEN
from loopback_hub import LoopbackHub
from run_records import read_results, record_of
from typer.testing import CliRunner

from tse_scorers import load_scorer, make_suite, run
from tse_scorers.cli.app import app
from tse_scorers.suites.minimal_pairs.data.released import WHOLE_SET
from tse_scorers.suites.minimal_pairs.estimate.intervals import has_languages
from tse_scorers.suites.minimal_pairs.registry import find_set, finding, load_pairs, set_names, sources
from tse_scorers.suites.minimal_pairs.registry.pair_set import Origin, read_set
from tse_scorers.suites.minimal_pairs.registry.pairs import sentence_case
from tse_scorers.suites.released_data import released_data

SET = {
    "id": "own",
    "title": "Own",
    "licence": {"name": "CC0-1.0", "share": "allowed"},
    "configs": {"all": "epo"},
    "layout": {"files": "own.tsv"},
    "columns": {"good": "correct", "bad": "wrong", "paradigm": "{topic}", "phenomenon": "{topic}"},
}
TSV = "topic\tcorrect\twrong\nverbs\tThe author laughs.\tThe author laugh.\nnouns\tOne cat.\tOne cats.\n"


@pytest.fixture
def own(tmp_path):
    def write(tsv=TSV, **changes):
        (tmp_path / "own.tsv").write_text(tsv, encoding="utf-8")
        (tmp_path / "own.yaml").write_text(yaml.safe_dump(SET | changes), encoding="utf-8")
        return str(tmp_path / "own.yaml")

    return write


# The files of facts


@pytest.mark.parametrize("name", set_names())
def test_each_set_is_described_completely(name):
    found = find_set(name)
    assert found.id == name and found.title and found.citation and found.traps
    assert found.licence.where and found.convention.where
    assert found.source.hub or re.fullmatch(r"[0-9a-f]{40}", found.source.revision)
    assert found.source.hub or found.source.checksums, "a set that is not on the Hub could not be downloaded"
    assert all(
        re.fullmatch(r"[0-9a-f]{64}|[0-9a-f]{40}", digest) for digest in found.source.checksums.values()
    )
    assert all(re.fullmatch(r"[a-z]{3}|\{config\}", language) for language in found.configs.values())


def test_no_sentence_of_a_set_is_carried():
    """A file holds facts: sets whose licence forbids sharing are loaded from their authors."""
    folder = Path(finding.__file__).parent
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} <= {".py", ".yaml", ".pyc"}
    assert max(path.stat().st_size for path in folder.rglob("*.yaml")) < 20_000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"convention": {"linking": "product"}}, "Unknown linking function 'product'"),
        ({"convention": {"pll": "full"}}, "convention.pll is 'full'; .*within_word_l2r or original"),
        ({"prepare": "upper"}, "prepare is 'upper'; expected sentence_case"),
        ({"id": "../own"}, "id names '../own'; .*inside the folder"),
        ({"layout": {"files": "../../*.tsv"}}, r"layout.files names '../../\*.tsv'; .*inside"),
        ({"configs": {"../deu": "deu"}}, "configs names '../deu'; .*inside"),
        ({"source": {"revision": "/tmp"}}, "source.revision names '/tmp'; .*inside"),
        (
            {"source": {"checksums": {"../../.bashrc": "0"}}},
            "source.checksums names '../../.bashrc'; expected",
        ),
        ({"source": {"checksums": {"/etc/cron": "0"}}}, "source.checksums names '/etc/cron'; expected"),
        ({"source": {"checksums": {"..\\own": "0"}}}, r"source.checksums names '\.\.\\\\own'; expected"),
    ],
)
def test_a_wrong_description_is_refused(own, changes, message):
    with pytest.raises(ValueError, match=message):
        find_set(own(**changes))


def test_an_unknown_set_is_refused():
    with pytest.raises(ValueError, match=r"minimal pairs 'nothing'; .*: blimp, "):
        find_set("nothing")


# Layouts: a fixture for each set, with sentences of our own in its columns

LABELLED = "Phenomenon,Number (paradigm),Paradigm,Item,Grammaticality,Sentence\n"
FIXTURES = {
    "blimp": ("data/passive_1.jsonl", '{"UID": "passive_1", "linguistics_term": "argument_structure", '
              '"field": "syntax", "sentence_good": "A good.", "sentence_bad": "A bad."}\n', "passive_1"),
    "blimp-nl": ("datastore/BLiMP-NL/Phenomenon01.csv", LABELLED
                 + "P,1,number,1,Grammatical,A good.\r\nP,1,number,1,Ungrammatical,A bad.", "1 number"),
    "climp": ("CLiMP_corpus.zip", ",0,1,2,3\n0,passive,passive_formal,A good.,1\n1,passive,passive_formal,A bad.,0\n",
              "passive_formal"),
    "freq-blimp": ("data/processed/freq_blimp_tail_zipf2_2-3_0_generated.jsonl",
                   '{"phenomenon": "binding", "subtask": "principle_A_case_1", "field": "syntax", "good_freq": '
                   '"A good.", "bad_freq": "A bad.", "meta": {"g_swaps": [1]}}\n', "tail/principle_A_case_1"),
    "clams": ("de_evalset/simple_agrmt.txt", 'True\ta good\nFalse\ta bad', "deu/simple_agrmt"),
    "jblimp": ("data/validated/validated_minimal_pairs.jsonl", '{"good_sentence": "A good.", "bad_sentence": '
               '"A bad.", "type": "acceptability", "phenomenon": "island effects", "paradigm": "NP"}\n',
               "island effects/NP"),
    "lindsea": ("lindsea/ta/syntax/morphology.jsonl", '{"linguistic_phenomenon": "morphology", "category": "case", '
                '"subcategory": null, "correct": "A good.", "wrong": "A bad."}\n', "tam/case/none"),
    "multiblimp": ("deu/data.tsv", "\tsen\twrong_sen\tphenomenon\n0\tA good.\tA bad.\tSV-#\n", "deu/SV-#"),
    "nocola": ("datasets/NoCoLa_zero.txt", "# learners\nA bad.\tA good.\tINFL\n\n", "INFL"),
    "qfrblimp": ("datastore/QFrBLiMP/human_llm_annotations.tsv",
                 "id\tsentence_good\tsentence_bad\ttype\n1\tA good.\tA bad.\t7\n", "type 7"),
    "rublimp": ("datasets/tense_marker.csv", "source_sentence,target_sentence,level,phenomenon,PID\n"
                '"A good.","A bad.",Syntax,Tense,tense_marker\n', "tense_marker"),
    "sling": ("SLING_Data/Anaphor/Plural/self.jsonl",
              '{"sentence_good": "A good.", "sentence_bad": "A bad.", "field": "syntax"}\n', "Anaphor/Plural/self"),
    "syntaxgym-ml": ("suites/hindi-S_O_V.json", '[[["A", "A"], ["good.", "bad."]]]', "hindi-S_O_V"),
    "turblimp": ("data/base/augmented_binding.csv",
                 "good_sentence;bad_sentence;good_cue;bad_cue;critical_region;phenomenon\n"
                 "A good.;A bad.;a;b;c;binding  \n",
                 "augmented_binding"),
    "xcomps": ("data/comps_de.json", '[{"acceptable_sent": "A good.", "unacceptable_sent": "A bad."}]', "deu/concepts"),
    "zhoblimp": ("data/ZhoBLiMP.tar.gz", '{"UID": "BA", "phenomenon": "BA", "sentence_good": "A good.", '
                 '"sentence_bad": "A bad."}\n', "zho/BA"),
}  # fmt: skip


@pytest.mark.parametrize("name", set_names())
def test_each_layout_is_read(name, tmp_path):
    path, content, paradigm = FIXTURES[name]
    target = tmp_path / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.endswith(".tar.gz"):
        with tarfile.open(target, "w:gz") as archive:
            member = tarfile.TarInfo("ZhoBLiMP/BA.jsonl")
            member.size = len(content.encode())
            archive.addfile(member, io.BytesIO(content.encode()))
    elif path.endswith(".zip"):
        with zipfile.ZipFile(target, "w") as archive:
            archive.writestr("CLiMP_corpus/passive_formal_1000.csv", content)
            archive.writestr("__MACOSX/CLiMP_corpus/._passive_formal_1000.csv", b"\x00\x05")
    else:
        target.write_text(content, encoding="utf-8")
    found = find_set(name)
    config = next((config for config in found.configs if f"{config}" in re.split(r"[/_.]", path)), None)
    (row,) = load_pairs(found, config, tmp_path).table.to_dict("records")
    assert (row["sentence_good"], row["sentence_bad"], row["UID"]) == ("A good.", "A bad.", paradigm)
    # The folder may also be one inside the repository, where this does not hide the configuration.
    if "{config}" not in found.layout.files:
        assert len(load_pairs(found, config, target.parent).table) == 1
    elif "{config}/" in found.layout.files and len(found.configs) > 1:
        above = tmp_path / path[: path.index(f"{config}/")]
        assert len(load_pairs(found, config, above).table) == 1
        with pytest.raises(ValueError, match="There are no files"):
            load_pairs(found, config, above / config)


def test_bare_sentences_of_climp_are_pairs_of_two_lines(tmp_path):
    with zipfile.ZipFile(tmp_path / "CLiMP_corpus.zip", "w") as archive:
        archive.writestr(
            "CLiMP_corpus/ba_construction_1000.csv",
            "A good, long one.\r\nA bad one.\r\nB good.\r\nB bad.\r\n",
        )
    table = load_pairs(find_set("climp"), None, tmp_path).table
    assert table["sentence_good"].tolist() == ["A good, long one.", "B good."]
    assert table["sentence_bad"].tolist() == ["A bad one.", "B bad."]
    assert set(table["UID"]) == set(table["linguistics_term"]) == {"ba_construction"}


# Downloads: from a Hub on this machine, and from a server in place of GitHub's


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    with LoopbackHub() as hub:
        read_from(hub, tmp_path / "cache", monkeypatch)
        yield hub


GERMAN = b"\tsen\twrong_sen\tphenomenon\n0\tDie Wachen lachen.\tDie Wachen lacht.\tSV-#\n"


def pushed(hub, name, path, content):
    """Push one file; returns the commit."""
    api = HfApi(endpoint=hub.url, token=WRITE_TOKEN)
    api.create_repo(name, repo_type="dataset", exist_ok=True)
    return api.create_commit(
        name, [CommitOperationAdd(path, content)], commit_message="m", repo_type="dataset"
    ).oid


def test_multiblimp_is_downloaded_from_the_hub_at_the_commit_that_is_named(hub, causal, monkeypatch):
    """End to end through `huggingface_hub`; a whole configuration at a commit is a released data set."""
    multiblimp = replace(find_set("multiblimp"), source=Origin(hub="org/multiblimp"))
    monkeypatch.setattr("tse_scorers.suites.minimal_pairs.set_pairs.find_set", lambda name: multiblimp)
    first = pushed(hub, "org/multiblimp", "deu/data.tsv", GERMAN)
    pushed(hub, "org/multiblimp", "fra/data.tsv", GERMAN)
    downloaded = []
    snapshot = sources.snapshot
    monkeypatch.setattr(sources, "snapshot", lambda *about: downloaded.append(about[2]) or snapshot(*about))
    newest = pushed(
        hub, "org/multiblimp", "deu/data.tsv", GERMAN + GERMAN.split(b"\n")[1].replace(b"0", b"1") + b"\n"
    )
    for name, commit, n_pairs in ((f"multiblimp@{first}", first, 1), ("multiblimp", newest, 2)):
        suite = make_suite("minimal_pairs", data=name, config="deu")
        signature = suite.signature(causal)
        assert (suite.n_items, signature["dataset_revision"]) == (n_pairs, commit)
        identity = {"suite": "minimal_pairs", "dataset": suite.dataset, "config": suite.config}
        assert released_data(signature | {"identity": identity}).config == "multiblimp-deu"
    assert downloaded and all(patterns == ["deu/data.tsv"] for patterns in downloaded)  # of one language
    with pytest.raises(ValueError, match=r"'org/multiblimp@v9' .*from the Hub"):
        make_suite("minimal_pairs", data="multiblimp@v9", config="deu")


def test_pairs_on_the_hub_need_no_registration(hub, tmp_path):
    """`--data org/name` was for agreement alone. Patched: where the real clients find Hub and cache."""
    table = b"sentence_good,sentence_bad,kind\nThe author laughs.,The author laugh.,agreement\n"
    name = f"org/pairs@{pushed(hub, 'org/pairs', 'test.csv', table)}"
    command = ["run", "--data", name, "-m", "tiny-causal", "--device", "cpu", "--no-report", "--out"]
    result = CliRunner().invoke(app, [*command, str(tmp_path / "out")], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    rows = read_results(tmp_path / "out")["results"]
    assert {(row["suite"], row["dataset"]) for row in rows} == {("minimal_pairs", name)}


def test_a_download_with_another_checksum_is_refused(hub, own):
    commit = pushed(hub, "org/own", "own.tsv", TSV.encode())
    digest = hashlib.sha256(TSV.encode()).hexdigest()
    for checksum in (digest, digest[::-1]):
        origin = {"hub": "org/own", "revision": commit, "checksums": {"own.tsv": checksum}}
        described = find_set(own(source=origin))
        if checksum == digest:
            assert load_pairs(described).revision == commit
        else:
            with pytest.raises(ValueError, match=r"1 .*Own .*checksum .*own\.tsv.*--source"):
                load_pairs(described)


@pytest.fixture
def repository(own, tmp_path, monkeypatch):
    """A set whose file is served as GitHub does; gives it with the checksums that are named, in an empty cache."""
    pytest.importorskip("pooch")
    own()
    served = tmp_path / "served" / "me" / "own" / ("0" * 40)
    served.mkdir(parents=True)
    (served / "own.tsv").write_bytes(TSV.encode())

    def described(**checksums):
        cache = tmp_path / f"cache-{'-'.join(checksums.values())}"
        monkeypatch.setattr("pooch.os_cache", lambda name: cache)
        named = {f"{name}.tsv": checksum for name, checksum in checksums.items()}
        return find_set(own(source={"repository": "me/own", "revision": "0" * 40, "checksums": named}))

    with served_folder.served(tmp_path / "served") as address:
        monkeypatch.setattr(sources, "RAW", address)
        yield described


def test_files_of_a_repository_are_downloaded_and_checked(repository):
    digest = hashlib.sha256(TSV.encode()).hexdigest()
    assert load_pairs(repository(own=digest)).revision == "0" * 40
    with pytest.raises(ValueError, match=r"own\.tsv .*downloaded: SHA256 hash"):
        load_pairs(repository(own=digest[::-1]))


def test_files_are_also_known_by_the_name_that_git_gives_their_content(repository, tmp_path, caplog):
    """Of files that nobody could read here, the commit still says what they hold."""
    import pooch

    (tmp_path / "copy.tsv").write_bytes(TSV.encode())
    said = subprocess.run(
        ["git", "hash-object", "--no-filters", tmp_path / "copy.tsv"],
        capture_output=True,
        text=True,
        check=True,
    )
    name = said.stdout.strip()
    assert len(name) == 40
    pooch.get_logger().addHandler(caplog.handler)
    try:
        assert load_pairs(repository(own=name)).revision == "0" * 40
    finally:
        pooch.get_logger().removeHandler(caplog.handler)
    (line,) = caplog.messages  # pooch also advised on the arguments of its functions
    assert line.startswith("Downloading data from 'http://127.0.0.1")
    with pytest.raises(ValueError, match=r"1 .*Own .*checksum .*own\.tsv.*--source"):
        load_pairs(repository(own=name[::-1]))


def test_a_whole_registered_set_is_no_partial_run(tmp_path, causal, monkeypatch):
    """It is known by its files' checksums, whatever the folder is called; a changed copy or a limit is a part."""
    whole = TSV + "verbs\tThe pilots laugh.\tThe pilots laughs.\n"
    (tmp_path / "own.tsv").write_text(whole, encoding="utf-8")
    digest = hashlib.sha256(whole.encode()).hexdigest()
    registered = SET | {"id": "clams", "expected": {"all": 3}}
    registered |= {"source": {"repository": "a/b", "revision": "0" * 40, "checksums": {"own.tsv": digest}}}
    (tmp_path / "set.yaml").write_text(yaml.safe_dump(registered), encoding="utf-8")
    found = read_set(tmp_path / "set.yaml")
    monkeypatch.setattr("tse_scorers.suites.minimal_pairs.set_pairs.find_set", lambda name: found)

    def reasons(**options):
        out = tmp_path / f"out-{len([*tmp_path.iterdir()])}"
        asked = {"data": "clams", "source": tmp_path, "methods": ["full"], "out": out, "report": False}
        run("tiny-causal", "minimal_pairs", **asked, **options)
        request = record_of(out).request
        return request["own_data"], request["partial_reasons"]

    assert reasons() == (False, [])
    assert reasons(limit=1) == (False, ["--limit 1"])
    assert reasons(groups=["nouns"]) == (False, ["--groups nouns"])
    (tmp_path / "own.tsv").write_text(whole.replace("pilots", "guards"), encoding="utf-8")
    assert reasons() == (False, ["not a released data set"])
    own_pairs = make_suite("minimal_pairs", data=str(tmp_path / "set.yaml"), source=tmp_path)
    assert WHOLE_SET not in own_pairs.signature(causal)


def test_only_line_ends_end_a_row(own, tmp_path):
    """U+2028, U+0085 and form feeds stand in sentences of real sets; they cut a row in two."""
    for mark in ("\u2028", "\x85", "\x0c"):
        tsv = f"topic\tcorrect\twrong\nverbs\tThe author{mark} laughs.\tThe author laugh.\n"
        (row,) = load_pairs(find_set(own(tsv=tsv)), None, tmp_path).table.to_dict("records")
        assert (
            row["sentence_good"] == f"The author{mark} laughs." and row["sentence_bad"] == "The author laugh."
        )


def test_missing_files_columns_and_unequal_sides_are_refused(own, tmp_path):
    with pytest.raises(ValueError, match=r"data/\{config\}/\*\.csv of TurBLiMP .*--source"):
        load_pairs(find_set("turblimp"), None, tmp_path)
    with pytest.raises(ValueError, match=r"configuration 'xyz'; .*: base, experimental"):
        load_pairs(find_set("turblimp"), "xyz", tmp_path)
    with pytest.raises(ValueError, match=r"own\.tsv .*read: .*no rows"):
        load_pairs(find_set(own(tsv="")), None, tmp_path)
    with pytest.raises(ValueError, match="lacks the column topic"):
        load_pairs(find_set(own(tsv="correct\twrong\nA.\tB.\n")), None, tmp_path)
    with pytest.raises(ValueError, match="lacks the column wrong"):
        load_pairs(find_set(own(tsv="topic\tcorrect\na\tA.\n")), None, tmp_path)
    (tmp_path / "de_evalset").mkdir()
    (tmp_path / "de_evalset" / "vp_coord.txt").write_text("True\ta\nTrue\tb\nFalse\tc\n")
    with pytest.raises(ValueError, match=r"2 rows .*label .*'True' .*1 others"):
        load_pairs(find_set("clams"), "de", tmp_path)
    (tmp_path / "own.tsv").write_bytes(b"topic\tcorrect\twrong\na\t\xff.\tB.\n")
    with pytest.raises(ValueError, match="UTF-8"):
        load_pairs(read_set(tmp_path / "own.yaml"), None, tmp_path)


def test_a_set_without_a_list_of_files_says_where_it_is(own):
    described = find_set(own(source={"repository": "me/own", "revision": "0" * 40}))
    with pytest.raises(ValueError, match=r"from https://github\.com/me/own .*--source"):
        load_pairs(described)


# The real samples

# BLiMP's tests are in test_blimp_suite.py and test_bad_data.py.
SAMPLES = ("clams", "lindsea", "sling", "turblimp")
PARADIGMS = {"clams": 50, "lindsea": 130, "sling": 54, "turblimp": 38}
"""LINDSEA has 131; the sample leaves out all pairs of one."""


@pytest.fixture(scope="module")
def loaded(upstream):
    """Each sample, loaded once."""
    return {
        name: load_pairs(find_set(name), ",".join(find_set(name).configs), upstream / name)
        for name in SAMPLES
    }


@pytest.mark.upstream
@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_have_the_groups_and_counts_of_the_facts(upstream, loaded, name):
    """The samples leave out pairs: their own list says how many each file keeps, and what the whole file's hash is."""
    found = find_set(name)
    listed = json.loads((upstream / "MANIFEST.json").read_text())[name]["files"]
    files = {path: entry for path, entry in listed.items() if path in found.source.checksums}
    hashes = {path: entry.get("upstream_sha256", entry["sha256"]) for path, entry in files.items()}
    assert found.source.checksums == hashes
    n_whole = {"turblimp": 100, "sling": 40}.get(name, 0)  # pairs of a file that is kept whole
    assert len(loaded[name].table) == sum(entry.get("kept", n_whole) for entry in files.values())
    facts = {fact["id"]: fact for fact in json.loads((upstream / "registry_facts.json").read_text())}
    ids = [f"clams-{config}" for config in found.configs] if name == "clams" else [name]
    n_pairs = sum(n_pairs for config, n_pairs in found.expected.items() if config != "experimental")
    assert n_pairs == sum(facts[each]["n_pairs"] for each in ids)
    assert loaded[name].table["UID"].nunique() == PARADIGMS[name]


# Scores


@pytest.fixture(scope="module")
def causal():
    return load_scorer("tiny-causal")


@pytest.fixture(scope="module")
def minicons_scorer(causal):
    from minicons.scorer import IncrementalLMScorer

    return IncrementalLMScorer(causal.model, device="cpu", tokenizer=causal.tokenizer)


@pytest.mark.upstream
@pytest.mark.parametrize("name", SAMPLES)
def test_sums_are_those_of_minicons_and_the_authors_rule_is_theirs(upstream, name, causal, minicons_scorer):
    """A literal version of each authors' formula, over the log-probabilities of minicons's tokens."""
    suite = make_suite("minimal_pairs", data=name, source=upstream / name, limit=1, methods=["full"])
    suite.keep_sample(6, seed=0)
    (table,) = suite.score(causal, lambda done, total: None).values()
    pairs = table.to_pandas()
    literal = AUTHORS[name]
    for side in ("good", "bad"):
        tokens = minicons_scorer.compute_stats(
            minicons_scorer.prepare_text(pairs[f"sentence_{side}"].tolist(), bos_token=True)
        )
        sums = np.array([sum(row) for row in tokens])
        np.testing.assert_allclose(pairs[f"logprob_{side}"], sums, atol=1e-4)
        expected = [literal(row) for row in tokens]
        np.testing.assert_allclose(pairs[f"score_{side}"], expected, atol=1e-4)
    assert (pairs["correct"] == (pairs["score_good"] > pairs["score_bad"])).all()


AUTHORS = {
    "clams": sum,
    "lindsea": sum,  # its authors ask a chat model instead; the sum is ours
    "turblimp": sum,
    "sling": lambda row: -np.log(np.exp(-sum(row) / len(row))),  # minus the log of their perplexity
}


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
def test_own_set_from_a_yaml_file(own, tmp_path, model):
    """Registered sets have languages as groups; the linking function is in each row and in the signature."""
    scorer = load_scorer(model)
    suite = make_suite("minimal_pairs", data=own(convention={"linking": "mean_byte"}), source=tmp_path)
    signature = suite.signature(scorer)
    assert (signature["linking"], signature["linking_of"]) == ("mean_byte", "the authors")
    tables = suite.score(scorer, lambda done, total: None)
    rows = {row["group"]: row for row in suite.aggregate(tables)}
    assert {"all", "language:epo", "phenomenon:verbs", "verbs"} <= set(rows)
    assert {row["linking"] for row in rows.values()} == {"mean_byte"}
    (pairs,) = (table.to_pandas() for table in tables.values())
    n_bytes = pairs["sentence_good"].map(lambda text: len(text.encode()))
    np.testing.assert_allclose(pairs["score_good"], pairs["logprob_good"] / n_bytes, rtol=1e-12)
    assert rows["all"]["score"] == (pairs["score_good"] > pairs["score_bad"]).mean()
    by_sum, by_authors, by_mean = (
        make_suite("minimal_pairs", data=own(), source=tmp_path, linking=linking).signature(scorer)
        for linking in ("sum", None, "mean_byte")
    )
    assert by_sum == by_authors  # whose function it is, too
    assert by_mean["linking_of"] == "the user"


def test_masked_models_score_a_set_as_its_authors_do(own, tmp_path):
    """SLING's authors mask one token at a time; a run by their linking function used another pseudo-log-likelihood.

    A kind that the user names wins, and the signature says whose it is.
    """
    rows = [f"verbs\tThe grandfather{n} laughs.\tThe grandfather{n} laugh.\n" for n in ("", "s", "ss")]
    described = own(tsv=TSV.splitlines(True)[0] + "".join(rows), convention={"pll": "original"})

    def scored(name, **options):
        chosen = make_suite("minimal_pairs", data=described, source=tmp_path)
        run(name, suite="minimal_pairs", data=described, source=tmp_path, out=tmp_path / str(options), report=False,
                 model_options=options)  # fmt: skip
        (signature,) = read_results(tmp_path / str(options))["signature"]["models"]
        (table,) = chosen.score(load_scorer(name, **options), lambda done, total: None).values()
        return (signature["pll"], signature["pll_of"]), table["logprob_good"].to_numpy()

    (by_default, default), (by_authors, original), (by_user, within) = (
        scored("tiny-masked", **options) for options in ({}, {"pll": "original"}, {"pll": "within_word_l2r"})
    )
    assert (by_default, by_authors) == (("original", "the authors"), ("original", None))
    assert by_user == ("within_word_l2r", None)
    np.testing.assert_array_equal(default, original)
    assert (default != within).any()


def test_blimp_and_own_pairs_keep_their_columns_and_signature(tmp_path, causal):
    path = tmp_path / "own.jsonl"
    path.write_text('{"UID": "a", "linguistics_term": "b", "field": "c", "sentence_good": "The author laughs.", '
                    '"sentence_bad": "The author laugh."}\n')  # fmt: skip
    plain = make_suite("minimal_pairs", data=path)
    assert not {"linking", "ties", "authors_convention"} & set(plain.signature(causal))
    (table,) = plain.score(causal, lambda done, total: None).values()
    assert "linking" not in table.column_names
    linked = make_suite("minimal_pairs", data=path, linking="mean_token")
    (other,) = linked.score(causal, lambda done, total: None).values()
    assert other.select(table.column_names).equals(table)
    by_sum = make_suite("minimal_pairs", data=path, linking="sum")  # which is compared anyway
    assert by_sum.signature(causal) == plain.signature(causal)
    (same,) = by_sum.score(causal, lambda done, total: None).values()
    assert same.equals(table)


def test_groups_may_be_languages_and_configurations_are_in_the_name(tmp_path):
    for language in ("deu", "fra"):
        (tmp_path / language).mkdir()
        text = "sen\twrong_sen\tphenomenon\nA good.\tA bad.\tSV-#\n"
        (tmp_path / language / "data.tsv").write_text(text)
    both = make_suite("minimal_pairs", data="multiblimp", source=tmp_path)
    assert (both.config, both.n_items) == ("multiblimp", 2)
    assert (
        make_suite("minimal_pairs", data="multiblimp", source=tmp_path, groups=["language:fra"]).n_items == 1
    )
    assert (
        make_suite("minimal_pairs", data="multiblimp", config="deu", source=tmp_path).config
        == "multiblimp-deu"
    )
    with pytest.raises(ValueError, match=r"language eng; .*: deu, fra"):
        make_suite("minimal_pairs", data="multiblimp", source=tmp_path, groups=["language:eng"])


def test_a_column_is_a_language_only_where_it_is_text_and_one_of_each_paradigm():
    pairs = pd.DataFrame({"paradigm": ["a", "a", "b"], "language": ["deu", "deu", "fra"]})
    assert has_languages(pairs)
    assert not has_languages(pairs.assign(language=["deu", "fra", "fra"]))
    assert not has_languages(pairs.assign(language=[1, 1, 2]))


def test_sentences_of_clams_become_ordinary_text():
    assert sentence_case("der autor , den wir lieben , lacht") == "Der autor, den wir lieben, lacht."


def test_the_commands_list_and_show():
    runner = CliRunner()
    listed = runner.invoke(app, ["data", "list"], env={"COLUMNS": "200"})
    assert listed.exit_code == 0 and all(name in listed.output for name in set_names())
    shown = runner.invoke(app, ["data", "show", "zhoblimp"])
    assert "slln" in shown.output and "sharing: forbidden" in shown.output
