"""Repositories on the Hub: what should be in one, what differs from that, and the commit that changes it.

A commit is the only thing that changes a repository, and it holds all of its changes. So a push that is
interrupted leaves the version before it, and the same push run again does what is left to do.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from pathlib import Path

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile


class Refused(ValueError):
    """A push that may not be tried; the message says why and what to do. Nothing was sent."""


@dataclass(frozen=True)
class Upload:
    """A repository as it should be.

    Attributes:
        repo_id: `org/name`.
        repo_type: `dataset`, `space` or `model`.
        files: path in the repository -> file, or content made on the fly.
        kind: what is read back beyond the files: `dataset`, `metric`, `model` or `space`.
        sdk: of a Space, `gradio` or `static`.
        notes: lines for the reader of the plan, such as what is left out and why.
    """

    repo_id: str
    repo_type: str
    files: dict[str, Path | bytes]
    kind: str
    sdk: str | None = None
    notes: tuple[str, ...] = ()

    def content(self, path: str) -> bytes:
        """The bytes of one file."""
        source = self.files[path]
        return source if isinstance(source, bytes) else source.read_bytes()


@dataclass
class Plan:
    """What pushing an `Upload` would do to what is there.

    Attributes:
        upload: the repository as it should be.
        head: commit that the branch main is at; None where there is no repository yet.
        private: whether it is private, or will be.
        changes: path -> `+` (new), `~` (other content) or `-` (gone).
        hashes: path -> SHA-256 of the content as it should be.
    """

    upload: Upload
    head: str | None
    private: bool
    changes: dict[str, str]
    hashes: dict[str, str] = field(default_factory=dict)


def remote_files(api: HfApi, upload: Upload, revision: str | None) -> dict[str, str]:
    """Path -> hash (SHA-256 of a large file, git's object id of another) of the files at `revision`.

    Names that start with a dot are the Hub's (.gitattributes) or other tools' (.eval_results/): left alone.
    """
    entries = api.list_repo_tree(
        upload.repo_id, repo_type=upload.repo_type, revision=revision, recursive=True, expand=False
    )
    files = [entry for entry in entries if isinstance(entry, RepoFile) and not entry.path.startswith(".")]
    return {entry.path: entry.lfs.sha256 if entry.lfs else entry.blob_id for entry in files}


def differences(upload: Upload, there: dict[str, str]) -> dict[str, str]:
    """Path -> `+`, `~` or `-` (see `Plan`) from the hashes that are there to the upload."""
    changes = {path: "-" for path in there if path not in upload.files}
    for path in upload.files:
        content = upload.content(path)
        blob = sha1(b"blob %d\0" % len(content) + content).hexdigest()
        if path not in there:
            changes[path] = "+"
        elif there[path] not in (blob, sha256(content).hexdigest()):
            changes[path] = "~"
    return dict(sorted(changes.items()))


def compare(api: HfApi, upload: Upload, private: bool, tag: str | None) -> Plan:
    """What pushing would change. A tag that exists with other content is refused: a release never moves."""
    hashes = {path: sha256(upload.content(path)).hexdigest() for path in upload.files}
    try:
        there = api.repo_info(upload.repo_id, repo_type=upload.repo_type, revision="main")
    except RepositoryNotFoundError:
        return Plan(upload, None, private, dict.fromkeys(sorted(upload.files), "+"), hashes)
    if private and not there.private:
        raise Refused(
            f"{upload.repo_id} is public already, and --private makes only new repositories private: change "
            "its visibility in its settings on the Hub, or leave out --private"
        )
    if tag is not None:
        tags = {entry.name for entry in api.list_repo_refs(upload.repo_id, repo_type=upload.repo_type).tags}
        if tag in tags and differences(upload, remote_files(api, upload, tag)):
            raise Refused(f"{upload.repo_id} has a tag {tag} with other content: choose a new --tag")
    changes = differences(upload, remote_files(api, upload, there.sha))
    return Plan(upload, there.sha, bool(there.private), changes, hashes)


def describe(plan: Plan) -> Iterator[str]:
    """The plan in lines: what would be created, changed, deleted, with bytes and hashes."""
    upload, sent = plan.upload, [path for path, sign in plan.changes.items() if sign != "-"]
    size = sum(len(upload.content(path)) for path in sent)
    state = "new" if plan.head is None else f"at {plan.head[:12]}"
    state += ", private" if plan.private else ""
    todo = f"{len(plan.changes)} changes, {size:,} bytes to upload" if plan.changes else "nothing to change"
    yield f"{upload.repo_type} {upload.repo_id} ({state}): {todo}"
    for path in sorted({*upload.files, *plan.changes}):
        sign, facts = plan.changes.get(path, "="), ""
        if sign != "-":
            facts = f"{len(upload.content(path)):>11,} bytes  sha256 {plan.hashes[path][:16]}"
        yield f"  {sign} {path:<44} {facts}".rstrip()
    yield from (f"  ! {note}" for note in upload.notes)


def send(api: HfApi, plan: Plan, message: str) -> str:
    """Create the repository where there is none, commit all changes at once; returns the commit."""
    upload = plan.upload
    if plan.head is None:
        api.create_repo(
            upload.repo_id,
            repo_type=upload.repo_type,
            private=plan.private or None,
            exist_ok=True,
            space_sdk=upload.sdk,
        )
        plan.head = str(api.repo_info(upload.repo_id, repo_type=upload.repo_type).sha)
        plan.changes = differences(upload, remote_files(api, upload, plan.head))
    if not plan.changes:
        return plan.head
    commit = api.create_commit(
        upload.repo_id,
        [
            CommitOperationDelete(path) if sign == "-" else CommitOperationAdd(path, upload.files[path])
            for path, sign in plan.changes.items()
        ],
        commit_message=message,
        repo_type=upload.repo_type,
        parent_commit=plan.head,  # refuses to build on anything but what was compared
    )
    return commit.oid
