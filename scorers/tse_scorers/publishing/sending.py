"""From a publication to the Hub: the rights first, then what is not there yet, as one commit."""

import hashlib
from typing import TYPE_CHECKING

from .publications import Publication

if TYPE_CHECKING:
    from huggingface_hub import HfApi


def publish(publication: Publication) -> str | None:
    """Send what the repository does not have yet, as one commit; returns its address, None if all was there.

    Raises:
        ValueError: the token may not write there, or the Hub did not take it; the message says what to do.
    """
    from huggingface_hub import CommitOperationAdd, HfApi, get_token

    repo, kind = publication.repo, publication.kind
    api = HfApi(token=get_token())
    try:
        require_write(api, repo.split("/")[0])
        if kind == "dataset":
            api.create_repo(repo, repo_type=kind, exist_ok=True)
        new = _new_files(api, publication)
        if not new:
            return None
        commit = api.create_commit(
            repo,
            [CommitOperationAdd(path, content) for path, content in new.items()],
            repo_type=kind,
            commit_message="Add results of refined-tse",
        )
    except ValueError:
        raise
    except Exception as error:  # of several libraries: network, rights, names
        said = " ".join(str(error).split()).rstrip(".")
        raise ValueError(
            f"{repo} did not get the results: {said}. What was there is unchanged; check the name and your rights, "
            "and run the same command again: it sends what is missing."
        ) from error
    return str(commit.commit_url)


def require_write(api: "HfApi", owner: str) -> None:
    """Raise ValueError unless the token may write to an owner's repositories.

    Asked first: creating a repository that exists succeeds with any token or none.
    """
    if not api.token:
        raise ValueError(
            "There is no token for the Hub. Set HF_TOKEN to one with the role write, or run `hf auth login`."
        )
    user = api.whoami()
    access = user.get("auth", {}).get("accessToken", {})
    role = access.get("role")
    if role not in ("write", "fineGrained"):
        raise ValueError(
            f"The token of {user['name']} has the role {role}, which cannot publish. Set HF_TOKEN to one with the "
            "role write."
        )
    roles = {organisation["name"]: organisation.get("roleInOrg") for organisation in user.get("orgs", [])}
    if owner != user["name"] and roles.get(owner) in (None, "read"):
        raise ValueError(
            f"{user['name']} may not write to {owner}. Name a repository of your own, or join it."
        )


def _new_files(api: "HfApi", publication: Publication) -> dict[str, bytes]:
    """Return the files that the repository lacks; of a model also those that differ."""
    there = api.get_paths_info(publication.repo, list(publication.files), repo_type=publication.kind)
    blobs = {entry.path: getattr(entry, "blob_id", None) for entry in there}
    if publication.kind == "dataset":
        return {path: content for path, content in publication.files.items() if path not in blobs}
    return {
        path: content
        for path, content in publication.files.items()
        if blobs.get(path) != hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    }
