"""How far a piece of work has come."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]
"""Called with (tokens done, tokens in all)."""


@contextmanager
def bars(description: str) -> Iterator[Progress]:
    """Show a bar in terminals and notebooks, unless those of `datasets` are switched off."""
    from datasets.utils import tqdm

    with tqdm(desc=description, unit=" tokens", leave=False) as bar:

        def progress(tokens: int, total: int) -> None:
            bar.total = total
            bar.update(tokens - bar.n)

        yield progress
