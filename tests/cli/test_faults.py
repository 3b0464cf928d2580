"""The rows of the table of faults (`tests/support/faults`) that the command line answers.

No row may end in a traceback, and none but those with the exit code 0 or 1 may leave a score.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time

import pytest
from doc_snippets import ROOT
from faults.commands import AGAIN, FILES, FOLDERS, OPTIONS, PAIRS, RUN
from faults.damage import UNEXPECTED
from launching import forked
from ngrams import train_ngram
from safetensors.torch import load_file, save_file

from tse_scorers.cli import app as cli

pytestmark = pytest.mark.usefixtures("no_pictures")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with good and bad files, and a finished run in `run`."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "pairs.csv").write_text(PAIRS)
    (folder / "lemmas.csv").write_text("singular,plural\nlaughs,laugh\nlikes,like\nis,are\n")
    (folder / "text.csv").write_text("sentence\nThe author laughs.\n")
    (folder / "text.txt").write_text("The author laughs.\n")
    (folder / "there.json").write_text("{}")
    (folder / "empty.csv").write_text("")
    for name in ("binary.parquet", "binary.json"):
        (folder / name).write_bytes(b"\x00\xff" * 50)
    for name in ("folder.csv", "empty", "foreign", "model", "page", "adapter"):
        (folder / name).mkdir()
    (folder / "page" / "report.html").write_text("<h1>My thesis</h1>")
    (folder / "foreign" / "results.json").write_text('{"mine": 1}')
    (folder / "model" / "config.json").write_text("{}")
    (folder / "adapter" / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    shutil.move(
        train_ngram(tmp_path_factory.mktemp("ngram"), 2, ["The author laughs."]), folder / "ngram.json"
    )
    os.mkfifo(folder / "pipe.csv")
    ended = forked("-m", "tse_scorers", *shlex.split(AGAIN), cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    """A copy of that folder, which is the current one."""
    folder = tmp_path / "here"
    shutil.copytree(made, folder, ignore=shutil.ignore_patterns("pipe.csv"))
    os.mkfifo(folder / "pipe.csv")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def tse(monkeypatch, capfd):
    """Call the command with one line; returns (exit code, everything that was printed)."""
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    def call(line):
        monkeypatch.setattr(sys, "argv", ["tse", *shlex.split(line)])
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
        printed = " ".join("".join(capfd.readouterr()).split())
        assert "Traceback" not in printed, printed
        return code, printed

    return call


@pytest.mark.parametrize("line, code, said", [*OPTIONS, *FILES, *FOLDERS])
def test_wrong_commands(tse, place, line, code, said):
    before = {path for path in place.rglob("*.parquet")}
    begun = time.monotonic()
    found, printed = tse(line)
    assert found == code, printed
    assert said in printed
    assert time.monotonic() - begun < 60
    assert {path for path in place.rglob("*.parquet")} == before and not (place / "out").exists()


def printing_to(stdout, place):
    program = [sys.executable, "-m", "tse_scorers", "--version"]
    ended = subprocess.run(program, cwd=place, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120)
    assert "Traceback" not in ended.stderr, ended.stderr
    return ended.returncode, " ".join(ended.stderr.split())


def test_standard_output_that_is_full_or_closed(place):
    with open("/dev/full", "w") as full:
        code, said = printing_to(full, place)
    assert code == 74 and "No space left" in said
    reading, writing = os.pipe()
    os.close(reading)
    code, said = printing_to(writing, place)
    os.close(writing)
    assert code in (0, 1) and said == ""


@pytest.mark.parametrize("error, code, said", UNEXPECTED, ids=lambda value: type(value).__name__)
def test_what_nobody_expected(tse, place, monkeypatch, error, code, said):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("tse_scorers.report.page.write_report", fail)
    found, printed = tse("report run")
    assert found == code and said in printed


def test_a_traceback_is_printed_on_demand(place, monkeypatch, capfd):
    monkeypatch.setattr("tse_scorers.report.page.write_report", lambda *_, **__: {}["missing"])
    monkeypatch.setattr(sys, "argv", ["tse", "--debug", "report", "run"])
    with pytest.raises(SystemExit):
        cli.main()
    said = capfd.readouterr().err
    assert "Traceback" in said and "`tse report` failed" in said and "--debug --debug" not in said


def test_one_model_fails_and_the_others_are_written(tse, place):
    """Its tokenizer and configuration are fine, so that it fails after the first model was scored."""
    source = next((ROOT / "scorers/tse_scorers/bundled_models").glob("tiny-causal"))
    shutil.copytree(source, place / "broken")
    weights = place / "broken" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    code, printed = tse(f"{RUN} -m broken -m tiny-masked")
    assert code == 1 and "broken" in printed and "the results of the others are in out" in printed
    results = json.loads((place / "out" / "results.json").read_text())["results"]
    assert {row["model"] for row in results} == {"tiny-causal", "tiny-masked"}
    assert (place / "out" / "report.html").exists()


def test_all_models_fail_and_nothing_is_reported(tse, place):
    """The table and the report of the earlier scores were shown as if they were of this command."""
    assert tse(f"{RUN} -m tiny-masked")[0] == 0
    report = (place / "out" / "report.html").stat().st_mtime_ns
    changed = [("", "the data have changed"), (" --limit 1", "limit was not given and is 1")]
    (place / "pairs.csv").write_text(PAIRS.replace("The authors", "Many authors"))
    for options, what in changed:
        code, printed = tse(f"{RUN} -m tiny-masked{options}")
        assert code == 1 and printed.count(f"({what})") == 2, printed
        assert "Report:" not in printed and "results of the others" not in printed, printed
    assert (place / "out" / "report.html").stat().st_mtime_ns == report


def test_one_model_fails_while_it_is_scored(tse, place):
    """Its checks pass, and one sentence of the data does not fit into its context."""
    source = ROOT / "scorers/tse_scorers/bundled_models/tiny-causal"
    shutil.copytree(source, place / "short")
    config = json.loads((source / "config.json").read_text()) | {"n_positions": 24}
    (place / "short" / "config.json").write_text(json.dumps(config))
    weights = load_file(source / "model.safetensors")
    weights["transformer.wpe.weight"] = weights["transformer.wpe.weight"][:24].clone()
    save_file(weights, place / "short" / "model.safetensors", metadata={"format": "pt"})
    long = f"Simple,The author{' near the author' * 10},.,laughs,laugh,singular\n"
    (place / "pairs.csv").write_text(PAIRS + long)
    code, printed = tse(f"{RUN} -m short -m tiny-masked")
    assert code == 1 and "the results of the others are in out" in printed
    assert "is longer than the 24 positions of short" in printed, printed
    results = json.loads((place / "out" / "results.json").read_text())["results"]
    assert {row["model"] for row in results} == {"tiny-causal", "tiny-masked"}
    assert not list((place / "out").glob("scores/short*"))
