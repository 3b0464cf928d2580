"""What an evaluation costs, before it is run: `tse estimate`.

The suite is put to a scorer that plans all work and runs none of it, so texts, tokens and reads are those of the
real run. Seconds come from a few batches of it that are run and timed, here and now.
"""

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from ..engine.forward import ForwardPass
from ..engine.plan import Batch, CountedPlan, Plan, batches
from ..engine.read import Reader, Values
from ..engine.run import Progress, run, token_budget
from ..engine.trie import Indices

SAMPLE_BATCHES = 4
SAMPLE_SECONDS = 3.0


@dataclass(frozen=True)
class Work:
    """A plan and what is read of it."""

    plan: CountedPlan
    reader: Reader


@dataclass(frozen=True)
class Estimate:
    """What one model costs on one suite.

    Attributes:
        n_examples: pairs (agreement, BLiMP) or sentences (German) that are scored.
        n_inputs: different texts or contexts that are asked about.
        n_tokens: tokens of all these, each run by itself.
        n_computed: tokens that go through the model: equal inputs and, where the model can, equal beginnings
            are run once.
        n_reads: places where the distribution over the vocabulary is computed.
        flops: floating-point operations of matrix products and attention, a multiplication and an addition
            counting as two.
        seconds: on this machine as it is now, in one process.
    """

    n_examples: int
    n_inputs: int
    n_tokens: int
    n_computed: int
    n_reads: int
    flops: float
    seconds: float


def estimate(scorer: Any, suite: Any) -> Estimate:
    """Estimate what it costs to score a suite.

    Args:
        scorer: a masked or causal scorer.
        suite: what `make_suite` makes.

    Raises:
        ValueError: the scorer runs no model (n-grams, published scores), or the suite cannot be put to it.
    """
    if not hasattr(scorer, "forward"):
        raise ValueError(
            f"{scorer.name} looks its answers up and runs no model, so there is nothing to estimate. Run it."
        )
    start = time.perf_counter()
    works = planned_work(scorer, suite)
    planning = time.perf_counter() - start
    measured = [_measure(work, scorer) for work in works]
    return Estimate(
        n_examples=suite.n_items,
        n_inputs=sum(work.plan.n_inputs for work in works),
        n_tokens=sum(work.plan.n_tokens for work in works),
        n_computed=sum(int(work.plan.lengths.sum()) for work in works),
        n_reads=sum(work.plan.n_reads for work in works),
        flops=sum(flops for flops, _ in measured),
        seconds=planning + sum(seconds for _, seconds in measured),
    )


def planned_work(scorer: Any, suite: Any) -> list[Work]:
    """Return what a suite would have a model run, without running it: all answers are taken to be 0."""
    works: list[Work] = []

    def note(plan: CountedPlan, reader: Reader, progress: Progress | None) -> Values:
        works.append(Work(plan, reader))
        return np.zeros((reader.n_answers, reader.width))

    planner = copy.copy(scorer)
    planner.run = note
    suite.score(planner, lambda done, total: None)
    return works


class _Part:
    """Some rows of a plan."""

    def __init__(self, plan: Plan, rows: Sequence[int]) -> None:
        self._plan = plan
        self._rows = np.asarray(rows)
        self.lengths: Indices = plan.lengths[self._rows]
        self.fingerprint = plan.fingerprint

    def batch(self, rows: Sequence[int]) -> Batch:
        return self._plan.batch(self._rows[list(rows)].tolist())


def _measure(work: Work, scorer: Any) -> tuple[float, float]:
    """Return (FLOPs, seconds) of all of the work, from a few batches of it."""
    plan, forward = work.plan, scorer.forward
    tokens = scorer.tokens or token_budget(forward)
    groups = list(batches(plan.lengths, tokens, padded=forward.padding_is_neutral))
    if not groups:
        return 0.0, 0.0
    places = np.unique(np.linspace(0, len(groups) - 1, min(SAMPLE_BATCHES, len(groups))).astype(int))
    sample = [_Part(plan, groups[place]) for place in places]
    total = int(plan.lengths.sum())
    # The first pass warms up as well.
    with FlopCounterMode(display=False, custom_mapping=_ATTENTION_ON_CPU) as counter:
        _run(sample[0], work.reader, forward, tokens)
    flops = counter.get_total_flops() / int(sample[0].lengths.sum()) * total
    done, start = 0, time.perf_counter()
    for part in sample:
        _run(part, work.reader, forward, tokens)
        done += int(part.lengths.sum())
        if time.perf_counter() - start > SAMPLE_SECONDS:
            break
    return flops, (time.perf_counter() - start) / done * total


def _run(part: _Part, reader: Reader, forward: ForwardPass, tokens: int) -> None:
    run(part, forward, reader, tokens=tokens, alone=True)
    if forward.device.type == "cuda":
        torch.cuda.synchronize(forward.device)


def _attention_on_cpu(query: Any, key: Any, value: Any, *_: Any, out_shape: Any = None, **__: Any) -> int:
    return int(sdpa_flop_count(query, key, value))


_ATTENTION_ON_CPU = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention_on_cpu}
"""What torch counts on a GPU but not here."""
