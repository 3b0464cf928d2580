"""Run by `test_sharded` in two processes: train sharded models with and without evaluations.

python tests/support/launching.py 2 tests/training/train_sharded.py FOLDER [fsdp1] [fsdp2] [zero3] [tensor]

What is found of each way goes into a folder of its own.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
from small_training import fresh_model
from tiny import SENTENCES
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor

from tse_scorers import LiveEvaluation

PAIRS = 36
STEPS = 2


class Sharded:
    """A model in one of the ways of sharding, and what its training needs.

    Args:
        way: fsdp1, fsdp2, zero3 or tensor.
    """

    def __init__(self, way: str) -> None:
        self.way = way
        self.inner, self.tokenizer = fresh_model("causal", "llama")
        self.model = getattr(self, f"_{way}")(self.inner)
        if way != "zero3":
            self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2)

    def _fsdp1(self, model: Any) -> Any:
        from torch.distributed.fsdp import FullyShardedDataParallel
        from torch.distributed.fsdp.wrap import ModuleWrapPolicy

        layer = type(model.model.layers[0])
        return FullyShardedDataParallel(
            model,
            auto_wrap_policy=ModuleWrapPolicy({layer}),
            device_id=torch.device("cpu"),
            use_orig_params=True,
        )

    def _fsdp2(self, model: Any) -> Any:
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh("cpu", (2,))
        for layer in model.model.layers:
            fully_shard(layer, mesh=mesh)
        return fully_shard(model, mesh=mesh)

    def _zero3(self, model: Any) -> Any:
        import deepspeed

        config = {
            "train_micro_batch_size_per_gpu": 2,
            "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0},
            "zero_allow_untested_optimizer": True,
            "zero_force_ds_cpu_optimizer": False,
        }
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        return deepspeed.initialize(model=model, optimizer=optimizer, config=config)[0]

    def _tensor(self, model: Any) -> Any:
        from torch.distributed.tensor import Replicate
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

        columns = dict.fromkeys(
            ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), ColwiseParallel()
        )
        columns |= dict.fromkeys(("mlp.gate_proj", "mlp.up_proj"), ColwiseParallel())
        rows = dict.fromkeys(("self_attn.o_proj", "mlp.down_proj"), RowwiseParallel())
        mesh = init_device_mesh("cpu", (2,))
        for layer in model.model.layers:
            parallelize_module(layer, mesh, columns | rows)
        return parallelize_module(model, mesh, {"lm_head": ColwiseParallel(output_layouts=Replicate())})

    def loss(self, step: int) -> torch.Tensor:
        rank = 0 if self.way == "tensor" else torch.distributed.get_rank()
        ids = torch.tensor([self.tokenizer(SENTENCES[2 * step + rank])["input_ids"]])
        return self.model(input_ids=ids, labels=ids).loss

    def backward(self, loss: torch.Tensor) -> None:
        self.model.backward(loss) if self.way == "zero3" else loss.backward()

    def update(self) -> None:
        if self.way == "zero3":
            self.model.step()
        else:
            self.optimizer.step()
            self.optimizer.zero_grad()

    def weights(self) -> dict[str, torch.Tensor]:
        """Return the whole weights, in all processes."""
        if self.way == "zero3":
            import deepspeed

            with deepspeed.zero.GatheredParameters(list(self.inner.parameters())):
                return {name: value.detach().clone() for name, value in self.inner.named_parameters()}
        if self.way == "fsdp1":
            from torch.distributed.fsdp import FullyShardedDataParallel

            with FullyShardedDataParallel.summon_full_params(self.model, writeback=False):
                return {name: value.detach().clone() for name, value in self.inner.named_parameters()}
        return {
            name: (value.full_tensor() if isinstance(value, DTensor) else value).detach().clone()
            for name, value in self.model.named_parameters()
        }


def train(way: str, evaluation: LiveEvaluation | None) -> tuple[dict[str, Any], list[dict[str, float]]]:
    """Train for some steps; evaluate before, between backward pass and update, and after each update."""
    torch.manual_seed(0)
    sharded, scores = Sharded(way), []

    def evaluate() -> None:
        if evaluation is not None:
            scores.append(evaluation(sharded.model, sharded.tokenizer))

    sharded.model.train()
    evaluate()
    for step in range(STEPS):
        loss = sharded.loss(step)
        sharded.backward(loss)
        evaluate()
        sharded.update()
        evaluate()
    plain = {name.replace("_fsdp_wrapped_module.", ""): value for name, value in sharded.weights().items()}
    return plain, scores


def run(folder: Path, way: str) -> None:
    evaluation = LiveEvaluation(budget=PAIRS)
    without, _ = train(way, None)
    weights, scores = train(way, evaluation)
    told: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(told, scores)
    if torch.distributed.get_rank() == 0:
        folder.mkdir()
        torch.save(weights, folder / "weights.pt")
        changed = [name for name, value in weights.items() if not torch.equal(value, without[name])]
        (folder / "found.json").write_text(json.dumps({"scores": told, "changed": changed}))
    torch.distributed.barrier()


def main(folder: Path, ways: list[str]) -> None:
    torch.distributed.init_process_group("gloo")
    for way in ways:
        run(folder / way, way)
    os._exit(0)  # gloo's threads sometimes abort a process at its end


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
