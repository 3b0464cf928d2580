"""Suites by name, and what their headline measures select."""

import json

import pytest
from rich.console import Console

from tse_scorers import evaluate
from tse_scorers.cli import terminal
from tse_scorers.cli.shown_report import show_report
from tse_scorers.suites.registry import (
    _members,
    all_measures,
    all_suites,
    find_suite,
    make_suite,
    suite_names,
)


def test_each_suite_of_this_package_keeps_the_contract():
    assert [suite.name for suite in all_suites()] == suite_names()
    for suite in all_suites():
        assert [member for member in _members() if not hasattr(suite, member)] == []
        labels = [measure.label for measure in suite.measures]
        assert len(set(labels)) == len(labels)


def test_a_suite_is_found_by_the_name_of_its_folder_too():
    assert find_suite("minimal_pairs") is find_suite("blimp")
    assert make_suite("variation_sets", limit=1).name == "german"
    with pytest.raises(ValueError, match="Unknown suite 'syntax'; expected one of: agreement, blimp, german"):
        find_suite("syntax")
    with pytest.raises(ValueError, match=r"minimal_pairs, variation_sets\. Did you mean minimal_pairs\?"):
        find_suite("minimal_pair")


def test_options_that_were_not_given_do_no_harm():
    suite = make_suite("german", dataset=None, groups=[], lemmas=None, source=None, limit=1)
    assert suite.n_items == make_suite("german", limit=1).n_items


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ({"suite": "agreement", "metric": "ew", "cutoff_side": "top", "cutoff": 1.0}, "EW"),
        ({"suite": "agreement", "metric": "ew", "cutoff_side": "bottom", "cutoff": 1.0}, None),
        ({"suite": "agreement", "metric": "mw", "cutoff_side": "top", "cutoff": 0.5}, None),
        ({"suite": "agreement", "metric": "tse", "cutoff_side": None, "cutoff": None}, "TSE"),
        ({"suite": "agreement", "metric": "covered_mass", "cutoff_side": "top", "cutoff": 1.0}, None),
        ({"suite": "blimp", "metric": "accuracy", "method": "one_prefix"}, "one prefix"),
        ({"suite": "german", "metric": "auc", "variation_set": "1-2_dative"}, "AUC 1-2 dative"),
        ({"suite": "german", "metric": "human_pearson", "variation_set": "1-6"}, None),
    ],
)
def test_a_measure_selects_the_whole_distribution_and_nothing_else(row, label):
    selected = [measure.label for measure in all_measures()[row["suite"]] if measure.selects(row)]
    assert selected == ([label] if label else [])


def test_the_terminal_names_pairs_alike_however_they_were_asked_for(tmp_path, capsys, monkeypatch):
    """A run of --suite minimal_pairs was headed `blimp: mine`."""
    row = {"pairID": 0, "linguistics_term": "own", "field": "syntax", "UID": "own"}
    pairs = tmp_path / "mine.jsonl"
    pairs.write_text(json.dumps(row | {"sentence_good": "It is.", "sentence_bad": "It are."}) + "\n")
    monkeypatch.setattr(terminal, "_out", Console(width=80))
    for name in ("minimal_pairs", "blimp"):
        evaluate("tiny-causal", name, tmp_path / name, source=pairs, report=False)
        show_report(tmp_path / name)
        assert capsys.readouterr().out.startswith("Minimal pairs: mine")
