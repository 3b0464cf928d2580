r"""What a Hub holds, in memory: repositories with commits, branches and tags, and a store of large files.

Object ids are made as git makes them (SHA-1 of `blob <size>\0<content>`, of the LFS pointer for a large
file), because the clients compare them with what they compute themselves.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field

LARGE_SUFFIXES = (".parquet", ".safetensors", ".bin", ".npz", ".arrow", ".png")
LARGE_BYTES = 10_000_000


class HubError(Exception):
    """An answer other than success: HTTP status, message, the Hub's `X-Error-Code`, what it is about."""

    def __init__(
        self, status: int, message: str, code: str | None = None, commit: str | None = None, url: str = ""
    ):
        super().__init__(message)
        self.status, self.message, self.code, self.commit, self.url = status, message, code, commit, url


@dataclass(frozen=True)
class Blob:
    """One file's content; `large` when it is kept as a Git LFS object."""

    content: bytes
    large: bool = False

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def pointer(self) -> bytes:
        size = len(self.content)
        return f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.sha256}\nsize {size}\n".encode()

    @property
    def oid(self) -> str:
        data = self.pointer if self.large else self.content
        return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()

    @property
    def etag(self) -> str:
        return self.sha256 if self.large else self.oid


@dataclass(frozen=True)
class Commit:
    """A snapshot of all files."""

    oid: str
    parent: str | None
    message: str
    files: dict[str, Blob]


@dataclass
class Repo:
    """One repository with its whole history."""

    kind: str
    id: str
    private: bool = False
    sdk: str | None = None
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    pulls: list[Commit] = field(default_factory=list)

    def propose(self, files: dict[str, Blob], message: str, parent: Commit) -> Commit:
        """Open a pull request: a commit that no branch has yet."""
        oid = hashlib.sha1(
            json.dumps([sorted(files), parent.oid, message, len(self.pulls)]).encode()
        ).hexdigest()
        self.pulls.append(Commit(oid, parent.oid, message, dict(files)))
        return self.pulls[-1]

    def commit(self, files: dict[str, Blob], message: str, branch: str = "main") -> Commit:
        """Make `files` the content of `branch`; the commit's name follows from content and history."""
        parent = self.branches.get(branch)
        tree = {path: blob.oid for path, blob in sorted(files.items())}
        oid = hashlib.sha1(json.dumps([tree, parent, message]).encode()).hexdigest()
        self.commits[oid] = Commit(oid, parent, message, dict(files))
        self.branches[branch] = oid
        return self.commits[oid]

    def at(self, revision: str) -> Commit:
        """The commit that a branch, a tag or a (possibly shortened) commit id names."""
        oid = self.branches.get(revision) or self.tags.get(revision)
        if oid is None and re.fullmatch(r"[0-9a-f]{7,40}", revision):
            oid = next((known for known in self.commits if known.startswith(revision)), None)
        if oid is None:
            raise HubError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return self.commits[oid]

    def file(self, revision: str, path: str) -> tuple[Commit, Blob]:
        """The content of `path` at `revision`."""
        commit = self.at(revision)
        if path not in commit.files:
            raise HubError(404, "Entry not found", "EntryNotFound", commit.oid)
        return commit, commit.files[path]


@dataclass
class Content:
    """Everything a Hub holds: repositories by kind (`models`, `datasets`, `spaces`) and id, large files."""

    repos: dict[tuple[str, str], Repo] = field(default_factory=dict)
    large_files: dict[str, bytes] = field(default_factory=dict)

    def create(self, kind: str, name: str, private: bool = False, sdk: str | None = None) -> Repo:
        """A new repository with the files that the Hub itself puts into it."""
        repo = self.repos[kind, name] = Repo(kind, name, private, sdk)
        files = {".gitattributes": Blob(b"*.parquet filter=lfs diff=lfs merge=lfs -text\n")}
        if kind == "spaces":
            files["README.md"] = Blob(f"---\ntitle: {name}\nsdk: {sdk}\n---\n".encode())
        repo.commit(files, "initial commit")
        return repo


def is_large(path: str, size: int) -> bool:
    """Whether the Hub keeps a file of this name and size as a large file."""
    return size > 0 and (path.endswith(LARGE_SUFFIXES) or size > LARGE_BYTES)


def file_entry(path: str, blob: Blob) -> dict:
    """A file as the tree and paths-info endpoints describe it."""
    entry = {"type": "file", "path": path, "size": len(blob.content), "oid": blob.oid}
    if blob.large:
        entry["lfs"] = {"oid": blob.sha256, "size": len(blob.content), "pointerSize": len(blob.pointer)}
    return entry


def folder_entry(path: str) -> dict:
    """A folder as the tree and paths-info endpoints describe it."""
    return {"type": "directory", "path": path, "size": 0, "oid": hashlib.sha1(path.encode()).hexdigest()}


def tree(commit: Commit, folder: str, recursive: bool) -> list[dict]:
    """Everything under `folder` ("" is the root), files and folders."""
    prefix = f"{folder}/" if folder else ""
    entries: dict[str, dict] = {}
    for path, blob in sorted(commit.files.items()):
        if not path.startswith(prefix):
            continue
        parts = path[len(prefix) :].split("/")
        for depth in range(1, len(parts)):
            if recursive or depth == 1:
                name = prefix + "/".join(parts[:depth])
                entries.setdefault(name, folder_entry(name))
        if recursive or len(parts) == 1:
            entries[path] = file_entry(path, blob)
    if folder and not entries:
        raise HubError(404, f"{folder} does not exist", "EntryNotFound", commit.oid)
    return list(entries.values())
