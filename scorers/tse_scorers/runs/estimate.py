"""What an evaluation costs, before it is run: `tse estimate`.

The suite puts its queries to a scorer that plans them without running them, so texts, tokens and reads are those of the
real run. The seconds come from a few batches that are run and timed, here and now.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from ..engine.run import BatchRunner
from ..models.base import EngineScorer, Scorer
from ..suites.contract import Suite

SAMPLE_BATCHES = 4
SAMPLE_SECONDS = 3.0


@dataclass(frozen=True)
class Estimate:
    """What one model costs on one suite.

    Attributes:
        n_examples: pairs (agreement, BLiMP) or sentences (German) that are scored.
        n_inputs: texts or contexts that are given to the model.
        n_tokens: tokens of all these, each run by itself.
        n_computed: tokens that go through the model: equal inputs and, where the model can, equal beginnings
            are run once.
        n_reads: places where the distribution over the vocabulary is computed.
        flops: floating-point operations of matrix products and attention; a multiplication and an addition
            count as two.
        seconds: on this machine as it is now, in one process.
    """

    n_examples: int
    n_inputs: int
    n_tokens: int
    n_computed: int
    n_reads: int
    flops: float
    seconds: float


def estimate(scorer: Scorer, suite: Suite, clock: Callable[[], float] = time.perf_counter) -> Estimate:
    """Estimate what it costs to score a suite.

    Args:
        scorer: a masked or causal scorer.
        suite: what `make_suite` makes.
        clock: tells the seconds since any fixed moment.

    Raises:
        ValueError: the scorer runs no model (n-grams, published scores), or it cannot answer what the suite asks.
    """
    start = clock()
    runners = planned_work(scorer, suite)
    planning = clock() - start
    measured = [_measure(runner, clock) for runner in runners]
    plans = [runner.plan for runner in runners]

    def total(counts: Iterable[float]) -> float:
        return sum(runner.stands_for * count for runner, count in zip(runners, counts, strict=True))

    return Estimate(
        n_examples=suite.n_items,
        n_inputs=round(total(plan.n_inputs for plan in plans)),
        n_tokens=round(total(plan.n_tokens for plan in plans)),
        n_computed=round(total(plan.lengths.sum() for plan in plans)),
        n_reads=round(total(plan.n_reads for plan in plans)),
        flops=total(flops for flops, _ in measured),
        seconds=planning + total(seconds for _, seconds in measured),
    )


def planned_work(scorer: Scorer, suite: Suite) -> list[BatchRunner]:
    """Return what a suite would have a model run, without running it; raises ValueError as `estimate` does."""
    if not isinstance(scorer, EngineScorer):
        raise ValueError(
            f"{scorer.name} runs no model: its scores are looked up, so there is no cost to estimate. Use `tse run`."
        )
    with scorer.planning() as runners:
        suite.score(scorer, lambda done, total: None)
    return runners


def _measure(runner: BatchRunner, clock: Callable[[], float]) -> tuple[float, float]:
    """Return (FLOPs, seconds) of a plan, from a few of its batches."""
    groups = runner.batches()
    if not groups:
        return 0.0, 0.0
    places = np.linspace(0, len(groups) - 1, min(SAMPLE_BATCHES, len(groups))).astype(int)
    sample = [groups[place] for place in np.unique(places)]
    total = int(runner.plan.lengths.sum())
    # The shortest row, untimed: whatever runs first waits for weights, kernels and compilers.
    runner.run_rows(groups[-1][-1:])
    first, start = int(runner.plan.lengths[sample[0]].sum()), clock()
    with FlopCounterMode(display=False, custom_mapping=_ATTENTION_ON_CPU) as counter:
        runner.run_rows(sample[0])
    flops = counter.get_total_flops() / first * total
    if (seconds := clock() - start) > SAMPLE_SECONDS:
        return flops, seconds / first * total
    done, start = 0, clock()  # short batches are timed again, because counting takes time
    for rows in sample:
        runner.run_rows(rows)
        done += int(runner.plan.lengths[rows].sum())
        if clock() - start > SAMPLE_SECONDS:
            break
    return flops, (clock() - start) / done * total


def _attention_on_cpu(
    query: torch.Size, key: torch.Size, value: torch.Size, *_: object, out_shape: object = None, **__: object
) -> int:
    return int(sdpa_flop_count(query, key, value))


_ATTENTION_ON_CPU = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention_on_cpu}
"""What torch counts on a GPU but not on a CPU."""
