"""The files of a minimal-pair set: from a local copy, from the Hub, or downloaded at a pinned commit.

Downloads are checked by their checksums and kept in the user's cache. Sets whose licence forbids sharing are handled in
the same way: they are loaded for the user, and never part of the package.
"""

import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

from ....io.bundle import snapshot
from ....io.files import blob_id, require_file
from .pair_set import PairSet

RAW = "https://raw.githubusercontent.com"
_GIT_DIGITS = 40
"""Length of git's name of a file's content; a SHA-256 has 64 digits."""


@dataclass(frozen=True)
class LocalFile:
    """One file of a set.

    Attributes:
        path: where it is.
        config: the configuration that it belongs to.
        name: its path in the set.
        is_pinned: whether it has the checksum of the pinned version; None if there is no checksum.
    """

    path: Path
    config: str
    name: str
    is_pinned: bool | None = None


def files_of(
    pairs: PairSet, configs: Sequence[str], source: Path | None = None
) -> tuple[list[LocalFile], str]:
    """Return the files of some configurations, and the revision they are of.

    Args:
        pairs: the set.
        configs: its configurations; empty for all of a set that does not list them.
        source: a local copy of the repository (or of its data folder), or a single file; None downloads.

    Returns:
        The files in order, and the commit; "" if it is not known, as of a local copy.

    Raises:
        ValueError: a file is missing or cannot be downloaded; the message says where the data is.
    """
    if source is not None and not source.is_dir():
        require_file(source)
        return [LocalFile(source, configs[0] if configs else source.stem, source.name)], ""
    folder, revision = (source, "") if source is not None else _downloaded(pairs, configs)
    configs_read = list(configs) or _configs_in(pairs, folder)
    files = [file for config in configs_read for file in _matching(pairs, folder, config)]
    if not files:
        raise ValueError(
            f"There are no files {pairs.layout.files} of {pairs.title} in {folder}. Give the folder of a copy of "
            f"{pairs.source.address or 'the data'} with --source."
        )
    if source is None:
        _require_pinned(pairs, files)
    return files, revision


def _require_pinned(pairs: PairSet, files: Sequence[LocalFile]) -> None:
    """Raise ValueError where a downloaded file does not have the checksum of the pinned version."""
    changed = [file for file in files if file.is_pinned is False]
    if changed:
        raise ValueError(
            f"{len(changed)} downloaded files of {pairs.title} do not have the checksum of the pinned version; the "
            f"first is {changed[0].path}. The download is damaged, or the files were replaced. Remove the file and try "
            f"again; if this persists, get the data from {pairs.source.address} and name the folder with --source."
        )


def _matching(pairs: PairSet, folder: Path, config: str) -> list[LocalFile]:
    """Return the files of a configuration; the folder may lie inside the repository, down to the files themselves."""
    pattern = pairs.layout.files.replace("{config}", config)
    parts = pattern.split("/")
    for depth in range(len(parts)):
        paths = sorted(path for path in folder.glob("/".join(parts[depth:])) if path.is_file())
        if paths:
            return [_checked(pairs, path, config, folder, "/".join(parts[:depth])) for path in paths]
        if "{config}" in pairs.layout.files.split("/")[depth] and len(pairs.configs) > 1:
            break  # without its folder, a file could be of any configuration
    return []


def _checked(pairs: PairSet, path: Path, config: str, folder: Path, above: str) -> LocalFile:
    inside = path.relative_to(folder).as_posix()
    name = f"{above}/{inside}" if above and "*" not in above else inside
    expected = pairs.source.checksums.get(name)
    is_pinned = None if expected is None else _has_checksum(path, expected)
    return LocalFile(path, config, name, is_pinned)


def _has_checksum(path: Path, expected: str) -> bool:
    """Return whether a file has a SHA-256, or the 40 digits that git names its content by."""
    content = path.read_bytes()
    checksum = blob_id(content) if len(expected) == _GIT_DIGITS else hashlib.sha256(content).hexdigest()
    return checksum == expected


def _configs_in(pairs: PairSet, folder: Path) -> list[str]:
    """Return the configurations that a folder holds, of a set that does not list them."""
    before, _, after = pairs.layout.files.partition("{config}")
    return sorted(
        path.relative_to(folder).as_posix()[len(before) :].split("/")[0]
        for path in folder.glob(f"{before}*{after}")
    )


def _downloaded(pairs: PairSet, configs: Sequence[str]) -> tuple[Path, str]:
    if pairs.source.hub:
        patterns = [pairs.layout.files.replace("{config}", config) for config in configs or ["*"]]
        pinned = f"@{pairs.source.revision}" if pairs.source.revision else ""
        folder = snapshot(f"{pairs.source.hub}{pinned}", "dataset", patterns)
        return folder, folder.name
    if not pairs.source.checksums:
        raise ValueError(
            f"{pairs.title} cannot be downloaded from here: its files are not listed. Get it from "
            f"{pairs.source.address or 'its authors'} and name the folder with --source."
        )
    return _from_repository(pairs), pairs.source.revision


@contextmanager
def _without_advice(logger: logging.Logger) -> Iterator[None]:
    """Let pooch say what it downloads, but not how its caller should name a checksum: the user cannot do that."""

    def is_news(record: logging.LogRecord) -> bool:
        return "known_hash" not in record.getMessage()

    logger.addFilter(is_news)
    try:
        yield
    finally:
        logger.removeFilter(is_news)


def _from_repository(pairs: PairSet) -> Path:
    try:
        import pooch
    except ImportError as error:
        raise ValueError(
            f"Downloading {pairs.title} needs the package pooch: pip install 'refined-tse[build]'. Or get it from "
            f"{pairs.source.address} and name the folder with --source."
        ) from error
    origin = pairs.source
    folder = Path(pooch.os_cache("refined-tse")) / pairs.id / origin.revision
    for name, digest in origin.checksums.items():
        target = folder / name
        url = f"{RAW}/{origin.repository}/{origin.revision}/{name}"
        # Git's are not known to pooch; they are checked when files are read.
        pooch_hash = None if len(digest) == _GIT_DIGITS else f"sha256:{digest}"
        try:
            with _without_advice(pooch.get_logger()):
                pooch.retrieve(url, pooch_hash, fname=target.name, path=target.parent)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{url} could not be downloaded: {shorten(str(error), 300, placeholder=' …')}. Check the connection, "
                f"or get the data from {origin.address} and name the folder with --source."
            ) from error
    return folder
