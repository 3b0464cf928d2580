"""The core without the folder `papers`: a run, its report and its explorer show the standard section of each suite."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = """
import sys
from tse_scorers.suites import registry

installed = registry.entry_points
registry.entry_points = lambda group: () if group == registry.ANALYSES_GROUP else installed(group=group)
from doc_snippets import draft
from tse_scorers.cli.app import app
from tse_scorers.report import page

page.save = draft

for command in {commands!r}:
    app(command, standalone_mode=False)
assert not [name for name in sys.modules if name.startswith("tse_scorers.papers")]
"""


@pytest.fixture(scope="module")
def core(tmp_path_factory) -> Path:
    """A checkout whose package lacks the folder."""
    checkout = tmp_path_factory.mktemp("checkout")
    package = ROOT / "scorers" / "tse_scorers"
    shutil.copytree(
        package, checkout / "scorers" / "tse_scorers", ignore=shutil.ignore_patterns("papers", "__pycache__")
    )
    for folder in ("datasets", "metrics"):
        (checkout / folder).symlink_to(ROOT / folder)
    return checkout / "scorers"


def test_the_core_works_without_the_papers(core, tmp_path):
    pairs = {
        "sentence_good": ["The cats sleep.", "A dog barks."],
        "sentence_bad": ["The cats sleeps.", "A dog bark."],
    }
    pd.DataFrame(pairs).to_csv(tmp_path / "pairs.csv", index=False)
    out = str(tmp_path / "out")
    run = ["run", "--model", "tiny-causal", "--device", "cpu", "--out", out, "--no-report"]
    commands = [
        [*run, "--suite", "agreement", "--limit", "2"],
        [*run, "--suite", "minimal_pairs", "--data", str(tmp_path / "pairs.csv")],
        [*run, "--suite", "german", "--limit", "2"],
        ["report", out],
        ["explore", out, "--export", str(tmp_path / "page")],
    ]
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS.format(commands=commands)],
        env=os.environ | {"PYTHONPATH": f"{core}{os.pathsep}{ROOT / 'tests/support'}", "HF_HUB_OFFLINE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.count("Scores by group") == 3
    for measure in ("TSE", "EW", "MW", "accuracy", "AUC", "AUC dative twice"):
        assert f"{measure} of groups." in page
    assert "All of Marvin" in page and "(published)" not in page and "Table 2" not in page
    assert {path.name for path in (tmp_path / "page").iterdir()} >= {"index.html"}
