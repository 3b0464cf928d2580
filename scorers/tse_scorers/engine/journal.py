"""Saves answers to disk during a run, so that a stopped run can continue."""

import hashlib
import json
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from .arrays import Indices
from .plan import Plan
from .processes import rank_and_size
from .readers import Reader

SECONDS_BETWEEN_FLUSHES = 15.0
FILE = "answers.journal"

_COUNTS = np.dtype("<i8")
_DIGEST = 32


class Journal:
    """The answers of one plan and the rows that are done, in a file in their own folder.

    The folder's name is a hash of everything that decides the answers: identity, inputs, reader, and this
    process's share. So several runs may share `folder`, and a finished run is not repeated when a later one
    was stopped. The caller deletes `folder` after it has written the answers elsewhere.

    The file is a list of blocks. Each holds the rows and answers of a few seconds and a checksum over itself
    and all blocks before it. Reading stops at the first damaged block; the answers after it are computed
    again.

    Attributes:
        answers: (answers, width) float64, NaN if not yet answered.
        written: (answers,) 1 where this process has answered.

    Args:
        folder: holds the journals.
        plan: the inputs.
        reader: computes the answers; it must have a fingerprint.
        identity: model, revision, dtype, options.

    Raises:
        ValueError: the file cannot be written.
    """

    def __init__(self, folder: Path, plan: Plan, reader: Reader, identity: Mapping[str, object]) -> None:
        described = [identity, plan.fingerprint, reader.fingerprint, reader.width, rank_and_size()]
        digest = hashlib.sha256(json.dumps(described, sort_keys=True, default=str).encode()).digest()
        self._path = folder / digest.hex()[:16] / FILE
        # Of the last block; that of the first block continues the hash of the journal's identity.
        self._checksum = digest
        self.answers = np.full((reader.n_answers, reader.width), np.nan)
        self.written = np.zeros(reader.n_answers, dtype=np.int64)
        self._finished = np.zeros(len(plan.lengths), dtype=bool)  # rows
        self._end = self._resume()
        self._on_disk = self.written.astype(bool)  # answers
        self._unflushed: list[int] = []
        self._flushed_at = time.monotonic()

    def has(self, rows: Sequence[int]) -> bool:
        """Whether all of these rows are done."""
        return bool(self._finished[list(rows)].all())

    def finish(self, rows: Sequence[int]) -> None:
        """Mark these rows as answered; every few seconds everything is written to disk."""
        self._unflushed += rows
        if time.monotonic() - self._flushed_at > SECONDS_BETWEEN_FLUSHES:
            self.flush()

    def flush(self) -> None:
        """Write what is finished to disk."""
        if self._unflushed:
            rows, new = np.array(self._unflushed), np.flatnonzero((self.written > 0) & ~self._on_disk)
            counts = np.array([len(rows), len(new)], _COUNTS)  # as `_blocks` reads them
            parts = (counts, rows.astype("<i8"), new.astype("<i8"), self.answers[new].astype("<f8"))
            content = b"".join(part.tobytes() for part in parts)
            checksum = hashlib.sha256(self._checksum + content).digest()
            try:
                with self._path.open("r+b") as file:
                    file.seek(self._end)  # overwrites what an attempt on a full disk has left
                    file.write(content + checksum)
                    file.truncate()
            except OSError as error:
                raise _unwritable(self._path, error) from error
            self._checksum, self._end = checksum, self._end + len(content) + _DIGEST
            self._on_disk[new] = True
            self._finished[rows] = True
        self._unflushed = []
        self._flushed_at = time.monotonic()

    def _resume(self) -> int:
        """Read the intact blocks and truncate the file after them; return their end."""
        end = 0
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._path.is_symlink():
                self._path.unlink()  # somebody else's: what it leads to would be cut off
            with self._path.open("r+b" if self._path.exists() else "w+b") as file:
                for rows, indices, values in self._blocks(file):
                    self.answers[indices] = values
                    self.written[indices] = 1
                    self._finished[rows] = True
                    end = file.tell()
                if file.seek(0, 2) > end:
                    warnings.warn(
                        f"The checkpoint {self._path} is corrupt from byte {end} on; the answers from there on are "
                        "computed again.",
                        stacklevel=4,
                    )
                file.truncate(end)
            with tempfile.TemporaryFile(dir=self._path.parent) as probe:  # a full disk costs no model time
                probe.write(bytes(self.answers.nbytes + self.written.nbytes + 8 * len(self._finished)))
        except OSError as error:
            raise _unwritable(self._path, error) from error
        return end

    def _blocks(self, file: BinaryIO) -> Iterator[tuple[Indices, Indices, np.ndarray]]:
        """Yield the rows, the indices of answers and the answers of each intact block."""
        width = self.answers.shape[1]
        while True:
            counts = file.read(2 * _COUNTS.itemsize)
            if len(counts) < 2 * _COUNTS.itemsize:
                return
            n_rows, n_answers = np.frombuffer(counts, _COUNTS).tolist()
            if not (0 <= n_rows <= len(self._finished) and 0 <= n_answers <= len(self.answers)):
                return
            content = file.read((n_rows + n_answers * (1 + width)) * 8)
            checksum = hashlib.sha256(self._checksum + counts + content).digest()
            if file.read(_DIGEST) != checksum:
                return
            self._checksum = checksum
            numbers = np.frombuffer(content, "<i8", n_rows + n_answers)
            answers = np.frombuffer(content, "<f8", offset=numbers.nbytes).reshape(n_answers, width)
            yield numbers[:n_rows], numbers[n_rows:], answers


def _unwritable(path: Path, error: OSError) -> ValueError:
    return ValueError(
        f"The checkpoint of this run could not be written to {path}: {error.strerror or error}. "
        "Free some disk space, or choose another folder with --out."
    )
