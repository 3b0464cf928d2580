"""Which of a run's models a repository holds, and whether it is the one that was scored."""

import re
from collections.abc import Mapping
from typing import Any


def model_of_repository(
    content: Mapping[str, Any], repo: str, other_repo: bool = False
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the signatures of the model that a repository holds, and what must be said about it.

    Args:
        content: of `results.json`.
        repo: `org/model`.
        other_repo: accept that another repository on the Hub was scored.

    Raises:
        ValueError: it is not clear which model that is, it is there in several revisions, or another repository was
            scored.
    """
    signatures = content["signature"]["models"]
    models = list(dict.fromkeys(signature["identity"]["model"] for signature in signatures))
    named = [model for model in models if model.partition("@")[0] == repo]
    chosen = named or models
    if len(chosen) != 1:
        raise ValueError(
            f"The results are for {len(models)} models, and it is not clear which of them {repo} is: "
            f"{', '.join(models)}. Run it alone, or under that name, with an output folder of its own."
        )
    found = [signature for signature in signatures if signature["identity"]["model"] == chosen[0]]
    revisions = list(dict.fromkeys(str(signature["identity"].get("revision")) for signature in found))
    if len(revisions) > 1:
        raise ValueError(
            f"The results are for {len(revisions)} revisions of {chosen[0]} ({', '.join(revisions[:5])}…), but a "
            "model's repository shows one score of each kind. Run the revision to be published with an output folder "
            "of its own; --results-repo accepts them all."
        )
    return found, _statement(found[0]["identity"], repo, other_repo)


def is_on_hub(identity: Mapping[str, Any]) -> bool:
    """Whether a model was loaded from the Hub: the revision of a local folder is a hash of its weights."""
    is_id = re.fullmatch(r"[\w-][\w.-]*/[\w.-]+(@.+)?", identity["model"]) is not None
    return is_id and not str(identity.get("revision")).startswith("sha256:")


def _statement(identity: Mapping[str, Any], repo: str, other_repo: bool) -> list[str]:
    """Say where the scored model came from, unless it is the repository itself."""
    model, revision = identity["model"], identity.get("revision")
    if model.partition("@")[0] == repo:
        return []
    if not is_on_hub(identity):
        where = "behind a server" if model.startswith("remote#") else f"on this machine ({revision})"
        return [
            f"The scored model is {model!r} {where}. Publish its scores to {repo} only if {repo} "
            "holds the same weights."
        ]
    if not other_repo:
        raise ValueError(
            f"The results are for {model}, not for {repo}. Publish them to --model-repo {model.partition('@')[0]}, or "
            f"run {repo}. If both hold the same weights, add --other-repo."
        )
    return [f"The scored model is {model} ({revision}), not {repo}."]
