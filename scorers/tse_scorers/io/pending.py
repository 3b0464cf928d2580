"""Results that wait to be put into `results.json`: OUT/.results.<time>-<id>.json, one file per model.

Adding one costs the same, however many results there are, and needs no lock: no two processes write the same file.
"""

import json
import time
import warnings
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import uuid4

from .checksums import checksum
from .files import is_file, write_text
from .limits import RESULTS_BYTES, require_size
from .ours import FORMAT
from .results_schema import CHECKSUM, parse_results, require_row
from .series_order import in_order

Content = dict[str, Any]
"""`signature`, with the signatures of `models`, and `results`, their rows: what `results.json` holds."""


def write_pending(out: Path, content: Content) -> Path:
    """Write results into a file of their own.

    Raises:
        ValueError: a row could not be read again, or the file cannot be written.
    """
    for row in content["results"]:
        require_row(row)
    path = out / f".results.{time.time_ns():020d}-{uuid4().hex[:8]}.json"
    whole = {"format": FORMAT} | content
    written = json.loads(json.dumps(whole, allow_nan=False, default=str))  # as a reader will find it
    write_text(path, json.dumps(written | {CHECKSUM: checksum(written)}))
    return path


def pending_files(out: Path) -> list[Path]:
    """Return the files of waiting results in an output folder, oldest first."""
    return sorted(out.glob(".results.*-*.json"))


def read_pending(files: Iterable[Path]) -> list[Content]:
    """Read waiting results; a file that another process has just put into `results.json` is skipped.

    A damaged file is skipped with a warning.
    """
    found = []
    for path in files:
        if not is_file(path):  # it may be a pipe, which never ends
            continue
        try:
            require_size(path, RESULTS_BYTES)
            found.append(parse_results(path.read_bytes(), path))
        except FileNotFoundError:
            continue
        except ValueError as error:
            warnings.warn(
                f"{str(error).partition('. ')[0]}. It is skipped; `tse report {path.parent}` makes its results "
                "again from the scores.",
                stacklevel=3,
            )
    return found


def combined(there: Content, added: Sequence[Content]) -> Content:
    """Return results with others added, in their order; the later one of two results of the same model stays.

    Existing rows of the added models stay only if their scores stay: models in a series, which each have their own
    file. These are sorted, see `in_order`.
    """
    signatures: list[list[Any]] = []
    rows: list[list[Any]] = []
    replaced: set[tuple[Any, ...]] = set()
    gone = _Identities()
    for content in reversed([there, *added]):
        known = [each for each in content["signature"].get("models", []) if isinstance(each, dict)]
        new = [each for each in known if _place(each) not in replaced]
        gone.add(each["identity"] for each in known if _place(each) in replaced)
        rows.append([row for row in content["results"] if row not in gone])
        signatures.append(new)
        gone.add(each["identity"] for each in new)
        replaced |= {_place(each) for each in new}
    whole = list(chain.from_iterable(reversed(signatures))), list(chain.from_iterable(reversed(rows)))
    in_order(*whole)
    return {"signature": {"models": whole[0]}, "results": whole[1]}


class _Identities:
    """Identities of models; a row is in it if it has all values of one of them."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, ...], set[tuple[Any, ...]]] = {}

    def add(self, identities: Iterable[dict[str, Any]]) -> None:
        """Add identities."""
        for identity in identities:
            self._values.setdefault(tuple(identity), set()).add(tuple(identity.values()))

    def __contains__(self, row: dict[str, Any]) -> bool:
        return any(
            all(key in row for key in keys) and tuple(row[key] for key in keys) in values
            for keys, values in self._values.items()
        )


def _place(signature: dict[str, Any]) -> tuple[Any, ...]:
    """Return what decides which files hold the scores: all but the revision, unless it is one of a series."""
    identity = signature.get("identity", {})
    return (signature.get("series"), *(identity.get(key) for key in ("suite", "dataset", "config", "model")))
