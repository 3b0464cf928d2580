"""A repository on the Hub: what it should hold, how that differs from what it holds, and the commit that changes it.

A push changes a repository by a single commit. So an interrupted push leaves the version before it, and the same
push run again does the rest.
"""

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile

from tse_scorers.io.files import blob_id


class Refused(ValueError):
    """A push that is refused before anything is sent; the message says why and what to do."""


def refuse_if(problems: Sequence[str], name: str) -> None:
    """Raise `Refused` with all problems, if there are any."""
    if problems:
        raise Refused(f"{name} cannot be pushed: {'; '.join(problems)}")


def committed(folder: Path) -> list[str]:
    """Return the files of `folder` that git tracks, or all files if it is not in a git repository."""
    listed = subprocess.run(["git", "-C", folder, "ls-files", "-z"], capture_output=True, text=True)
    if listed.returncode == 0:
        return [name for name in listed.stdout.split("\0") if name]
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


@dataclass(frozen=True)
class Upload:
    """What a repository should hold.

    Attributes:
        repo_id: `org/name`.
        repo_type: `dataset`, `space` or `model`.
        files: path in the repository -> file, or its content.
        kind: how it is loaded when it is read back: `dataset`, `metric`, `model`, or `space` (files only).
        notes: lines that the plan shows, such as what is excluded and why.
    """

    repo_id: str
    repo_type: str
    files: dict[str, Path | bytes]
    kind: str
    notes: tuple[str, ...] = ()

    def content(self, path: str) -> bytes:
        """Return the bytes of one file."""
        source = self.files[path]
        return source if isinstance(source, bytes) else source.read_bytes()


@dataclass
class Plan:
    """What pushing an `Upload` would change.

    Attributes:
        upload: what the repository should hold.
        head: latest commit of the branch main; None if the repository does not exist yet.
        private: whether it is private, or will be.
        changes: path -> `+` (new), `~` (changed) or `-` (deleted).
        hashes: path -> SHA-256 of the content that it should have.
    """

    upload: Upload
    head: str | None
    private: bool
    changes: dict[str, str]
    hashes: dict[str, str] = field(default_factory=dict)


def remote_files(api: HfApi, upload: Upload, revision: str | None) -> dict[str, str]:
    """Return path -> hash of the files at `revision`: SHA-256 for large files, git's object id for the others.

    Names that start with a dot belong to the Hub (.gitattributes) or to other tools (.eval_results/) and are ignored.
    """
    entries = api.list_repo_tree(
        upload.repo_id, repo_type=upload.repo_type, revision=revision, recursive=True, expand=False
    )
    files = [entry for entry in entries if isinstance(entry, RepoFile) and not entry.path.startswith(".")]
    return {entry.path: entry.lfs.sha256 if entry.lfs else entry.blob_id for entry in files}


def differences(upload: Upload, remote: dict[str, str]) -> dict[str, str]:
    """Return path -> `+`, `~` or `-` (see `Plan`), from the hashes on the Hub to the upload."""
    changes = {path: "-" for path in remote if path not in upload.files}
    for path in upload.files:
        content = upload.content(path)
        if path not in remote:
            changes[path] = "+"
        elif remote[path] not in (blob_id(content), sha256(content).hexdigest()):
            changes[path] = "~"
    return dict(sorted(changes.items()))


def compare(api: HfApi, upload: Upload, private: bool, tag: str | None) -> Plan:
    """Compare an upload with the Hub.

    Raises:
        Refused: the tag exists with other content (a release never changes), or `private` is asked for a public
            repository.
    """
    hashes = {path: sha256(upload.content(path)).hexdigest() for path in upload.files}
    try:
        repository = api.repo_info(upload.repo_id, repo_type=upload.repo_type, revision="main")
    except RepositoryNotFoundError:
        return Plan(upload, None, private, dict.fromkeys(sorted(upload.files), "+"), hashes)
    if private and not repository.private:
        raise Refused(
            f"{upload.repo_id} is already public, and --private only applies to new repositories. Change its "
            "visibility in its settings on the Hub, or remove --private"
        )
    if tag is not None:
        tags = {entry.name for entry in api.list_repo_refs(upload.repo_id, repo_type=upload.repo_type).tags}
        if tag in tags and differences(upload, remote_files(api, upload, tag)):
            raise Refused(f"{upload.repo_id} already has a tag {tag} with other content. Choose a new --tag")
    changes = differences(upload, remote_files(api, upload, repository.sha))
    return Plan(upload, repository.sha, bool(repository.private), changes, hashes)


def describe(plan: Plan) -> Iterator[str]:
    """Yield the lines of a plan: what would be created, changed and deleted, with bytes and hashes."""
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
    """Create the repository if it does not exist, commit all changes at once; returns the commit."""
    upload = plan.upload
    if plan.head is None:
        api.create_repo(
            upload.repo_id,
            repo_type=upload.repo_type,
            private=plan.private or None,
            exist_ok=True,
            space_sdk="static" if upload.repo_type == "space" else None,
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
        parent_commit=plan.head,  # fails if somebody committed since the comparison
    )
    return commit.oid
