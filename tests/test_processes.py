"""Several processes, and shards of a job array, give what one process gives."""

import json
import os
import subprocess
import sys

import pytest

from tse_scorers import evaluate, load_scorer
from tse_scorers.merging import merge
from tse_scorers.running import Run
from tse_scorers.suites.suite import make_suite

LIMIT = 5
EXACT = ("suite", "dataset", "config", "model", "revision", "group", "metric", "cutoff_side", "cutoff")
COUNTS = ("n", "n_excluded", "n_ties")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The rows of one process, as `results.json` has them."""
    out = tmp_path_factory.mktemp("alone")
    evaluate("tiny-causal", out=out, limit=LIMIT, report=False, model_options={"device": "cpu"})
    return rows(out)


def rows(out):
    return json.loads((out / "results.json").read_text())["results"]


def assert_same(found, expected):
    """The same rows in the same order; scores but for float noise, as other texts share their batches."""
    assert len(found) == len(expected) > 300
    for row, other in zip(found, expected, strict=True):
        assert {key: row[key] for key in (*EXACT, *COUNTS)} == {key: other[key] for key in (*EXACT, *COUNTS)}
        assert row["score"] == (None if other["score"] is None else pytest.approx(other["score"], abs=1e-5))


@pytest.mark.parametrize("count", [2, 3])
def test_processes_of_a_launch(count, alone, tmp_path):
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    options = ["--model", "tiny-causal", "--limit", str(LIMIT), "--device", "cpu", "--out", str(tmp_path)]
    done = subprocess.run(
        [*launch, "-m", "tse_scorers", "run", *options],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert_same(rows(tmp_path), alone)
    assert (tmp_path / "report.html").exists()
    assert done.stdout.count("Report:") == 1  # one process speaks


def test_shards_put_together(alone, tmp_path):
    scorer = load_scorer("tiny-causal", device="cpu")
    for number in (1, 2, 3):
        part = Run(make_suite("agreement", limit=LIMIT), tmp_path / str(number), shard=(number, 3))
        assert part.add(scorer) == []
    merge([tmp_path / str(number) for number in (1, 2, 3)], tmp_path / "whole")
    assert_same(rows(tmp_path / "whole"), alone)
