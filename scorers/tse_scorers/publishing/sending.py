"""Sends a publication to the Hub: checks the rights, then commits the missing files at once."""

from typing import TYPE_CHECKING

from .publications import Publication
from .repository import blob_id, require_write

if TYPE_CHECKING:
    from huggingface_hub import HfApi


def publish(publication: Publication) -> str | None:
    """Commit what the repository does not have yet; returns the commit's address, or None if nothing was missing.

    Raises:
        ValueError: the token may not write there, or the upload failed; the message says what to do.
    """
    from huggingface_hub import CommitOperationAdd, HfApi, get_token

    repo, kind = publication.repo, publication.kind
    api = HfApi(token=get_token())
    try:
        require_write(api, repo)
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
    except Exception as error:  # errors of several libraries: network, rights, names
        said = " ".join(str(error).split()).rstrip(".")
        raise ValueError(
            f"The results could not be sent to {repo}: {said}. The repository is unchanged. Check its name and your "
            "rights, then run the same command again: it sends what is missing."
        ) from error
    return str(commit.commit_url)


def _new_files(api: "HfApi", publication: Publication) -> dict[str, bytes]:
    """Return the files that the repository lacks; of a model also those that differ."""
    there = api.get_paths_info(publication.repo, list(publication.files), repo_type=publication.kind)
    blobs = {entry.path: getattr(entry, "blob_id", None) for entry in there}
    if publication.kind == "dataset":
        return {path: content for path, content in publication.files.items() if path not in blobs}
    return {
        path: content for path, content in publication.files.items() if blobs.get(path) != blob_id(content)
    }
