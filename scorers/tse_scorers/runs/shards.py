"""Shares of a run's data."""

import re

MAX_SHARDS = 100_000


def parse_shard(text: str) -> tuple[int, int]:
    """Read `i/n` with 1 <= i <= n.

    >>> parse_shard("2/8")
    (2, 8)
    """
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or len(text) > 30 or not 1 <= int(match[1]) <= int(match[2]) <= MAX_SHARDS:
        raise ValueError(
            f"Got the shard {text[:60]!r}; expected i/n with i from 1 to n and n up to "
            f"{MAX_SHARDS:,}, for instance 2/8."
        )
    return int(match[1]), int(match[2])
