"""Whether a checkpoint that may still be being written is complete."""

import json
import os
import struct
import time
from collections.abc import Iterable
from pathlib import Path

from ..io.limits import HEADER_BYTES

INDEX = "model.safetensors.index.json"
State = tuple[tuple[str, int, int], ...]
"""Name, size and time of modification of each file."""


def is_complete(folder: Path) -> bool:
    """Whether a checkpoint has a configuration, and weights that are as long as their headers say.

    Of sharded weights, all that the index names must be there.
    """
    try:
        if not (folder / "config.json").is_file():
            return False
        names = {path.name for path in folder.glob("*.safetensors")}
        if (folder / INDEX).is_file():
            names |= set(json.loads((folder / INDEX).read_bytes())["weight_map"].values())
        elif any("-of-" in name for name in names):
            return False  # the index is written after the shards
        return bool(names) and all(_is_whole(folder / name) for name in names)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False  # a file that is only half there, or has just gone


def _is_whole(path: Path) -> bool:
    """Whether a safetensors file has all the bytes that its header names."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))
        size = os.fstat(file.fileno()).st_size
        if not 0 < length <= min(size - 8, HEADER_BYTES):
            return False
        header = json.loads(file.read(length))
    ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
    return size == 8 + length + max(ends, default=0)


class Settling:
    """Tells which checkpoints are complete and have not changed for some time, by this process's clock.

    Args:
        seconds: how long a checkpoint's files must stay as they are: tokenizers are written after the weights.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._seen: dict[str, tuple[State, float]] = {}

    def settled(self, folders: Iterable[str]) -> set[str]:
        """Look at checkpoints, and return those that are complete and have settled."""
        now, complete = time.monotonic(), set()
        for folder in folders:
            state = _state(Path(folder))
            before, since = self._seen.get(folder, (None, now))
            if state != before:
                since = now
            self._seen[folder] = (state, since)
            if now - since >= self._seconds and is_complete(Path(folder)):
                complete.add(folder)
        return complete


def _state(folder: Path) -> State:
    file_states = []
    for path in sorted(folder.glob("*")):
        try:
            stat = path.stat()
        except OSError:
            continue
        file_states.append((path.name, stat.st_size, stat.st_mtime_ns))
    return tuple(file_states)
