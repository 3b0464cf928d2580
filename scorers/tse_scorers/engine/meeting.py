"""Notices within seconds that only some of the processes came, where a collective operation would hang."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from .processes import rank_and_size

if TYPE_CHECKING:
    from torch.distributed.distributed_c10d import Store

_SPACE = "tse_scorers/meeting"
ALL, NOBODY = "all", ""
"""Who is present, if not some ranks, separated by commas."""
_met = 0
"""Meetings that this process was at; the same in all processes, because a meeting that failed does not count."""


def meet(seconds: float) -> None:
    """Wait until all processes of this launch are here; a single process goes on at once.

    Args:
        seconds: how long to wait for the others.

    Raises:
        ValueError: some process did not come.
    """
    global _met
    rank, size = rank_and_size()
    store = None if size == 1 else _store()
    if store is None:
        return
    present, opened = f"{_met}/present", f"{_met}/opened"
    if _changed(store, present, size, lambda ranks: ranks | {rank}) == ALL:
        store.set(opened, "yes")
    elif not _opens(store, opened, seconds):
        came = _changed(store, present, size, lambda ranks: ranks - {rank})
        if came != ALL:  # else the last one came in this very moment
            ranks = sorted(_ranks(came) | {rank})
            raise ValueError(
                f"The syntax evaluation must run in all {size} processes of this launch, but within {seconds:g} "
                f"seconds only {len(ranks)} called it (rank {', '.join(map(str, ranks))}). Call it in all processes; "
                "to score a model in one process only, pass distributed=False. If the others are only slow, increase "
                "wait_seconds."
            )
    _met += 1


def _changed(store: "Store", key: str, size: int, change: Callable[[set[int]], set[int]]) -> str:
    """Change who is present, in one step among all processes; once all were, nothing changes any more."""
    before = NOBODY
    while True:
        ranks = change(_ranks(before))
        after = ALL if len(ranks) == size else ",".join(map(str, sorted(ranks))) or NOBODY
        stored = store.compare_set(key, before, after).decode()  # a key that is not there counts as empty
        if stored in (ALL, after):
            return str(stored)
        before = stored


def _ranks(present: str) -> set[int]:
    return set() if present == NOBODY else set(map(int, present.split(",")))


def _store() -> "Store | None":
    """Return the key-value store of the default process group, None where its backend has none (MPI)."""
    from torch.distributed.distributed_c10d import PrefixStore, _get_default_store

    store = _get_default_store()
    return None if store is None else PrefixStore(_SPACE, store)


def _opens(store: "Store", key: str, seconds: float) -> bool:
    try:
        store.wait([key], timedelta(seconds=seconds))
    except RuntimeError:  # a timeout, whose class differs from store to store
        return False
    return True
