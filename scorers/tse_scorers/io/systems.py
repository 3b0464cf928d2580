"""What models and runs are called where they are shown together, and the order of a model's revisions."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

Key = TypeVar("Key")


def run_names(folders: Sequence[Path]) -> list[str]:
    """Name runs by their folders, with as many parent folders as it takes to tell them apart.

    >>> run_names([Path("/x/a/out"), Path("/x/b/out")])
    ['a/out', 'b/out']
    """
    return list(_told_apart({n: (folder.resolve().parts, 1) for n, folder in enumerate(folders)}).values())


def model_names(models: Iterable[str]) -> dict[str, str]:
    """Shorten the names of models; those that would be called alike get as many more folders as tell them apart.

    At first, as many components are shown as of a Hub id; of a path that is marked as one, one.

    >>> list(model_names(["models/EleutherAI/pythia-70m", "/data/runs/mine", "gpt2"]).values())
    ['EleutherAI/pythia-70m', 'mine', 'gpt2']
    >>> model_names(["./models/a/gpt2", "./models/b/gpt2", "gpt2"])
    {'./models/a/gpt2': 'a/gpt2', './models/b/gpt2': 'b/gpt2', 'gpt2': 'gpt2'}
    """
    is_path = re.compile(r"[./~\\]|[A-Za-z]:\\")
    names = _told_apart(
        {
            model: (re.split(r"[/\\]", model.rstrip("/\\")), 1 if is_path.match(model) else 2)
            for model in models
        }
    )
    # Paths that differ in nothing but a slash at the end keep it.
    return {model: model if [*names.values()].count(name) > 1 else name for model, name in names.items()}


def _told_apart(paths: Mapping[Key, tuple[Sequence[str], int]]) -> dict[Key, str]:
    """Name paths by their last parts: by the number given, and by more where two would be called alike."""
    lengths = {key: length for key, (_, length) in paths.items()}
    while True:
        names = {key: "/".join(parts[-lengths[key] :]) for key, (parts, _) in paths.items()}
        alike = Counter(names.values())
        longer = [
            key for key, (parts, _) in paths.items() if alike[names[key]] > 1 and lengths[key] < len(parts)
        ]
        if not longer:
            return names
        lengths |= {key: lengths[key] + 1 for key in longer}


def basename(model: str) -> str:
    """Return the last component of a model's id or path, which names it in the papers' tables.

    >>> basename("google-bert/bert-large-cased"), basename("gpt2-xl")
    ('bert-large-cased', 'gpt2-xl')
    """
    return re.split(r"[/\\]", model.rstrip("/\\"))[-1]


def position(revision: str) -> tuple[float, str]:
    """Return the sort key of a revision, the order of training: the last number in its name, then the name.

    >>> sorted(["step1000", "step64", "main"], key=position)
    ['step64', 'step1000', 'main']
    """
    numbers = re.findall(r"\d+", revision)
    return (float(numbers[-1]) if numbers else float("inf"), revision)
