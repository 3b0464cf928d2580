"""Several suites and sets in one command: each value of an option goes to its suite, or is refused by its name."""

import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

import tse_scorers
from tse_scorers import make_suite
from tse_scorers.cli import terminal
from tse_scorers.cli.app import app
from tse_scorers.io.results import read_results

AGREEMENT = (
    "group,prefix,suffix,form_correct,form_incorrect,number\nMine,The author,.,laughs,laugh,singular\n"
)
PAIR = {"UID": "own", "linguistics_term": "own", "field": "syntax"}
REGIONS = (
    "item,condition,region,text\n1,a,np,The author\n1,a,verb,laughs\n1,b,np,The author\n1,b,verb,laugh\n"
)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The current folder, with data of each suite and of two registered sets."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ag.csv").write_text(AGREEMENT)
    (tmp_path / "regions.csv").write_text(REGIONS)
    pairs = [("The author laughs.", "The author laugh."), ("The pilots swim.", "The pilots swims.")] * 6
    rows = [
        PAIR | {"pairID": number, "sentence_good": good, "sentence_bad": bad}
        for number, (good, bad) in enumerate(pairs)
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for language in ("deu", "fra"):
        folder = tmp_path / "sets" / "multiblimp" / language
        folder.mkdir(parents=True)
        (folder / "data.tsv").write_text("sen\twrong_sen\tphenomenon\nA good.\tA bad.\tSV-#\n")
    folder = tmp_path / "sets" / "jblimp" / "data" / "validated"
    folder.mkdir(parents=True)
    row = {"good_sentence": "A c.", "bad_sentence": "A d.", "phenomenon": "p", "paradigm": "q"}
    (folder / "validated_minimal_pairs.jsonl").write_text(json.dumps(row))
    return tmp_path


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setattr(terminal, "_out", Console(width=300))  # it may have been made by an earlier test


def tse(*arguments, suites=()):
    named = [part for suite in suites for part in ("--suite", suite)]
    command = [str(argument) for argument in (*arguments, *named)]
    return CliRunner().invoke(app, command, catch_exceptions=False)


def run(data, *arguments, suites):
    options = ("--model", "tiny-causal", "--device", "cpu", "--no-report", "--out", data / "out")
    assert tse("run", *options, *arguments, suites=suites).exit_code == 0
    content = read_results(data / "out")
    return {each["identity"]["suite"]: each["request"] for each in content["signature"]["models"]}, content[
        "results"
    ]


@pytest.mark.slow
def test_each_value_goes_to_its_suite(data):
    """Only the last of two values had an effect, and a value for blimp was not used for minimal_pairs."""
    options = ("--data", "agreement=ag.csv", "--data", "minimal_pairs=multiblimp")
    options += ("--source", "blimp=sets/multiblimp", "--data", "regions=regions.csv")
    options += ("--config", "minimal_pairs=deu", "--data", "german=ours", "--criteria", "(2;%a%) < (2;%b%)")
    requests, rows = run(
        data, *options, "--limit", "1", suites=("agreement", "minimal_pairs", "german", "regions")
    )
    assert {suite: request["suite_options"] for suite, request in requests.items()} == {
        "agreement": {"data": "ag.csv", "limit": 1},
        "minimal_pairs": {"data": "multiblimp", "config": "deu", "source": "sets/multiblimp", "limit": 1},
        "german": {"data": "ours", "limit": 1},
        "regions": {"data": "regions.csv", "criteria": ["(2;%a%) < (2;%b%)"], "limit": 1},
    }
    assert {
        (row["dataset"], row["config"]) for row in rows if row["suite"] in ("agreement", "minimal_pairs")
    } == {
        ("ag.csv", "ag"),
        ("multiblimp", "multiblimp-deu"),
    }


def test_data_are_for_the_suites_that_read_them(data):
    """All suites have the option, so that each file would need the name of its suite."""
    options = ("--data", "ag.csv", "--data", "pairs.jsonl", "--limit", "1")
    requests, _ = run(data, *options, suites=("agreement", "minimal_pairs", "german"))
    given = {suite: request["suite_options"].get("data") for suite, request in requests.items()}
    assert given == {"agreement": "ag.csv", "minimal_pairs": "pairs.jsonl", "german": None}


def test_without_a_suite_each_file_chooses_its_own(data):
    """The first file alone chose, and the second was refused as another value of that suite."""
    (data / "both.csv").write_text(
        AGREEMENT.replace("\n", ",sentence_good,sentence_bad\n", 1).rstrip()
        + ",The author laughs.,It laugh.\n"
    )
    arguments = ("--data", "both.csv", "--data", "pairs.jsonl", "--model", "tiny-causal", "--no-report")
    said = tse("run", *arguments, "--out", "first").output
    assert (
        "Suite: agreement, by the columns of both.csv. They also fit minimal_pairs: --suite minimal_pairs."
        in said
    )
    assert "Suite: minimal_pairs, by the columns of pairs.jsonl." in said
    options = ("--data", "regions=regions.csv", "--data", "blimp=pairs.jsonl", "--limit", "1")
    requests, _ = run(data, *options, suites=())
    assert set(requests) == {"regions", "minimal_pairs"}


def test_an_option_that_one_of_the_suites_has_is_for_that_one(data):
    options = ("--linking", "mean_token", "--data", "blimp=pairs.jsonl", "--limit", "1")
    requests, rows = run(data, *options, suites=("minimal_pairs", "german"))
    assert set(requests) == {"minimal_pairs", "german"}
    assert {row["linking"] for row in rows if "linking" in row} == {"mean_token"}


@pytest.mark.parametrize(
    ("suites", "options", "said"),
    [
        (
            ["regions"],
            ["--data", "blimp=x"],
            "data='blimp=x' is for a suite that is not run (regions); add",
        ),
        (
            [],
            ["--lemmas", "german=clean"],
            "lemmas='german=clean' is for a suite that is not run (agreement)",
        ),
        (
            ["agreement", "minimal_pairs"],
            ["--lemmas", "blimp=clean"],
            "lemmas='blimp=clean' has no effect with suite='blimp'",
        ),
        (
            ["agreement", "minimal_pairs"],
            ["--linking", "agreement=banana"],
            " has no effect with suite='agreement'",
        ),
        (
            ["agreement", "german"],
            ["--groups", "german=x"],
            "groups='german=x' has no effect with suite='german'",
        ),
        (
            ["agreement", "minimal_pairs"],
            ["--criteria", "x"],
            "--criteria has no effect with --suite agreement or minimal_pairs",
        ),
        (
            ["minimal_pairs", "german"],
            ["--source", "x", "--source", "blimp=y"],
            "source has 2 values for the suite minimal_pairs",
        ),
        (
            ["minimal_pairs"],
            ["--source", "x", "--source", "y"],
            "source has 2 values for the suite minimal_pairs (x, y)",
        ),
        ([], ["--forms", "agreement="], "forms is empty"),
        (["blimp", "minimal_pairs"], ["--limit", "1"], "--suite names a suite twice (blimp, minimal_pairs)"),
    ],
)
def test_a_value_that_is_for_no_suite_is_refused_by_its_name(suites, options, said, data):
    """Such values were dropped without a word."""
    with pytest.raises(ValueError) as refused:
        tse("run", *options, suites=suites)
    assert said in str(refused.value)


def test_several_sets_are_run_one_by_one_by_every_command_and_in_python(data):
    """`run` took "multiblimp,jblimp" for the name of one set; a suite by itself has one."""
    options = ("--data", "multiblimp,jblimp", "--source", "sets")
    of_commands = run(data, *options, suites=["minimal_pairs"])[1]
    asked = {"data": "multiblimp,jblimp", "source": data / "sets"}
    rows = tse_scorers.run("tiny-causal", "minimal_pairs", data / "python", report=False, **asked)
    assert [row["score"] for row in rows] == [row["score"] for row in of_commands]
    assert {row["dataset"] for row in rows} == {"multiblimp", "jblimp"}
    with pytest.raises(ValueError, match="names several"):
        make_suite("minimal_pairs", **asked)
