"""A model over the course of its training: its revisions."""

from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from ..io.bundle import require_reachable
from ..io.systems import position


class Revision(NamedTuple):
    """One revision of a model: what to load, its name in the series, and its commit where it is on the Hub."""

    model: str
    name: str
    commit: str | None = None


def expand(model: str, pattern: str) -> list[Revision]:
    """Return each revision of a model that matches a pattern.

    Args:
        model: a folder of checkpoints, or a Hub id, whose branches and tags are the revisions.
        pattern: a pattern for names, for instance `step*` or `checkpoint-*`.

    Returns:
        In the order of the last number in the name, `step512` before `step1000`.

    Raises:
        ValueError: no revision matches, or the Hub cannot be reached.
    """
    folder = Path(model)
    if folder.is_dir():
        names = [revision.name for revision in matching(folder, "*")]
        revisions = matching(folder, pattern)
    else:
        commits = _revisions_on_hub(model)
        names = list(commits)
        revisions = [
            Revision(f"{model}@{name}", name, commits[name]) for name in names if fnmatch(name, pattern)
        ]
    if not revisions:
        existing = (
            ", ".join(sorted(names, key=position)[:20])
            or "none (those of a folder: subfolders with a config.json)"
        )
        raise ValueError(f"No revision of {model} matches {pattern!r}; expected one of: {existing}.")
    return sorted(revisions, key=lambda revision: position(revision.name))


def matching(folder: Path, pattern: str) -> list[Revision]:
    """Return the checkpoints in a folder whose names match a pattern, in the order of training; none if there are none.

    A checkpoint is a subfolder with a `config.json`.
    """
    names = [path.parent.name for path in folder.glob("*/config.json")]
    revisions = [Revision(str(folder / name), name) for name in names if fnmatch(name, pattern)]
    return sorted(revisions, key=lambda revision: position(revision.name))


def _revisions_on_hub(model: str) -> dict[str, str]:
    """Return the commit of each branch and tag."""
    from huggingface_hub import HfApi

    try:
        require_reachable()  # the client itself may wait for minutes
        refs = HfApi().list_repo_refs(model)
    except Exception as error:  # several libraries raise their own errors for names, network and permissions
        message = " ".join(str(error).split())
        raise ValueError(
            f"The revisions of {model!r} could not be listed on the Hub: {message.rstrip('.')}. Check its name and the "
            "connection; or name a folder of checkpoints."
        ) from error
    return {ref.name: ref.target_commit for ref in [*refs.branches, *refs.tags]}
