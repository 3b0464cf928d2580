"""Answers on disk while a run is under way, so that a run that was stopped goes on where it was."""

import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .plan import Plan
from .processes import rank_and_size
from .read import Reader

SECONDS_BETWEEN_NOTES = 15.0


class Journal:
    """The answers of one plan and which of its rows are done, as files in a folder of their own.

    What makes the answers these and no others names that folder: identity, inputs, what is read of them, and
    this process's share. So runs that follow each other may share `folder`, and finished ones are not redone
    when a later one was stopped; whoever has written the answers elsewhere deletes it.

    Attributes:
        answers: (answers, width) float64, NaN where nothing is answered yet.
        written: (answers,) 1 where this process has answered.

    Args:
        folder: where folders of journals lie.
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
        try:
            if not (self._folder / "begun").exists():
                self._folder.mkdir(parents=True, exist_ok=True)
                self._create("answers.npy", np.full((reader.n_answers, reader.width), np.nan))
                self._create("written.npy", np.zeros(reader.n_answers, dtype=np.int64))
                self._create("done.npy", np.zeros(len(plan.lengths), dtype=bool))
                (self._folder / "begun").touch()
            self.answers, self.written, self._done = map(self._open, ("answers", "written", "done"))
        except OSError as error:
            raise ValueError(
                f"What is scored cannot be kept in {folder} while the run is under way: {error.strerror or error}. "
                "Make room there or name another folder with --out."
            ) from error
        self._unnoted: list[int] = []
        self._noted_at = time.monotonic()

    def has(self, rows: Sequence[int]) -> bool:
        """Whether all of these rows are done."""
        return bool(self._done[list(rows)].all())

    def finish(self, rows: Sequence[int]) -> None:
        """Note that these rows' answers are written; every few seconds all of it goes to the disk."""
        self._unnoted += rows
        if time.monotonic() - self._noted_at > SECONDS_BETWEEN_NOTES:
            self.note()

    def note(self) -> None:
        """Bring to the disk what is finished."""
        self.answers.flush()
        self.written.flush()
        self._done[self._unnoted] = True  # after their answers: a row that is done has them
        self._unnoted = []
        self._noted_at = time.monotonic()

    def _create(self, name: str, content: NDArray[Any]) -> None:
        # Written byte by byte: a file with holes would break off the process with SIGBUS on a full disk.
        np.save(self._folder / name, content)

    def _open(self, name: str) -> "np.memmap[Any, Any]":
        return np.lib.format.open_memmap(self._folder / f"{name}.npy", mode="r+")
