"""The loop: batches through the model, answers into one array; memory, progress, and going on after a stop."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .forward import ForwardPass
from .plan import Plan, batches
from .processes import gathered, rank_and_size, share_of
from .read import Reader, Values
from .trie import Indices

SECONDS_BETWEEN_NOTES = 2.0

Progress = Callable[[int, int], None]
"""Called with (tokens done, tokens in all)."""


def run(
    plan: Plan,
    forward: ForwardPass,
    reader: Reader,
    *,
    tokens: int | None = None,
    progress: Progress | None = None,
    journal: "Journal | None" = None,
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
        alone: run all rows here, whatever other processes there are.

    Raises:
        ValueError: the model gave NaN; the message says where.
    """
    own = np.arange(len(plan.lengths)) if alone else share_of(plan.lengths)
    if journal is None:
        answers = np.full((reader.n_answers, reader.width), np.nan)
        written = np.zeros(reader.n_answers, dtype=np.int64)
    else:
        answers, written = journal.answers, journal.written
    tokens = tokens or token_budget(forward)
    if forward.most_reads is not None:
        tokens = min(tokens, forward.most_reads)
    total, done = int(plan.lengths[own].sum()), 0
    for group in batches(plan.lengths[own], tokens, padded=forward.padding_is_neutral):
        rows = own[group].tolist()
        if journal is None or not journal.has(rows):
            _run_rows(plan, forward, reader, rows, answers, written)
            if journal is not None:
                journal.finish(rows)
        done += int(plan.lengths[rows].sum())
        if progress is not None:
            progress(done, total)
    if alone or rank_and_size()[1] == 1:
        return answers
    return gathered(np.where(written[:, None] > 0, answers, 0.0), written, plan.fingerprint, forward.device)


@torch.inference_mode()
def _run_rows(
    plan: Plan, forward: ForwardPass, reader: Reader, rows: Sequence[int], answers: Values, written: Indices
) -> None:
    """Run some rows; where memory is short, in two halves. An answer is written when it is known."""
    try:
        batch = plan.batch(rows)
        for part, logits in forward(batch):
            _refuse_nan(logits)
            indices, values = reader(logits, batch.reads[part])
            answers[indices] = values
            written[indices] = 1
        return
    except torch.OutOfMemoryError:
        if len(rows) == 1:
            raise
    # Outside the handler: the exception holds the frames, and with them the tensors, of what did not fit.
    torch.cuda.empty_cache()
    middle = len(rows) // 2
    for half in (rows[:middle], rows[middle:]):
        _run_rows(plan, forward, reader, half, answers, written)


def _refuse_nan(logits: torch.Tensor) -> None:
    # One number is enough: NaN anywhere in a row makes its sum NaN; +inf and -inf together do so as well.
    if torch.isnan(logits.sum(dtype=torch.float32)) and torch.isnan(logits).any():
        raise ValueError(
            "The model gave NaN instead of scores, so nothing can be said of its grammar. It may be broken by "
            "training that diverged, or overflow in float16: try --dtype float32 (or bfloat16), and look at the "
            "weights with `torch.isnan`."
        )


def token_budget(forward: ForwardPass) -> int:
    """Choose how many tokens go through the model at one time.

    On a CPU more than about a thousand gain nothing; on a GPU, what fits into half the free memory.
    """
    if forward.device.type != "cuda":
        return 1024
    config = forward.model.config.get_text_config()
    width = getattr(config, "hidden_size", 1024)
    per_token = (
        40 * width * forward.model.dtype.itemsize
    )  # activations of one layer, the widest of them 4 x width
    free, _ = torch.cuda.mem_get_info(forward.device)
    return int(min(max(free // (2 * per_token), 1024), 65536))


class Journal:
    """Answers on disk, row by row of a plan, so that a run that was stopped goes on where it was.

    Args:
        folder: where `answers.npy`, `written.npy` and `done.npy` lie.
        plan: the inputs.
        reader: what is read.
        identity: what makes the answers these and no others (model, revision, dtype, data, options).
            A journal with another identity is begun anew.
    """

    def __init__(self, folder: Path, plan: Plan, reader: Reader, identity: dict[str, Any]) -> None:
        shape = (reader.n_answers, reader.width)
        described = json.dumps([identity, shape, plan.fingerprint], sort_keys=True, default=str)
        digest = hashlib.sha256(described.encode()).hexdigest()
        self._folder = folder
        mark = folder / "identity.txt"
        fresh = not mark.is_file() or mark.read_text() != digest
        if fresh:
            folder.mkdir(parents=True, exist_ok=True)
            mark.unlink(missing_ok=True)
        self.answers = self._open("answers.npy", shape, np.float64, fresh)
        self.written = self._open("written.npy", shape[:1], np.int64, fresh)
        self._done = self._open("done.npy", plan.lengths.shape, np.bool_, fresh)
        self._unnoted: list[int] = []
        self._noted_at = time.monotonic()
        if fresh:
            self.answers[:] = np.nan
            mark.write_text(digest)

    def has(self, rows: Sequence[int]) -> bool:
        """Whether all of these rows are finished."""
        return bool(self._done[list(rows)].all())

    def finish(self, rows: Sequence[int]) -> None:
        """Note that these rows' answers are written; every few seconds all of it goes to the disk."""
        self._unnoted += rows
        if time.monotonic() - self._noted_at > SECONDS_BETWEEN_NOTES:
            self.answers.flush()
            self.written.flush()
            self._done[self._unnoted] = True  # after their answers: a row that is done has them
            self._unnoted = []
            self._noted_at = time.monotonic()

    def discard(self) -> None:
        """Delete the files, when the answers have been written elsewhere."""
        for name in ("identity.txt", "answers.npy", "written.npy", "done.npy"):
            (self._folder / name).unlink(missing_ok=True)
        self._folder.rmdir()

    def _open(self, name: str, shape: tuple[int, ...], dtype: Any, fresh: bool) -> "np.memmap[Any, Any]":
        path = self._folder / name
        if fresh:
            return np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
        return np.lib.format.open_memmap(path, mode="r+")
