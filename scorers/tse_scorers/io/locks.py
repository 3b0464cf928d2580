"""Locks that let one process at a time do a piece of work, on one machine or on a shared disk."""

import math
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path

from .files import NO_LINK, unwritable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SECONDS_BETWEEN_LOOKS = 0.5
_TRIES = 100
"""How often a lock is opened whose folder another process removes at the same time."""


class BusyError(ValueError):
    """Another process holds a lock."""


@contextmanager
def held(
    path: Path, work: str, waiting: Callable[[str], object] | None = None, seconds: float | None = None
) -> Iterator[None]:
    """Hold a lock during the block; afterwards the file, and folders created for it, are removed.

    The system releases the lock when its process ends, even after a crash. On a disk without locks, none is held.

    Args:
        path: the lock's file, which names its holder.
        work: what is locked, for messages: "the scores of gpt2 in out".
        waiting: called once with a sentence that names the holder, before waiting. None does not wait.
        seconds: how long to wait at most; None waits as long as the other process lives.

    Raises:
        BusyError: another process holds it.
        ValueError: the file cannot be written.
    """
    if fcntl is None:
        yield
        return
    created = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
    until = math.inf if seconds is None else time.monotonic() + seconds
    has_waited = False
    try:
        while (descriptor := _acquired(path)) is None:
            try:
                holder = path.read_text(encoding="utf-8")[:200] or "unknown"
            except OSError:
                holder = "it has just ended"
            sentence = f"Another process ({holder}) is writing {work}."
            if waiting is None or time.monotonic() > until:
                raise BusyError(f"{sentence} Wait until it ends, or choose another folder with --out.")
            if not has_waited:
                waiting(f"{sentence} Waiting until it ends.")
                has_waited = True
            time.sleep(SECONDS_BETWEEN_LOOKS)
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()  # before releasing the lock: a waiting process checks whether the file still exists
        os.close(descriptor)
        with suppress(OSError):
            for folder in created:
                folder.rmdir()  # fails if the folder is not empty


def _acquired(path: Path) -> int | None:
    """Return the descriptor of the opened and locked file, or None if another process holds the lock.

    A process that ends meanwhile removes the file, and maybe its folder, before it is opened or locked here.
    """
    for attempt in range(1, _TRIES + 1):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o666)
            break
        except FileNotFoundError:
            if attempt == _TRIES:
                raise
    with ExitStack() as unless_held:
        unless_held.callback(os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        except OSError:
            pass  # this disk does not support locks
        try:
            if not os.path.samestat(os.fstat(descriptor), os.lstat(path)):
                return None
        except FileNotFoundError:
            return None
        os.ftruncate(descriptor, 0)
        since = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}, since {since}".encode())
        unless_held.pop_all()
    return descriptor
