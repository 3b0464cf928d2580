"""How far a piece of work has come."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]
"""Called with (work done, work in all): tokens of the engine, items of a run."""


def within(progress: Progress | None, start: int, end: int, whole: int) -> Progress | None:
    """Return the progress of a part of some work: from `start` to `end` of `whole`."""
    if progress is None:
        return None
    return lambda done, total: progress(start + (end - start) * done // max(total, 1), whole)


@contextmanager
def bars(description: str) -> Iterator[Progress]:
    """Show a bar in terminals and notebooks, unless those of `datasets` are switched off."""
    from datasets.utils import tqdm

    with tqdm(desc=description, unit=" items", leave=False) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield progress
