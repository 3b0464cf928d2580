"""What a person sees at 80 columns, and how soon."""

import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pandas as pd
import pytest
import typer
from hostile import HOSTILE, UNSEEN
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from synthetic_runs import blimp_rows, write_run
from typer.testing import CliRunner

from tse_scorers import run
from tse_scorers.cli import app as cli
from tse_scorers.cli import tables, terminal
from tse_scorers.cli.help import PANELS, App
from tse_scorers.cli.shown_report import show_report
from tse_scorers.io.store import read_records
from tse_scorers.report.blocks import Plain
from tse_scorers.suites.registry import all_measures

WITHOUT_TORCH = """
import json, os, sys
from pathlib import Path
from tse_scorers.cli import main

for number, arguments in enumerate(json.loads(sys.argv[1])):  # each in a fork of a process that has imported the CLI
    if child := os.fork():
        os.waitpid(child, 0)
        continue
    os.dup2(os.open(f"{number}.txt", os.O_WRONLY | os.O_CREAT), 2)
    sys.argv, stopped = ["tse", *arguments.split()], None
    try:
        main()
    except SystemExit as stop:
        stopped = stop.code
    sys.stderr.flush()
    imported = sorted({"torch", "transformers"} & set(sys.modules))
    Path(f"{number}.json").write_text(json.dumps([stopped, imported]))
    os._exit(0)
"""
WRONG = {
    "run --suite agrement": "Did you mean agreement?",
    "run --suite minimal_pairs --data missing.csv": "There is no file or folder missing.csv.",
    "run --suite minimal_pairs --data wrong.csv": "lacks the columns sentence_good",
    "run --model ./missing": "There is no folder './missing'.",
    "score missing.txt --model tiny-causal": "There is no file missing.txt.",
    "score wrong.csv --model tiny-causal": "lacks the column sentence",
    "doctor missing.gguf": "There is no file 'missing.gguf'.",
    "explore missing": "missing does not contain results",
    "compare missing": "missing does not contain results",
    "reproduce newman2012": "Did you mean newman2021?",
    "reproduce newman2021 --table 9": "Table '9' of newman2021 is not known",
    "convert-lstm missing.pt --vocabulary missing.txt --out lstm": "There is no file missing.pt.",
}
"""Arguments of `tse` -> what it says of them."""


@pytest.fixture(scope="module")
def refused(tmp_path_factory) -> Path:
    """A folder with what was said to each of `WRONG`, its exit code and what was imported by then."""
    folder = tmp_path_factory.mktemp("refused")
    (folder / "wrong.csv").write_text("UID,good,bad\na,The author laughs.,The author laugh.\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WITHOUT_TORCH, json.dumps([*WRONG])]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    return folder


@pytest.mark.parametrize(("number", "arguments"), [*enumerate(WRONG)], ids=WRONG)
def test_wrong_input_is_said_before_pytorch_is_imported(number, arguments, refused):
    """A wrong path or column was said after 4 s of processor time, on a busy machine after 20 s."""
    said = (refused / f"{number}.txt").read_text(encoding="utf-8")
    assert json.loads((refused / f"{number}.json").read_text(encoding="utf-8")) == [2, []], said
    assert WRONG[arguments] in said


@pytest.mark.parametrize("command", sorted(typer.main.get_command(cli.app).commands))
def test_help_fits_80_columns_and_uses_them(command, monkeypatch):
    """Texts of `tse run --help` had 18 of 80 columns, and took 446 lines."""
    monkeypatch.setenv("COLUMNS", "80")
    output = CliRunner().invoke(cli.app, [command, "--help"], env={"COLUMNS": "80"}, terminal_width=80).output
    lines = output.splitlines()
    assert "--help" in output and max(map(len, lines)) <= 80
    assert len(lines) < 200 and "…" not in output


def test_help_has_its_panels_in_order():
    output = CliRunner().invoke(cli.app, ["run", "--help"], terminal_width=80).output
    assert re.findall(r"╭─ (\w+) ", output) == ["Everyday", "Model", "Output", "Speed"]
    output = CliRunner().invoke(cli.app, ["run", "--suite", "agreement", "--help"], terminal_width=80).output
    assert re.findall(r"╭─ (\w+) ", output) == ["Everyday", "Data", "Model", "Output", "Speed"]


def commands(group, *before):
    """Yield the words of each command, with its object; of a group, the commands in it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *before, name)
        else:
            yield [*before, name], command


COMMANDS = [pytest.param(*each, id=" ".join(each[0])) for each in commands(typer.main.get_command(cli.app))]


@pytest.mark.parametrize("words, command", COMMANDS)
def test_help_has_every_option(words, command):
    has_suites = "suite" in {each.name for each in command.params}
    asked = [[], *(["--suite", name] for name in all_measures() if has_suites)]
    output = "".join(
        CliRunner().invoke(cli.app, [*words, *suite, "--help"], terminal_width=80).output for suite in asked
    )
    options = [name for each in command.params if not each.hidden for name in each.opts if name[0] == "-"]
    assert [name for name in ["--help", *options] if not re.search(rf"{name}\b", output)] == []


@pytest.mark.parametrize("words, command", COMMANDS)
def test_help_has_each_option_in_a_panel(words, command):
    """`tse compare --help` and 21 other commands listed their options in one box."""
    panels = {each.opts[0]: getattr(each, "rich_help_panel", None) for each in command.params}
    unsorted = {name for name, panel in panels.items() if name.startswith("-") and panel not in PANELS}
    assert unsorted == set()


@pytest.mark.parametrize(
    "words, offered",
    [
        (["run", "--su"], ["--suite"]),
        (["run", "--suite", "min"], ["minimal_pairs"]),
        (["run", "--suite", "var"], ["variation_sets"]),
        (["run", "-m", "tiny-causal-g"], ["tiny-causal-german"]),
        (["run", "--data", "bli"], ["blimp", "blimp-nl"]),
        (["data", "show", "tur"], ["turblimp"]),
        (["comp"], ["compare"]),
    ],
)
def test_a_shell_offers_names(words, offered):
    """Suites were offered by one of their two names, models and data sets not at all."""
    asked = {"_TSE_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(["tse", *words])}
    found = CliRunner().invoke(cli.app, prog_name="tse", env=asked | {"COMP_CWORD": str(len(words))}, args=[])
    assert sorted(found.output.split()) == offered


def test_help_has_options_of_a_panel_that_it_does_not_know():
    """They were left out without a word."""
    app = App()

    @app.command()
    def work(
        known: Annotated[int, typer.Option(rich_help_panel="Speed")] = 1,
        other: Annotated[int, typer.Option(rich_help_panel="Data of others")] = 1,
    ) -> None:
        """Work."""

    output = CliRunner().invoke(app, ["--help"], terminal_width=80).output
    assert re.findall(r"╭─ ([\w ]+?) ─", output) == ["Speed", "Options", "Data of others"]
    assert "--known" in output and "--other" in output


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


@pytest.mark.parametrize("width", (60, 80, 120))
def test_a_narrow_terminal_cuts_no_number(width, monkeypatch):
    """`tse compare` cut intervals at 60 columns."""
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "_out", Console(file=stream, width=width))
    models = [f"org/a-very-long-name-of-a-model-{size}m-deduped" for size in (70, 160, 410)]
    cells = {"score": "1.00", "difference": "+0.022", "95 % interval": "[−0.032, +0.077]", "p": "<0.001"}
    terminal.blocks([Plain("name", "Title.", pd.DataFrame(cells, pd.Index(models, name="model")))])
    text = stream.getvalue()
    assert text.count("[−0.032,") == text.count("+0.077]") == text.count("<0.001") == 3
    assert max(map(len, text.splitlines())) <= width and "…" not in text


def test_models_with_the_same_lemmas_share_a_line(monkeypatch):
    """24 models took 24 lines."""
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "_err", Console(file=stream, width=200))
    row = {"level": "all", "n_lemmas_listed": 1951, "forms": "single"}
    rows = [row | {"model": f"m{number}", "n_lemmas": 872} for number in range(7)]
    terminal.lemmas(pd.DataFrame([*rows, row | {"model": "bert", "n_lemmas": 767}]))
    assert stream.getvalue().splitlines() == [
        "m0, m1, m2, m3, m4 and 2 more: 872 of 1,951 verbs of the list can be scored (--forms single).",
        "bert: 767 of 1,951 verbs of the list can be scored (--forms single).",
    ]


def test_the_terminal_names_data_as_the_page_does(tmp_path, monkeypatch):
    """The terminal said `minimal_pairs: mine` or `blimp: mine`, the page `Minimal pairs: mine`."""
    rows = [row | {"config": "mine"} for name in ("a", "b") for row in blimp_rows(name)]
    out = write_run(tmp_path / "run", rows, {})
    for record, limit in zip(read_records(out), (None, 5), strict=True):
        request = {"suite": "minimal_pairs", "suite_options": {"limit": limit}}
        replace(record, request=request).write()
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "_out", Console(file=stream, width=200))
    monkeypatch.setattr("tse_scorers.report.page.write_report", lambda out, *_, **__: out)
    show_report(out)
    said = stream.getvalue()
    assert re.search(r"Minimal pairs: mine: b .*different part .*than a", said)
    assert "\nMinimal pairs: mine\n" in said
    assert not any(name in said.partition("Report: ")[0] for name in ("minimal_pairs", "minimal_pairs"))


def test_results_of_the_first_version_are_shown(tmp_path, monkeypatch):
    """They name their models, and say no more about them."""
    out = write_run(tmp_path / "run", blimp_rows("a"), {})
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "_out", Console(file=stream, width=200))
    monkeypatch.setattr("tse_scorers.report.page.write_report", lambda out, *_, **__: out)
    show_report(out)
    assert "\nBLiMP\n" in stream.getvalue() and f"Report: {out}" in stream.getvalue().replace("\n", "")


def test_a_narrow_terminal_folds_names_and_keeps_every_digit(monkeypatch):
    """Differences and p-values once ended in `…`."""
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "_out", Console(file=stream, width=60))
    tables.table(pd.DataFrame({"name": ["a-long-name-" * 4], "score": [-0.12345], "n": [1_000_000]}))
    said = stream.getvalue()
    assert "−0.1235" in said and "1000000" in said and "…" not in said
    names = [line.split()[0] for line in said.splitlines() if "a-" in line or "name" in line]
    assert "".join(names) == "name" + "a-long-name-" * 4


@given(st.floats(0.99996, 1, exclude_min=True).filter(lambda value: value < 1 - 1e-9))
def test_the_terminal_does_not_round_up(value):
    console, before = Console(width=60, record=True, quiet=False), terminal._out
    terminal._out = console
    try:
        tables.table(pd.DataFrame({"probability": [value], "p": [1e-9]}))
    finally:
        terminal._out = before
    said = console.export_text()
    assert ">0.9999" in said and "<0.0001" in said and "1.0000" not in said


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_terminal_shows_no_control_characters(name, monkeypatch):
    shown = io.StringIO()
    for stream in ("_out", "_err"):
        monkeypatch.setattr(terminal, stream, Console(file=shown, width=100, force_terminal=False))
    terminal.say(name)
    terminal.note(name)
    terminal.fail(name)
    tables.table(pd.DataFrame({name: [name]}))
    assert shown.getvalue() and not UNSEEN.search(shown.getvalue())


def test_the_terminal_names_pairs_alike_however_they_were_asked_for(tmp_path, capsys, monkeypatch):
    """A run of --suite minimal_pairs was headed by another name."""
    row = {"pairID": 0, "linguistics_term": "own", "field": "syntax", "UID": "own"}
    pairs = tmp_path / "mine.jsonl"
    pairs.write_text(json.dumps(row | {"sentence_good": "It is.", "sentence_bad": "It are."}) + "\n")
    monkeypatch.setattr(terminal, "_out", Console(width=80))
    for name in ("minimal_pairs", "blimp"):
        run("tiny-causal", name, tmp_path / name, data=pairs, report=False)
        show_report(tmp_path / name)
        assert "\nMinimal pairs: mine" in capsys.readouterr().out
