"""Work in parts, and how far it has come."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Progress = Callable[[int, int], None]
"""Called with (tokens done, tokens in all)."""


def parts(sizes: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield the indices of sizes, in order, in parts with a total of at most `most`, or with a single larger size."""
    part: list[int] = []
    held = 0
    for index, size in enumerate(sizes):
        if part and held + size > most:
            yield part
            part, held = [], 0
        part.append(index)
        held += size
    yield part


def progress_of_part(progress: Progress | None, before: int, size: int, whole: int) -> Progress | None:
    """Return a function that reports the progress of a part as progress of the whole."""
    if progress is None or size == whole:
        return progress
    return lambda done, total: progress(before + size * done // total, whole)


@contextmanager
def bars(description: str) -> Iterator[Progress]:
    """Show a bar in terminals and notebooks, unless those of `datasets` are switched off."""
    from datasets.utils import tqdm

    with tqdm(desc=description, unit=" tokens", leave=False) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield progress
