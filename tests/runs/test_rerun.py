"""Runs made again from their recipes."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from tse_scorers import load_scorer
from tse_scorers.cli.app import app
from tse_scorers.runs.evaluate import evaluate
from tse_scorers.runs.frequency import add_frequencies
from tse_scorers.runs.recipe import command_line, partial_reasons
from tse_scorers.runs.report import refresh_results
from tse_scorers.runs.rerun import compare_rows, rerun
from tse_scorers.suites.registry import make_suite

pytestmark = pytest.mark.usefixtures("no_pictures")

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
    del content["checksum"]  # as the message says to do after an edit by hand
    path.write_text(json.dumps(content))
    (compared,) = rerun(tmp_path / "run", tmp_path / "again")
    assert len(compared.differences) == 1 and "score was 0.123 and is" in compared.differences[0]


def test_what_tse_frequency_added_is_not_compared(tmp_path):
    """Its rows were "missing from the new run", in another order at every call."""
    evaluate("tiny-causal", out=tmp_path / "run", limit=1, groups=["Simple"], report=False, model_options=CPU)
    before = json.loads((tmp_path / "run" / "results.json").read_text())["results"]
    pd.DataFrame({"word": ["laughs", "laugh", "is", "are"], "count": [5, 3, 900, 700]}).to_csv(
        tmp_path / "n.csv"
    )
    add_frequencies(tmp_path / "run", str(tmp_path / "n.csv"), "en")
    refresh_results(tmp_path / "run")
    assert len(json.loads((tmp_path / "run" / "results.json").read_text())["results"]) > len(before)
    (compared,) = rerun(tmp_path / "run", tmp_path / "again")
    assert (compared.differences, compared.n_scores) == ([], len(before))


def test_rows_that_are_only_in_one_run():
    row = {"group": "all", "metric": "ew", "score": 0.5, "n": 3}
    assert compare_rows([row], [row]) == []
    assert compare_rows([row], []) == ["all, ew is missing from the new run."]
    assert compare_rows([], [row]) == ["all, ew is only in the new run."]
    assert compare_rows([row | {"se": 0.1}], [row | {"se": 0.2}]) == ["all, ew: se was 0.1 and is 0.2."]
    assert compare_rows([row | {"score": None}], [row | {"score": float("nan")}]) == []


def test_secrets_are_not_in_the_command(monkeypatch):
    secret = "hf_" + "abcdefgh" * 4
    monkeypatch.setattr("sys.argv", ["/bin/tse", "run", "-m", secret, "--dataset", "https://me:pw@host/x"])
    assert command_line() == ["tse", "run", "-m", "<secret>", "--dataset", "https://<secret>@host/x"]


def test_a_changed_copy_of_released_data_is_a_partial_run(tmp_path, root):
    """A folder has the name of the released data whatever is in it; a hash of the content tells."""
    folder = tmp_path / "german_argument_structure" / "ours"
    folder.mkdir(parents=True)
    sentences = pd.read_parquet(root / "datasets" / "german_argument_structure" / "ours" / "test.parquet")
    sentences.loc[0, "sentence"] = sentences.loc[0, "sentence"].replace("der", "die", 1)
    sentences.to_parquet(folder / "test.parquet")
    scorer = load_scorer("tiny-causal")
    for options, reasons in (({}, []), ({"source": tmp_path, "config": "ours"}, ["not a released data set"])):
        suite = make_suite("german", **options)
        assert partial_reasons(options, suite, None, suite.signature(scorer)) == reasons


def test_a_partial_run_is_marked_wherever_its_numbers_go(tmp_path):
    (tmp_path / "lemmas.csv").write_text("singular,plural\nlaughs,laugh\nsmiles,smile\n")
    options = [
        "--limit",
        "1",
        "--groups",
        "Simple",
        "--lemmas",
        str(tmp_path / "lemmas.csv"),
        "--device",
        "cpu",
    ]
    run = CliRunner().invoke(app, ["run", *options, "--out", str(tmp_path / "run")], catch_exceptions=False)
    sentence = (
        "Partial run (--limit 1, --groups Simple, not a released lemma list): tiny-masked, tiny-causal. Not comparable "
        "with published numbers."
    )
    compared = CliRunner().invoke(
        app, ["compare", str(tmp_path / "run"), "--out", str(tmp_path / "compared")], catch_exceptions=False
    )
    assert sentence in run.stdout and sentence in compared.stdout
    for page in ("run", "compared"):
        assert sentence in (tmp_path / page / "report.html").read_text()


@pytest.mark.real
def test_a_run_of_a_real_model_made_again_is_equal_to_the_last_digit(tmp_path, smollm2):
    evaluate(str(smollm2), out=tmp_path / "run", limit=1, report=False, model_options=CPU)
    (compared,) = rerun(tmp_path / "run", tmp_path / "again")
    assert compared.differences == [] and compared.n_scores > 300
