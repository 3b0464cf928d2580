"""Work in parts, and how far it has come."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Progress = Callable[[int, int], None]
"""Called with (tokens done, tokens in all)."""


def parts(sizes: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield the indices of sizes, in order, in parts with a total of at most `most`, or with a single larger size."""
    part: list[int] = []
    total = 0
    for index, size in enumerate(sizes):
        if part and total + size > most:
            yield part
            part, total = [], 0
        part.append(index)
        total += size
    yield part


def progress_of_part(progress: Progress | None, before: int, size: int, total: int) -> Progress | None:
    """Return a function that reports the progress of a part of this size, after others, as progress of the total."""
    if progress is None or size == total:
        return progress
    return lambda part_tokens, part_total: progress(before + size * part_tokens // part_total, total)


@contextmanager
def bars(description: str) -> Iterator[Progress]:
    """Show a bar in terminals and notebooks, unless those of `datasets` are switched off."""
    from datasets.utils import tqdm

    with tqdm(desc=description, unit=" tokens", leave=False) as bar:

        def progress(tokens: int, total: int) -> None:
            bar.total = total
            bar.update(tokens - bar.n)

        yield progress
