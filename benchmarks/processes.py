"""Two processes of one thread each against one, on the same sentences; and what the machine allows.

Two cores share caches, clock and memory, so two processes are not twice as fast as one. The ratio of the matrix
products of two processes to those of one says how close to 2 this machine can come at all.
"""

import time
from typing import Any

import torch

from tse_scorers.engine.processes import is_main, joined_processes, rank_and_size

from . import data, machine, models

LAUNCHERS = {1: (), 2: ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")}


def compare(sentences: int = 6_000, size: str = "small", repeats: int = 2) -> dict[str, Any]:
    """Return the best seconds of one and of two processes, taken in turn, and their ratios.

    Processor seconds are those of the process that needs most; other work on the machine disturbs them little.
    """
    found: dict[int, list[dict[str, Any]]] = {number: [] for number in LAUNCHERS}
    for _ in range(repeats):
        for number, launcher in LAUNCHERS.items():
            answer = machine.in_own_process(
                "benchmarks.processes", launcher=launcher, threads=1, sentences=sentences, size=size
            )
            found[number].append(answer)

    def best(what: str, choose: Any = min) -> dict[int, float]:
        return {number: choose(answer[what] for answer in answers) for number, answers in found.items()}

    wall, processor, rate = best("wall"), best("processor"), best("matmul_gflops", max)
    return {
        "sentences": sentences,
        "nodes": found[1][0]["nodes"],
        "wall_seconds": wall,
        "processor_seconds": processor,
        "matmul_gflops": rate,
        "ratio": {"wall": wall[1] / wall[2], "processor": processor[1] / processor[2]},
        "ratio_of_matmul_rates": rate[2] / rate[1],
    }


def measure(sentences: int, size: str) -> dict[str, Any] | None:
    """Score Marvin & Linzen's sentences with the other processes of this launch; only the main one answers."""
    torch.set_num_threads(1)
    pairs = data.marvin_linzen()
    texts = data.both(pairs.iloc[:: max(2 * len(pairs) // sentences, 1)])[:sentences]
    scorer = models.load(models.make("gpt2", size), models.byte_level_tokenizer(texts))
    with joined_processes(cpu=True):  # only now: of several processes only the first would save the model
        return _measured(scorer, texts)


def _measured(scorer: Any, texts: list[str]) -> dict[str, Any] | None:
    """Score sentences and multiply matrices; a process that is not the main one returns None."""
    scorer.sentence_logprobs(texts[:64])
    _wait_for_all()
    rate = torch.tensor(machine.matmul_rate("cpu", torch.float32))
    _wait_for_all()
    started, busy = time.perf_counter(), time.process_time()
    scorer.sentence_logprobs(texts)
    processor = torch.tensor(time.process_time() - busy)
    _wait_for_all()
    wall = time.perf_counter() - started
    if torch.distributed.is_initialized():
        torch.distributed.all_reduce(rate)
        torch.distributed.all_reduce(processor, torch.distributed.ReduceOp.MAX)
    if not is_main():
        return None
    nodes = data.count(data.sentence_ids(texts, scorer.tokenizer))["nodes"]
    return {"wall": wall, "processor": float(processor), "matmul_gflops": float(rate) / 1e9, "nodes": nodes}


def _wait_for_all() -> None:
    if rank_and_size()[1] > 1:
        torch.distributed.barrier()


if __name__ == "__main__":
    machine.answer(measure)
