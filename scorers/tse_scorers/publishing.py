"""`tse publish`: a run's results where people look for them, in a model's repository and in a data set of results.

    org/model                .eval_results/refined_tse_SUITE_CONFIG.yaml   the scores over a whole suite
    datasets/org/results     data/HASH.parquet                             every row with its signature

A file of the data set holds one model on one suite and is named by the hash of its rows and their signature. So
publishing twice adds nothing, publishing again after another model has run adds that model's, and no file is
ever written over. The entries of a model are replaced by those of its next run.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from .results import Row, read_results

if TYPE_CHECKING:
    from huggingface_hub import HfApi

SCHEMA = pa.schema(
    {
        **dict.fromkeys(("suite", "dataset", "config", "model", "revision", "group", "metric"), pa.string()),
        "cutoff_side": pa.string(),
        "cutoff": pa.float64(),
        "method": pa.string(),
        "variation_set": pa.string(),
        "score": pa.float64(),
        **dict.fromkeys(("n", "n_excluded", "n_ties", "n_nonfinite"), pa.int64()),
        "signature": pa.string(),
        "environment": pa.string(),
    }
)
"""Columns of the results data set: those of results.json, then the signature and environment as JSON."""

IDENTITY = ("suite", "dataset", "config", "model", "revision")
HEADLINES = ("tse", "ew", "mw", "accuracy", "auc")

CARD = """---
pretty_name: Results of refined-tse
tags:
- refined-tse
- evaluation
configs:
- config_name: results
  data_files: data/*.parquet
---

# Results of refined-tse

One row per result of a targeted syntactic evaluation, as `tse publish` appends them: suite, data set, model and
revision, group, metric, cut-off, score (0 to 1; null where there is none), how many items it rests on, and the
signature of what made it (JSON). Each file is one model on one suite, named by the hash of its content.

```python
from datasets import load_dataset

results = load_dataset("{repo}", split="train")
```
"""


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
    """Return what publishing the results of a run would put where; asks nobody and sends nothing.

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
        raise ValueError("Say where to publish: --model-repo org/model, --results-repo org/name, or both.")
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
            f"{results} holds no results with signatures, as this version's `tse run` writes them; run it again."
        )
    found = []
    if model_repo:
        chosen = _rows_of_model(rows, model_repo)
        found.append(Publication(model_repo, "model", _entries(chosen, data_org, results_repo)))
        content = _renamed(content, chosen[0]["model"], model_repo)
    if results_repo:
        files = {"README.md": CARD.format(repo=results_repo).encode(), **dict(_tables(content))}
        found.append(Publication(results_repo, "dataset", files))
    return found


def publish(publication: Publication) -> str | None:
    """Send what the repository does not have yet, as one commit; returns its address, None if all was there.

    Raises:
        ValueError: the token may not write there, or the Hub did not take it; the message says what to do.
    """
    from huggingface_hub import CommitOperationAdd, HfApi, get_token

    repo, kind = publication.repo, publication.kind
    api = HfApi(token=get_token())
    try:
        require_write(api, repo.split("/")[0])
        if kind == "dataset":
            api.create_repo(repo, repo_type=kind, exist_ok=True)
        new = _new_files(api, publication)
        if not new:
            return None
        commit = api.create_commit(
            repo,
            [CommitOperationAdd(path, content) for path, content in new.items()],
            repo_type=kind,
            commit_message="Add results of refined-tse",
        )
    except ValueError:
        raise
    except Exception as error:  # of several libraries: network, rights, names
        said = " ".join(str(error).split()).rstrip(".")
        raise ValueError(
            f"{repo} did not get the results: {said}. What was there is unchanged; check the name and your rights, "
            "and run the same command again: it sends what is missing."
        ) from error
    return str(commit.commit_url)


def require_write(api: "HfApi", owner: str) -> None:
    """Raise ValueError unless the token may write to an owner's repositories.

    Asked first: creating a repository that exists succeeds with any token or none.
    """
    if not api.token:
        raise ValueError(
            "There is no token for the Hub. Set HF_TOKEN to one with the role write, or run `hf auth login`."
        )
    user = api.whoami()
    access = user.get("auth", {}).get("accessToken", {})
    role = access.get("role")
    if role not in ("write", "fineGrained"):
        raise ValueError(
            f"The token of {user['name']} has the role {role}, which cannot publish. Set HF_TOKEN to one with the "
            "role write."
        )
    roles = {organisation["name"]: organisation.get("roleInOrg") for organisation in user.get("orgs", [])}
    if owner != user["name"] and roles.get(owner) in (None, "read"):
        raise ValueError(
            f"{user['name']} may not write to {owner}. Name a repository of your own, or join it."
        )


def _new_files(api: "HfApi", publication: Publication) -> dict[str, bytes]:
    """Return the files that the repository lacks; of a model also those that differ."""
    there = api.get_paths_info(publication.repo, list(publication.files), repo_type=publication.kind)
    blobs = {entry.path: getattr(entry, "blob_id", None) for entry in there}
    if publication.kind == "dataset":
        return {path: content for path, content in publication.files.items() if path not in blobs}
    return {
        path: content
        for path, content in publication.files.items()
        if blobs.get(path) != hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    }


def _rows_of_model(rows: list[Row], repo: str) -> list[Row]:
    models = list(dict.fromkeys(row["model"] for row in rows))
    named = [model for model in models if model.partition("@")[0] == repo]
    chosen = named or models
    if len(chosen) != 1:
        raise ValueError(
            f"The results are of {len(models)} models, and it is not clear which of them {repo} is: "
            f"{', '.join(models)}. Run it alone, or under that name, into an output folder of its own."
        )
    found = [row for row in rows if row["model"] == chosen[0]]
    revisions = list(dict.fromkeys(str(row.get("revision")) for row in found))
    if len(revisions) > 1:
        raise ValueError(
            f"The results hold {len(revisions)} revisions of {chosen[0]} ({', '.join(revisions[:5])}…), but a model's "
            "repository states one score of each kind. Run the one to be published into a folder of its own; "
            "--results-repo takes them all."
        )
    return found


def _entries(rows: list[Row], data_org: str | None, results_repo: str | None) -> dict[str, bytes]:
    """Return the `.eval_results` files: scores over whole suites, one file for each suite and configuration."""
    try:
        from huggingface_hub import EvalResultEntry, constants, eval_result_entries_to_yaml
    except ImportError as error:
        raise ValueError(
            "This version of huggingface_hub does not know entries of evaluation results. Get a newer one: "
            "pip install -U huggingface_hub"
        ) from error

    source = f"{constants.ENDPOINT}/datasets/{results_repo}" if results_repo else None
    entries: dict[str, list[Any]] = {}
    for row in filter(_is_headline, rows):
        name = re.sub(r"[^\w-]+", "-", f"refined_tse_{row['suite']}_{row['config']}")
        task = (row["config"], row["metric"], row.get("method"), row.get("variation_set"))
        left_out = sum(int(row.get(key) or 0) for key in ("n_excluded", "n_nonfinite"))
        entry = EvalResultEntry(
            dataset_id=_on_hub(row["dataset"], data_org),
            task_id="_".join(str(part) for part in task if part),
            value=row["score"],
            source_url=source,
            source_name="refined-tse" if source else None,
            notes=f"refined-tse, score from 0 to 1, {row['n']} items, {left_out} left out",
        )
        entries.setdefault(f".eval_results/{name}.yaml", []).append(entry)
    if not entries:
        raise ValueError(
            "The results hold no score over a whole suite, so a model's repository can state none."
        )
    return {
        path: yaml.safe_dump(eval_result_entries_to_yaml(of_suite), sort_keys=False).encode()
        for path, of_suite in entries.items()
    }


def _is_headline(row: Row) -> bool:
    whole = row.get("cutoff") is None or (row.get("cutoff_side") == "top" and row["cutoff"] == 1.0)
    return row["group"] == "all" and row["metric"] in HEADLINES and whole and row["score"] is not None


def _on_hub(dataset: str, org: str | None) -> str:
    if dataset == "blimp":  # a local copy of it
        return "nyu-mll/blimp"
    if "/" in dataset:
        return dataset
    if org is None:
        raise ValueError(
            f"An entry in a model's repository names its data set on the Hub, and the results know theirs only as "
            f"{dataset!r}. Say who hosts it: --data-org organisation."
        )
    return f"{org}/{dataset}"


def _tables(content: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield (path, Parquet) for each model on each suite."""
    signatures = [
        {key: value for key, value in signature.items() if key != "computed"}
        for signature in content["signature"]["models"]
    ]
    environment = json.dumps(content["environment"], sort_keys=True)
    for signature in signatures:
        identity = signature["identity"]
        rows = [row for row in content["results"] if all(row.get(key) == identity[key] for key in IDENTITY)]
        canonical = json.dumps([signature, rows], sort_keys=True, separators=(",", ":"))
        described = {"signature": json.dumps(signature, sort_keys=True), "environment": environment}
        sink = pa.BufferOutputStream()
        table = pa.Table.from_pylist([row | described for row in rows], schema=SCHEMA)
        pq.write_table(table, sink, compression="zstd")
        yield (
            f"data/{hashlib.sha256(canonical.encode()).hexdigest()[:24]}.parquet",
            sink.getvalue().to_pybytes(),
        )


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
    """Shorten paths on this machine to their last part: they are nobody's business."""
    if isinstance(value, dict):
        return {key: _without_paths(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_paths(inner) for inner in value]
    if isinstance(value, str) and re.match(r"(/|~|\.{1,2}/|[A-Za-z]:[\\/])", value):
        return re.split(r"[/\\]", value.rstrip("/\\"))[-1]
    return value
