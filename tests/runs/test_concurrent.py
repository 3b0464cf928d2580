"""Several runs that write into one folder at the same time: none loses another's results."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from small_run import write_pairs

from tse_scorers.io.bundle import bundle_path
from tse_scorers.io.results import read_scores

N = 6


def start(folder: Path, model: str, out: str) -> subprocess.Popen:
    options = ["--device", "cpu", "--dataset", "pairs.csv", "--out", out]
    return subprocess.Popen(
        [sys.executable, "-m", "tse_scorers", "run", "--model", model, *options],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def scores(out: Path) -> dict[str, pd.DataFrame]:
    """Read all scores; not their metadata, which hold the command and so the output folder."""
    files = sorted(out.glob("scores/*.parquet"))
    return {path.name: read_scores(path).to_pandas() for path in files}


def rows(out: Path, model: str) -> list[dict]:
    return [row for row in json.loads((out / "results.json").read_text())["results"] if row["model"] == model]


@pytest.mark.slow
def test_six_runs_into_one_folder_at_the_same_time(tmp_path):
    """Of six models, four or five were in `results.json`."""
    write_pairs(tmp_path)
    models = [f"copy-{number}" for number in range(N)]
    for model in models:
        shutil.copytree(bundle_path("models", "tiny-causal"), tmp_path / model)
    running = [start(tmp_path, model, "out") for model in models]
    for process in running:
        printed = process.communicate(timeout=300)[0]
        assert process.returncode == 0, printed
    alone = start(tmp_path, models[0], "alone")
    assert alone.wait(timeout=300) == 0, alone.communicate()[0]

    together, expected = scores(tmp_path / "out"), scores(tmp_path / "alone")
    assert len(together) == N * len(expected)
    assert all(together[name].equals(expected[name]) for name in expected)
    found = {model: rows(tmp_path / "out", model) for model in models}
    assert rows(tmp_path / "alone", models[0]) == found[models[0]]
    first = [{**row, "model": ""} for row in found[models[0]]]
    assert len(first) and all([{**row, "model": ""} for row in found[model]] == first for model in models)
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(model in page for model in models)
    assert not list((tmp_path / "out").glob("**/*.part"))
