"""What a person sees at 80 columns, and how soon."""

import io
import os
import re
import subprocess
import sys

import pandas as pd
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from tse_scorers.cli import app as cli
from tse_scorers.cli import terminal

WITHOUT_TORCH = """
import sys
from tse_scorers.cli import main
sys.argv = ["tse", *sys.argv[1:]]
try:
    main()
except SystemExit as stop:
    print(stop.code, {"torch", "transformers"} & set(sys.modules))
"""


@pytest.mark.parametrize(
    "arguments, said",
    [
        ("run --suite agrement", "Did you mean agreement?"),
        ("run --suite blimp --source missing.csv", "There is no file or folder missing.csv."),
        ("run --suite blimp --source wrong.csv", "lacks the columns sentence_good"),
        ("run --model ./missing", "There is no folder './missing'."),
        ("estimate --model ./missing", "There is no folder './missing'."),
        ("score missing.txt --model tiny-causal", "There is no file missing.txt."),
        ("score wrong.csv --model tiny-causal", "lacks the column sentence"),
        ("doctor missing.gguf", "There is no file 'missing.gguf'."),
        ("watch missing", "There is no folder 'missing'."),
        ("explore missing", "missing holds no results.json."),
        ("compare missing", "missing holds no results.json."),
    ],
)
def test_wrong_input_is_said_before_pytorch_is_imported(arguments, said, tmp_path):
    """A wrong path or column was said after 4 s of processor time, on a busy machine after 20 s."""
    (tmp_path / "wrong.csv").write_text("UID,good,bad\na,The author laughs.,The author laugh.\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *arguments.split()],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "2 set()\n", done.stderr
    assert said in done.stderr


@pytest.mark.parametrize("command", sorted(typer.main.get_command(cli.app).commands))
def test_help_fits_80_columns_and_uses_them(command, monkeypatch):
    """Texts of `tse run --help` had 18 of 80 columns, and took 446 lines."""
    monkeypatch.setenv("COLUMNS", "80")
    output = CliRunner().invoke(cli.app, [command, "--help"], env={"COLUMNS": "80"}, terminal_width=80).output
    lines = output.splitlines()
    assert "--help" in output and max(map(len, lines)) <= 80
    assert len(lines) < 200 and "…" not in re.sub(r"tse export …", "", output)


def test_help_has_every_option_and_its_panels_in_order():
    output = CliRunner().invoke(cli.app, ["run", "--help"], terminal_width=80).output
    assert re.findall(r"╭─ (\w+) ", output) == ["Data", "Model", "Output", "Speed", "Options"]
    options = typer.main.get_command(cli.app).commands["run"].params
    assert [name for each in options for name in each.opts if not re.search(rf"{name}\b", output)] == []


def shown(monkeypatch, width, is_terminal, text):
    """What `say` writes to a stream of this width."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=is_terminal, no_color=True)
    monkeypatch.setattr(terminal, "_out", console)
    terminal.say(text)
    return stream.getvalue()


def test_a_terminal_breaks_between_words_and_a_file_does_not(monkeypatch):
    text = "Run both on the same data with the same options."
    lines = [line.strip() for line in shown(monkeypatch, 20, True, text).splitlines()]
    assert lines == ["Run both on the same", "data with the same", "options."]
    assert shown(monkeypatch, 20, False, text) == f"{text}\n"


def test_a_path_wider_than_the_terminal_stays_whole(monkeypatch):
    text = "Report: a/folder/with/a/long/name/report.html"
    assert shown(monkeypatch, 20, True, text) == f"{text}\n"


def test_a_narrow_terminal_folds_names_and_no_intervals(monkeypatch):
    """`tse compare` broke intervals at 80 columns."""
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "_out", Console(file=stream, width=60))
    interval = "[−0.032, +0.077]"
    row = {
        "measure": "TSE",
        "system": "a-very-long-name-of-a-model-of-ours",
        "score": "1.00",
        "difference": "+0.022",
    }
    terminal.table(pd.DataFrame([row | {"95 % interval": interval, "p": "<0.001"}]))
    assert interval in stream.getvalue() and "a-very-long-name" not in stream.getvalue()


@pytest.mark.parametrize(
    "seconds, text",
    [
        (0.04, "0.04 s"), (59.4, "59 s"), (60, "1 min 0 s"), (3599.6, "1 h 0 min"), (7520, "2 h 5 min"),
        (100_000, "27 h 46 min"),
    ],
)  # fmt: skip
def test_durations_are_in_hours_minutes_and_seconds(seconds, text):
    assert terminal.duration(seconds) == text
