"""What publishing a run's results would put into which repository."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..io.result_row import IDENTITY
from ..io.signatures import Identity, ResultsContent, Signature
from ..io.store import Record, read_records
from ..models.options import Option, OptionError
from .entries import Sources, entries
from .results_dataset import CARD, tables


@dataclass(frozen=True)
class Publication:
    """Files for one repository.

    Attributes:
        repo: `org/name`.
        kind: `model` or `dataset`.
        files: path in the repository -> content.
        notes: what must be said before they are sent.
    """

    repo: str
    kind: str
    files: dict[str, bytes]
    notes: tuple[str, ...] = ()


def publications(
    results: Path,
    model_repo: str | None = None,
    results_repo: str | None = None,
    data_org: str | None = None,
    *,
    other_repo: bool = False,
) -> list[Publication]:
    """Return what publishing the results of a run would write to which repository; sends nothing.

    Args:
        results: an output folder of `tse run`.
        model_repo: `org/model`, the repository of a model that was run. It gets the scores over whole released data
            sets only.
        results_repo: `org/name`, a data set of results.
        data_org: who hosts the shipped data sets on the Hub; entries of a model name a data set on the Hub.
        other_repo: accept that the scored model is in another repository than `model_repo`.

    Raises:
        ValueError: no results, no repository, an option without effect, it is not clear which results are the
            model's, another repository was scored, or nothing of it may be shown as a score of a released data set.
    """
    _check_names(model_repo, results_repo)
    for option, is_given in (("data_org", data_org is not None), ("other_repo", other_repo)):
        if is_given and model_repo is None:
            raise OptionError(f"{Option(option)} has no effect without {Option('model_repo')}; remove it.")
    if data_org is not None and not data_org.strip():
        raise OptionError(f"{Option('data_org')} is empty; expected an organisation on the Hub.")
    records = read_records(results)
    content: ResultsContent = _without_paths(_content(records))
    if not content["results"] or not _is_signed(content):
        raise ValueError(
            f"{results} does not contain results, or not their signatures; expected results as this version of "
            "`tse run` writes them. Run the evaluation again."
        )
    planned = []
    if model_repo:
        signatures, notes = _model_of_repository(content, model_repo, other_repo)
        version = content.get("environment", {}).get("refined-tse")
        latest = max(record.created for record in records) / 1e9
        day = datetime.fromtimestamp(latest, timezone.utc).date().isoformat()
        sources = Sources(data_org, results_repo, version if isinstance(version, str) else None, day)
        files, refused = entries(signatures, content["results"], sources)
        planned.append(
            Publication(model_repo, "model", files, (*notes, *(f"Not shown: {why}" for why in refused)))
        )
        model = signatures[0]["identity"]["model"]
        if model.partition("@")[0] == model_repo or not _is_on_hub(signatures[0]["identity"]):
            content = _renamed(content, model, model_repo)
    if results_repo:
        files = {"README.md": CARD.format(repo=results_repo).encode(), **dict(tables(content))}
        planned.append(Publication(results_repo, "dataset", files))
    return planned


def _content(records: Sequence[Record]) -> ResultsContent:
    """Return what records hold, as JSON has it."""
    return {
        "signature": {"models": [record.described for record in records]},
        "environment": records[-1].environment if records else {},
        "results": [row.to_json() for record in records for row in record.rows],
    }


def _without_paths(value: Any) -> Any:
    """Shorten paths on this machine, which results hold and nobody else must read, to their last part."""
    if isinstance(value, dict):
        return {key: _without_paths(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_paths(inner) for inner in value]
    is_path = isinstance(value, str) and re.match(r"(/|~|\.{1,2}/|[A-Za-z]:[\\/])", value)
    return re.split(r"[/\\]", value.rstrip("/\\"))[-1] if is_path else value


def _check_names(*repos: str | None) -> None:
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils._validators import validate_repo_id

    if all(repo is None for repo in repos):
        raise ValueError(
            "No repository was named. Say where to publish: --model-repo org/model, --results-repo org/name, or both."
        )
    for repo in [repo for repo in repos if repo is not None]:
        try:
            validate_repo_id(repo)
        except HFValidationError as error:
            raise ValueError(f"{repo!r} cannot be a repository on the Hub: {error}") from error
        if "/" not in repo:
            raise ValueError(f"Got the repository {repo!r}; expected organisation/name or user/name.")


def _is_signed(content: ResultsContent) -> bool:
    """Whether each row has a signature, and each signature has rows."""
    models = content["signature"].get("models") or []
    if not all(isinstance(signature, dict) and "identity" in signature for signature in models):
        return False
    signed, with_rows = (
        {json.dumps([identity.get(key) for key in IDENTITY]) for identity in identities}
        for identities in ([signature["identity"] for signature in models], content["results"])
    )
    return signed == with_rows


def _renamed(content: ResultsContent, model: str, repo: str) -> ResultsContent:
    """Call a model by the name of its repository, wherever the results name it."""
    signatures: list[Signature] = []
    for signature in content["signature"]["models"]:
        identity = signature["identity"]
        renamed: Signature = {**signature, "identity": identity}
        if signature.get("model") == model:
            renamed["model"] = repo
        if identity["model"] == model:
            renamed["identity"] = {**identity, "model": repo}
        signatures.append(renamed)
    rows = [row | {"model": repo} if row.get("model") == model else row for row in content["results"]]
    return {**content, "results": rows, "signature": {**content["signature"], "models": signatures}}


def _model_of_repository(
    content: ResultsContent, repo: str, other_repo: bool = False
) -> tuple[list[Signature], list[str]]:
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
    chosen = [model for model in models if model.partition("@")[0] == repo] or models
    if len(chosen) != 1:
        raise ValueError(
            f"The results are for {len(models)} models, and it is not clear which of them {repo} is: "
            f"{', '.join(models)}. Run it alone, or under that name, into a separate output folder."
        )
    model_signatures = [signature for signature in signatures if signature["identity"]["model"] == chosen[0]]
    revisions = list(
        dict.fromkeys(str(signature["identity"].get("revision")) for signature in model_signatures)
    )
    if len(revisions) > 1:
        raise ValueError(
            f"The results are for {len(revisions)} revisions of {chosen[0]} ({', '.join(revisions[:5])}…), but a "
            "model's repository shows one score of each kind. Run the revision to be published into a separate output "
            "folder; --results-repo accepts them all."
        )
    return model_signatures, _statement(model_signatures[0]["identity"], repo, other_repo)


def _is_on_hub(identity: Identity) -> bool:
    """Whether a model was loaded from the Hub: the revision of a local folder is a hash of its weights."""
    is_id = re.fullmatch(r"[\w-][\w.-]*/[\w.-]+(@.+)?", identity["model"]) is not None
    return is_id and not str(identity.get("revision")).startswith("sha256:")


def _statement(identity: Identity, repo: str, other_repo: bool) -> list[str]:
    """Say where the scored model came from, unless it is the repository itself."""
    model, revision = identity["model"], identity.get("revision")
    if model.partition("@")[0] == repo:
        return []
    if not _is_on_hub(identity):
        return [
            f"The scored model is {model!r} on this machine ({revision}). Publish its scores to {repo} only if {repo} "
            "holds the same weights."
        ]
    if not other_repo:
        raise ValueError(
            f"The results are for {model}, not for {repo}. Publish them to --model-repo {model.partition('@')[0]}, or "
            f"run {repo}. If both hold the same weights, add --other-repo."
        )
    return [f"The scored model is {model} ({revision}), not {repo}."]
