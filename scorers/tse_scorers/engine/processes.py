"""Splits a plan over several processes: each runs its share of the rows, then all exchange their answers.

The processes are those of `torch.distributed`; `accelerate launch` and `torchrun` start them. Rows are
distributed in the order of their length, so that shares cost the same. A check ensures that every process
makes the same plan.
"""

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray

Outcome = TypeVar("Outcome")

JOIN_SECONDS = 120
"""Seconds that the processes of a launch wait for each other at the start."""
SILENT_SECONDS = 5
"""Seconds after which a process says that it waits."""
WAIT_SECONDS = 1800
"""Seconds that a process waits for the others later; then it fails instead of hanging."""

_LAUNCH = "For instance: torchrun --nproc-per-node 2 -m tse_scorers run …"
_by_itself: ContextVar[bool] = ContextVar("by itself", default=False)
_RANKS = ("RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK")


@contextmanager
def joined_processes(cpu: bool = False) -> Iterator[torch.device | None]:
    """Join the other processes of this launch for some work, and leave them after it, also if it fails.

    Yields this process's device, or None for a single process, which joins nothing.

    Gloo's threads free what was exchanged last, and need the interpreter for it: if it is ending, they abort the
    process. Without the group, which ends its threads, none is left.

    Args:
        cpu: run on the CPU even where there are GPUs.

    Raises:
        ValueError: the environment does not say which process this is, or the others do not join within
            `JOIN_SECONDS`.
    """
    try:
        yield _join(cpu)
    finally:
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def _join(cpu: bool) -> torch.device | None:
    """Join the other processes, as above."""
    size = os.environ.get("WORLD_SIZE", "1")
    if not size.isdecimal():
        raise ValueError(
            f"WORLD_SIZE is {size!r}; expected a whole number. Unset it, or use a launcher. {_LAUNCH}"
        )
    if int(size) < 2:
        return None
    _require_launcher(size)
    # Before there is a group: its functions keep the one that they find as their default, and its threads run on.
    import torch.distributed.nn.functional
    from accelerate import PartialState
    from torch.distributed.distributed_c10d import _set_pg_timeout

    try:
        with _saying_that_it_waits(size):
            device = PartialState(cpu=cpu, timeout=timedelta(seconds=JOIN_SECONDS)).device
    except (RuntimeError, OSError) as error:  # from torch.distributed: a timeout or a wrong address
        reason = (str(error).strip() or type(error).__name__).split("\n", 1)[0]
        raise ValueError(
            f"Not all of the {size} processes of this launch joined within {JOIN_SECONDS} seconds "
            f"(MASTER_ADDR={os.environ.get('MASTER_ADDR')}, MASTER_PORT={os.environ.get('MASTER_PORT')}): {reason}. "
            f"Check that all of them were started and reach this address. {_LAUNCH}"
        ) from error
    if not torch.distributed.is_initialized():
        raise ValueError(
            f"WORLD_SIZE is {size}, but LOCAL_RANK, the number of this process on its machine, is not set. Set it, or "
            f"use a launcher. {_LAUNCH}"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some backends do not support a second timeout
        _set_pg_timeout(timedelta(seconds=WAIT_SECONDS))
    return device


@contextmanager
def _saying_that_it_waits(size: str) -> Iterator[None]:
    """Say on standard error that this process waits for the others, if that takes more than a few seconds."""
    text = f"Waiting up to {JOIN_SECONDS} seconds for all of the {size} processes of this launch (WORLD_SIZE={size}) …"
    timer = threading.Timer(SILENT_SECONDS, lambda: print(text, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _require_launcher(size: str) -> None:
    """Raise ValueError where the environment announces several processes, but no launcher started this one."""
    missing = [] if any(name in os.environ for name in _RANKS) else ["RANK"]
    missing += [] if any(name in os.environ for name in ("MASTER_ADDR", *_RANKS[1:])) else ["MASTER_ADDR"]
    if missing:
        raise ValueError(
            f"WORLD_SIZE is {size}, so this is one of {size} processes, but {' and '.join(missing)} "
            f"{'are' if len(missing) > 1 else 'is'} not set. Unset WORLD_SIZE, or use a launcher. {_LAUNCH}"
        )


def rank_and_size() -> tuple[int, int]:
    """Return (number of this process, number of processes)."""
    if _by_itself.get() or not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return 0, 1
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


@contextmanager
def single_process() -> Iterator[None]:
    """Work as if there were no other processes, in this thread."""
    token = _by_itself.set(True)
    try:
        yield
    finally:
        _by_itself.reset(token)


def is_main() -> bool:
    """Whether this process is the one that writes files and prints."""
    return rank_and_size()[0] == 0


@contextmanager
def propagating_failures(fingerprint: str) -> Iterator[None]:
    """Re-raise a failure of any process in every process, so that none hangs.

    A single process is not affected.

    Args:
        fingerprint: the plan's fingerprint; it must be equal in all processes.

    Raises:
        ValueError: another process failed; the message contains its error. An error of this process is
            raised unchanged.
        RuntimeError: the processes made different plans.
    """
    if rank_and_size()[1] == 1:
        yield
        return
    failed: Exception | None = None
    try:
        yield
    except Exception as error:  # the other processes must learn of any error before it is raised
        failed = error
    message = None if failed is None else f"{type(failed).__name__}: {failed}"
    messages: list[tuple[str, str | None]] = [("", None)] * rank_and_size()[1]
    torch.distributed.all_gather_object(messages, (fingerprint, message))
    if failed is not None:
        raise failed
    for rank, (_, failure) in enumerate(messages):
        if failure is not None:
            raise ValueError(f"Process {rank} of {len(messages)} failed, so all have stopped. {failure}")
    if len({plan for plan, _ in messages}) > 1:
        raise RuntimeError(
            "The processes of this launch planned different work. Give all of them the same data, model and options."
        )


def decided_together(decide: Callable[[], Outcome]) -> Outcome:
    """Call a function in every process and return the main process's result in all; waits for all of them.

    Processes may decide differently near a limit, or see different disks. Where all must do the same, only
    the main process's result counts.

    Args:
        decide: the function; its result can be pickled.

    Raises:
        ValueError: the function failed in another process. A process in which it failed raises its own error
            unchanged.
    """
    with propagating_failures("a decision"):
        decisions = [decide()]
    if rank_and_size()[1] > 1:
        torch.distributed.broadcast_object_list(decisions, src=0)
    return decisions[0]


def decided_by_main(decide: Callable[[], Outcome]) -> Outcome:
    """Call a function only in the main process and return its result in all; errors as in the function above."""
    return cast(Outcome, decided_together(lambda: decide() if is_main() else None))


def smallest(value: int) -> int:
    """Return the smallest of the numbers with which all processes call this."""
    values: list[int] = [value] * rank_and_size()[1]
    if len(values) > 1:
        torch.distributed.all_gather_object(values, value)
    return int(min(values))


def gathered(records: NDArray[Any], written: NDArray[np.bool_], device: torch.device) -> NDArray[Any]:
    """Put the answers of all processes together; exactly one process must have written each.

    Args:
        records: (answers, ...) of this process, of any dtype.
        written: (answers,) which of them it wrote.
        device: the device of exchanged tensors.

    Raises:
        RuntimeError: an answer is missing or was written twice.
    """
    on = device if torch.distributed.get_backend() == "nccl" else torch.device("cpu")
    own = np.where(written.reshape(-1, *[1] * (records.ndim - 1)), records, np.zeros((), records.dtype))
    content = torch.tensor(
        np.ascontiguousarray(own).reshape(-1).view(np.uint8), device=on
    )  # others have zeros there
    times = torch.tensor(written.astype(np.int32), device=on)
    torch.distributed.all_reduce(content)
    torch.distributed.all_reduce(times)
    if not bool((times == 1).all()):
        raise RuntimeError(f"{int((times != 1).sum())} answers came from no process or from several.")
    return content.cpu().numpy().view(records.dtype).reshape(records.shape)
