"""Output folders of `tse run`: the results of those that can be read, and what is wrong with the others."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..io.local_paths import without_paths
from ..report.comparable import not_comparable
from ..report.inputs import Runs, read_folder, runs_of
from ..suites.registry import names

_TYPED = ("command", "model")
"""Parts of a recipe that are as they were typed."""


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

    The name includes the commit of a Hub repository, but not the hash of a local folder's weights. A revision in a
    series is what its run loaded, such as a folder of its own.
    """
    models = {}
    loaded = {system: _loaded(signature) for (system, _, _), signature in runs.signatures.items()}
    once = runs.rows.drop_duplicates("system")
    for system, model, revision in once[["system", "model", "revision"]].itertuples(index=False):
        asked_for = isinstance(revision, str) and ":" not in revision and "@" not in model
        on_hub = model.count("/") == 1 and not Path(model).exists()
        named = f"{model}@{revision}" if asked_for and on_hub else str(model)
        models[str(system)] = loaded.get(system) or named
    return models


def _loaded(signature: Mapping[str, Any]) -> str | None:
    """Return what the run of a revision in a series loaded; None for other models."""
    recipe = signature.get("recipe")
    name = recipe.get("model") if isinstance(recipe, Mapping) and "series" in signature else None
    return name if isinstance(name, str) else None


def model_of(label: str, runs: Runs) -> str:
    """Return the label of a system without the configuration that tables may add to it."""
    systems = runs.rows["system"].unique()
    return max((system for system in systems if f"{label} ".startswith(f"{system} ")), key=len, default=label)


def description(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what decided the scores of a run, and where it was made."""
    return {key: run[key] for key in ("signature", "environment")}


def described_for_others(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same without paths on this machine, addresses of servers, and the command that was typed."""
    described: dict[str, Any] = without_paths(_without_typed(description(run)))
    return described


def _without_typed(value: Any) -> Any:
    """Leave out of each recipe what holds paths and addresses in the forms in which they were typed."""
    if isinstance(value, list):
        return [_without_typed(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    recipe = value.get("recipe")
    without_typed = (
        {key: part for key, part in recipe.items() if key not in _TYPED} if isinstance(recipe, dict) else None
    )
    return {key: without_typed if key == "recipe" else _without_typed(inner) for key, inner in value.items()}


def partial_systems(runs: Runs, suite: str) -> set[str]:
    """Return the labels, also with the configuration, of systems that were scored on a part of a suite's data."""
    labels = set()
    for (system, of_suite, config), signature in runs.signatures.items():
        recipe = signature.get("recipe")
        if of_suite == suite and isinstance(recipe, Mapping) and recipe.get("partial"):
            labels |= {system, f"{system} ({config})"}
    return labels


def warnings_of(runs: Runs, suite: str) -> list[str]:
    """Return the sentences of the report about scores of a suite that do not compare."""
    sentences: list[str] = []
    heading = names().heading
    for run in runs.runs:
        models = (run["signature"] or {}).get("models") or []
        of_suite = [model for model in models if _is_of(suite, model)]
        sentences += not_comparable({"models": of_suite}, heading)
    return list(dict.fromkeys(sentences))


def _is_of(suite: str, model: Any) -> bool:
    identity = model.get("identity") if isinstance(model, Mapping) else None
    return isinstance(identity, Mapping) and identity.get("suite") == suite
