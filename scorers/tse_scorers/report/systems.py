"""How systems are called: one label for each, decided once for all runs that are shown together.

Report, comparison and files of scores all show this label, in every suite alike.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
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


def shortened(name: str, width: int = 32) -> str:
    """Shorten a long name in the middle; both ends tell models apart.

    >>> shortened("organisation/a-model-with-a-long-name-step1000", 24)
    'organisation…me-step1000'
    """
    if len(name) <= width:
        return name
    tail = (width - 1) // 2
    return f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}"


def slugs(systems: Sequence[str]) -> dict[str, str]:
    """Give every label a name that is safe in files and anchors, at most 100 characters and a number, no two alike.

    >>> slugs(["org/Model v1", "org-model-v1", "模型"])
    {'org/Model v1': 'org-model-v1', 'org-model-v1': 'org-model-v1-2', '模型': 'model'}
    """
    names: dict[str, str] = {}
    for system in systems:
        name = candidate = re.sub(r"[^a-z0-9]+", "-", system.lower())[:100].strip("-") or "model"
        number = 1
        while candidate in names.values():
            number += 1
            candidate = f"{name}-{number}"
        names[system] = candidate
    return names


def end_names(names: Sequence[str], width: int = 24) -> dict[str, str]:
    """Shorten names for the ends of lines: without the organisation where that leaves them distinct.

    >>> end_names(["org/model-70m", "gpt2"])
    {'org/model-70m': 'model-70m', 'gpt2': 'gpt2'}
    """
    return {name: shortened(end, width) for name, end in distinct(names, without_organisation).items()}


def distinct(names: Iterable[str], *forms: Callable[[str], str]) -> dict[str, str]:
    """Return names in the first form that leaves them distinct; as they are where none does.

    >>> distinct(["a/model", "b/model"], without_organisation, lambda name: name.replace("/", " "))
    {'a/model': 'a model', 'b/model': 'b model'}
    """
    unique = list(dict.fromkeys(names))
    for form in forms:
        shown = {name: form(name) for name in unique}
        if len(set(shown.values())) == len(unique):
            return shown
    return {name: name for name in unique}


def are_revisions(labels: Iterable[str]) -> bool:
    """Return whether systems are revisions of a single model.

    >>> are_revisions(["org/m@step0", "org/m@step1"]), are_revisions(["org/m@step0", "gpt2"])
    (True, False)
    """
    parts = [label.rpartition("@") for label in labels]
    return all(at for _, at, _ in parts) and len({model for model, *_ in parts} - {""}) == 1


def revision_names(labels: Collection[str]) -> dict[str, str]:
    """Call the revisions of a single model by these alone; other systems keep their labels.

    >>> revision_names(["org/m@step0", "org/m@step1"]), revision_names(["org/m@step0", "gpt2"])
    ({'org/m@step0': 'step0', 'org/m@step1': 'step1'}, {'org/m@step0': 'org/m@step0', 'gpt2': 'gpt2'})
    """
    is_series = are_revisions(labels)
    return {label: label.rpartition("@")[2] if is_series else label for label in labels}


def without_organisation(label: str) -> str:
    """Return a system's label without what stands before its model's own name.

    >>> without_organisation("org/model-70m@step1 (runs/a)"), without_organisation("gpt2")
    ('model-70m@step1 (runs/a)', 'gpt2')
    """
    name, bracket, run = label.partition(" (")
    return name.rpartition("/")[2] + bracket + run


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
