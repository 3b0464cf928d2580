"""One lock per model: all its users share its forward hooks, so only one thread may use it at a time."""

from contextlib import AbstractContextManager
from threading import Lock, RLock
from typing import Any
from weakref import WeakKeyDictionary

_guard = Lock()
_locks: WeakKeyDictionary[Any, AbstractContextManager[bool]] = WeakKeyDictionary()


def lock_of(model: Any) -> AbstractContextManager[bool]:
    """Return the lock of a model, the same one for every scorer of it; a thread may take it several times.

    It is not an attribute of the model, because a lock can be neither copied nor pickled.
    """
    with _guard:
        return _locks.setdefault(model, RLock())
