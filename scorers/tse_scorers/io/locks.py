"""Locks that let one process at a time do a piece of work, on one machine or on a shared disk."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path

from .files import NO_LINK, unwritable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SECONDS_BETWEEN_LOOKS = 0.5
_TRIES = 100
"""How often a folder is created again that another process removes at the same time."""


class BusyError(ValueError):
    """Another process holds a lock."""


@contextmanager
def held(
    path: Path, what: str, waiting: Callable[[str], object] | None = None, seconds: float | None = None
) -> Iterator[None]:
    """Hold a lock during the block; afterwards the file, and folders created for it, are removed.

    The system releases the lock when its process ends, even after a crash. On a disk without locks, none is held.

    Args:
        path: the lock's file, which names its holder.
        what: the locked work, for messages: "the scores of gpt2 in out".
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
    try:
        opened = _acquired(path)
        has_waited = False
        until = None if seconds is None else time.monotonic() + seconds
        while opened is None:
            sentence = f"Another process ({_holder(path)}) is writing {what}."
            if waiting is None or (until is not None and time.monotonic() > until):
                raise BusyError(f"{sentence} Wait until it ends, or choose another folder with --out.")
            if not has_waited:
                waiting(f"{sentence} Waiting until it ends.")
                has_waited = True
            time.sleep(SECONDS_BETWEEN_LOOKS)
            opened = _acquired(path)
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()  # before releasing the lock: a waiting process checks whether the file still exists
        os.close(opened)
        with suppress(OSError):
            for folder in created:
                folder.rmdir()  # fails if the folder is not empty


def _acquired(path: Path) -> int | None:
    """Return the opened and locked file, or None if another process holds the lock."""
    opened = _opened(path)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(opened)
            return None
        except OSError:
            pass  # this disk does not support locks
        if _is_at(path, opened):
            os.ftruncate(opened, 0)
            since = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
            os.write(opened, f"process {os.getpid()} on {socket.gethostname()}, since {since}".encode())
            return opened
    except BaseException:
        os.close(opened)
        raise
    os.close(opened)  # its holder removed the file between the two calls
    return None


def _opened(path: Path) -> int:
    """Return the opened file, which is created with its folder; a holder that ends meanwhile may remove both."""
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):
            path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o666)
    return os.open(path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o666)


def _is_at(path: Path, opened: int) -> bool:
    """Whether an opened file is still the one with this name."""
    try:
        return os.path.samestat(os.fstat(opened), os.lstat(path))
    except FileNotFoundError:
        return False


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")[:200] or "unknown"
    except OSError:
        return "it has just ended"
