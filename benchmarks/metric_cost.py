"""What the metric costs beside the model: milliseconds per context, by vocabulary, on one core.

Random logits shaped like a model's (normal, standard deviation 3), 1,000 lemmas, EW, MW and covered mass at the 19
cut-offs of the paper. `ranking` finds the forms in the distribution, `weighting` scores them. The best of several
rounds is taken, each over many rows: the same row again would train the processor's branch prediction. On the CPU
it is processor time, which other work on the machine disturbs little; on a device it is wall time.

    python benchmarks/metric_cost.py [--contexts 64] [--lemmas 1000] [--vocabulary 30522 ...] [--device cpu]
"""

import argparse
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

from tse_scorers.bundle import definitions

VOCABULARIES = {30522: "BERT", 50257: "GPT-2", 128256: "Llama 3", 256000: "Gemma"}


def milliseconds(work: Callable[[], object], contexts: int, rounds: int, device: str) -> float:
    """Return the best time of `work` per context."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    best = float("inf")
    for _ in range(rounds):
        start = clock()
        work()
        if device != "cpu":
            torch.cuda.synchronize()
        best = min(best, clock() - start)
    return 1e3 * best / contexts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--contexts", type=int, default=64)
    parser.add_argument("--lemmas", type=int, default=1000)
    parser.add_argument("--vocabulary", type=int, nargs="*", default=list(VOCABULARIES))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    metric = definitions("refined_tse")
    table = Table("vocabulary", "dtype", "ranking", "weighting", "together", title="ms per context")
    generator = torch.Generator().manual_seed(0)
    for vocabulary in options.vocabulary:
        values = 3 * torch.randn(options.contexts, vocabulary, dtype=torch.float64, generator=generator)
        ids = torch.randperm(vocabulary, generator=generator)[: 2 * options.lemmas].reshape(2, -1)
        for dtype in (torch.float32, torch.bfloat16):
            logits = values.to(options.device, dtype)
            forms = metric.pair_statistics(logits, *ids)
            measure = (options.contexts, options.rounds, options.device)
            ranking = milliseconds(
                lambda logits=logits, ids=ids: metric.pair_statistics(logits, *ids), *measure
            )
            weighting = milliseconds(lambda forms=forms: metric.context_scores(*forms), *measure)
            name = f"{vocabulary:,} {VOCABULARIES.get(vocabulary, '')}"
            times = (f"{value:.3f}" for value in (ranking, weighting, ranking + weighting))
            table.add_row(name, str(dtype).removeprefix("torch."), *times)
    Console().print(table)


if __name__ == "__main__":
    main()
