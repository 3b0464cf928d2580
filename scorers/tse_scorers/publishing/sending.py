"""Sends a publication to the Hub: checks the rights, then commits the missing files at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..io.files import blob_id
from .publications import Publication

if TYPE_CHECKING:
    from huggingface_hub import HfApi

RIGHTS = 10.0
"""Seconds to wait for the answer who a token belongs to."""
TRANSFER = 60.0
"""Seconds to wait for each answer while files are compared and sent."""


class MissingRights(ValueError):
    """The token may not write there; the message says why and what to do. Nothing was sent."""


def publish(publication: Publication, create_pr: bool = False) -> str | None:
    """Commit what the repository does not have yet.

    Args:
        publication: the files.
        create_pr: open a pull request instead of a commit; the token needs no right to write to the repository.

    Returns:
        The address of the commit or pull request, or None if nothing was missing.

    Raises:
        ValueError: the token may not write there, the upload failed, or the Hub does not answer; the message says
            what to do.
    """
    from huggingface_hub import CommitOperationAdd, HfApi, get_token

    repo, kind = publication.repo, publication.kind
    api = HfApi(token=get_token())
    try:
        with _deadline(RIGHTS):
            if create_pr:
                require_token(api)
            else:
                require_write(api, repo)
        with _deadline(TRANSFER):
            if kind == "dataset" and not create_pr:
                api.create_repo(repo, repo_type=kind, exist_ok=True)
            new = _new_files(api, publication)
            if not new:
                return None
            commit = api.create_commit(
                repo,
                [CommitOperationAdd(path, content) for path, content in new.items()],
                repo_type=kind,
                commit_message="Add results of refined-tse",
                create_pr=create_pr or None,
            )
    except ValueError:
        raise
    except Exception as error:  # errors of several libraries: network, rights, names
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ValueError(
            f"The results could not be sent to {repo}: {reason}. The repository is unchanged. Check its name, your "
            "rights and the address of the Hub (HF_ENDPOINT), then run the same command again: it sends what is "
            "missing."
        ) from error
    return str(commit.pr_url if create_pr else commit.commit_url)


def _new_files(api: "HfApi", publication: Publication) -> dict[str, bytes]:
    """Return the files that the repository lacks; of a model also those that differ."""
    existing = api.get_paths_info(publication.repo, list(publication.files), repo_type=publication.kind)
    blobs = {entry.path: getattr(entry, "blob_id", None) for entry in existing}
    if publication.kind == "dataset":
        return {path: content for path, content in publication.files.items() if path not in blobs}
    return {
        path: content for path, content in publication.files.items() if blobs.get(path) != blob_id(content)
    }


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Let each request of the Hub's client fail that gets no answer within some seconds; by default, it waits for ever.

    Args:
        seconds: for connecting, and for each pause in sending or receiving; a long upload that goes on is not cut.
    """
    from huggingface_hub import get_session

    client: Any = get_session()
    before = getattr(client, "timeout", None)
    client.timeout = seconds
    try:
        yield
    finally:
        client.timeout = before


def require_write(api: "HfApi", name: str) -> None:
    """Check that the token may write to the repositories of an owner, or to one repository.

    Call this before anything else: creating a repository that exists succeeds with any token or none.

    Args:
        api: a client with the token.
        name: a user or organisation (`org`), or a repository (`org/name`).

    Raises:
        MissingRights: there is no token, its role or its scopes do not include writing there, or its user is not
            a member of the organisation with the right to write.
    """
    require_token(api)
    user, owner = api.whoami(), name.split("/")[0]
    access = user.get("auth", {}).get("accessToken", {})
    role = access.get("role")
    if role not in ("write", "fineGrained"):
        raise MissingRights(
            f"The token of {user['name']} has the role {role}, which cannot publish. Set HF_TOKEN to a token with "
            "the role write."
        )
    roles = {organisation["name"]: organisation.get("roleInOrg") for organisation in user.get("orgs", [])}
    if owner != user["name"] and roles.get(owner) in (None, "read"):
        raise MissingRights(
            f"{user['name']} may not write to {owner}. Choose your own name or another organisation, or ask for a "
            f"role in {owner} that may write."
        )
    scopes = (access.get("fineGrained") or {}).get("scoped") or []
    writable = {
        str(scope.get("entity", {}).get("name"))
        for scope in scopes
        if "repo.write" in scope.get("permissions", ())
    }
    if role == "fineGrained" and not {owner, name} & writable:
        raise MissingRights(
            f"The fine-grained token of {user['name']} does not grant write access to repositories of {owner}. Add "
            "this permission to it (…/settings/tokens), or set HF_TOKEN to a token with the role write."
        )


def require_token(api: "HfApi") -> None:
    """Check that there is a token; raises `MissingRights` where there is none."""
    if not api.token:
        raise MissingRights(
            "There is no token for the Hub. Set HF_TOKEN to a token with the role write, or run `hf auth login`."
        )
