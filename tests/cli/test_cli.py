"""The command `tse`: what it prints, what it leaves, what it refuses, and with which words."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from command_line import refused, tse
from rich.console import Console

from tse_scorers import cli, terminal
from tse_scorers.io.store import read_records

COMMANDS = (
    "compare", "convert-lstm", "doctor", "explore", "fetch", "install-metrics", "publish", "report", "reproduce", "run",
    "score", "sets", "show", "train-ngram",
)  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with pairs of the user's own, and files with something wrong."""
    folder = tmp_path_factory.mktemp("data")
    pairs = pd.DataFrame(
        {"sentence_good": [f"The {noun} laughs." for noun in ("author", "pilot", "chef", "guard")] * 2}
    )
    pairs["sentence_bad"] = pairs["sentence_good"].str.replace("laughs", "laugh")
    pairs["distance"], pairs["item"] = ["near"] * 4 + ["far"] * 4, [*range(4)] * 2
    pairs.to_csv(folder / "pairs.csv", index=False)
    gaps = pd.DataFrame({"group": "g", "prefix": ["The author", "The authors"], "suffix": " old.",
                         "form_correct": ["is", "are"], "form_incorrect": ["are", "is"],
                         "number": ["singular", "plural"]})  # fmt: skip
    gaps.to_csv(folder / "gaps.csv", index=False)
    gaps.assign(number="dual").to_csv(folder / "dual.csv", index=False)
    gaps.drop(columns="number").to_csv(folder / "lacking.csv", index=False)
    pairs.assign(sentence_bad="").to_csv(folder / "empty.csv", index=False)
    pairs.to_csv(folder / "semicolons.csv", index=False, sep=";")
    pairs.head(0).to_csv(folder / "no_rows.csv", index=False)
    (folder / "broken.parquet").write_text("no table")
    (folder / "sentences.txt").write_text("The author laughs.\nThe authors laugh.\n")
    return folder


@pytest.fixture(scope="module")
def out(data, tmp_path_factory):
    """The output folder of two models on the user's own pairs."""
    out = tmp_path_factory.mktemp("out")
    code, said = tse(
        "run", "--data", data / "pairs.csv", "-m", "tiny-causal", "-m", "tiny-masked", "--out", out
    )
    assert code == 0, said
    return out, said


def test_a_run_prints_its_scores_and_leaves_results_and_a_report(out, data):
    folder, said = out
    assert f"Suite: minimal_pairs, by the columns of {data / 'pairs.csv'}." in said
    assert "tiny-masked" in said and f"Report: {folder / 'report.html'}" in said
    rows = json.loads((folder / "results.json").read_text())["results"]
    assert {row["model"] for row in rows} == {"tiny-causal", "tiny-masked"}
    assert {row["value"] for row in rows if row["level"] == "distance"} == {"near", "far"}
    assert read_records(folder)[0].request["command"].startswith("tse run --data")


def test_what_was_scored_is_reused_and_replaced_on_demand_only(out, data, tmp_path):
    command = ["run", "--data", data / "pairs.csv", "-m", "tiny-causal", "--out", tmp_path, "--no-report"]
    assert tse(*command, "--limit", 2)[0] == 0
    assert "Reused from" in tse(*command, "--limit", 2)[1]
    assert "limit was 2 and is not given" in refused(*command)
    assert tse(*command, "--overwrite")[0] == 0
    assert not (tmp_path / "report.html").exists()


def test_the_suite_and_its_options(tmp_path):
    code, said = tse(
        "run", "agreement", "--groups", "Simple", "--limit", 3, "-m", "tiny-causal", "--out", tmp_path
    )
    assert code == 0 and "Part of the data (at most 3 items of each group, only Simple)" in said, said
    (record,) = read_records(tmp_path)
    assert record.options == {"groups": ["Simple"], "limit": 3}


def test_results_are_shown_and_nothing_is_written(out):
    folder, _ = out
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    code, said = tse("show", folder)
    assert code == 0 and "accuracy" in said and "distance=near" in said
    assert "laughs" in tse("show", folder, "--table", "items", "--columns", "good,full")[1]
    assert tse("show", folder, "--level", "distance")[0] == 0
    assert "expected one of" in refused("show", folder, "--table", "nothing")
    assert "Did you mean good?" in refused("show", folder, "--table", "items", "--columns", "full,goood")
    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_models_and_conditions_are_compared(out, tmp_path):
    folder, _ = out
    code, said = tse("compare", folder, "--json", tmp_path / "c.json")
    assert code == 0 and "accuracy" in said
    (row,) = [row for row in json.loads((tmp_path / "c.json").read_text()) if row["level"] == "all"]
    assert row["difference"] == pytest.approx(row["score"] - row["reference_score"])
    assert "near" in tse("compare", folder, "--by", "distance")[1]


@pytest.mark.parametrize("by", ["sentence", "word", "token"])
def test_a_file_and_a_text_are_scored(data, tmp_path, by):
    code, said = tse(
        "score", data / "sentences.txt", "-m", "tiny-causal", "--by", by, "--out", tmp_path / "s.csv"
    )
    assert code == 0, said
    scored = pd.read_csv(tmp_path / "s.csv")
    np.testing.assert_allclose(scored["surprisal_nats"], -scored["logprob"])
    assert "author" in tse("score", "The author laughs.", "-m", "tiny-causal", "--bits")[1]


def test_a_model_is_checked():
    code, said = tse("doctor", "tiny-masked")
    assert code == 0 and "mask token" in said and "not applicable" in said, said


@pytest.mark.parametrize("width, ends", [(80, ["step1000", "step2000", "0.250"]), (40, ["1000", "2000"])])
def test_a_table_breaks_no_word_and_keeps_the_ends_of_names(width, ends, monkeypatch, capsys):
    monkeypatch.setattr(terminal, "_out", Console(width=width))
    names = [f"EleutherAI/pythia-160m-deduped-a-run-of-ours-step{n}" for n in (1000, 2000)]
    terminal.table(
        pd.DataFrame({"model": names, "found": "several words to be folded", "logprob": [-0.5, 0.25]})
    )
    lines = capsys.readouterr().out.split("\n")
    words = {word for line in lines for word in line.split()}
    assert max(map(len, lines)) <= width and {"several", "words", "folded", "logprob"} <= words
    assert all(any(word.endswith(end) for word in words) for end in ends)


def test_published_sets_are_listed():
    assert "zorro" in tse("sets")[1] and "MIT" in tse("sets", "zorro")[1]
    assert "blimp" in refused("sets", "blmp")


def test_help_is_quick_and_on_one_screen():
    started = time.process_time()
    printed = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tse_scorers", "--help"], capture_output=True, text=True, check=True,
        env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    assert time.process_time() - started < 5
    assert not [
        line for line in printed.stderr.split("\n") if line.endswith((" torch", " pandas", " transformers"))
    ]
    assert len(printed.stdout.split("\n")) <= 50
    assert all(command in printed.stdout for command in COMMANDS)


@pytest.mark.parametrize("suite", ["agreement", "minimal_pairs", "german", "regions"])
def test_the_help_of_a_suite_has_its_options_with_their_defaults(suite, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["tse", "run", suite, "--help"])
    with pytest.raises(SystemExit):
        cli.main()
    lines = capsys.readouterr().out.split("\n")
    assert len(lines) <= 75 and max(map(len, lines)) <= 80
    assert all(
        f"--{option}" in " ".join(lines) for option in ("data", "limit", "model", "out", "dtype", "model-arg")
    )


@pytest.mark.parametrize(
    "line, said",
    [
        ("rnu", "run"),
        ("run agrement", "agreement"),
        ("run pairs.csv", "--data"),
        ("run --dat pairs.csv", "--data"),
        ("run --methods full --model tiny-causal", "an option of `tse run minimal_pairs`"),
        ("run --data nothing.csv", "nothing.csv"),
        ("run --data empty.csv", "row 1"),
        ("run --data no_rows.csv", "no rows"),
        ("run --data semicolons.csv", ";"),
        ("run --data broken.parquet", "broken.parquet"),
        ("run --data lacking.csv", "number"),
        ("run agreement --data dual.csv", "dual"),
        ("run --data gaps.csv --limit 0", "at least 1"),
        ("run --data pairs.csv --groups nowhere", "nowhere"),
        ("run --data pairs.csv -m nowhere/model.csv", "model.csv"),
        ("run --data pairs.csv -m tiny-causl", "tiny-causal"),
        ("run --data pairs.csv -m tiny-causal --pll original", "pll"),
        ("run --data pairs.csv -m tiny-causal --dtype fp16", "float16"),
        ("run --data pairs.csv -m tiny-causal --model-arg device_map", "KEY=VALUE"),
        ("run --data pairs.csv --part 4/3", "4/3"),
        ("run minimal_pairs --data pairs.csv --linking sun", "sum"),
        ("run --data pairs.csv --out pairs.csv", "pairs.csv"),
        ("score nothing.csv -m tiny-causal", "nothing.csv"),
        ("score sentences.txt", "--model"),
        ("compare nowhere", "nowhere"),
        ("compare . --measure", "--measure"),
        ("report nowhere", "nowhere"),
        ("show nowhere", "nowhere"),
        ("reproduce newman2020", "newman2021"),
        ("reproduce newman2021 --table 9", "2, 3"),
        ("fetch nothing", "newman2021-blimp"),
        ("publish nowhere --results-repo org/name", "nowhere"),
        ("train-ngram nothing.txt --out m.json", "nothing.txt"),
        ("convert-lstm nothing.pt --vocabulary v.txt --out m", "nothing.pt"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_paragraph_that_names_it(line, said, data, monkeypatch):
    monkeypatch.chdir(data)
    before = sorted(data.iterdir())
    printed = refused(*line.split())
    assert said in printed.replace('"', "") and len(printed) < 1_000 and "Traceback" not in printed
    assert sorted(data.iterdir()) == before


def test_a_model_that_fails_does_not_take_the_others_with_it(data, tmp_path):
    models = ["-m", "tiny-causal", "-m", tmp_path / "nothing"]
    (tmp_path / "nothing").mkdir()
    code, said = tse(
        "run", "--data", data / "pairs.csv", *models, "--out", tmp_path / "out", "--revisions", "x*"
    )
    assert code != 0
    code, said = tse("run", "--data", data / "pairs.csv", *models, "--out", tmp_path / "out")
    assert code in (1, 2) and "nothing" in said


@pytest.mark.parametrize(
    "error, code, said",
    [(OSError(28, "No space left on device"), 2, "No space left"), (MemoryError(), 2, "MemoryError"),
     (KeyboardInterrupt(), 130, "Run the same command again")],
)  # fmt: skip
def test_what_nobody_expected_has_an_exit_code(data, monkeypatch, error, code, said):
    def fail(*_):
        raise error

    monkeypatch.setattr(cli, "score_suite", fail)
    assert said in refused("run", "--data", data / "pairs.csv", code=code)


def test_a_run_that_is_stopped_says_how_it_goes_on(data, tmp_path):
    command = [sys.executable, "-m", "tse_scorers", "run", "-m", "tiny-causal", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("runs/*/chunks-*/*/done")) and process.poll() is None:
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    assert "Run the same command again" in process.communicate()[1] and process.returncode == 130
