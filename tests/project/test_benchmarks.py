"""The benchmarks run, on minute inputs; what they measure here says nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WRONG_PACKAGE = """
class Scorer:
    def sentence_logprobs(self, sentences):
        return [0.0] * len(sentences)

def load_scorer(*_, **__):
    return Scorer()
"""


@pytest.fixture
def blimp(tmp_path):
    """A folder with two paradigms of two pairs."""
    for paradigm in ("regular", "irregular"):
        pair = json.dumps({"sentence_good": f"It is {paradigm}.", "sentence_bad": f"It are {paradigm}."})
        (tmp_path / f"{paradigm}.jsonl").write_text(f"{pair}\n{pair}\n")
    return tmp_path


def measured(script, *arguments):
    """Run a script with small models and one thread."""
    command = [sys.executable, ROOT / "benchmarks" / script, *arguments, "--tiny"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3000)


def rows_of(table):
    """The first two cells of each row below the heading."""
    return [tuple(line.split(" | ")[:2]) for line in table.splitlines() if line.startswith("|")][2:]


@pytest.mark.slow
def test_all_systems_that_score_sentences_are_timed(blimp):
    pytest.importorskip("minicons")
    pytest.importorskip("lm_eval")
    found = measured("speed.py", "blimp-tiny", "--rounds", "2", "--blimp", blimp)
    assert found.returncode == 0, found.stderr
    systems = ["ours", "minicons", "lm-eval", "literal"]
    assert rows_of(found.stdout) == [("| blimp-tiny", name) for name in systems]
    assert found.stdout.count(" | 8 | ") == 4


def test_gaps_are_timed_against_loops():
    found = measured("speed.py", "gaps-base", "--rounds", "1", "--limit", "1")
    assert found.returncode == 0, found.stderr
    assert rows_of(found.stdout) == [("| gaps-base", "ours"), ("| gaps-base", "literal")]


def test_no_time_is_printed_where_scores_disagree(blimp, tmp_path):
    """A package with wrong scores stands for a checkout with an error."""
    package = tmp_path / "scorers" / "tse_scorers"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(WRONG_PACKAGE)
    found = measured("speed.py", "blimp-tiny", "--blimp", blimp, "--systems", "ours", "--before", tmp_path)
    assert found.returncode == 1
    assert "blimp-tiny is not timed: scores of before and ours differ by" in found.stderr
    assert rows_of(found.stdout) == []


def test_intervals_are_simulated_alike_in_each_run():
    """An interval contains the truth or not, and the same sets are drawn again."""
    script = ROOT / "benchmarks" / "intervals.py"
    command = [sys.executable, script, "15 units of", "2 x 2", "--sets", "3"]
    one, other = (subprocess.run(command, capture_output=True, text=True, timeout=300) for _ in range(2))
    assert one.returncode == 0, one.stderr
    assert one.stdout == other.stdout and len(rows_of(one.stdout)) == 7
    name, covers = rows_of(one.stdout)[0]
    assert name == "| scores: 15 units of 100/k, 0.85 / 0.65" and covers in ("0.0", "33.3", "66.7", "100.0")


@pytest.mark.slow
def test_the_benchmarks_of_a_gpu_run_on_a_cpu(blimp):
    how = ("--rounds", "1", "--blimp", blimp, "--systems", "literal")
    found = measured("gpu.py", "blimp-float32", *how)
    assert found.returncode == 0, found.stderr
    assert rows_of(found.stdout) == [("| blimp-float32", "ours"), ("| blimp-float32", "literal")]
