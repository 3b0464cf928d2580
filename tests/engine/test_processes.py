"""Several processes, and shards of a job array, give what one process gives."""

import json
import sys

import pytest
from launching import SECONDS, finished, launched
from typer.testing import CliRunner

from tse_scorers import load_scorer, make_suite, run
from tse_scorers.cli.app import app
from tse_scorers.engine import processes
from tse_scorers.engine.processes import joined_processes
from tse_scorers.runs.merge import merge
from tse_scorers.runs.run import Run

LIMIT = 5
EXACT = ("suite", "dataset", "config", "model", "revision", "group", "metric", "cutoff_side", "cutoff")
COUNTS = ("n", "n_excluded", "n_ties")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The rows of one process, as `results.json` has them."""
    out = tmp_path_factory.mktemp("alone")
    run("tiny-causal", out=out, limit=LIMIT, report=False, model_options={"device": "cpu"})
    return rows(out)


def rows(out):
    return json.loads((out / "results.json").read_text())["results"]


def assert_same(found, expected):
    """The same rows in the same order; scores but for float noise, as other texts share their batches."""
    assert len(found) == len(expected) > 300
    for row, other in zip(found, expected, strict=True):
        exact = [{key: each.get(key) for key in (*EXACT, *COUNTS)} for each in (row, other)]
        assert exact[0] == exact[1]
        assert row["score"] == (None if other["score"] is None else pytest.approx(other["score"], abs=1e-5))


def by_torchrun(count, *arguments):
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", count]
    return finished([*map(str, [*launch, *arguments])], SECONDS)


@pytest.mark.parametrize(
    "launch, count", [(launched, 2), *(pytest.param(by_torchrun, n, marks=pytest.mark.slow) for n in (2, 3))]
)
def test_processes_of_a_launch(launch, count, alone, tmp_path):
    options = ["--model", "tiny-causal", "--limit", LIMIT, "--device", "cpu", "--out", tmp_path]
    printed = launch(count, "-m", "tse_scorers", "run", *options)
    assert_same(rows(tmp_path), alone)
    assert (tmp_path / "report.html").exists()
    assert printed.count("Report:") == 1  # one process speaks


def test_shards_put_together(alone, tmp_path):
    scorer = load_scorer("tiny-causal", device="cpu")
    for number in (1, 2, 3):
        part = Run(make_suite("agreement", limit=LIMIT), tmp_path / str(number), shard=(number, 3))
        assert part.add(scorer) == []
    merge([tmp_path / str(number) for number in (1, 2, 3)], tmp_path / "whole")
    assert_same(rows(tmp_path / "whole"), alone)


def test_of_several_processes_one_says_where_the_shard_is(tmp_path, monkeypatch):
    options = ["--model", "tiny-causal", "--device", "cpu", "--groups", "Simple", "--limit", "1"]
    said = []
    for is_main in (True, False):
        monkeypatch.setattr(processes, "is_main", lambda is_main=is_main: is_main)
        done = CliRunner().invoke(app, ["run", *options, "--shard", "1/2", "--out", str(tmp_path)])
        assert done.exit_code == 0, done.output
        said.append("put all shards together" in " ".join(done.output.split()))
    assert said == [True, False]


@pytest.mark.parametrize("size", ["2", "3"])
def test_a_process_that_no_launcher_started_does_not_run_alone(size, monkeypatch):
    """It would score everything, and so would each of the others."""
    monkeypatch.setenv("WORLD_SIZE", size)
    for name in ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match=f"WORLD_SIZE.*{size}"), joined_processes():
        raise AssertionError("it began")


SCRIPT = """
import json, sys, time
from itertools import product
from pathlib import Path
import torch
from typer.testing import CliRunner
from tse_scorers import load_scorer
from tse_scorers.cli import app as command_line
from tse_scorers.engine.processes import joined_processes, rank_and_size
from tse_scorers.runs import run as runs

nouns, verbs = ("author", "pilot", "farmer", "skater", "chef", "guard"), ("laughs", "laugh", "swims", "swim", "smiles")
sentences = [f"The {noun} {verb}." for noun, verb in product(nouns, verbs)]
scorer = load_scorer("tiny-masked", device="cpu", batch_tokens=40)  # some batches for each process
weight = scorer.model.get_input_embeddings().weight
kept = weight.detach().clone()

def gloo_threads():
    return [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")].count("pt_gloo_runloop")

def fails(*_, **__):
    own, others = torch.tensor([rank]), [torch.tensor([0]), torch.tensor([0])]
    torch.distributed.barrier()
    if rank == 0:
        time.sleep(1)
    torch.distributed.all_gather(others, own, async_op=True)
    del own, others  # now gloo's threads free them
    found["threads"] = gloo_threads()
    raise ValueError("It failed.")

with joined_processes(cpu=True):
    rank, size = rank_and_size()
    found = {"before": len(scorer.sentence_logprobs(sentences))}
    for attempt in ("fails", "goes on"):
        with torch.no_grad():
            weight.copy_(kept if rank == 0 or attempt == "goes on" else torch.full_like(kept, float("nan")))
        try:
            found[attempt] = len(scorer.sentence_logprobs(sentences))
        except ValueError as error:
            found[attempt] = str(error)
    runs.run_all = fails
    out = Path(sys.argv[1], f"out-{rank}")
    ended = CliRunner().invoke(command_line.app, ["run", "--limit", "1", "--device", "cpu", "--out", str(out)])
    found["error"], found["threads left"] = str(ended.exception), gloo_threads()
Path(sys.argv[1], f"{rank}.json").write_text(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What two processes found, the main one first."""
    folder = tmp_path_factory.mktemp("processes")
    (folder / "script.py").write_text(SCRIPT)
    launched(2, folder / "script.py", folder)
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]


def test_where_one_process_fails_all_say_so_and_none_waits(found):
    """NaN in the rows of one process left the others waiting for its answers until they were ended from outside."""
    other, failed = found
    assert "NaN" in failed["fails"] and not failed["fails"].startswith("Process")
    assert other["fails"].startswith("Process 1 of 2 failed, so all have stopped. ValueError: ")
    assert failed["fails"] in other["fails"]
    for process in found:
        assert process["before"] == process["goes on"] == 30  # nothing is left of it in the group


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_run_leaves_no_thread_of_the_group_even_if_it_fails(found):
    """Such a thread aborted its process while the interpreter ended."""
    assert [process["error"] for process in found] == ["It failed."] * 2
    assert all(process["threads"] > 0 and process["threads left"] == 0 for process in found)


HANGS = """
import subprocess, sys, time

def waits_for_ever():
    time.sleep(1000)

if sys.argv[1:]:
    print("a worker", flush=True)
    waits_for_ever()
subprocess.run([sys.executable, __file__, "worker"], start_new_session=True)
"""


def test_a_launch_that_hangs_says_where(tmp_path):
    (tmp_path / "hangs.py").write_text(HANGS)
    with pytest.raises(AssertionError, match="Not finished after 10 seconds") as error:
        finished([sys.executable, str(tmp_path / "hangs.py")], seconds=10)
    assert "a worker" in str(error.value) and "in waits_for_ever" in str(error.value)
