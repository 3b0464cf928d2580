"""Runs a plan: batches within a budget of memory, halved where they do not fit; readers turn logits into records."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from accelerate.utils.memory import clear_device_cache
from numpy.typing import NDArray
from torch import Tensor

from .forward import Forward, is_out_of_memory
from .plan import Batch, Indices, Plan, Row
from .progress import Progress

CPU_LOGITS, GPU_LOGITS = 30 * 2**20, 2**30
"""Bytes of logits at one time; the C library reuses memory below 32 MiB, and maps larger pieces anew each time."""
FEWEST_READS = 400
"""Reads that a batch may always have: with fewer, the matrices of wide models are too small to be fast."""


class Reader(Protocol):
    """Turns the distributions at some reads into answers, one record each."""

    dtype: np.dtype  # of a record

    def __call__(self, logits: Tensor, at: Indices, answers: Indices) -> NDArray[Any]:
        """Return records (answers,) of this dtype.

        Args:
            logits: (reads, vocabulary) on the model's device, float32 or float64.
            at: (answers,) the row of `logits` that each answer is read from.
            answers: (answers,) their numbers in the plan.
        """
        ...


class TokenReader:
    """Reads log P(token), natural logs, float64.

    Args:
        tokens: (answers,) the vocabulary id of each answer; -1 is the total probability of `group`.
        group: (vocabulary,) which ids -1 stands for.
    """

    dtype = np.dtype("f8")

    def __init__(self, tokens: Indices, group: NDArray[np.bool_] | None = None) -> None:
        self._tokens = tokens
        self._group = None if group is None else torch.from_numpy(group)

    def __call__(self, logits: Tensor, at: Indices, answers: Indices) -> NDArray[Any]:
        """Return log-probabilities, (answers,)."""
        rows, tokens = (torch.from_numpy(index).to(logits.device) for index in (at, self._tokens[answers]))
        values = logits[rows, tokens]
        if self._group is not None:
            outside = ~self._group.to(logits.device)
            of_group = torch.logsumexp(logits.masked_fill(outside, -torch.inf), dim=1)
            values = torch.where(tokens < 0, of_group[rows], values)
        # In place: the logits are of no further use, and memory is what this costs on a CPU.
        peak = logits.amax(dim=1, keepdim=True)
        normalizer = peak[:, 0] + logits.sub_(peak).exp_().sum(dim=1).log()
        logprobs: NDArray[Any] = (values - normalizer[rows]).cpu().double().numpy()
        return logprobs

    def by_block(self, forward: Forward, batch: Batch, at: Indices, answers: Indices) -> NDArray[Any] | None:
        """Return the same without logits of the whole vocabulary, (answers,); None where that is not possible."""
        if not forward.sums_by_block:
            return None
        rows, tokens = torch.from_numpy(at), torch.from_numpy(self._tokens[answers])
        summed = forward.summed_by_block(batch, rows, tokens, self._group)
        return None if summed is None else summed.double().numpy()


def run(
    forward: Forward,
    plan: Plan,
    reader: Reader,
    batch_tokens: int | None = None,
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Run a plan and return its answers, (answers,), records of the reader's dtype.

    Args:
        forward: the model.
        plan: the inputs.
        reader: turns logits into answers.
        batch_tokens: tokens in one batch; None chooses by free memory.
        progress: called before the first batch and after each one, with tokens.

    Raises:
        ValueError: the model gave NaN, or a single row does not fit into memory.
    """
    records = np.zeros(len(plan.read_of), reader.dtype)
    tokens = batch_tokens or token_budget(forward)
    fitting = (CPU_LOGITS if forward.device.type == "cpu" else GPU_LOGITS) // (4 * forward.vocabulary_size)
    reads = max(FEWEST_READS, fitting)  # whose logits fit
    if not forward.narrows:  # logits at all tokens
        tokens = min(tokens, reads)
    groups = list(plan.batches(tokens, reads))
    done = np.cumsum([0, *(sum(len(row.ids) for row in group) for group in groups)]).tolist()
    for number, group in enumerate(groups):
        if progress is not None:
            progress(done[number], done[-1])
        _answer(forward, plan, group, reader, records)
    if progress is not None and groups:
        progress(done[-1], done[-1])
    return records


def _answer(forward: Forward, plan: Plan, group: list[Row], reader: Reader, records: NDArray[Any]) -> None:
    """Answer a batch, or its two halves if it does not fit into memory."""
    try:
        batch = plan.batch(group)
        answers, at = plan.answers_of(batch.reads)
        with exact_float32():
            summed = reader.by_block(forward, batch, at, answers) if isinstance(reader, TokenReader) else None
            records[answers] = reader(forward.logits(batch), at, answers) if summed is None else summed
        return
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        if forward.sharded or len(group) == 1:
            raise ValueError(
                f"A batch of {len(group)} rows of up to {len(group[0].ids)} tokens does not fit into the memory of the "
                "device beside the model. Use a smaller --batch-tokens, --dtype bfloat16, another --device, or "
                "several GPUs (--model-arg device_map=auto)."
            ) from error
    # Only here, where the exception no longer holds what did not fit.
    clear_device_cache()
    middle = len(group) // 2
    for half in (group[:middle], group[middle:]):
        _answer(forward, plan, half, reader, records)


def token_budget(forward: Forward) -> int:
    """Return how many tokens go through the model at one time.

    On a CPU, the widest activations (4 x width) stay at a few megabytes; on a GPU a batch uses at most a quarter of its
    memory.
    All processes that run a sharded model make the same batches, so their free memory does not count.
    """
    width = getattr(forward.model.config.get_text_config(), "hidden_size", None) or 1024
    if forward.device.type == "cuda" and not forward.sharded:
        # Not what is free: batches would change between runs.
        _, whole = torch.cuda.mem_get_info(forward.device)
        return int(np.clip(whole // (160 * width * forward.dtype.itemsize), 1024, 65536))
    return int(np.clip(2**20 // width, 1024, 4096))


@contextmanager
def exact_float32() -> Iterator[None]:
    """Compute float32 with all of its digits meanwhile.

    GPUs may round the factors of matrix products to 10 bits (TF32): in cuDNN's LSTMs by default, elsewhere where a
    training script asks for it.
    """
    backends: Any = torch.backends
    settings: list[tuple[Callable[[Any], None], Any, Any]]
    try:
        settings = [(partial(setattr, backends.cudnn, "allow_tf32"), backends.cudnn.allow_tf32, False)]
        if (precision := torch.get_float32_matmul_precision()) != "highest":
            settings.append((torch.set_float32_matmul_precision, precision, "highest"))
    except RuntimeError:  # set operation by operation, by functions that do not mix with these
        kinds = [getattr(of, name) for of in (backends.cudnn, backends.mkldnn) for name in ("rnn", "conv")]
        kinds += [backends.cuda.matmul, backends.mkldnn.matmul]
        settings = [(partial(setattr, kind, "fp32_precision"), kind.fp32_precision, "ieee") for kind in kinds]
    try:
        for change, _, exact in settings:
            change(exact)
        yield
    finally:
        for change, before, _ in settings:
            change(before)
