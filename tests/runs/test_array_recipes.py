"""The SLURM scripts of the documentation run: under a stand-in for `sbatch` that starts one task after the other."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from checkpoints import write_checkpoints, write_data
from doc_snippets import ROOT, blocks

from tse_scorers.io.results import read_results

PAGE = (ROOT / "docs" / "tutorials" / "cluster.md").read_text(encoding="utf-8")
SCRIPTS = [block.content for block in blocks(PAGE) if block.content.startswith("#!/bin/bash\n#SBATCH")]
TSE = """import shlex, sys
from tse_scorers.cli import main
tasks = [shlex.split(line) for line in open(sys.argv[1])]
codes = []
for words in tasks:
    sys.argv = ["tse", *words]
    try:
        main()
    except SystemExit as stop:
        codes.append(stop.code)
sys.exit(max(codes))
"""
"""All tasks in one process, since each would import for seconds."""


def sbatch(script: str, folder: Path, tasks: list[int]) -> list[str]:
    """Run a script once for each of these tasks, with the variables that SLURM sets; return the `tse` commands.

    `srun` runs its command, and `tse` writes its arguments down.
    """
    first, last = map(int, re.search(r"^#SBATCH .*--array=(\d+)-(\d+)", script, re.MULTILINE).groups())
    assert set(tasks) <= set(range(first, last + 1))
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for name, content in (
        ("srun", 'exec "$@"'),
        ("tse", 'printf "%q " "$@" >> "$COMMANDS"; echo >> "$COMMANDS"'),
    ):
        (programs / name).write_text(f"#!/bin/bash\n{content}\n")
        (programs / name).chmod((programs / name).stat().st_mode | stat.S_IXUSR)
    commands = folder / "commands"
    commands.unlink(missing_ok=True)
    for task in tasks:
        variables = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "COMMANDS": str(commands),
            "SCRATCH": str(folder),
            "SLURM_ARRAY_TASK_ID": str(task),
            "SLURM_ARRAY_TASK_COUNT": str(last - first + 1),
        }
        subprocess.run(["bash", "-eu", "-c", script], env=variables, check=True, cwd=folder)
    return commands.read_text().splitlines()


def run(commands: list[str], folder: Path) -> None:
    """Run `tse` commands on the pairs in a folder."""
    (folder / "tse.py").write_text(TSE)
    (folder / "lines").write_text("\n".join(commands))
    ended = subprocess.run(
        [sys.executable, "tse.py", "lines"], cwd=folder, capture_output=True, text=True, timeout=240
    )
    assert ended.returncode == 0, ended.stderr[-2000:]


@pytest.fixture
def place(tmp_path) -> Path:
    write_checkpoints(tmp_path / "training", 2, write_data(tmp_path / "pairs.jsonl"))
    for number in (1, 2):
        (tmp_path / "training" / f"step{number}").rename(tmp_path / "training" / f"checkpoint-{number}00")
    return tmp_path


def test_there_are_two_recipes():
    assert len(SCRIPTS) == 2 and "--shard" in SCRIPTS[0] and "--revisions" in SCRIPTS[1]


@pytest.mark.slow
def test_the_arrays_of_the_page_run(place):
    """Shards of one model, and two checkpoints of a series, into one folder each."""
    options = "--suite minimal_pairs --data pairs.jsonl --device cpu"
    script = SCRIPTS[0].replace("org/model", "$SCRATCH/training/checkpoint-100")
    shards = [f"{command} {options}" for command in sbatch(script, place, [*range(1, 9)])]
    series = [f"{command} {options}" for command in sbatch(SCRIPTS[1], place, [1, 2])]
    assert len(shards) == 8 and len(series) == 2
    run([*shards, *series, f"merge {place}/tse --out results", f"report {place}/curves"], place)
    revisions = [row["revision"] for row in read_results(place / "curves")["results"]]
    assert list(dict.fromkeys(revisions)) == ["checkpoint-100", "checkpoint-200"]
    assert (place / "curves" / "report.html").exists()
    whole = [row["score"] for row in read_results(place / "results")["results"]]
    assert whole == [
        row["score"]
        for row in read_results(place / "curves")["results"]
        if row["revision"] == "checkpoint-100"
    ]
