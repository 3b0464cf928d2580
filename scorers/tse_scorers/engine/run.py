"""The loop: batches through the model, answers into one array; memory, progress, going on after a stop."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import torch
from accelerate.utils.memory import clear_device_cache

from .forward import ForwardPass, is_out_of_memory
from .journal import Journal
from .plan import Batch, Plan, batches
from .processes import gathered, propagating_failures, rank_and_size, share_of
from .read import Reader, Values
from .trie import Indices

Progress = Callable[[int, int], None]
"""Called with (tokens done, tokens in all)."""


def run(
    plan: Plan,
    forward: ForwardPass,
    reader: Reader,
    *,
    tokens: int | None = None,
    progress: Progress | None = None,
    journal: Journal | None = None,
    alone: bool = False,
) -> Values:
    """Run a plan through a model and return (answers, width) float64, in the reader's order.

    Args:
        plan: the inputs.
        forward: the model.
        reader: what is read.
        tokens: tokens in one batch; None chooses from the memory that is free.
        progress: told after each batch.
        journal: where finished answers are kept, so that a stopped run goes on where it was.
        alone: run all rows here, whatever other processes there are; they may be a part of what the reader answers.

    Raises:
        ValueError: the model gave NaN, or a single row does not fit into memory; here or in another process.
        RuntimeError: an answer was not given.
    """
    own = np.arange(len(plan.lengths)) if alone else share_of(plan.lengths)
    if journal is None:
        answers = np.full((reader.n_answers, reader.width), np.nan)
        written = np.zeros(reader.n_answers, dtype=np.int64)
    else:
        answers, written = journal.answers, journal.written
    with nullcontext() if alone else propagating_failures(plan.fingerprint):
        _run_share(plan, forward, reader, own, answers, written, tokens, progress, journal)
    if not alone and rank_and_size()[1] > 1:
        return gathered(np.where(written[:, None] > 0, answers, 0.0), written, forward.device)
    if not alone and not (written == 1).all():
        raise RuntimeError(f"{int((written != 1).sum())} of {len(written)} answers were not given.")
    return answers


def _run_share(
    plan: Plan,
    forward: ForwardPass,
    reader: Reader,
    own: Indices,
    answers: Values,
    written: Indices,
    tokens: int | None,
    progress: Progress | None,
    journal: Journal | None,
) -> None:
    """Run the rows that are this process's own, but for those that the journal has."""
    tokens = tokens or token_budget(forward)
    if forward.most_reads is not None:
        tokens = min(tokens, forward.most_reads)
    lengths = plan.lengths[own]
    groups = [own[group].tolist() for group in batches(lengths, tokens, padded=forward.padding_is_neutral)]
    missing = [rows for rows in groups if journal is None or not journal.has(rows)]
    total, fits = int(lengths.sum()), tokens
    done = total - int(sum(plan.lengths[rows].sum() for rows in missing))
    if done and progress is not None:
        progress(done, total)
    try:
        for rows, batch in _made(plan, missing, ahead=forward.device.type != "cpu"):
            fits = _run_rows(plan, forward, reader, rows, answers, written, fits, batch)
            if journal is not None:
                journal.finish(rows)
            done += int(plan.lengths[rows].sum())
            if progress is not None:
                progress(done, total)
    finally:
        if journal is not None:
            journal.note()


def _made(plan: Plan, groups: Sequence[list[int]], ahead: bool) -> Iterator[tuple[list[int], Batch]]:
    """Yield groups of rows and their batches, `ahead` of the model if it leaves the processor idle meanwhile."""
    if not ahead:
        yield from ((rows, plan.batch(rows)) for rows in groups)
        return
    with ThreadPoolExecutor(1) as maker:
        coming = [maker.submit(plan.batch, rows) for rows in groups[:1]]
        for index, rows in enumerate(groups):
            batch = coming.pop().result()
            coming += [maker.submit(plan.batch, after) for after in groups[index + 1 : index + 2]]
            yield rows, batch


@torch.inference_mode()
def _run_rows(
    plan: Plan,
    forward: ForwardPass,
    reader: Reader,
    rows: Sequence[int],
    answers: Values,
    written: Indices,
    fits: int,
    batch: Batch | None = None,
) -> int:
    """Run some rows, in halves where they are more tokens than memory holds; returns how many it holds now.

    An answer is written when it is known, so that nothing is lost when memory runs out after it.
    """
    size = len(rows) * int(plan.lengths[rows].max())
    if size <= fits or len(rows) == 1:
        try:
            batch = batch or plan.batch(rows)
            for part, distributions in forward(batch, reader.whole):
                indices, values = reader(distributions, batch.reads[part])
                answers[indices] = values
                written[indices] = 1
            return max(fits, 5 * size // 4)
        except RuntimeError as error:
            _check_out_of_memory(error, size if len(rows) == 1 else None)
        # Outside the handler: the exception holds the frames, and with them the tensors, of what did not fit.
        clear_device_cache()
        fits = size // 2
    middle = len(rows) // 2
    for half in (rows[:middle], rows[middle:]):
        fits = _run_rows(plan, forward, reader, half, answers, written, fits)
    return fits


def _check_out_of_memory(error: RuntimeError, single: int | None) -> None:
    """Pass only what says that memory ran out, and only where there is more than a single row to take back."""
    if not is_out_of_memory(error):
        raise error
    if single is not None:
        raise ValueError(
            f"A single row of {single} tokens does not fit into the memory of the device beside the model. Use "
            "--dtype bfloat16, another --device, or --device-map auto over several GPUs."
        ) from error


def token_budget(forward: ForwardPass) -> int:
    """Choose how many tokens go through the model at one time.

    On a CPU, so many that the widest activations (4 x width) stay at a few megabytes; on a GPU, what fits into
    half the free memory.
    """
    config = forward.model.config.get_text_config()
    width = getattr(config, "hidden_size", None) or 1024
    if forward.device.type != "cuda":
        return int(np.clip(2**20 // width, 1024, 4096))
    # activations of one layer, the widest of them 4 x width
    per_token = 40 * width * forward.model.dtype.itemsize
    free, _ = torch.cuda.mem_get_info(forward.device)
    kept = torch.cuda.memory_reserved(forward.device) - torch.cuda.memory_allocated(forward.device)
    return int(np.clip((free + kept) // (2 * per_token), 1024, 65536))  # what torch keeps is free for us too
