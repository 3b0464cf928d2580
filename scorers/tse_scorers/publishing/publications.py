"""What publishing a run's results would put into which repository."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..io.results import read_results
from .entries import entries, rows_of_model
from .results_dataset import CARD, tables


@dataclass(frozen=True)
class Publication:
    """Files for one repository.

    Attributes:
        repo: `org/name`.
        kind: `model` or `dataset`.
        files: path in the repository -> content.
    """

    repo: str
    kind: str
    files: dict[str, bytes]


def publications(
    results: Path, model_repo: str | None = None, results_repo: str | None = None, data_org: str | None = None
) -> list[Publication]:
    """Return what publishing the results of a run would write to which repository; sends nothing.

    Args:
        results: an output folder of `tse run`.
        model_repo: `org/model`, the repository of a model that was run.
        results_repo: `org/name`, a data set of results.
        data_org: who hosts the shipped data sets on the Hub; entries of a model name a data set on the Hub.

    Raises:
        ValueError: no results, no repository, or it is not clear which results are the model's.
    """
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils._validators import validate_repo_id

    if not model_repo and not results_repo:
        raise ValueError(
            "No repository was named. Say where to publish: --model-repo org/model, --results-repo org/name, or both."
        )
    for repo in filter(None, (model_repo, results_repo)):
        try:
            validate_repo_id(repo)
        except HFValidationError as error:
            raise ValueError(f"{repo!r} cannot be a repository on the Hub: {error}") from error
        if "/" not in repo:
            raise ValueError(f"Got the repository {repo!r}; expected organisation/name or user/name.")
    content = _without_paths(read_results(results))
    rows = content["results"]
    signatures = (content.get("signature") or {}).get("models") or []
    if not rows or not all(isinstance(known, dict) and "identity" in known for known in signatures):
        raise ValueError(
            f"{results} holds no results with signatures, which this version of `tse run` writes; run the evaluation "
            "again."
        )
    found = []
    if model_repo:
        chosen = rows_of_model(rows, model_repo)
        found.append(Publication(model_repo, "model", entries(chosen, data_org, results_repo)))
        content = _renamed(content, chosen[0]["model"], model_repo)
    if results_repo:
        files = {"README.md": CARD.format(repo=results_repo).encode(), **dict(tables(content))}
        found.append(Publication(results_repo, "dataset", files))
    return found


def _renamed(content: dict[str, Any], model: str, repo: str) -> dict[str, Any]:
    """Call a model by the name of its repository, wherever the results name it."""

    def rename(named: dict[str, Any]) -> dict[str, Any]:
        return named | {"model": repo} if named.get("model") == model else named

    signatures = [
        rename(signature) | {"identity": rename(signature["identity"])}
        for signature in content["signature"]["models"]
    ]
    rows = [rename(row) for row in content["results"]]
    return content | {"results": rows, "signature": content["signature"] | {"models": signatures}}


def _without_paths(value: Any) -> Any:
    """Shorten paths on this machine to their last part: they must not be published."""
    if isinstance(value, dict):
        return {key: _without_paths(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_paths(inner) for inner in value]
    if isinstance(value, str) and re.match(r"(/|~|\.{1,2}/|[A-Za-z]:[\\/])", value):
        return re.split(r"[/\\]", value.rstrip("/\\"))[-1]
    return value
