"""Notices within seconds that only some of the processes came, where a collective operation would hang."""

from datetime import timedelta
from typing import Any

from .processes import rank_and_size

_SPACE = "tse_scorers/meeting"
_met = 0
"""Meetings that this process was at; the same in all processes, because a meeting that failed does not count."""


def meet(seconds: float, what: str) -> None:
    """Wait until all processes of this launch are here; a single process goes on at once.

    Args:
        seconds: how long to wait for the others.
        what: what all of them must do, as the subject of the error message.

    Raises:
        ValueError: some process did not come.
    """
    global _met
    rank, size = rank_and_size()
    store = None if size == 1 else _store()
    if store is None:
        return
    present, opened = f"{_met}/present", f"{_met}/opened"
    store.set(f"{_met}/{rank}", "here")
    if store.add(present, 1) == size:
        store.set(opened, "yes")
    elif not _opens(store, opened, seconds):
        came = [other for other in range(size) if store.check([f"{_met}/{other}"])]
        store.delete_key(f"{_met}/{rank}")
        if store.add(present, -1) < size - 1:
            raise ValueError(_alone(what, came, size, seconds))
        store.add(present, 1)  # the last one came in this very moment
    store.delete_key(f"{_met}/{rank}")
    _met += 1


def _store() -> Any:
    """Return the key-value store of the default process group, None where its backend has none (MPI)."""
    from torch.distributed.distributed_c10d import PrefixStore, _get_default_store

    store = _get_default_store()
    return None if store is None else PrefixStore(_SPACE, store)


def _opens(store: Any, key: str, seconds: float) -> bool:
    try:
        store.wait([key], timedelta(seconds=seconds))
    except RuntimeError:  # a timeout, whose class differs from store to store
        return False
    return True


def _alone(what: str, came: list[int], size: int, seconds: float) -> str:
    ranks = ", ".join(map(str, came))
    return (
        f"{what} must run in all {size} processes of this launch, but within {seconds:g} seconds only "
        f"{len(came)} came (rank {ranks}). Call it in every process, not only in one. If one process is to score a "
        "model by itself, pass distributed=False; if the others are only slow, increase wait_seconds."
    )
