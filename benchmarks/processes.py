"""Two processes of one thread each against one, on the same sentences; and what the machine itself gives two.

Two cores that share their caches, clock and memory are not twice one: the matrix products that two processes do
at once, over those that one does alone, say how far the ratio can be from 2 for reasons that are not ours.
"""

import time
from typing import Any

import torch

from tse_scorers.engine.processes import is_main, join_processes, wait_for_all

from . import data, machine, models

LAUNCHERS = {1: (), 2: ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")}


def compare(sentences: int = 12_000, size: str = "small", repeats: int = 2) -> dict[str, Any]:
    """Return the best seconds of one and of two processes, taken in turn, and their ratio."""
    seconds: dict[int, list[float]] = {number: [] for number in LAUNCHERS}
    rates: dict[int, list[float]] = {number: [] for number in LAUNCHERS}
    for _ in range(repeats):
        for number, launcher in LAUNCHERS.items():
            found = machine.in_own_process(
                "benchmarks.processes", launcher=launcher, threads=1, sentences=sentences, size=size
            )
            seconds[number].append(found["seconds"])
            rates[number].append(found["matmul_gflops"])
    best = {number: min(times) for number, times in seconds.items()}
    return {
        "sentences": sentences,
        "nodes": found["nodes"],
        "processes": best,
        "ratio_of_processes": best[1] / best[2],
        "matmul_gflops": {number: max(found) for number, found in rates.items()},
        "ratio_of_matmul_rates": max(rates[2]) / max(rates[1]),
    }


def measure(sentences: int, size: str) -> dict[str, Any] | None:
    """Score Marvin & Linzen's sentences with the other processes of this launch; only the main one answers."""
    torch.set_num_threads(1)
    pairs = data.marvin_linzen()
    texts = data.both(pairs.iloc[:: max(2 * len(pairs) // sentences, 1)])[:sentences]
    scorer = models.load(models.make("gpt2", size), models.byte_level_tokenizer(texts))
    join_processes(cpu=True)  # only now: of several processes only the first would save the model
    scorer.sentence_logprobs(texts[:64])
    wait_for_all()
    rate = torch.tensor(machine.matmul_rate("cpu", torch.float32))
    wait_for_all()
    started = time.perf_counter()
    scorer.sentence_logprobs(texts)
    wait_for_all()
    took = time.perf_counter() - started
    if torch.distributed.is_initialized():
        torch.distributed.all_reduce(rate)
    if not is_main():
        return None
    nodes = data.count(data.sentence_ids(texts, scorer.tokenizer))["nodes"]
    return {"seconds": took, "matmul_gflops": float(rate) / 1e9, "nodes": nodes}


if __name__ == "__main__":
    machine.answer(measure)
