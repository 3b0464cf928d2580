"""Answers on disk while a run is under way, so that a stopped run continues where it was."""

import hashlib
import io
import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .plan import Plan
from .processes import rank_and_size
from .readers import Reader

SECONDS_BETWEEN_FLUSHES = 15.0


class Journal:
    """The answers of one plan and which of its rows are done, as files in a folder of their own.

    That folder is named by everything that decides the answers: identity, inputs, what is read, and this process's
    share. So several runs may share `folder`, and a finished run is not repeated when a later one was stopped. The
    caller deletes `folder` once it has written the answers elsewhere.

    Attributes:
        answers: (answers, width) float64, NaN where nothing is answered yet.
        written: (answers,) 1 where this process has answered.

    Args:
        folder: holds the journals. A corrupt one is replaced by an empty one, with a warning.
        plan: the inputs.
        reader: what is read; it has a fingerprint.
        identity: model, revision, dtype, options.

    Raises:
        ValueError: the files cannot be written.
    """

    def __init__(self, folder: Path, plan: Plan, reader: Reader, identity: dict[str, Any]) -> None:
        described = [identity, plan.fingerprint, reader.fingerprint, reader.width, rank_and_size()]
        digest = hashlib.sha256(json.dumps(described, sort_keys=True, default=str).encode()).hexdigest()
        self._folder = folder / digest[:16]
        blank = {
            "answers": np.full((reader.n_answers, reader.width), np.nan),
            "written": np.zeros(reader.n_answers, dtype=np.int64),
            "done": np.zeros(len(plan.lengths), dtype=bool),
        }
        try:
            if not self._can_go_on(blank):
                self._begin(blank)
            self.answers, self.written, self._done = map(self._open, blank)
        except OSError as error:
            raise ValueError(
                f"The checkpoint of this run could not be written to {folder}: {error.strerror or error}. "
                "Free some disk space, or choose another folder with --out."
            ) from error
        self._unflushed: list[int] = []
        self._flushed_at = time.monotonic()

    def has(self, rows: Sequence[int]) -> bool:
        """Whether all of these rows are done."""
        return bool(self._done[list(rows)].all())

    def finish(self, rows: Sequence[int]) -> None:
        """Mark these rows as answered; every few seconds everything is written to disk."""
        self._unflushed += rows
        if time.monotonic() - self._flushed_at > SECONDS_BETWEEN_FLUSHES:
            self.flush()

    def flush(self) -> None:
        """Write what is finished to disk."""
        self.answers.flush()
        self.written.flush()
        self._done[self._unflushed] = True  # after their answers: a row that is done has them
        self._unflushed = []
        self._flushed_at = time.monotonic()

    def _can_go_on(self, blank: dict[str, NDArray[Any]]) -> bool:
        """Whether there is a journal here and its files have the right shape, type and size."""
        if not self._begun.exists():
            return False
        damaged = [name for name, content in blank.items() if not _has_form(self._file(name), content)]
        if damaged:
            warnings.warn(
                f"The checkpoint in {self._folder} is corrupt ({', '.join(damaged)}); these answers are computed "
                "again.",
                stacklevel=3,
            )
        return not damaged

    def _begin(self, blank: dict[str, NDArray[Any]]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._begun.unlink(missing_ok=True)
        for name, content in blank.items():
            # Written byte by byte: a file with holes would break off the process with SIGBUS on a full disk.
            np.save(self._file(name), content)
        self._begun.touch()

    @property
    def _begun(self) -> Path:
        return self._folder / "begun"

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.npy"

    def _open(self, name: str) -> "np.memmap[Any, Any]":
        return np.lib.format.open_memmap(self._file(name), mode="r+")


def _has_form(path: Path, blank: NDArray[Any]) -> bool:
    """Whether a file holds a complete array of this shape and type.

    numpy would fill up a truncated file with zeros, which would pass for answers.
    """
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(blank))
    try:
        with path.open("rb") as file:
            begins_so = file.read(header.tell()) == header.getvalue()
            return begins_so and file.seek(0, io.SEEK_END) == header.tell() + blank.nbytes
    except FileNotFoundError:
        return False
