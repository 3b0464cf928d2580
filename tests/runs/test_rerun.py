"""Runs made again from their recipes, and tables of papers beside our numbers."""

import json

import pytest

from tse_scorers.runs.recipe import command_line
from tse_scorers.runs.reproduce import reproduce
from tse_scorers.runs.rerun import compare_rows, rerun
from tse_scorers.runs.run import evaluate

CPU = {"device": "cpu"}


def test_a_run_made_again_is_equal_to_the_last_digit(tmp_path):
    evaluate("tiny-causal", out=tmp_path / "run", limit=1, report=False, model_options=CPU)
    (compared,) = rerun(tmp_path / "run", tmp_path / "again")
    assert compared.differences == [] and compared.n_scores > 300 and compared.changed == []
    path = tmp_path / "run" / "results.json"
    content = json.loads(path.read_text())
    recipe = content["signature"]["models"][0]["recipe"]
    assert recipe["partial"] and recipe["partial_reasons"] == ["--limit 1"]
    content["results"][0]["score"] = 0.123
    path.write_text(json.dumps(content))
    (compared,) = rerun(tmp_path / "run", tmp_path / "again")
    assert len(compared.differences) == 1 and "score was 0.123 and is" in compared.differences[0]


def test_rows_that_are_only_in_one_run():
    row = {"group": "all", "metric": "ew", "score": 0.5, "n": 3}
    assert compare_rows([row], [row]) == []
    assert compare_rows([row], []) == ["all, ew is missing from the new run."]
    assert compare_rows([], [row]) == ["all, ew is only in the new run."]
    assert compare_rows([row | {"score": None}], [row | {"score": float("nan")}]) == []


def test_secrets_are_not_in_the_command(monkeypatch):
    secret = "hf_" + "abcdefgh" * 4
    monkeypatch.setattr("sys.argv", ["/bin/tse", "run", "-m", secret, "--dataset", "https://me:pw@host/x"])
    assert command_line() == ["tse", "run", "-m", "<secret>", "--dataset", "https://<secret>@host/x"]


def test_a_dry_run_of_a_published_table(tmp_path):
    found = reproduce("newman2021", tmp_path, table="2", models=["tiny-causal"], limit=1)
    assert set(found.table["metric"]) == {"tse", "ew", "mw"}
    assert len(found.table) == 9 * 4 * 3  # nine rows without BLiMP's, four models, three measures
    assert (found.table["difference"] == found.table["ours"] - found.table["published"]).all()
    assert "tse fetch newman2021-blimp" in found.left_out[0] and found.failures == []


@pytest.mark.parametrize("paper, table", [("nobody1999", None), ("newman2021", "7")])
def test_unknown_papers_and_tables(tmp_path, paper, table):
    with pytest.raises(ValueError, match="expected one of"):
        reproduce(paper, tmp_path, table=table)
