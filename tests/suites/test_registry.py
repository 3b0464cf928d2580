"""Suites by name, and what their headline measures select."""

import json

import numpy as np
import pandas as pd
import pytest
from run_records import read_results
from typer.testing import CliRunner

from tse_scorers import make_suite, run
from tse_scorers.cli.app import app
from tse_scorers.models.options import described_options
from tse_scorers.suites.contract import Suite
from tse_scorers.suites.registry import (
    all_measures,
    all_suites,
    built_in_options,
    find_suite,
    suite_names,
    suite_of_data,
    suites_of_data,
)


def test_each_suite_of_this_package_keeps_the_contract():
    assert [suite.name for suite in all_suites()] == suite_names()
    for suite in all_suites():
        assert issubclass(suite, Suite) and not suite.__abstractmethods__
        assert {"name", "title", "Options", "measures"} <= {*dir(suite)}
        labels = [measure.label for measure in suite.measures]
        assert len(set(labels)) == len({*map(str, suite.measures)}) == len(labels)
        assert all(own.parsed(str(own)) == own for own in suite.measures)


def test_a_suite_is_found_by_the_name_of_its_folder_too():
    assert find_suite("minimal_pairs") is find_suite("blimp")
    assert make_suite("variation_sets", limit=1).name == "german"
    with pytest.raises(
        ValueError, match=r"Unknown suite 'syntax'; .*agreement, minimal_pairs, german.*\. A suite of "
    ):
        find_suite("syntax")  # a class of one's own that no package declares is refused here too
    with pytest.raises(ValueError, match=r"blimp, variation_sets\. Did you mean minimal_pairs\?"):
        find_suite("minimal_pair")


def test_suites_are_found_in_a_working_folder_that_was_deleted(tmp_path, monkeypatch):
    """Python's path begins with it in `python -c` and in notebooks; any search for a suite failed there."""
    folder = tmp_path / "deleted"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend("")
    folder.rmdir()
    assert find_suite("blimp").name in suite_names()


def test_options_that_were_not_given_do_no_harm():
    suite = make_suite("german", data=None, groups=None, lemmas=None, source=None, limit=1)
    assert suite.n_items == make_suite("german", limit=1).n_items


@pytest.mark.parametrize(
    ("suite", "options", "error", "said"),
    [
        (
            "minimal_pairs",
            {"banana": False},
            ValueError,
            "banana .*no effect .*suite='minimal_pairs'; remove",
        ),
        ("german", {"groups": []}, ValueError, "groups has no effect with suite='german'"),
        ("german", {"limt": 3}, ValueError, r"limt has no effect .*; remove it\. Did you mean limit\?"),
        ("agreement", {"lemmas": ""}, ValueError, "lemmas is empty; expected a value"),
        ("agreement", {"groups": []}, ValueError, "groups is empty"),
        ("agreement", {"groups": ["Simple", " "]}, ValueError, "groups is empty"),
        ("minimal_pairs", {"methods": []}, ValueError, "methods is empty"),
        ("german", {"limit": False}, TypeError, r"limit=False \(bool\); .*whole number"),
        ("german", {"limit": 0}, ValueError, "limit=0; .*from 1 up"),
        ("german", {"limit": 2.0}, TypeError, r"limit=2.0 \(float\); .*whole number"),
        ("german", {"source": 3}, TypeError, r"Got source=3 \(int\); expected a path"),
        (
            "agreement",
            {"allow_unverified": "no"},
            TypeError,
            r"allow_unverified='no' \(str\); .*True or False",
        ),
        ("agreement", {"lemmas": ["clean"]}, TypeError, r"Got lemmas=\['clean'\] \(list\); expected a text"),
        ("agreement", {"groups": ["Simple", 3]}, TypeError, r"'Simple', 3\] \(list\); .*list of texts"),
        ("minimal_pairs", {"data": "turblimp,rublimp"}, ValueError, "names several. Make one of each"),
        (["blimp"], {}, TypeError, r"Got suite=\['blimp'\] \(list\); expected a text"),
        ("minimal_pairs", {"data": "turblimp,"}, ValueError, "expected names with commas between them"),
    ],
)
def test_a_value_acts_or_is_refused_by_its_name(suite, options, error, said):
    """What is empty or False was dropped without a word, and wrong types ended in errors of other libraries."""
    with pytest.raises(error, match=said):
        make_suite(suite, **options)


def test_values_of_numpy_and_paths_are_used_and_recorded_as_plain_ones(tmp_path):
    """Numbers and arrays of numpy, and paths as texts, failed while results were written."""
    (tmp_path / "lemmas.csv").write_text("singular,plural\nlaughs,laugh\nknows,know\n")
    asked = {
        "groups": ("Simple",),
        "limit": 2,
        "lemmas": str(tmp_path / "lemmas.csv"),
        "allow_unverified": False,
    }
    other = {
        "groups": np.array(["Simple"]),
        "limit": np.int64(2),
        "lemmas": tmp_path / "lemmas.csv",
        "allow_unverified": np.bool_(False),
    }
    rows = [
        run("tiny-causal", out=tmp_path / name, report=False, **options)
        for name, options in (("plain", asked), ("numpy", other))
    ]
    assert [row["score"] for row in rows[0]] == pytest.approx([row["score"] for row in rows[1]], nan_ok=True)
    for name in ("plain", "numpy"):
        request = read_results(tmp_path / name)["signature"]["models"][0]["request"]
        assert request["suite_options"] == asked | {"groups": ["Simple"]}


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ({"suite": "agreement", "metric": "ew", "cutoff_side": "top", "cutoff": 1.0}, "EW"),
        ({"suite": "agreement", "metric": "ew", "cutoff_side": "bottom", "cutoff": 1.0}, None),
        ({"suite": "agreement", "metric": "mw", "cutoff_side": "top", "cutoff": 0.5}, None),
        ({"suite": "agreement", "metric": "tse", "cutoff_side": None, "cutoff": None}, "TSE"),
        ({"suite": "agreement", "metric": "covered_mass", "cutoff_side": "top", "cutoff": 1.0}, None),
        ({"suite": "minimal_pairs", "metric": "accuracy", "method": "one_prefix"}, "one prefix"),
        ({"suite": "german", "metric": "auc", "variation_set": "1-2_dative"}, "AUC dative twice"),
        ({"suite": "german", "metric": "human_pearson", "variation_set": "1-6"}, None),
    ],
)
def test_a_measure_selects_the_whole_distribution_and_nothing_else(row, label):
    selected = [measure.label for measure in all_measures()[row["suite"]] if measure.selects(row)]
    assert selected == ([label] if label else [])


TABLES = {
    "agreement": "group,prefix,suffix,form_correct,form_incorrect,number",
    "agreement, values": "group,prefix,suffix,form_correct,form_incorrect,value,own",
    "agreement, with whole sentences": "group,prefix,suffix,form_correct,form_incorrect,number,sentence_good,"
    "sentence_bad",
    "minimal_pairs": "sentence_good,sentence_bad,own",
    "german": "template,cases,positions,sentence",
    "regions": "item,condition,text",
    "regions, SyntaxGym": "item_number,condition_name,content",
    "minimal_pairs, one column missing": "sentence_good,bad",
}


@pytest.mark.parametrize("suite", TABLES)
def test_the_columns_of_a_file_choose_the_suite(suite, tmp_path):
    """Of four natural commands for one's own pairs, three were refused."""
    columns = TABLES[suite]
    (tmp_path / "own.csv").write_text(columns + "\n" + ",".join("x" for _ in columns.split(",")) + "\n")
    assert suite_of_data(str(tmp_path / "own.csv")) == suite.partition(",")[0]
    assert suite_of_data(str(tmp_path)) == suite.partition(",")[0]


def test_a_second_suite_that_could_read_a_file_is_named_too(tmp_path):
    """Columns of two suites were read by agreement, and nothing said that minimal_pairs could read them as well."""
    (tmp_path / "own.csv").write_text(TABLES["agreement, with whole sentences"] + "\n")
    assert suites_of_data(str(tmp_path / "own.csv")) == ["agreement", "minimal_pairs"]
    (tmp_path / "own.csv").write_text(TABLES["agreement"] + "\n")
    assert suites_of_data(str(tmp_path / "own.csv")) == ["agreement"]


def test_names_and_descriptions_choose_the_suite(tmp_path):
    assert [suite_of_data(name) for name in ("marvin_linzen", "turblimp,sling", "multiblimp@v1")] == [
        "agreement", "minimal_pairs", "minimal_pairs",
    ]  # fmt: skip
    assert suite_of_data("ours") == suite_of_data("rochereau2020") == "german"
    (tmp_path / "set.yaml").write_text("id: own\ntitle: Own\nlayout: {files: own.tsv}\ncolumns: {good: a}\n")
    assert suite_of_data(str(tmp_path / "set.yaml")) == "minimal_pairs"
    (tmp_path / "suite.json").write_text('{"meta": {}, "region_meta": {}, "items": [], "predictions": []}')
    assert suite_of_data(str(tmp_path / "suite.json")) == "regions"


def test_data_of_no_or_several_suites_are_refused_by_their_columns(tmp_path):
    (tmp_path / "own.csv").write_text("id,text,label\n1,It is.,1\n")
    with pytest.raises(
        ValueError,
        match=r"columns id, text, label, .*minimal_pairs: sent",
    ):
        suite_of_data(str(tmp_path / "own.csv"))
    with pytest.raises(ValueError, match=r"blimp .*suites agreement and minimal_pairs; .*suite"):
        suite_of_data("blimp")
    with pytest.raises(ValueError, match=r"data 'turblmp'.*Did you mean turblimp"):
        suite_of_data("turblmp")


@pytest.mark.parametrize(("separator", "said"), [("\t", "tabs"), (";", "';'")])
def test_a_table_with_another_separator_is_told_so_before_its_columns_are_compared(separator, said, tmp_path):
    """A TSV named .csv was "of no suite", with the columns of all four suites and nothing about its tabs."""
    (tmp_path / "own.csv").write_text(separator.join(["sentence_good", "sentence_bad"]) + "\n")
    with pytest.raises(ValueError, match=rf"single column, .*separated by {said}; save it with commas"):
        suite_of_data(str(tmp_path / "own.csv"))


def test_own_pairs_need_no_suite_on_the_command_line_and_in_python(tmp_path):
    """The terminal says which suite reads the data."""
    path = tmp_path / "mine.csv"
    path.write_text("sentence_good,sentence_bad\nIt is.,It are.\n")
    done = CliRunner().invoke(
        app, ["run", "--data", str(path), "-m", "tiny-causal", "--out", str(tmp_path / "a")]
    )
    assert done.exit_code == 0 and f"Suite: minimal_pairs, by the columns of {path}." in " ".join(
        done.stderr.split()
    )
    pairs = pd.read_csv(path)
    assert {row["suite"] for row in run("tiny-causal", data=pairs, out=tmp_path / "b", report=False)} == {
        "minimal_pairs"
    }


def test_a_copy_of_blimp_holds_its_pairs(tmp_path):
    """`source` is a copy of the data set that is named; pairs of one's own are `data`."""
    (tmp_path / "own.jsonl").write_text(
        '{"UID": "own", "sentence_good": "It is.", "sentence_bad": "It are."}\n'
    )
    with pytest.raises(ValueError, match=r"copy of BLiMP, .*other pairs.*data="):
        make_suite("minimal_pairs", source=tmp_path / "own.jsonl")


def test_a_copy_of_blimp_is_blimp_where_its_name_is_given_too(tmp_path):
    """`--data blimp --source FOLDER` was called the user's own data, which were not comparable with BLiMP."""
    row = {"UID": "wh_island", "sentence_good": "It is.", "sentence_bad": "It are."}
    (tmp_path / "blimp.jsonl").write_text(json.dumps(row) + "\n")
    for name in (None, "blimp"):
        suite = make_suite("minimal_pairs", data=name, source=tmp_path / "blimp.jsonl")
        assert (suite.dataset, suite.config) == ("blimp", "blimp")
    row["UID"] = "mine"
    (tmp_path / "blimp.jsonl").write_text(json.dumps(row) + "\n")
    assert make_suite("minimal_pairs", data=str(tmp_path / "blimp.jsonl")).config == "own-blimp"


def test_a_folder_of_pairs_is_no_data_set_of_the_hub(tmp_path, monkeypatch):
    """Results on `pairs/mine`, published from another folder, named a data set of somebody else on the Hub."""
    folder = tmp_path / "pairs" / "mine"
    folder.mkdir(parents=True)
    (folder / "own.jsonl").write_text(
        '{"UID": "own", "sentence_good": "It is.", "sentence_bad": "It are."}\n'
    )
    monkeypatch.chdir(tmp_path)
    suite = make_suite("minimal_pairs", data="pairs/mine")
    monkeypatch.chdir(folder)
    with pytest.raises(ValueError, match=r"your own data, 'pairs/mine'.*--results-repo"):
        suite.known_data.hub_dataset({"dataset": suite.dataset, "config": suite.config}, "org")


def test_an_option_of_several_suites_is_declared_alike():
    """One text stands for all of them on the command line."""
    declared = [described_options(options) for options in built_in_options().values()]
    for name in {name for of_suite in declared for name in of_suite}:
        assert len({of_suite[name] for of_suite in declared if name in of_suite}) == 1, name
