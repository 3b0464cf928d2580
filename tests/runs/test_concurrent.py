"""Several runs that write into one folder at the same time: none loses another's results."""

import json
import multiprocessing
import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from small_run import write_pairs
from typer.testing import CliRunner

from tse_scorers.cli.app import app
from tse_scorers.io.bundle import bundle_path
from tse_scorers.io.records import read_records

N = 6


def run(model: str, out: str) -> int:
    """Be the command; return its exit code."""
    options = ["--device", "cpu", "--data", "pairs.csv", "--out", out]
    return CliRunner().invoke(app, ["run", "--model", model, *options]).exit_code


def run_and_exit(model: str, out: str) -> None:
    os._exit(run(model, out))


def scores(out: Path) -> dict[str, pd.DataFrame]:
    """Read all scores; not their metadata, which hold the command and so the output folder."""
    return {
        f"{record.folder.name}/{name}": table.to_pandas()
        for record in read_records(out, strict=True)
        for name, table in record.read().items()
    }


def rows(out: Path, model: str) -> list[dict]:
    return [row for row in json.loads((out / "results.json").read_text())["results"] if row["model"] == model]


@pytest.mark.slow
def test_six_runs_into_one_folder_at_the_same_time(tmp_path, monkeypatch, no_pictures):
    """Of six models, four or five were in `results.json`."""
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path)
    models = [f"copy-{number}" for number in range(N)]
    for model in models:
        shutil.copytree(bundle_path("models", "tiny-causal"), tmp_path / model)
    assert run(models[0], "alone") == 0
    fork = multiprocessing.get_context("fork")  # nothing is imported again
    running = [fork.Process(target=run_and_exit, args=(model, "out")) for model in models]
    for process in running:
        process.start()
    for process in running:
        process.join(300)
    assert [process.exitcode for process in running] == [0] * N

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
