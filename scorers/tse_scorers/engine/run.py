"""Runs batches and collects answers: memory, several processes, progress, continuing after a stop."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from accelerate.utils.memory import clear_device_cache

from .arrays import Indices, Values
from .forward import ForwardPass, exact_float32, is_out_of_memory
from .journal import Journal
from .plan import Batch, Plan, batches
from .processes import gathered, is_main, propagating_failures, rank_and_size, share_of, smallest
from .progress import Progress
from .readers import Reader


@dataclass
class BatchRunner:
    """Runs a plan through a model and collects the answers.

    Args:
        plan: the inputs.
        forward: the model.
        reader: computes the answers.
        batch_tokens: tokens in one batch; None chooses by free memory.
        progress: called after each batch.
        journal: saves finished answers, so that a stopped run can continue.
    """

    plan: Plan
    forward: ForwardPass
    reader: Reader
    batch_tokens: int | None = None
    progress: Progress | None = None
    journal: Journal | None = None

    def run(self, *, single_process: bool = False) -> Values:
        """Run the plan and return (answers, width) float64, in the reader's order.

        Args:
            single_process: run all rows in this process, even if there are others. The plan may give only a
                part of the reader's answers; the others are NaN.

        Raises:
            ValueError: the model gave NaN, or a single row does not fit into memory; here or in another
                process.
            RuntimeError: an answer is missing.
        """
        if single_process:
            self._run_share(np.arange(len(self.plan.lengths)))
            return self.answers
        if self.forward.sharded:
            # No failure is exchanged: the others of a process that fails wait inside the model's forward pass.
            self._run_share(np.arange(len(self.plan.lengths)))
        else:
            with propagating_failures(self.plan.fingerprint):
                self._run_share(share_of(self.plan.lengths))
        if rank_and_size()[1] > 1:
            # All have run the same batches of a sharded model: the answers of the main process are everybody's.
            counted = self.written if is_main() or not self.forward.sharded else np.zeros_like(self.written)
            own_answers = np.where(counted[:, None] > 0, self.answers, 0.0)
            return gathered(own_answers, counted, self.forward.device)
        if not (self.written == 1).all():
            missing = int((self.written != 1).sum())
            raise RuntimeError(f"{missing} of {len(self.written)} answers are missing.")
        return self.answers if self.journal is None else np.array(self.answers)

    @cached_property
    def answers(self) -> Values:
        """(answers, width) the answers so far; NaN if not yet answered."""
        if self.journal is not None:
            return self.journal.answers
        return np.full((self.reader.n_answers, self.reader.width), np.nan)

    @cached_property
    def written(self) -> Indices:
        """(answers,) how often this process wrote each answer."""
        if self.journal is not None:
            return self.journal.written
        return np.zeros(self.reader.n_answers, dtype=np.int64)

    @cached_property
    def token_limit(self) -> int:
        """Tokens that fit into one batch; decreases when memory runs out, and increases again in small steps."""
        limit = self.batch_tokens or token_budget(self.forward)
        if self.forward.sharded:
            limit = smallest(limit)  # free memory differs, the batches must not
        return limit if self.forward.most_reads is None else min(limit, self.forward.most_reads)

    def batches(self, rows: Indices) -> list[list[int]]:
        """Group rows of the plan into batches, longest first."""
        padded = self.forward.padding_is_neutral
        groups = batches(self.plan.lengths[rows], self.token_limit, padded=padded)
        return [rows[group].tolist() for group in groups]

    def _run_share(self, rows: Indices) -> None:
        """Run these rows, except those in the journal."""
        lengths, total = self.plan.lengths, int(self.plan.lengths[rows].sum())
        missing = [
            group for group in self.batches(rows) if self.journal is None or not self.journal.has(group)
        ]
        tokens = total - int(sum(lengths[group].sum() for group in missing))
        if total and self.progress is not None:
            self.progress(tokens, total)  # what the journal has; 0 in a run that begins
        try:
            for group, batch in prefetched_batches(self.plan, missing, self.forward.device):
                self.run_rows(group, batch)
                if self.journal is not None:
                    self.journal.finish(group)
                tokens += int(lengths[group].sum())
                if self.progress is not None:
                    self.progress(tokens, total)
        finally:
            if self.journal is not None:
                self.journal.flush()

    @torch.inference_mode()
    @exact_float32()
    def run_rows(self, rows: Sequence[int], batch: Batch | None = None) -> None:
        """Run some rows in one batch, or in two halves if they do not fit into memory.

        Args:
            rows: indices of rows of the plan.
            batch: the batch of these rows, if it is already built.
        """
        size = len(rows) * int(self.plan.lengths[rows].max())
        if size <= self.token_limit or len(rows) == 1:
            if self._fits(rows, batch):
                self.token_limit = max(self.token_limit, 5 * size // 4)
                return
            clear_device_cache()
            self.token_limit = size // 2
        middle = len(rows) // 2
        for half in (rows[:middle], rows[middle:]):
            self.run_rows(half)

    def _fits(self, rows: Sequence[int], batch: Batch | None) -> bool:
        """Answer a batch; return False if memory ran out.

        This is a separate function, so that the exception no longer holds the tensors that did not fit.
        """
        try:
            batch = batch or self.plan.batch(rows)
            for part, distributions in self.forward(batch, self.reader.needs_full_logits):
                indices, values = self.reader(distributions, batch.reads[part])
                self.answers[indices] = values  # at once, so that none is lost if memory runs out later
                self.written[indices] = 1
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if len(rows) == 1:
                raise ValueError(
                    f"A single text of {self.plan.lengths[rows[0]]} tokens does not fit into the memory of the device "
                    "together with the model. Use dtype='bfloat16' (--dtype bfloat16), another device (--device), or "
                    "device_map='auto' (--device-map auto) to spread the model over several GPUs."
                ) from error
            if self.forward.sharded:
                raise ValueError(
                    f"A batch of {self.token_limit} tokens does not fit into the memory of the device. Processes that "
                    "share a model cannot retreat to smaller batches, because all must run the same ones. Use a "
                    f"smaller batch_tokens (--batch-tokens), for instance {max(self.token_limit // 4, 1)}."
                ) from error
            return False
        return True


def prefetched_batches(
    plan: Plan, groups: Sequence[list[int]], device: torch.device
) -> Iterator[tuple[list[int], Batch]]:
    """Yield groups of rows with their batches.

    Args:
        plan: builds the batches.
        groups: rows of each batch.
        device: where the model runs. On a GPU, which leaves the processor idle, the next batch is built meanwhile.
    """
    if device.type == "cpu":
        yield from ((rows, plan.batch(rows)) for rows in groups)
        return
    with ThreadPoolExecutor(1) as maker:
        coming = [maker.submit(_batch_for, device, plan, rows) for rows in groups[:1]]
        for index, rows in enumerate(groups):
            batch = coming.pop().result()
            coming += [
                maker.submit(_batch_for, device, plan, after) for after in groups[index + 1 : index + 2]
            ]
            yield rows, batch


def _batch_for(device: torch.device, plan: Plan, rows: Sequence[int]) -> Batch:
    """Build a batch, for CUDA in memory that it copies without stopping."""
    batch = plan.batch(rows)
    if device.type != "cuda":
        return batch
    arrays = {name: array for name, array in vars(batch).items() if array is not None}
    return replace(
        batch, **{name: torch.from_numpy(array).pin_memory().numpy() for name, array in arrays.items()}
    )


def token_budget(forward: ForwardPass) -> int:
    """Choose how many tokens go through the model at one time.

    On a CPU, the widest activations (4 x width) stay at a few megabytes. On a GPU (CUDA, XPU or MPS), a batch uses at
    most half the free memory.
    """
    config = forward.model.config.get_text_config()
    width = getattr(config, "hidden_size", None) or 1024
    free = free_memory(forward.device)
    if free is None:
        return int(np.clip(2**20 // width, 1024, 4096))
    # activations of one layer, the widest of them 4 x width
    per_token = 40 * width * forward.model.dtype.itemsize
    return int(np.clip(free // (2 * per_token), 1024, 65536))


def free_memory(device: torch.device) -> int | None:
    """Return the bytes that are free on a GPU, with those that torch has reserved and reuses; None if unknown."""
    if device.type == "mps":
        return max(torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory(), 0)
    if device.type not in ("cuda", "xpu"):
        return None
    memory = torch.cuda if device.type == "cuda" else torch.xpu
    try:
        free, _ = memory.mem_get_info(device)
    except RuntimeError:  # some integrated GPUs do not say it
        return None
    return int(free + memory.memory_reserved(device) - memory.memory_allocated(device))
