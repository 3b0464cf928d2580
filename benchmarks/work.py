"""What a run computed: its batches, run again without reading answers, and their matrix products."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from tse_scorers.engine.distributions import LinearDistributions
from tse_scorers.engine.forward import ForwardPass
from tse_scorers.engine.plan import Batch

from . import machine


@dataclass(frozen=True)
class Ran:
    """A batch that went through a model, and whether whole distributions were asked for."""

    batch: Batch
    needs_full_logits: bool


@contextmanager
def recorded() -> Iterator[list[Ran]]:
    """Collect the batches that go through any model, as they are finished."""
    ran: list[Ran] = []
    call = ForwardPass.__call__

    def call_and_record(self: ForwardPass, batch: Batch, needs_full_logits: bool = True) -> Iterator[Any]:
        yield from call(self, batch, needs_full_logits)
        ran.append(Ran(batch, needs_full_logits))

    ForwardPass.__call__ = call_and_record  # type: ignore[method-assign]
    try:
        yield ran
    finally:
        ForwardPass.__call__ = call  # type: ignore[method-assign]


@torch.inference_mode()
def forward_seconds(forward: ForwardPass, ran: Sequence[Ran]) -> float:
    """Seconds of the forward pass alone: layers, and the output layer where something is read.

    Where the output layer's logits are never written (on a CPU), its exponentials are within it.
    """
    device = str(forward.device)
    machine.synchronize(device)
    started = time.perf_counter()
    for one in ran:
        for part, distributions in forward(one.batch, one.needs_full_logits):
            if isinstance(distributions, LinearDistributions):
                rows = torch.arange(part.stop - part.start)
                distributions.logprobs(rows, torch.zeros_like(rows))
    machine.synchronize(device)
    return time.perf_counter() - started


def operations(model: Any, tokens: int, reads: int) -> float:
    """Multiplications and additions of `tokens` through the layers and `reads` through the output layer.

    Two for each weight of a matrix that a token goes through; attention to other tokens, which packing adds to,
    is not counted, so that a share of the machine's rate computed from it is a lower bound.
    """
    head = model.get_output_embeddings()
    embeddings = {model.get_input_embeddings().weight.data_ptr(), head.weight.data_ptr()}
    inner = sum(
        p.numel()
        for name, p in model.named_parameters()
        if p.dim() == 2 and p.data_ptr() not in embeddings and "wpe" not in name
    )
    return 2.0 * (tokens * inner + reads * head.weight.numel())


@torch.inference_mode()
def operations_of_rows(forward: ForwardPass, ran: Sequence[Ran]) -> float:
    """Multiplications and additions in the matrix products of all rows, each by itself, without padding.

    Counted as they are run, one row of each length: the last layer may be computed only where something is read.
    """
    rows: Counter[tuple[int, int]] = Counter()
    for one in ran:
        reads = np.bincount(one.batch.read_rows, minlength=len(one.batch.present))
        rows.update(zip(one.batch.present.sum(axis=1).tolist(), reads.tolist(), strict=True))
    return float(sum(times * _operations_of_row(forward, *row) for row, times in rows.items()))


def _operations_of_row(forward: ForwardPass, length: int, reads: int) -> int:
    ids = np.ones((1, length), dtype=np.int64)
    where = np.arange(reads)
    row = Batch(ids, ids > 0, None, None, np.zeros_like(where), where, where)
    # Eager: what compiled code does is not seen by the counter.
    with torch.compiler.set_stance("force_eager"), FlopCounterMode(display=False) as counter:
        for _ in forward(row):
            pass
    return counter.get_total_flops()
