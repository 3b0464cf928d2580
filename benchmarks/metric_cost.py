"""What the metric costs in addition to the model: milliseconds per context, by size of the vocabulary, on one core.

Random logits shaped like a model's (normal, standard deviation 3), 1,000 lemmas; EW, MW and covered mass at the 19
cut-offs of the paper. *scores* is the way of the scorers and of `add_batch`: from logits to scores by the boundary
tokens alone. *by mass* sorts the vocabulary for the mass above and below every form, as the definitions say.

The best of several rounds over many rows is taken (repeating one row would train the processor's branch
prediction). On a CPU, processor time is measured, because other work on the machine hardly changes it; on
other devices, wall time.

    python benchmarks/metric_cost.py [--contexts 64] [--lemmas 1000] [--vocabulary 30522 ...] [--device cpu]
"""

import argparse
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

from tse_scorers.io.bundle import metric_modules

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
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()

    torch.set_num_threads(1)
    metric = metric_modules("refined_tse")
    table = Table("vocabulary", "dtype", "scores", "by mass", title="ms per context")
    generator = torch.Generator().manual_seed(0)
    for vocabulary in options.vocabulary:
        values = 3 * torch.randn(options.contexts, vocabulary, dtype=torch.float64, generator=generator)
        ids = torch.randperm(vocabulary, generator=generator)[: 2 * options.lemmas].reshape(2, -1)
        for dtype in (torch.float32, torch.bfloat16):
            logits = values.to(options.device, dtype)

            def short(logits: torch.Tensor = logits, ids: torch.Tensor = ids) -> object:
                return metric.boundaries.logit_scores(logits, *ids)

            def long(logits: torch.Tensor = logits[:4], ids: torch.Tensor = ids) -> object:
                return metric.scores.context_scores(*metric.ranking.pair_statistics(logits, *ids))

            table.add_row(
                f"{vocabulary:,} {VOCABULARIES.get(vocabulary, '')}",
                str(dtype).removeprefix("torch."),
                f"{milliseconds(short, options.contexts, options.rounds, options.device):.3f}",
                f"{milliseconds(long, min(4, options.contexts), 2, options.device):.3f}",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
