"""Lets one process at a time write results into a folder."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .files import unwritable
from .ours import RESULTS_FILE
from .score_files import KEPT

LOCK_SECONDS = 300.0
"""How long to wait for another run that writes results into the same folder; it takes seconds."""


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Hold the folder's lock; the system releases it when the process ends, however it ends."""
    from filelock import FileLock, SoftFileLock, Timeout

    path = out / f".{RESULTS_FILE}.lock"
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock: Any = FileLock(path, timeout=LOCK_SECONDS)
        try:
            lock.acquire()
        except (NotImplementedError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                raise
            lock = SoftFileLock(path.with_suffix(".softlock"), timeout=LOCK_SECONDS)  # no locks on this disk
            lock.acquire()
    except Timeout as error:
        raise ValueError(
            f"Another process has been writing results to {out} for {LOCK_SECONDS:.0f} seconds. Wait until it ends, "
            f"or stop it; if there is none, remove {error.lock_file}. {KEPT}"
        ) from error
    except OSError as error:
        raise ValueError(f"{unwritable(out / RESULTS_FILE, error)} {KEPT}") from error
    try:
        yield
    finally:
        lock.release()
