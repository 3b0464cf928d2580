"""Saves answers to disk during a run, so that a stopped run can continue."""

import hashlib
import json
import os
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .processes import rank_and_size

if TYPE_CHECKING:
    from .plan import Plan
    from .run import Reader, TokenReader

SECONDS_BETWEEN_SAVES = 15.0
SUFFIX = ".npz"


class Journal:
    """The answers of one plan in a file, whose name is a hash of everything that decides them.

    So several runs may share `folder`, and a finished run is not repeated when a later one was stopped. The caller
    deletes `folder` after it has written the answers elsewhere.

    Args:
        folder: holds the journals.
        identity: model, revision, dtype, options.
        plan: the inputs.
        reader: computes the answers; it must have a fingerprint.

    Raises:
        ValueError: the folder cannot be written.
    """

    def __init__(
        self, folder: Path, identity: Mapping[str, object], plan: "Plan", reader: "Reader | TokenReader"
    ) -> None:
        described = [identity, plan.fingerprint, reader.fingerprint, str(reader.dtype), rank_and_size()]
        digest = hashlib.sha256(json.dumps(described, sort_keys=True, default=str).encode()).hexdigest()
        self._path = folder / f"{digest[:16]}{SUFFIX}"
        self._saved, self._seconds = time.monotonic(), 0.0
        self._n_saved = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # A folder that cannot be written, or a disk without room for all answers, costs no model time.
            _partial(self._path).write_bytes(bytes(len(plan.read_of) * (reader.dtype.itemsize + 1)))
            _partial(self._path).unlink()
        except OSError as error:
            raise _unwritable(self._path, error) from error

    def load(self, records: NDArray[Any], written: NDArray[np.bool_]) -> None:
        """Fill in the answers that are there."""
        try:
            with np.load(self._path) as file:
                if file["records"].shape == records.shape and file["records"].dtype == records.dtype:
                    records[...], written[...] = file["records"], file["written"]
        except FileNotFoundError:
            return
        except Exception:  # a file that was cut off or changed, in any of the ways in which numpy notices
            warnings.warn(
                f"The checkpoint {self._path} is damaged; its answers are computed again.", stacklevel=4
            )
        self._n_saved = int(written.sum())

    def keep(self, records: NDArray[Any], written: NDArray[np.bool_]) -> None:
        """Save every few seconds, and less often where that takes long."""
        if time.monotonic() - self._saved > max(SECONDS_BETWEEN_SAVES, 20 * self._seconds):
            self.save(records, written)

    def save(self, records: NDArray[Any], written: NDArray[np.bool_]) -> None:
        """Write all answers so far to disk, in one step."""
        if self._n_saved == written.sum():
            return
        begun = time.monotonic()
        try:
            with _partial(self._path).open("wb") as file:
                np.savez(file, records=records, written=written)
            os.replace(_partial(self._path), self._path)
        except OSError as error:
            raise _unwritable(self._path, error) from error
        self._n_saved = int(written.sum())
        self._saved = time.monotonic()
        self._seconds = self._saved - begun


def _partial(path: Path) -> Path:
    return path.with_suffix(".partial")


def _unwritable(path: Path, error: OSError) -> ValueError:
    return ValueError(
        f"The checkpoint of this run could not be written to {path}: {error.strerror or error}. "
        "Free some disk space, or choose another folder with --out."
    )
