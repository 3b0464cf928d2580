"""The files of other projects that some data sets are built from: pinned by commit, verified by checksum.

`sources/upstream_files.json` lists them: `{key: {repository, commit, licence, files: {path: sha256}}}`.
A file's name here is `key/path`, for instance `blimp/data/causative.jsonl`.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from builders import SourceMissing

RELEASES = json.loads(
    (Path(__file__).parent.parent / "sources" / "upstream_files.json").read_text(encoding="utf-8")
)
RAW = "https://raw.githubusercontent.com"


def locate(source: Path | None, name: str) -> Path:
    """Return the verified copy of the file `name`, in whichever folder of `source` it lies.

    Raises:
        SourceMissing: there is no such file.
        ValueError: there are files of its name, but none is the pinned version.
    """
    key, _, path = name.partition("/")
    release = RELEASES[key]
    pinned = f"{path} of https://github.com/{release['repository']} at commit {release['commit']}"
    found = sorted(source.rglob(Path(path).name)) if source else []
    for file in found:
        if hashlib.sha256(file.read_bytes()).hexdigest() == release["files"][path]:
            return file
    if found:
        raise ValueError(f"{', '.join(map(str, found))}: expected {pinned}. Fetch it with --download.")
    raise SourceMissing(f"needs {pinned}; name a folder that holds it with --source, or add --download")


def lines(source: Path | None, name: str) -> list[str]:
    """Return the lines of the file `name` in `source`."""
    return locate(source, name).read_text(encoding="utf-8").splitlines()


def download(names: Iterable[str], folder: Path) -> None:
    """Download the pinned files `names` into `folder` as `key/path`, unless they are there already.

    Raises:
        SourceMissing: the package pooch is not installed (extra `build`).
        ValueError: a checksum does not match.
    """
    for name in names:
        key, _, path = name.partition("/")
        release, target = RELEASES[key], folder / name
        url = f"{RAW}/{release['repository']}/{release['commit']}/{path}"
        _pooch().retrieve(url, f"sha256:{release['files'][path]}", fname=target.name, path=target.parent)


def cache() -> Path:
    """Return the user's cache folder for downloaded files."""
    return Path(_pooch().os_cache("refined-tse"))


def _pooch() -> ModuleType:
    """Return the package pooch, which only downloads need."""
    try:
        import pooch
    except ImportError as error:
        raise SourceMissing("--download needs the package pooch: pip install 'refined-tse[build]'") from error
    return pooch
