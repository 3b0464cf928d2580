"""How systems are called: one label for each, decided once for all runs that are shown together.

Report, comparison and files of scores all show this label, in every suite alike.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple


class Identity(NamedTuple):
    """What a system is: a model in one revision, as one run scored it."""

    run: str
    model: str
    revision: str | None


def labels(identities: Iterable[Identity]) -> dict[Identity, str]:
    """Give every system a label: the model's name, `@revision` and ` (run)` where they are needed to tell it apart.

    A revision is added where one run has several revisions of the model, a run where several runs have the label.

    >>> a, b = Identity("a", "org/m", "1"), Identity("b", "org/m", "1")
    >>> labels([a])[a], labels([a, b])[b], labels([a, Identity("a", "org/m", "2")])[a]
    ('org/m', 'org/m (b)', 'org/m@1')
    """
    systems = list(dict.fromkeys(identities))
    names = model_names([system.model for system in systems])
    revisions = Counter((system.run, system.model) for system in systems)
    series = {model for (_, model), n in revisions.items() if n > 1}
    name_of = {
        system: names[system.model] + (f"@{system.revision or 'default'}" if system.model in series else "")
        for system in systems
    }
    shared = Counter(name_of.values())
    return {
        system: f"{name} ({system.run})" if shared[name] > 1 else name for system, name in name_of.items()
    }


def run_names(folders: Sequence[Path]) -> list[str]:
    """Name runs by their folders, with as many parent folders as it takes to tell them apart.

    >>> run_names([Path("/x/a/out"), Path("/x/b/out")])
    ['a/out', 'b/out']
    """
    parts = [folder.resolve().parts for folder in folders]
    longest = max(map(len, parts), default=1)
    for length in range(1, longest + 1):
        names = ["/".join(folder_parts[-length:]) for folder_parts in parts]
        if len(set(names)) == len(set(parts)):
            break
    return names if folders else []


def basename(model: str) -> str:
    """Return the last component of a model's id or path, which names it in the papers' tables.

    >>> basename("google-bert/bert-large-cased"), basename("gpt2-xl")
    ('bert-large-cased', 'gpt2-xl')
    """
    return re.split(r"[/\\]", model.rstrip("/\\"))[-1]


def model_names(models: Iterable[str]) -> dict[str, str]:
    """Shorten the names of models; those that would be called alike get as many more folders as tell them apart.

    At first, as many components are shown as of a Hub id; of a path that is marked as one, one.

    >>> list(model_names(["models/EleutherAI/pythia-70m", "/data/runs/mine", "gpt2"]).values())
    ['EleutherAI/pythia-70m', 'mine', 'gpt2']
    >>> model_names(["./models/a/gpt2", "./models/b/gpt2", "gpt2"])
    {'./models/a/gpt2': 'a/gpt2', './models/b/gpt2': 'b/gpt2', 'gpt2': 'gpt2'}
    >>> model_names(["models/m", "models/m/"])
    {'models/m': 'models/m', 'models/m/': 'models/m/'}
    """
    unique = list(dict.fromkeys(models))
    parts = {model: _parts(model) for model in unique}
    lengths = {model: 1 if re.match(r"[./~]", model) or _WINDOWS_PATH.match(model) else 2 for model in unique}
    while True:
        names = {model: "/".join(parts[model][-lengths[model] :]) for model in unique}
        alike = Counter(names.values())
        longer = [model for model in unique if alike[names[model]] > 1 and lengths[model] < len(parts[model])]
        if not longer:
            # Paths that differ in nothing but a slash at the end keep it.
            return {model: model if alike[name] > 1 else name for model, name in names.items()}
        lengths |= {model: lengths[model] + 1 for model in longer}


def _parts(model: str) -> list[str]:
    if _WINDOWS_PATH.match(model):
        return re.split(r"[/\\]", model.rstrip("/\\"))
    return model.rstrip("/").split("/")


_WINDOWS_PATH = re.compile(r"\\\\|[A-Za-z]:\\")
