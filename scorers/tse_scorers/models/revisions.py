"""A model over the course of its training: `tse run --model M --revisions 'step*'`."""

import re
from fnmatch import fnmatch
from pathlib import Path

from ..io.hub import require_reachable


def expand(model: str, pattern: str) -> list[tuple[str, str]]:
    """Return (model to load, its name in the series) for each revision of a model that matches a pattern.

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
        names = [path.parent.name for path in folder.glob("*/config.json")]
        found = [(str(folder / name), name) for name in names if fnmatch(name, pattern)]
    else:
        names = _revisions_on_hub(model)
        found = [(f"{model}@{name}", name) for name in names if fnmatch(name, pattern)]
    if not found:
        there = (
            ", ".join(sorted(names, key=position)[:20])
            or "none (those of a folder: subfolders with a config.json)"
        )
        raise ValueError(f"No revision of {model} matches {pattern!r}; expected one of: {there}.")
    return sorted(found, key=lambda item: position(item[1]))


def position(revision: str) -> tuple[float, str]:
    """Return the sort key of a revision: the last number in its name, then the name.

    >>> sorted(["step1000", "step64", "main"], key=position)
    ['step64', 'step1000', 'main']
    """
    numbers = re.findall(r"\d+", revision)
    return (float(numbers[-1]) if numbers else float("inf"), revision)


def _revisions_on_hub(model: str) -> list[str]:
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
    return [ref.name for ref in [*refs.branches, *refs.tags]]
