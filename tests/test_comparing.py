"""`tse compare`: on the same items only, with the tests that its documentation names."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from synthetic_runs import blimp_rows, blimp_scores, write_run
from typer.testing import CliRunner

from tse_scorers.cli import app
from tse_scorers.comparing import compare, paired_permutation

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


def test_accuracies_are_compared_by_the_items_on_which_they_differ(tmp_path):
    # Of 12 shared pairs, 9 are right for both; 3 only for the second. Exact McNemar: 2 * 0.5**3 = 0.25.
    first = blimp_run(tmp_path, "first", [1] * 9 + [0] * 3)
    second = blimp_run(tmp_path, "second", [0] * 5 + [1] * 12, first=-5)
    (row,) = compare([first, second]).to_dict("records")
    assert (row["system"], row["reference"], row["n"]) == ("second", "first", 12)
    assert (row["score"], row["reference score"], row["difference"]) == (1.0, 0.75, 0.25)
    assert row["p"] == pytest.approx(0.25)


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
    assert (tmp_path / "out" / "report.html").is_file()
    assert pd.read_csv(tmp_path / "out" / "comparison.csv")["n"].tolist() == [400]
