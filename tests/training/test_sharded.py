"""Sharded models are scored by all processes in step; a process that is alone is told so."""

import importlib.util
import json
from pathlib import Path

import pytest
import torch
from launching import launched
from small_training import fresh_model

from tse_scorers import evaluate_live

HERE = Path(__file__).parent
PAIRS = 36
WAYS = ("fsdp1", "fsdp2", "tensor", "zero3")


@pytest.fixture(scope="module")
def sharded(tmp_path_factory):
    """A folder with what was found of each way; one launch, because starting it takes longest."""
    folder = tmp_path_factory.mktemp("sharded")
    launched(2, HERE / "train_sharded.py", folder, *(way for way in WAYS if is_there(way)))
    return folder


def is_there(way):
    return way != "zero3" or importlib.util.find_spec("deepspeed") is not None


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_sharded_models_score_as_whole_ones_and_train_as_without(way, sharded):
    """FSDP kept what an evaluation had gathered, and scored the old weights after the next update."""
    if not is_there(way):
        pytest.skip("needs DeepSpeed, which compiles an operation: run .ci/zero3")
    found = json.loads((sharded / way / "found.json").read_text())
    assert found["changed"] == []
    first, second = found["scores"]
    assert first == second and len(first) == 5
    model, tokenizer = fresh_model("causal", "llama")
    assert first[0] == first[1] == pytest.approx(evaluate_live(model, tokenizer, budget=PAIRS), abs=1e-5)
    assert first[2] != first[1]
    model.load_state_dict(torch.load(sharded / way / "weights.pt", weights_only=True), strict=False)
    assert first[-1] == pytest.approx(evaluate_live(model, tokenizer, budget=PAIRS), abs=1e-5)


ALONE = """
import json, os, sys, time
from pathlib import Path
import torch
from small_training import fresh_model
from torch.distributed.fsdp import fully_shard
from tse_scorers import LiveEvaluation

torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
evaluation, alone = LiveEvaluation(budget=36), LiveEvaluation(budget=36, distributed=False)
model, tokenizer = fresh_model()
found = {}
if rank == 0:
    start = time.perf_counter()
    try:
        evaluation(model, tokenizer)
    except ValueError as error:
        found["said"], found["seconds"] = str(error), time.perf_counter() - start
    found["alone"] = alone(model, tokenizer)
torch.distributed.barrier()
found["together"] = evaluation(model, tokenizer)
fully_shard(model, mesh=torch.distributed.device_mesh.init_device_mesh("cpu", (2,)))
try:
    alone(model, tokenizer)
except ValueError as error:
    found["sharded alone"] = str(error)
if rank == 0:
    Path(sys.argv[1]).write_text(json.dumps(found))
torch.distributed.barrier()
os._exit(0)  # gloo's threads sometimes abort a process at its end
"""


@pytest.mark.slow
def test_a_process_alone_is_told_so_within_seconds(tmp_path):
    """It waited for half an hour for the others, who had gone on."""
    (tmp_path / "alone.py").write_text(ALONE)
    launched(2, tmp_path / "alone.py", tmp_path / "found.json")
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["seconds"] < 15
    assert "must run in all 2 processes" in found["said"] and "only 1 called it (rank 0)" in found["said"]
    assert "distributed=False" in found["said"] and "wait_seconds" in found["said"]
    expected = evaluate_live(*fresh_model(), budget=PAIRS)
    assert found["alone"] == pytest.approx(expected, abs=1e-6)
    assert found["together"] == pytest.approx(expected, abs=2e-5)  # the failed call left nothing behind
    assert "Remove distributed=False" in found["sharded alone"]
