"""What models and runs are called where they are shown together, and the order of a model's revisions."""

import re
from collections import Counter
from collections.abc import Iterable


def short_names(paths: Iterable[str]) -> dict[str, str]:
    """Name models and folders by the ends of their paths, with as many parts as it takes to tell them apart.

    At first, as many parts are shown as of a Hub id; of a path that is marked as one, its last.

    >>> short_names(["models/EleutherAI/pythia-70m", "/data/runs/mine", "gpt2"]).values()
    dict_values(['EleutherAI/pythia-70m', 'mine', 'gpt2'])
    >>> short_names(["./models/a/gpt2", "./models/b/gpt2", "gpt2"]).values()
    dict_values(['a/gpt2', 'b/gpt2', 'gpt2'])
    >>> short_names(["./m", "./m/"]).values()
    dict_values(['./m', './m/'])
    """
    parts = {path: re.split(r"[/\\]", path.rstrip("/\\")) for path in paths}
    shown = {path: 1 if re.match(r"[./~\\]|[A-Za-z]:\\", path) else 2 for path in parts}
    while True:
        names = {path: "/".join(of[-shown[path] :]) for path, of in parts.items()}
        n_of_name = Counter(names.values())
        longer = [path for path, of in parts.items() if n_of_name[names[path]] > 1 and shown[path] < len(of)]
        if not longer:  # two spellings of one path have the same parts
            return {path: name if n_of_name[name] == 1 else path for path, name in names.items()}
        shown |= {path: shown[path] + 1 for path in longer}


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
