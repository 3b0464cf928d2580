"""Checksums of files."""

import hashlib
from collections.abc import Iterator
from pathlib import Path


def file_digest(path: Path) -> str:
    """Return `sha256:` and the first 16 digits of the hash of a file."""
    hasher = hashlib.sha256()
    for block in blocks(path):
        hasher.update(block)
    return f"sha256:{hasher.hexdigest()[:16]}"


def blocks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in parts, for files larger than memory."""
    with path.open("rb") as file:
        while block := file.read(2**22):
            yield block


def blob_id(content: bytes) -> str:
    """Return git's object id of a file, which the Hub states for each file that is not stored as a large one.

    >>> blob_id(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
