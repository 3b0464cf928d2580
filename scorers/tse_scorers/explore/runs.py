"""Output folders of `tse run`: the results of those that can be read, and what is wrong with the others."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..report.inputs import Runs, read_folder, runs_of


def read_folders(folders: Sequence[Path]) -> tuple[Runs, list[str]]:
    """Read the folders that can be read, so that one bad folder does not hide the others.

    Returns:
        The runs of the good folders, and an error message for each of the others.
    """
    good, problems = [], []
    for folder in dict.fromkeys(Path(folder) for folder in folders):
        try:
            good.append(read_folder(folder))
        except ValueError as error:
            problems.append(str(error))
    return runs_of(good), problems


def models_of(runs: Runs) -> dict[str, str]:
    """Return {label of a system: a name of its model that `load_scorer` takes}.

    The name includes the commit of a Hub repository, but not the hash of a local folder's weights.
    """
    found = {}
    once = runs.rows.drop_duplicates("system")
    for system, model, revision in once[["system", "model", "revision"]].itertuples(index=False):
        asked_for = isinstance(revision, str) and ":" not in revision and "@" not in model
        on_hub = model.count("/") == 1 and not Path(model).exists()
        found[str(system)] = f"{model}@{revision}" if asked_for and on_hub else str(model)
    return found


def partial_systems(runs: Runs, suite: str) -> set[str]:
    """Return the labels, also with the configuration, of systems that were scored on a part of a suite's data."""
    found = set()
    for (system, of_suite, config), signature in runs.signatures.items():
        recipe = signature.get("recipe")
        if of_suite == suite and isinstance(recipe, Mapping) and recipe.get("partial"):
            found |= {system, f"{system} ({config})"}
    return found
