"""Several processes, as `torchrun` starts them: each scores a share, or all run a sharded model together.

    torchrun --nproc-per-node 2 tests/training/test_two_processes.py FOLDER [ddp] [fsdp1] [fsdp2] [zero3]

trains tiny models with and without evaluations, and writes what was found of each way.
"""

import importlib.util
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from small_training import fresh_model
from tiny import SENTENCES

from tse_scorers import LiveEvaluation, evaluate_live

WAYS = ["ddp", "fsdp1", "fsdp2", "zero3"]
PAIRS, STEPS = 36, 1


def is_there(way):
    return way != "zero3" or importlib.util.find_spec("deepspeed") is not None


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A folder with what was found; one launch, because starting it takes longest."""
    folder = tmp_path_factory.mktemp("ways")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    launch = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    launch["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, __file__, str(folder), *filter(is_there, WAYS)]
    ranks = [{"RANK": rank, "LOCAL_RANK": rank} for rank in "01"]
    processes = [subprocess.Popen(command, env={**os.environ, **launch, **rank}) for rank in ranks]
    assert [process.wait(timeout=300) for process in processes] == [0, 0]
    return folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*lemmas, those whose")
@pytest.mark.parametrize("way", WAYS)
def test_two_processes_score_as_one_and_train_as_without(way, found):
    """FSDP kept what an evaluation had gathered, and scored the old weights after the next update."""
    if not is_there(way):
        pytest.skip("needs DeepSpeed, which compiles an operation: run .ci/zero3")
    of_way = json.loads((found / f"{way}.json").read_text())
    first, second = of_way["scores"]
    assert of_way["changed"] == [] and first == second and len(first) == 1 + 2 * STEPS
    model, tokenizer = fresh_model("causal", "llama")
    assert first[0] == first[1] == pytest.approx(evaluate_live(model, tokenizer, budget=PAIRS), abs=2e-5)
    assert first[2] != first[1]
    model.load_state_dict(torch.load(found / f"{way}.pt", weights_only=True), strict=False)
    assert first[-1] == pytest.approx(evaluate_live(model, tokenizer, budget=PAIRS), abs=2e-5)


# ---- what the processes do --------------------------------------------------------------------------------


def wrapped(way, model):
    """Return a model as one way of training wraps it."""
    if way == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model)
    if way == "fsdp1":
        from torch.distributed.fsdp import FullyShardedDataParallel
        from torch.distributed.fsdp.wrap import ModuleWrapPolicy

        policy, cpu = ModuleWrapPolicy({type(model.model.layers[0])}), torch.device("cpu")
        return FullyShardedDataParallel(model, auto_wrap_policy=policy, device_id=cpu, use_orig_params=True)
    if way == "fsdp2":
        from torch.distributed.fsdp import fully_shard

        mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (2,))
        for layer in model.model.layers:
            fully_shard(layer, mesh=mesh)
        return fully_shard(model, mesh=mesh)
    import deepspeed

    config = {
        "train_micro_batch_size_per_gpu": 2, "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
        "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0},
    }  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    return deepspeed.initialize(model=model, optimizer=optimizer, config=config)[0]


def weights(way, model, inner):
    """Return the whole weights, in all processes."""
    if way == "zero3":
        import deepspeed

        with deepspeed.zero.GatheredParameters(list(inner.parameters())):
            return {name: value.detach().clone() for name, value in inner.named_parameters()}
    if way == "fsdp1":
        with type(model).summon_full_params(model, writeback=False):
            values = {name: value.detach().clone() for name, value in inner.named_parameters()}
        return {name.replace("_fsdp_wrapped_module.", ""): value for name, value in values.items()}
    parts = dict(inner.named_parameters())
    whole = {name: part.full_tensor() if way == "fsdp2" else part for name, part in parts.items()}
    return {name: value.detach().clone() for name, value in whole.items()}


def trained(way, evaluation):
    """Train for some steps; evaluate before, between backward pass and update, and after each update."""
    torch.manual_seed(0)
    inner, tokenizer = fresh_model("causal", "llama")
    model, scores = wrapped(way, inner), []
    optimizer = None if way == "zero3" else torch.optim.AdamW(model.parameters(), lr=1e-2)

    def evaluate():
        if evaluation is not None:
            scores.append(evaluation(model, tokenizer, shared=True))

    model.train()
    evaluate()
    for step in range(STEPS):
        text = SENTENCES[2 * step + torch.distributed.get_rank()]
        ids = torch.tensor([tokenizer(text)["input_ids"]])
        loss = model(input_ids=ids, labels=ids).loss
        model.backward(loss) if optimizer is None else loss.backward()
        evaluate()
        if optimizer is None:
            model.step()
        else:
            optimizer.step()
            optimizer.zero_grad()
        evaluate()
    return weights(way, model, inner), scores


def main(folder, ways):
    torch.distributed.init_process_group("gloo")
    for way in ways:
        without, _ = trained(way, None)
        values, scores = trained(way, LiveEvaluation(budget=PAIRS))
        of_all = [None, None]
        torch.distributed.all_gather_object(of_all, scores)
        if torch.distributed.get_rank() == 0:
            torch.save(values, folder / f"{way}.pt")
            changed = [name for name, value in values.items() if not torch.equal(value, without[name])]
            (folder / f"{way}.json").write_text(json.dumps({"scores": of_all, "changed": changed}))
        torch.distributed.barrier()
    os._exit(0)  # gloo's threads sometimes abort a process at its end


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
