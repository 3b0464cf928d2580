"""What was asked stands with the scores: the command, and what of the data."""

import shlex

import pandas as pd
import pytest
from run_records import record_of
from typer.testing import CliRunner

import tse_scorers
from tse_scorers import load_scorer, make_suite
from tse_scorers.cli.app import app
from tse_scorers.runs.request import command_line, partial_reasons

pytestmark = pytest.mark.usefixtures("no_pictures")

CPU = {"device": "cpu"}


def test_a_run_made_again_is_equal_to_the_last_digit(tmp_path):
    runs = [
        tse_scorers.run("tiny-causal", out=tmp_path / out, limit=1, report=False, model_options=CPU)
        for out in ("run", "again")
    ]
    assert runs[0] == runs[1] and len(runs[0]) > 300
    assert (runs[1].compare(runs[0])["difference"] == 0).all()
    request = record_of(tmp_path / "run").request
    assert (request["command"], request["partial_reasons"]) == ("tse_scorers.run", ["--limit 1"])


def test_secrets_are_not_in_the_command(monkeypatch):
    secret = "hf_" + "abcdefgh" * 4
    monkeypatch.setattr("sys.argv", ["/bin/tse", "run", "-m", secret, "--data", "https://me:pw@host/x"])
    assert command_line() == "tse run -m '<secret>' --data 'https://<secret>@host/x'"
    for secret, written in (
        ("https://host/x?key=abc", "https://host/x?key=<secret>"),
        ("Bearer abc", "Bearer <secret>"),
        ("sk-" + "a1" * 10, "<secret>"),
    ):
        monkeypatch.setattr("sys.argv", ["/bin/tse", "run", secret])
        assert command_line() == shlex.join(["tse", "run", written])


def test_a_changed_copy_of_released_data_is_a_partial_run(tmp_path, root):
    """A hash of the content, not the name of the folder, tells whether data is the released data."""
    folder = tmp_path / "german_argument_structure" / "ours"
    folder.mkdir(parents=True)
    sentences = pd.read_parquet(root / "datasets" / "german_argument_structure" / "ours" / "test.parquet")
    sentences.loc[0, "sentence"] = sentences.loc[0, "sentence"].replace("der", "die", 1)
    sentences.to_parquet(folder / "test.parquet")
    scorer = load_scorer("tiny-causal")
    for options, reasons in (({}, []), ({"data": "ours", "source": tmp_path}, ["not a released data set"])):
        suite = make_suite("german", **options)
        assert partial_reasons(suite, None, suite.signature(scorer)) == reasons


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
        "Part of the data (only Simple, at most 1 items of each group, not a released list of verbs): tiny-masked, "
        "tiny-causal. Not comparable with published numbers."
    )
    compared = CliRunner().invoke(
        app, ["compare", str(tmp_path / "run"), "--out", str(tmp_path / "compared")], catch_exceptions=False
    )
    assert sentence in run.stdout and sentence in compared.stdout
    assert sentence in (tmp_path / "run" / "report.html").read_text()
