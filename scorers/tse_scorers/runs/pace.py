"""When to do again what takes longer the more results there are."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

SHARE = 0.02


class Pace:
    """Says when repeated work is due: at once, then so rarely that it takes at most a share of the time.

    Args:
        share: of the time, in (0, 1].
    """

    def __init__(self, share: float = SHARE) -> None:
        self._share = share
        self._due = float("-inf")

    def is_due(self) -> bool:
        """Whether the work may be done again."""
        return time.monotonic() >= self._due

    @contextmanager
    def working(self) -> Iterator[None]:
        """Measure the work, which decides when it is due again."""
        start = time.monotonic()
        try:
            yield
        finally:
            end = time.monotonic()
            self._due = end + (end - start) * (1 / self._share - 1)
