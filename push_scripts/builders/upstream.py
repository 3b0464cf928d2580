"""The upstream files that some data sets are built from: pinned by commit, verified by checksum.

`sources/upstream_files.json` lists them: `{key: {repository, commit, licence, files: {path: sha256}}}`.
A file's name here is `key/path`, for instance `blimp/data/causative.jsonl`. Nothing is ever unpickled.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from builders import SourceMissing

RELEASES = json.loads(
    (Path(__file__).parent.parent / "sources" / "upstream_files.json").read_text(encoding="utf-8")
)
RAW = "https://raw.githubusercontent.com"


class UpstreamFile(NamedTuple):
    """One file of a pinned release."""

    key: str
    repository: str
    commit: str
    path: str
    sha256: str

    @property
    def url(self) -> str:
        """The address of the pinned version."""
        return f"{RAW}/{self.repository}/{self.commit}/{self.path}"


def describe(name: str) -> UpstreamFile:
    """Return the pinned file `name` (`key/path`); raises ValueError if the name is unknown.

    >>> describe("probing-LM-syntax/src/data/templates.csv").repository
    'crochereau/probing-LM-syntax'
    """
    key, _, path = name.partition("/")
    release = RELEASES.get(key)
    if release is None or path not in release["files"]:
        raise ValueError(f"{name} is not among the pinned upstream files; see sources/upstream_files.json.")
    return UpstreamFile(key, release["repository"], release["commit"], path, release["files"][path])


def locate(source: Path | None, name: str) -> Path:
    """Return the verified copy of the upstream file `name` somewhere under the folder `source`.

    `source` may hold the files as `key/path`, may be a clone of the repository, or may hold the file in any
    subfolder; only the checksum matters.

    Raises:
        SourceMissing: there is no such file.
        ValueError: there are files of that name, but none is the pinned version.
    """
    pinned = describe(name)
    description = (
        f"{pinned.path} of https://github.com/{pinned.repository} at commit {pinned.commit} "
        f"(sha256 {pinned.sha256})"
    )
    if source is None:
        raise SourceMissing(
            f"needs {description}; give a folder that holds it with --source, or fetch it with --download"
        )
    likely = (source / pinned.key / pinned.path, source / pinned.path)
    anywhere = sorted(source.rglob(Path(pinned.path).name))
    candidates = [path for path in dict.fromkeys((*likely, *anywhere)) if path.is_file()]
    for path in candidates:
        if hashlib.sha256(path.read_bytes()).hexdigest() == pinned.sha256:
            return path
    if candidates:
        raise ValueError(
            f"{', '.join(map(str, candidates))}: not the pinned version. Expected {description}. "
            "Check out that commit, or fetch the file with --download."
        )
    raise SourceMissing(f"found no {Path(name).name} below {source}; needs {description}, or --download")


def download(names: Iterable[str], folder: Path) -> None:
    """Download the pinned files `names` into `folder` as `key/path`, unless they are there already.

    Raises:
        SourceMissing: the package pooch is not installed (extra `build`).
        ValueError: a checksum does not match.
    """
    pooch = _pooch()
    for name in names:
        pinned = describe(name)
        target = folder / name
        pooch.retrieve(pinned.url, f"sha256:{pinned.sha256}", fname=target.name, path=target.parent)


def cache() -> Path:
    """Return the user's cache folder for downloaded upstream files."""
    return Path(_pooch().os_cache("refined-tse"))


def _pooch() -> ModuleType:
    """Return the package pooch, which only downloads need."""
    try:
        import pooch
    except ImportError as error:
        raise SourceMissing("--download needs the package pooch: pip install 'refined-tse[build]'") from error
    return pooch
