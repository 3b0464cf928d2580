"""Output folders of `tse run`: the results of those that can be read, and what is wrong with the others."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..io.local_paths import without_paths
from ..report.comparable import not_comparable
from ..report.inputs import Runs, read_folder, runs_of
from ..suites.registry import names

_TYPED = ("command", "model")
"""Parts of a request that are as they were typed."""


def read_folders(folders: Sequence[Path]) -> tuple[Runs, list[str]]:
    """Read the folders that can be read, so that one bad folder does not hide the others.

    Returns:
        The runs of the good folders, and an error message for each of the others, and for each damaged record.
    """
    good, problems = [], []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        for folder in dict.fromkeys(Path(folder) for folder in folders):
            try:
                good.append(read_folder(folder))
            except ValueError as error:
                problems.append(str(error))
    for warning in caught:
        if warning.category is UserWarning:  # that of a damaged record
            problems.append(str(warning.message))
        else:
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
    return runs_of(good), problems


def models_of(runs: Runs) -> dict[str, str]:
    """Return {label of a system: a name of its model that `load_scorer` takes}.

    The name includes the commit of a Hub repository, but not the hash of a local folder's weights. A revision in a
    series is what its run loaded, such as a folder of its own.
    """
    models = {}
    loaded = {
        system: (signature.get("request") or {}).get("model") if "series" in signature else None
        for (system, _, _), signature in runs.signatures.items()
    }
    once = runs.rows.drop_duplicates("system")
    for system, model, revision in once[["system", "model", "revision"]].itertuples(index=False):
        has_commit = isinstance(revision, str) and ":" not in revision and "@" not in model
        on_hub = model.count("/") == 1 and not Path(model).exists()
        name = loaded.get(system)
        if not isinstance(name, str):
            name = f"{model}@{revision}" if has_commit and on_hub else str(model)
        models[str(system)] = name
    return models


def model_of(label: str, runs: Runs) -> str:
    """Return the label of a system without the configuration that tables may add to it."""
    systems = runs.rows["system"].unique()
    return max((system for system in systems if f"{label} ".startswith(f"{system} ")), key=len, default=label)


def description(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what decided the scores of a run, and where it was made."""
    return {key: run[key] for key in ("signature", "environment")}


def described_for_others(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same without paths on this machine and what was typed."""
    signatures = [dict(signature) for signature in run["signature"]["models"]]
    for signature in signatures:
        if "request" in signature:
            request = signature["request"].items()
            signature["request"] = {name: part for name, part in request if name not in _TYPED}
    described = description(run) | {"signature": {"models": signatures}}
    without: dict[str, Any] = without_paths(described)
    return without


def partial_systems(runs: Runs, suite: str) -> set[str]:
    """Return the labels, also with the configuration, of systems that were scored on a part of a suite's data."""
    labels = set()
    for (system, suite_name, config), signature in runs.signatures.items():
        if suite_name == suite and (signature.get("request") or {}).get("partial"):
            labels |= {system, f"{system} ({config})"}
    return labels


def warnings_of(runs: Runs, suite: str) -> list[str]:
    """Return the sentences of the report about scores of a suite that do not compare."""
    heading = names().heading
    sentences = [
        sentence
        for run in runs.runs
        for sentence in not_comparable(
            {
                "models": [
                    model for model in run["signature"]["models"] if model["identity"]["suite"] == suite
                ]
            },
            heading,
        )
    ]
    return list(dict.fromkeys(sentences))
