"""`tse collect` makes results from scores alone: adding, repeating and overlapping work give what one folder holds."""

import json
import shutil

import pytest
from faults.tables import AGREEMENT, save
from typer.testing import CliRunner

from tse_scorers import run
from tse_scorers.cli.app import app
from tse_scorers.io.results import read_results


def collect(*arguments):
    return CliRunner().invoke(app, ["collect", *map(str, arguments), "--no-report"], catch_exceptions=False)


def rows(out):
    found = read_results(out)["results"]
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """One folder with both models, and one folder for each."""
    folder = tmp_path_factory.mktemp("jobs")
    pairs = save(AGREEMENT, folder / "own.csv")  # no lemma is inside some cut-offs: their scores are NaN
    run(["tiny-causal", "tiny-masked"], data=pairs, out=folder / "both", report=False)
    for model in ("tiny-causal", "tiny-masked"):
        run(model, data=pairs, out=folder / model, report=False)
    return folder


@pytest.mark.slow
def test_repeated_and_overlapping_work_is_collected(folders, tmp_path):
    """NaN is not equal to NaN, so the same scores were refused as different ones."""
    out = tmp_path / "out"
    for jobs in (["tiny-causal"], ["tiny-causal"], ["tiny-masked"], ["both", "tiny-masked"], ["both"]):
        ended = collect(*(folders / job for job in jobs), "--out", out)
        assert ended.exit_code == 0, ended.output
        assert (out / "results.json").is_file()
    assert collect(out, "--out", out).exit_code == 0
    assert collect(out, folders / "both", "--out", tmp_path / "again").exit_code == 0
    assert rows(out) == rows(tmp_path / "again") == rows(folders / "both")


def test_rows_are_those_of_the_scores(folders, tmp_path):
    """A results.json said .123 for 1.0; its row was taken although the intact scores beside it said otherwise."""
    job = shutil.copytree(folders / "tiny-causal", tmp_path / "job")
    edited = json.loads((job / "results.json").read_text())
    edited["results"][0]["score"] = 0.123
    del edited["checksum"]
    (job / "results.json").write_text(json.dumps(edited))
    assert collect(job, "--out", tmp_path / "out").exit_code == 0
    assert rows(tmp_path / "out") == rows(folders / "tiny-causal")
