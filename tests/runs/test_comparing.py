"""`tse compare`: on the same items only, with the tests that its documentation names."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import stats
from synthetic_runs import blimp_rows, blimp_scores, write_run
from typer.testing import CliRunner

from tse_scorers.cli import terminal
from tse_scorers.cli.app import app
from tse_scorers.runs.compare import compare, paired_permutation

PATTERNS = ["".join(cases) for cases in product("NDA", repeat=3) if len(set(cases)) > 1]
ORDERS = ["".join(cases) for cases in permutations("NDA")]
ABOUT = {"suite": "blimp", "dataset": "blimp", "config": "all", "metric": "accuracy", "method": "full"}


def blimp_run(folder, model: str, correct: list[int], first: int = 0):
    frame = pd.DataFrame({"correct": correct})
    frame["pair_id"] = frame.index + first
    frame["paradigm"], frame["method"] = "anaphor_number_agreement", "full"
    frame["sentence_good"] = "good " + frame["pair_id"].astype(str)
    frame["sentence_bad"] = "bad " + frame["pair_id"].astype(str)
    score = float(np.mean(correct))
    rows = [{**ABOUT, "model": model, "revision": None, "group": "all", "score": score, "n": len(correct)}]
    return write_run(folder / model, rows, {f"{model}.blimp": frame})


def contexts_run(folder, model: str, ew: list[float], suffixes: list[str | None]):
    frame = pd.DataFrame({"ew_top_1": ew, "mw_top_1": 0.5, "suffix": suffixes, "number": "singular"})
    frame["prefix"] = [f"The author {place}" for place in range(len(ew))]
    about = {**ABOUT, "suite": "agreement", "config": "mine", "metric": "ew", "method": None}
    rows = [about | {"model": model, "revision": None, "group": "all", "score": 0.5, "n": len(ew)}]
    return write_run(folder / model, rows, {f"{model}.agreement.mine.contexts": frame})


def german_run(
    folder, model: str, aucs: list[float], sentence: str = "", without_acceptable: int | None = None
):
    """A run in which every variation set of each template has the same AUC: 0, 0.5 or 1 (NaN scores: 0)."""
    acceptable = {0.0: -2.0, 0.5: -1.0, 1.0: 0.0}
    rows = [
        {
            "template": str(template),
            "case_order": cases,
            "positions": positions,
            "acceptable": cases in ORDERS,
        }
        | {"logprob": acceptable.get(auc, auc) if cases in ORDERS else -1.0}
        for template, auc in enumerate(aucs)
        for positions, cases in product(map("".join, permutations("123")), PATTERNS)
        if template != without_acceptable or cases not in ORDERS
    ]
    frame = pd.DataFrame(rows)
    frame["sentence"] = sentence + frame["template"] + frame["case_order"] + frame["positions"]
    about = {**ABOUT, "suite": "german", "config": "ours", "metric": "auc", "method": None}
    rows = [about | {"model": model, "revision": None, "group": "all", "score": 0.5, "n": len(frame)}]
    return write_run(folder / model, rows, {f"{model}.german.ours": frame})


def test_accuracies_are_compared_by_the_items_on_which_they_differ(tmp_path):
    # Of 12 shared pairs, 9 are right for both; 3 only for the second. Exact McNemar: 2 * 0.5**3 = 0.25.
    first = blimp_run(tmp_path, "first", [1] * 9 + [0] * 3)
    second = blimp_run(tmp_path, "second", [0] * 5 + [1] * 12, first=-5)
    (row,) = compare([first, second]).to_dict("records")
    assert (row["system"], row["reference"], row["n"]) == ("second", "first", 12)
    assert (row["score"], row["reference score"], row["difference"]) == (1.0, 0.75, 0.25)
    assert row["p"] == pytest.approx(0.25)
    assert (row["ties"], row["left out"]) == (9, 5)  # five pairs were put to the second alone


def test_pairs_of_one_number_but_other_sentences_are_not_the_same(tmp_path):
    first = blimp_run(tmp_path, "first", [1, 0])
    second = blimp_run(tmp_path, "second", [0, 1], first=2)
    with pytest.raises(ValueError, match="no two systems in these folders scored the same items"):
        compare([first, second])


def test_equal_systems_do_not_differ(tmp_path):
    runs = [blimp_run(tmp_path, model, [1, 0, 1]) for model in ("a", "b")]
    (row,) = compare(runs).to_dict("records")
    assert row["difference"] == 0 and row["p"] == 1


def test_scores_between_0_and_1_are_compared_context_by_context(tmp_path):
    """Differences 0.1, 0.2, 0.3 in one direction: 2 of 8 assignments of signs are as extreme. NaN is no score."""
    first = contexts_run(tmp_path, "first", [0.1, 0.1, 0.1, 0.9], [".", None, ".", "."])
    second = contexts_run(tmp_path, "second", [0.2, 0.3, 0.4, float("nan")], [".", None, ".", "."])
    found = compare([first, second]).set_index("measure")
    assert found.loc["EW", ["n", "p"]].tolist() == [3, pytest.approx(0.25)]
    assert found.loc["EW", "difference"] == pytest.approx(0.2)
    assert found.loc["MW", ["n", "p", "difference"]].tolist() == [4, 1, 0]
    assert found["left out"].to_dict() == {"EW": 1, "MW": 0} and found["ties"].to_dict() == {"EW": 0, "MW": 4}
    assert found.loc["EW", "test"] == "permutation test of the mean difference"


def test_german_scores_are_compared_template_by_template(tmp_path):
    """Differences 0.5, 0.5, 0.5 and 0: of 8 assignments of signs to the first three, 2 are as extreme."""
    first = german_run(tmp_path, "first", [0.5, 0.5, 0.0, 1.0])
    second = german_run(tmp_path, "second", [1.0, 1.0, 0.5, 1.0, 1.0])
    found = compare([first, second])
    assert found["measure"].tolist() == [
        "AUC 1-6",
        "AUC 1-2 nominative",
        "AUC 1-2 accusative",
        "AUC 1-2 dative",
    ]
    for row in found.to_dict("records"):
        assert (row["suite"], row["system"], row["reference"]) == ("german: ours", "second", "first")
        assert (row["n"], row["ties"], row["left out"]) == (4, 1, 1)
        assert (row["score"], row["reference score"], row["difference"]) == (0.875, 0.5, 0.375)
        assert row["p"] == pytest.approx(0.25)


def test_a_german_score_that_is_no_number_is_no_right_answer(tmp_path):
    first = german_run(tmp_path, "first", [0.5, 0.5])
    second = german_run(tmp_path, "second", [0.5, float("nan")])
    row = compare([first, second]).iloc[0]
    assert (row["n"], row["score"], row["reference score"], row["ties"]) == (2, 0.25, 0.5, 1)


def test_templates_of_other_sentences_are_not_the_same(tmp_path):
    first = german_run(tmp_path, "first", [0.5])
    with pytest.raises(ValueError, match="no two systems in these folders scored the same items"):
        compare([first, german_run(tmp_path, "second", [1.0], sentence="Other ")])


def test_a_template_without_an_acceptable_sentence_is_no_item(tmp_path):
    runs = [german_run(tmp_path, model, [0.5, 0.5], without_acceptable=1) for model in ("a", "b")]
    assert compare(runs)["n"].tolist() == [1] * 4


def test_one_item_says_nothing(tmp_path):
    """It ended in an error of scipy's."""
    runs = [contexts_run(tmp_path, model, [ew], ["."]) for model, ew in (("a", 0.25), ("b", 0.75))]
    assert compare(runs)["p"].tolist() == [1, 1]


def test_with_many_items_the_permutation_test_agrees_with_the_t_test():
    difference = np.random.default_rng(3).normal(0.06, 1, 1000)
    assert paired_permutation(difference) == pytest.approx(stats.ttest_1samp(difference, 0).pvalue, abs=0.03)


def test_the_command_prints_writes_and_reports(tmp_path):
    frame = blimp_scores(n=400)
    better = frame.copy()
    better.loc[frame.index[frame["correct"] == 0][:4], "correct"] = 1
    folders = [
        str(write_run(tmp_path / model, blimp_rows(model), {f"{model}.blimp": scores}))
        for model, scores in (("a", frame), ("b", better))
    ]
    said = CliRunner().invoke(
        app, ["compare", *folders, "--out", str(tmp_path / "out")], catch_exceptions=False
    )
    assert "blimp, on the items shared with a:" in said.output and "0.1250" in said.output
    assert "p of accuracy: exact McNemar test. Assumes" in said.output
    assert (tmp_path / "out" / "report.html").is_file()
    written = pd.read_csv(tmp_path / "out" / "comparison.csv")
    assert written["n"].tolist() == [400] and written["test"].tolist() == ["exact McNemar test"]


def test_a_narrow_terminal_folds_names_and_keeps_every_digit(capsys, monkeypatch):
    """Differences and p-values once ended in `…`."""
    monkeypatch.setattr(terminal, "_out", Console(width=60))
    terminal.table(pd.DataFrame({"name": ["a-long-name-" * 4], "score": [-0.12345], "n": [1_000_000]}))
    said = capsys.readouterr().out
    assert "-0.1235" in said and "1000000" in said and "…" not in said
    names = [line.split()[0] for line in said.splitlines() if "a-" in line or "name" in line]
    assert "".join(names) == "name" + "a-long-name-" * 4
